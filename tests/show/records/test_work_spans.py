"""The work of a run in time, read from the records of its journal."""

from typing import Any

from porch.show.records.work_spans import WorkSpan, list_spans


def record(seq: int, fact: dict[str, Any], *moves: dict[str, Any], **more: Any) -> dict[str, Any]:
    at = f"2026-01-01T00:00:{seq:02d}Z"
    return {"seq": seq, "at": at, "fact": fact, "moves": list(moves), **more}


def begun(*effects: str) -> list[dict[str, str]]:
    return [{"effect": each, "kind": each.split("/")[1]} for each in effects]


def told(spans: list[WorkSpan]) -> list[tuple[str, str, str, str, str]]:
    return [(s.lane, s.name, s.began[-3:-1], s.ended[-3:-1], s.result) for s in spans]


def test_work_has_a_lane_a_beginning_and_an_end() -> None:
    spans = list_spans(
        [
            record(1, {"is": "RunnerStarted"}, begun=begun("a#1/agent/a/0")),
            record(
                2,
                {"is": "ExitAccepted", "effect": "a#1/agent/a/0", "exit": "x", "signal": "DONE"},
                begun=begun("b#1/check/tests/0", "c#1/review/codex/0", "g#1/commit/a/0"),
            ),
            record(3, {"is": "CheckEnded", "effect": "b#1/check/tests/0", "result": "failed"}),
            record(4, {"is": "ReviewEnded", "effect": "c#1/review/codex/0", "verdict": "APPROVE"}),
            record(5, {"is": "CommitEnded", "effect": "g#1/commit/a/0", "refused": "no"}),
        ]
    )
    assert told(spans) == [
        ("agent", "a", "01", "02", "DONE"),
        ("check", "tests", "02", "03", "failed"),
        ("panel", "codex", "02", "04", "APPROVE"),
        ("git", "a", "02", "05", "refused"),
    ]
    assert [span.look for span in spans] == ["", "bad", "good", "bad"]


def test_a_person_who_is_asked_is_waited_for_until_they_answer() -> None:
    asked = {"is": "Asked", "position": "gate#1", "name": "go"}
    closed = {"is": "Closed", "position": "gate#1", "exit": "approved", "who": "ann"}
    spans = list_spans(
        [
            record(1, {"is": "DecisionAsked"}, asked),
            record(2, {"is": "WishTaken"}, {"is": "Paused"}),
            record(3, {"is": "WishTaken"}, {"is": "Resumed"}),
            record(4, {"is": "WishTaken"}, closed),
        ]
    )
    assert told(spans) == [
        ("person", "go", "01", "04", "approved by ann"),
        ("person", "stopped", "02", "03", "continued"),
    ]
    assert all(span.is_wait for span in spans)


def test_what_began_before_or_goes_on_has_no_such_end() -> None:
    spans = list_spans(
        [
            record(7, {"is": "EffectFailed", "effect": "a#1/agent/a/0", "why": "crash"}),
            record(8, {"is": "x"}, begun=begun("a#1/timer/wait/0", "a#1/agent/a/1")),
            record(9, {"is": "TimerFired", "effect": "a#1/timer/wait/0"}),
        ]
    )
    assert told(spans) == [
        ("agent", "a", "", "07", "failed: crash"),
        ("agent", "wait before the next try", "08", "09", "over"),
        ("agent", "a", "08", "", ""),
    ]
    assert [span.is_wait for span in spans] == [False, True, False]


def test_what_takes_no_time_or_is_no_record_of_ours_has_no_span() -> None:
    kinds = begun("a#1/ask/go/0", "a#1/feedback/x/0", "a#1/items/plan/0")
    other = {"is": "DecisionAsked", "effect": "a#1/ask/go/0"}
    assert list_spans([record(1, other, begun=kinds), {}, {"fact": None, "moves": None}]) == []


def test_every_way_to_end_has_its_words() -> None:
    facts = ("TurnEndedSilent", "EffectInterrupted", "EffectStopped", "CommitEnded", "Other")
    ends = [record(1, {"is": each, "effect": f"{each}#1/git/a/0"}) for each in facts]
    assert [span.result for span in list_spans(ends)] == [
        "ended without a signal",
        "interrupted",
        "stopped",
        "committed",
        "",
    ]
