"""A journal as people read it: one line for each record, from raw JSON, so that it is quick."""

from __future__ import annotations

from porch.show.board import clip_text, describe_delivery, format_moment, one_line
from porch.show.place_words import UNCOUNTED, PlaceWords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from porch.machine.records import RawRecord

    Raw = dict[str, Any]

_LONGEST_PART = 200
_MOST_NAMED = 5
GOOD, BAD, ASKS = "good", "bad", "asks"


_PLAIN = PlaceWords()
_DECISIONS = ("WishTaken", "WorkFinished")


def render_timeline(raw_records: Iterable[RawRecord], words: PlaceWords = _PLAIN) -> Iterator[str]:
    """Time, number, what happened, where it moved."""
    for raw in raw_records:
        yield f"{time_and_number(raw)}  {describe_record(raw, words)}"


def time_and_number(raw: RawRecord) -> str:
    """Time and number."""
    at = one_line(format_moment(str(raw.get("at", ""))))
    return f"{at} {raw.get('seq', 0):>5}"


def describe_record(raw: RawRecord, words: PlaceWords = _PLAIN) -> str:
    """What happened in one record and where it moved."""
    what = clip_text(
        one_line(_describe_fact(_shorten_texts(raw.get("fact") or {}), words)), _LONGEST_PART
    )
    moved = clip_text(one_line("".join(_describe_moves(raw, words))), _LONGEST_PART)
    told = what + moved if moved[:1] == ";" else f"{what} {moved}".rstrip()
    return told + "".join(_describe_changes(raw.get("fact") or {}))


def list_decisions_of_people(
    raw_records: Iterable[RawRecord], words: PlaceWords = _PLAIN
) -> list[str]:
    """What people decided in these records, each with its time."""
    kept = (raw for raw in raw_records if (raw.get("fact") or {}).get("is") in _DECISIONS)
    told = (f"{time_and_number(raw)} {_describe_fact(raw['fact'], words)}" for raw in kept)
    return [clip_text(one_line(text), _LONGEST_PART) for text in told]


def line_mark(raw: RawRecord) -> str:
    """Whether a line tells of success, of failure, or of something that waits for people."""
    fact = raw.get("fact") or {}
    ended = [move.get("outcome") for move in raw.get("moves") or () if move.get("is") == "Ended"]
    if ended:
        return GOOD if ended[0] in ("complete", "merged") else BAD
    kind = str(fact.get("is", ""))
    if kind in _MARKS:
        return _MARKS[kind]
    if kind == "CheckEnded":
        good = fact.get("result") == "passed" and not fact.get("flaky")
        return GOOD if good else "" if fact.get("result") == "skipped" else BAD
    if kind == "ReviewEnded":
        return {"APPROVE": GOOD, "REQUEST_CHANGES": BAD}.get(str(fact.get("verdict")), "")
    return BAD if kind == "CommitEnded" and fact.get("refused") else ""


_MARKS = {
    "WorkFinished": GOOD,
    "EffectFailed": BAD,
    "EffectInterrupted": BAD,
    "TurnEndedSilent": BAD,
    "WishRefused": BAD,
    "DecisionAsked": ASKS,
    "QuestionPosed": ASKS,
    "BudgetReached": ASKS,
    "ApprovalOutdated": ASKS,
}


def is_quiet(raw: RawRecord) -> bool:
    """Whether whoever watches is better off without it: nobody misses a timer that was put down."""
    fact = raw.get("fact") or {}
    return fact.get("is") == "EffectStopped" and _split_effect_id(fact)[1] in ("stale", "timer")


def _shorten_texts(value: Any) -> Any:
    """A text that is kept by its hash shows how it begins."""
    if isinstance(value, dict):
        if "$sha256" in value:
            return f"{value.get('clip', '')} ..."
        return {key: _shorten_texts(each) for key, each in value.items()}
    return [_shorten_texts(each) for each in value] if isinstance(value, list) else value


def _describe_fact(fact: Raw, words: PlaceWords) -> str:
    kind = str(fact.get("is", ""))
    tell = _FACT_DESCRIPTIONS.get(kind)
    if tell:
        return tell(fact)
    at, what, name = _split_effect_id(fact)
    tell_work = _WORK.get(kind)
    if tell_work:
        return f"{words.place(at)}: {tell_work(fact, what, name)}"
    tell_placed = _PLACED.get(kind)
    return tell_placed(fact, words) if tell_placed else kind or "an unknown record"


def _describe_moves(raw: RawRecord, words: PlaceWords) -> Iterator[str]:
    fact, moves = raw.get("fact") or {}, raw.get("moves") or []
    if _is_late(fact, [move.get("is") for move in moves]):
        yield " (too late: the run had already moved on; ignored)"
    source = _split_effect_id(fact)[0] or str((fact.get("wish") or {}).get("position") or "")
    entered = [each for each in moves if each.get("is") == "Entered"]
    tried = _count_attempt(moves, words) if entered else UNCOUNTED
    for each in moves:
        tell = _MOVE_DESCRIPTIONS.get(each.get("is"))
        # An attempt that is counted where it begins need not be counted as a retry before.
        if tell and not (tried[1] and each.get("is") == "Charged"):
            yield tell(each, words, source)
    if entered:
        yield words.ways([str(each.get("position")) for each in entered], source, tried)
        yield _describe_delay(entered[-1])


def _describe_changes(fact: Raw) -> Iterator[str]:
    """What else changed while somebody worked, by whomever."""
    found = {
        "what measures it": fact.get("touched"),
        "outside the worktree": (fact.get("outside") or {}).get("changes"),
        "without permission to write it": (fact.get("outside") or {}).get("unpermitted"),
    }
    for word, paths in found.items():
        if paths:
            more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
            named = ", ".join(map(str, paths[:_MOST_NAMED]))
            yield clip_text(one_line(f"; changed {word}: {named}"), _LONGEST_PART) + more


def _count_attempt(moves: list[Raw], words: PlaceWords) -> tuple[int, int]:
    """Which attempt begins, of how many, if the only thing that was counted is an attempt."""
    charged = [each for each in moves if each.get("is") == "Charged" and each.get("spent")]
    if len(charged) != 1:
        return UNCOUNTED
    return words.tried(str(charged[0].get("budget")), charged[0]["spent"])


def _is_late(fact: Raw, moves: list[Any]) -> bool:
    """Something ended, was put down and moved nothing; stopping alone is meant to do that."""
    if "effect" not in fact or fact.get("is") in ("EffectStopped", "EffectInterrupted"):
        return False
    return set(moves) <= {"Settled"}


def _split_effect_id(fact: Raw) -> tuple[str, str, str]:
    """Position, kind and name; instances in front and names behind may hold slashes."""
    front, mark_, back = str(fact.get("effect", "")).partition("#")
    visit, _, rest = back.partition("/")
    kind, _, name = rest.rpartition("/")[0].partition("/")
    return (f"{front}{mark_}{visit}", kind, name) if name else (front, "effect", "")


def _describe_run_start(fact: Raw) -> str:
    by = f" by {fact['by']}" if fact.get("by") else ""
    return f"run {fact.get('run')} started with protocol {fact.get('protocol')}{by}"


def _describe_adoption(fact: Raw) -> str:
    notes = "; ".join(str(note) for note in fact.get("notes", ()))
    return f"continued from a status file, at {fact.get('state')}{': ' + notes if notes else ''}"


def _describe_settings(fact: Raw) -> str:
    if trust := fact.get("trust"):
        return f"a person trusts settings for this run: {', '.join(trust)}"
    return "the settings as they are now count for this run from here on"


def _describe_base(_fact: Raw) -> str:
    return "what the run changes is compared with the files as they are now"


def _describe_runner(fact: Raw) -> str:
    how = "continues" if fact.get("resumed") else "started"
    return f"porch {how} (pid {fact.get('pid')} on {fact.get('host')})"


UNKEPT = "not committed: "
UNCONTINUED = "a new conversation: "


def _describe_exit(fact: Raw, _kind: str, _name: str) -> str:
    reason = (fact.get("payload") or {}).get("reason")
    said = fact.get("signal") or fact.get("exit")
    noted = _list_signal_notes(fact)
    ignored = f" ({'; '.join(noted)})" if noted else ""
    kept = f", committed {fact['commit'][:12]}" if fact.get("commit") else ""
    told = f"the agent ended with {said}{': ' + str(reason) if reason else ''}"
    return f"{told}{ignored}{kept}{_describe_cost(fact)}"


def _describe_cost(fact: Raw) -> str:
    """What a turn used, where that is known."""
    if fact.get("usd"):
        return f", cost ${fact['usd']:.2f}" if fact["usd"] >= 0.01 else f", cost ${fact['usd']:.4f}"
    return f", {fact['tokens']:,} tokens" if fact.get("tokens") else ""


def _describe_silent_end(fact: Raw, _kind: str, _name: str) -> str:
    told = ": ".join(["the agent ended without a signal", *_list_signal_notes(fact)])
    return told + _describe_cost(fact)


def _list_signal_notes(fact: Raw) -> list[str]:
    """What was said like a signal and did not count, and what porch could not do around it."""
    told = [str(note) for note in fact.get("notes") or ()]
    ours = (UNKEPT, UNCONTINUED)
    return [note for note in told if "signal" in note.split(":")[0] or note.startswith(ours)]


def _describe_failure(fact: Raw, kind: str, name: str) -> str:
    why = ": ".join(str(fact[key]) for key in ("why", "detail") if fact.get(key))
    return f"{kind} {name} failed: {why}{_describe_cost(fact)}"


def _format_duration(seconds: float) -> str:
    """No more exact than people need it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _describe_interruption(_fact: Raw, kind: str, name: str) -> str:
    return f"porch was killed during {kind} {name}"


def _describe_stop(_fact: Raw, kind: str, name: str) -> str:
    return f"{kind} {name} was stopped"


def _describe_check(fact: Raw, _kind: str, name: str) -> str:
    report, result = str(fact.get("report") or ""), fact.get("result")
    if fact.get("reused"):
        return f"check {name} still {result} (no file changed since)"
    if report.startswith("skipped: "):
        # So release 1 wrote it, as a check that had passed.
        return f"check {name} {report}"
    took = f" in {fact['seconds']:.1f} s" if fact.get("seconds") else ""
    why = _first_line(report) if result != "passed" or fact.get("flaky") else ""
    return f"check {name} {result}{took}{': ' + why if why else ''}"


def _first_line(report: str) -> str:
    """How a report begins; after an exit code alone, the line that says why, too."""
    first, _, rest = report.strip().partition("\n")
    if not first.startswith("exit code") or not rest.strip():
        return first.strip()
    from porch.text.telling_line import find_telling_line

    return f"{first.strip()}: {find_telling_line(rest)}"


def _describe_review(fact: Raw, _kind: str, name: str) -> str:
    why = f" ({fact['why']})" if fact.get("why") else ""
    summary = f": {fact['summary']}" if fact.get("summary") else ""
    again = " (given before, for the same files)" if fact.get("reused") else ""
    return f"review by {name}: {fact.get('verdict')}{again}{why}{summary}{_describe_cost(fact)}"


def _describe_plan_items(fact: Raw, _kind: str, _name: str) -> str:
    titles = [str(item.get("title") or item.get("id")) for item in fact.get("items", ())]
    phases = "1 phase" if len(titles) == 1 else f"{len(titles) or 'no'} phases"
    return f"the plan has {phases}{': ' if titles else ''}{', '.join(titles)}"


def _describe_feedback(fact: Raw, _kind: str, _name: str) -> str:
    return f"reviews saved in {fact.get('path')}"


def _describe_timer(_fact: Raw, _kind: str, name: str) -> str:
    if name.startswith(("backoff-", "limit-")):
        return "the waiting time is over; retrying now"
    return "the waiting time is over" if name == "delay" else f"still waiting for you: {name}"


def _describe_git_end(fact: Raw, _kind: str, name: str) -> str:
    payload, exit_ = fact.get("payload") or {}, fact.get("exit")
    said = payload.get("details") or payload.get("reason") or payload.get("report") or ""
    return f"git {name}: {exit_}" + (f": {said}" if said and exit_ != "clean" else "")


def _describe_commit(fact: Raw, _kind: str, _name: str) -> str:
    if fact.get("refused"):
        return f"git refused the commit: {fact['refused']}"
    if fact.get("passed_over"):
        return "not committed: you commit what this run changes"
    return f"committed {fact['commit'][:12]}" if fact.get("commit") else "nothing to commit"


def _describe_decision_asked(fact: Raw, words: PlaceWords) -> str:
    at, _, name = _split_effect_id(fact)
    return words.asked(at, name)


def _describe_wish(fact: Raw, words: PlaceWords) -> str:
    wish = fact.get("wish") or {}
    said = str(wish.get("exit") or wish.get("kind"))
    what = f"{words.place(str(wish['position']))}: " if wish.get("position") else ""
    by = f" by {wish.get('who') or 'unknown'}"
    by += f", who calls themselves {wish['claimed']}" if wish.get("claimed") else ""
    channel = f" ({wish['channel']})" if wish.get("channel") else ""
    channel += " (confirmed to be a person)" if wish.get("as_person") is True else ""
    text = f": {wish['text']}" if wish.get("text") else ""
    if fact.get("is") == "WishRefused":
        return f"{what}{said}{by}{channel} was refused: {fact.get('reason')}"
    changed = (wish.get("data") or {}).get("accept_changes") or ()
    accepted = f", as changed since porch asked: {', '.join(map(str, changed))}" if changed else ""
    return f"{what}{said}{by}{channel}{accepted}{text}"


def _describe_repair(fact: Raw) -> str:
    kept, lost = fact.get("kept"), fact.get("lost_bytes")
    told = "".join(f"; lost: {each}" for each in fact.get("decisions") or ())
    text = f"the journal was repaired: {kept} records kept, {lost} bytes lost"
    return f"{text} ({fact.get('aside')}){told}"


def _describe_status_edit(fact: Raw) -> str:
    return f"somebody edited the status file; the edited copy is {fact.get('aside')}"


def _describe_finish(fact: Raw) -> str:
    parts = (str(fact.get(name, "")) for name in ("how", "into", "url", "branch"))
    at = f" ({fact['commit'][:12]})" if fact.get("commit") else ""
    person = " (confirmed to be a person)" if fact.get("as_person") is True else ""
    more = [*(fact.get("accepted") or ()), *(fact.get("not_passed") or ())]
    more += [f"accepted: {fact['reason']}"] if fact.get("reason") else []
    told = "".join(f"; {each}" for each in more)
    return f"{describe_delivery(*parts)}{at} by {fact.get('by') or 'unknown'}{person}{told}"


def _describe_budget_reached(fact: Raw) -> str:
    return f"the budget {fact.get('budget')} is used up: {fact.get('spent')} of {fact.get('limit')}"


def _describe_due_commands(fact: Raw) -> str:
    results = fact.get("results") or {}
    if results:
        told = "; ".join(f"{name}: {line}" for name, line in results.items())
        return f"before the work: {told} (not run now: the agent is scripted)"
    return f"before the first turn these commands run once: {', '.join(fact.get('commands') or ())}"


def _describe_outdated_approval(fact: Raw) -> str:
    reason = str((fact.get("question") or {}).get("reason") or "").partition("\n")[0]
    return f"{fact.get('gate')} must be approved again: {reason}"


def _describe_restored_approval(fact: Raw) -> str:
    return f"the files of {fact.get('gate')} are as they were approved; nothing to ask any more"


def _describe_plan_move(fact: Raw) -> str:
    about = ", ".join(
        [*(fact.get("prompts") or {}), *_list_payload_subjects(fact.get("payload") or {})]
    )
    agent = f" (agent {fact['agent']})" if fact.get("agent") else ""
    forced = f", with --force against: {', '.join(fact['forced'])}" if fact.get("forced") else ""
    return f"{fact.get('action')} {about}".strip() + f" by {fact.get('who')}{agent}{forced}"


def _list_payload_subjects(payload: Raw) -> list[str]:
    """What was said beside the prompts, as far as one line has room for it."""
    named = [
        str(payload[key]) for key in ("subject", "iteration", "type", "verdict") if key in payload
    ]
    return [each for each in named if each]


def _describe_question_posed(fact: Raw) -> str:
    return f"waiting for your decision: {fact.get('state')} {fact.get('item', '')}".strip()


def _describe_delay(move: Raw) -> str:
    return f" after {_format_duration(move['delay_s'])}" if move.get("delay_s") else ""


def _describe_charge(move: Raw, words: PlaceWords, _source: str) -> str:
    spent = move.get("spent") or 0
    return words.charge(str(move.get("budget")), spent) if spent else ""


def _describe_abstention(move: Raw) -> str:
    """A reviewer that was given up: nobody else says so, for there is no answer to tell of."""
    key, kept = str(move.get("key", "")), move.get("value")
    if key.startswith("unreadable/"):
        return "; asked once more"
    if not key.startswith("review/") or not isinstance(kept, dict):
        return ""
    is_answer = kept.get("verdict") != "ABSTAIN" or kept.get("seconds") or kept.get("summary")
    return "" if is_answer else f"; {key.removeprefix('review/')} abstains"


_MOVE_DESCRIPTIONS: dict[Any, Callable[[Raw, PlaceWords, str], str]] = {
    "Charged": _describe_charge,
    "Ended": lambda move, _words, _source: (
        f"; {move.get('instance') or 'the run'} is {move.get('outcome')}"
    ),
    "Marked": lambda move, _words, _source: _describe_abstention(move),
    "Finished": lambda move, words, _source: f"; {words.item(str(move.get('item')))} is done",
    "Paused": lambda _move, _words, _source: "; stopped",
    "Postponed": lambda move, _words, _source: (
        f"; retrying after {_format_duration(move['seconds'])}"
    ),
    "Reopened": lambda _move, _words, _source: "; goes on",
    "Resumed": lambda _move, _words, _source: "; continues",
}
_FACT_DESCRIPTIONS: dict[str, Callable[[Raw], str]] = {
    "RunStarted": _describe_run_start,
    "RunAdopted": _describe_adoption,
    "RunnerStarted": _describe_runner,
    "SettingsPinned": _describe_settings,
    "BaseMeasured": _describe_base,
    "JournalRepaired": _describe_repair,
    "StatusEdited": _describe_status_edit,
    "WorkFinished": _describe_finish,
    "BudgetReached": _describe_budget_reached,
    "CommandsDue": _describe_due_commands,
    "ApprovalOutdated": _describe_outdated_approval,
    "ApprovalRestored": _describe_restored_approval,
    "PlanMoved": _describe_plan_move,
    "QuestionPosed": _describe_question_posed,
}
_PLACED: dict[str, Callable[[Raw, PlaceWords], str]] = {
    "DecisionAsked": _describe_decision_asked,
    "WishTaken": _describe_wish,
    "WishRefused": _describe_wish,
}
_WORK: dict[str, Callable[[Raw, str, str], str]] = {
    "ExitAccepted": _describe_exit,
    "TurnEndedSilent": _describe_silent_end,
    "EffectFailed": _describe_failure,
    "EffectInterrupted": _describe_interruption,
    "EffectStopped": _describe_stop,
    "CheckEnded": _describe_check,
    "ReviewEnded": _describe_review,
    "ItemsRead": _describe_plan_items,
    "FeedbackWritten": _describe_feedback,
    "TimerFired": _describe_timer,
    "CommitEnded": _describe_commit,
    "GitEnded": _describe_git_end,
}
