"""What the scripted agent's process does and tells, in this process: each word of a script."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from porch.agents.scripted import asked, process
from porch.agents.scripted.script import ScriptedAnswer

Told = list[dict[str, Any]]
Play = Callable[..., Told]


@pytest.fixture(autouse=True)
def interrupts() -> Iterator[None]:
    """`main` takes the interrupts of its process, which here is the one of all tests."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Play:
    """One turn in a workspace of its own; what it told."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    monkeypatch.chdir(workspace)

    def one(*entries: dict[str, Any], ends: int = 0, **asked: Any) -> Told:
        script = tmp_path / "script.yaml"
        script.write_text(json.dumps({"agents": {"draft": list(entries)}}))
        request = tmp_path / "request.json"
        request.write_text(json.dumps({"effect": "e", "state": "draft", **asked}))
        capsys.readouterr()
        assert _code([str(script) if entries else "", str(request)]) == ends
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return one


def _code(argv: list[str]) -> object:
    try:
        return process.main(argv)
    except SystemExit as left:
        return left.code


def test_without_a_script_it_writes_what_is_asked_for_and_says_the_first_legal_word(
    play: Play,
) -> None:
    Path("there.md").write_text("kept")
    paths = [{"path": path} for path in ("docs/my-plan.md", "docs/a_spec.md", "there.md")]
    told = play(artifacts=paths, item="one", legal=["DONE", "BLOCKED"])
    assert Path("docs/my-plan.md").read_text() == process.SAMPLE_PLAN
    assert Path("docs/a_spec.md").read_text().startswith("# A spec\n")
    assert Path("there.md").read_text() == "kept"
    assert Path("work/one.txt").read_text() == "draft one, visit 1\n"
    assert told[-1] == {"type": "final", "text": "Done as asked.\n<signal>DONE</signal>"}


def test_files_are_changed_and_commands_run_with_placeholders_filled(play: Play) -> None:
    Path("old.txt").write_text("x")
    entry = {
        "write": {"{id}.txt": "{title}\n"},
        "append": {"{id}.txt": "visit {visit} {brace}\n"},
        "delete": ["old.txt", "never.txt"],
        "run": [["echo", "{title}"], ["no-such-command-anywhere"]],
        "signal": "DONE",
    }
    told = play(entry, id="0007", title="Seven")
    assert Path("0007.txt").read_text() == "Seven\nvisit 1 {brace}\n"
    assert not Path("old.txt").exists()
    outputs = [each["output"] for each in told if each["type"] == "tool_end"]
    assert "Seven\n[exit code 0]" in outputs
    assert "no-such-command-anywhere" in outputs[-1]


def test_noise_and_what_was_used_are_told(play: Play) -> None:
    loud = {"tool": "{title}", "print": {"bytes": process.PIECE_BYTES + 1}}
    told = play({**loud, "usage": {"usd": 0.5, "tokens": 7}, "say": "x"}, title="T")
    outputs = [len(each["output"]) for each in told if each["type"] == "tool_end"]
    assert outputs == [1, process.PIECE_BYTES, 1]
    assert {"type": "usage", "usd": 0.5, "tokens": 7} in told


def test_a_typed_answer_is_filled_to_its_leaves(play: Play) -> None:
    payload = {"a": ["{title}", 1], "b": {"c": "{id}"}}
    told = play({"exit": "Done", "payload": payload}, id="1", title="T")
    filled = {"a": ["T", 1], "b": {"c": "1"}}
    assert told[-2] == {"type": "answer", "exit": "Done", "payload": filled}
    assert told[-1]["text"] == "My answer is Done."


@pytest.mark.parametrize(
    "entry, code", [({"fail": "rate_limit"}, 1), ({"crash": 3}, 3)], ids=["fail", "crash"]
)
def test_what_goes_wrong_has_no_last_words(play: Play, entry: dict[str, Any], code: int) -> None:
    told = play(entry, ends=code)
    assert [each for each in told if each["type"] == "final"] == []


def test_a_reviewer_without_words_approves(play: Play) -> None:
    assert play(kind="review", name="ann")[-1]["text"].startswith("VERDICT: APPROVE")


@pytest.mark.parametrize("kind", ["reminder", "refused"])
def test_who_is_asked_again_has_an_answer_with_a_script_and_without(play: Play, kind: str) -> None:
    entry = {"say": "first", "signal": "DONE"}
    assert play(entry, kind=kind, turn=2)[-1]["type"] == "final"
    assert play(kind=kind, turn=2)[-1]["text"].startswith("Done as asked.")


def test_a_conversation_is_gone_on_with_or_begins_beside_another(play: Play) -> None:
    assert play(resume="s-1")[0] == {"type": "session", "id": "s-1"}
    forked = play(fork="s-1")[0]
    assert forked["fork"] == "s-1"
    assert forked["id"].startswith("scripted-")


def test_a_start_is_written_down_before_anything_is_done(play: Play, tmp_path: Path) -> None:
    answer = to_builtins(ScriptedAnswer(crash=4))
    play(chosen={"answer": answer, "witness": str(tmp_path / "witness.txt")}, ends=4)
    assert (tmp_path / "witness.txt").read_text() == "e\n"


def test_a_script_that_cannot_be_read_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "request.json").write_text('{"effect": "e"}')
    (tmp_path / "script.yaml").write_text("agents: 7")
    argv = [str(tmp_path / "script.yaml"), str(tmp_path / "request.json")]
    assert _code(argv) == process.EXIT_BAD_SCRIPT
    assert asked.BAD_SCRIPT in capsys.readouterr().err


def test_an_agent_that_takes_no_interrupt_ignores_it(play: Play) -> None:
    play({"ignore_sigint": True, "say": "x"})
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
