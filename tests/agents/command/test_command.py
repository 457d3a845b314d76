"""Any command as an agent: real small scripts, through the same road as every other agent."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.agents import command, transcripts
from porch.agents.command import process as command_process
from porch.agents.events import Said, ToolStarted, TurnSummary, Warned
from porch.agents.port import Outcome
from porch.errors import OutsideError
from porch.model.permissions import INSIDE
from porch.system import process
from porch.system.growing_file import LONGEST_LINE
from tests.agents.driving import Driver, mark_for

Write = Callable[[str], tuple[str, ...]]


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Driver]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    mark = mark_for(tmp_path)
    yield Driver(command, workspace, tmp_path / "turns", mark)
    process.reap_processes(mark)


@pytest.fixture
def script(tmp_path: Path) -> Write:
    """A program in Python, as the words that start it."""

    def write(text: str) -> tuple[str, ...]:
        path = tmp_path / "agent.py"
        path.write_text(f"import json, os, signal, sys, time\n{text}\n")
        return sys.executable, str(path)

    return write


def play(driver: Driver, words: tuple[str, ...], prompt: str = "Do it.", **more: Any) -> Outcome:
    return driver.play(prompt, command=words, **more)


def test_prompt_comes_on_standard_input(driver: Driver, script: Write) -> None:
    outcome = play(driver, script("print('got', sys.stdin.read())"), "Größe { } @x")
    assert (outcome.kind, outcome.final) == ("ok", "got Größe { } @x")


def test_prompt_comes_by_a_file_and_standard_input_is_empty(driver: Driver, script: Write) -> None:
    words = script("print(open(sys.argv[1]).read(), repr(sys.stdin.read()))")
    assert play(driver, (*words, "{prompt_file}"), "by file").final == "by file ''"


def test_placeholders_are_filled_in_once_and_other_braces_stay(
    driver: Driver, script: Write
) -> None:
    words = script("print(json.dumps(sys.argv[1:]))")
    given = (
        "-w={workspace}",
        "{model}",
        "{exit_file}",
        "{other}",
        "{}",
        "${HOME}; ls",
        "{session}",
    )
    outcome = play(driver, (*words, *given), model="{workspace}", request={"exit_file": "out.json"})
    place, model, exit_file, *braces, session = json.loads(outcome.final)
    assert (place, model, exit_file) == (f"-w={driver.workspace}", "{workspace}", "out.json")
    assert braces == ["{other}", "{}", "${HOME}; ls"]
    assert outcome.session == session


def test_conversation_goes_on_by_its_name(driver: Driver, script: Write) -> None:
    words = (*script("print(sys.argv[1])"), "{session}")
    first = play(driver, words)
    second = play(driver, words, resume=first.session)
    third = play(driver, words)
    assert (second.session, second.final) == (first.session, first.session)
    assert third.session not in ("", first.session)


def test_command_without_a_place_for_it_has_no_conversation(driver: Driver, script: Write) -> None:
    text = "print(json.dumps({'type': 'session', 'id': 's-1'})); print('{\"type\": \"text\", '\n"
    words = script(text + '\'"text": "hi"}\')')
    outcome = play(driver, words)
    assert (outcome.kind, outcome.session, outcome.final) == ("ok", "", "hi")


def test_plain_text_is_the_final_message_with_its_signal(driver: Driver, script: Write) -> None:
    words = script("print('Working.\\n')\nprint('<signal>SPEC_DRAFTED</signal>')")
    outcome = play(driver, words)
    assert outcome == Outcome("ok", "Working.\n\n<signal>SPEC_DRAFTED</signal>")
    assert [event for event in driver.events if isinstance(event, Said)]


def test_json_that_is_no_event_is_plain_text(driver: Driver, script: Write) -> None:
    outcome = play(driver, script("""print('{"type": "odd"}'); print('{"type": "final"}')"""))
    assert outcome.final == '{"type": "odd"}\n{"type": "final"}'


EVENTS = """
def tell(**event): print(json.dumps(event), flush=True)
print()
tell(type="text", text="I begin.")
tell(type="tool_start", name="Edit a.txt")
tell(type="tool_end", output="done")
tell(type="usage", usd=0.25, tokens=120)
"""


def test_events_are_read_as_events(driver: Driver, script: Write) -> None:
    more = "tell(type='text', text='All '); tell(type='text', text='done.'); print('odd')"
    outcome = play(driver, script(EVENTS + more))
    assert (outcome.kind, outcome.final) == ("ok", "All done.")
    assert (outcome.usd, outcome.tokens) == (0.25, 120)
    assert ToolStarted("Edit a.txt") in driver.events
    assert Warned("not an event: odd") in driver.events


def test_final_and_answer_of_events_count(driver: Driver, script: Write) -> None:
    more = "tell(type='answer', exit='Done', payload={'n': 1}); tell(type='final', text='bye')"
    outcome = play(driver, script(f"{EVENTS}{more}\nsys.exit(3)"))
    assert (outcome.kind, outcome.final) == ("ok", "bye")
    assert outcome.answer is not None
    assert (outcome.answer.exit, outcome.answer.payload) == ("Done", {"n": 1})


def test_failure_that_it_tells_is_the_outcome(driver: Driver, script: Write) -> None:
    outcome = play(driver, script(f"{EVENTS}tell(type='failed', kind='auth', text='log in')"))
    assert (outcome.kind, outcome.detail) == ("auth", "log in")


@pytest.mark.parametrize("told,wait", [("7.5", 7.5), ("-3", 0), ("float('inf')", 86_400.0)])
def test_command_at_its_limit_says_how_long(
    driver: Driver, script: Write, told: str, wait: float
) -> None:
    more = f"tell(type='failed', kind='rate_limit', text='later', wait_s={told})"
    outcome = play(driver, script(f"{EVENTS}{more}"))
    assert (outcome.kind, outcome.wait_s) == ("rate_limit", wait)


def test_command_that_says_nothing_has_crashed(driver: Driver, script: Write) -> None:
    outcome = play(driver, script("print('  ')"))
    assert (outcome.kind, outcome.detail) == (
        "crashed",
        "it ended with exit code 0, but it printed nothing",
    )


def test_command_that_wrote_its_exit_file_need_say_nothing(driver: Driver, script: Write) -> None:
    words = (*script("open(sys.argv[1], 'w').write('{}')"), "{exit_file}")
    assert play(driver, words).kind == "ok"


def test_exit_code_75_is_a_rate_limit(driver: Driver, script: Write) -> None:
    assert play(driver, script("print('later'); sys.exit(75)")).kind == "rate_limit"


def test_other_exit_codes_are_crashes_with_the_last_error(driver: Driver, script: Write) -> None:
    outcome = play(driver, script("print('half'); sys.stderr.write('a\\nboom\\n'); sys.exit(3)"))
    assert (outcome.kind, outcome.final) == ("crashed", "")
    assert outcome.detail == "ended without a final message (exit code 3): boom"


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_killed_command_has_crashed_by_its_signal(driver: Driver, script: Write, name: str) -> None:
    outcome = play(
        driver, script(f"print('half', flush=True); os.kill(os.getpid(), signal.{name})")
    )
    assert outcome.kind == "crashed"
    assert "signal" in outcome.detail


def test_interrupted_command_tells_so(driver: Driver, script: Write) -> None:
    ready = driver.workspace / "ready"
    words = script("open('ready', 'w').close(); time.sleep(60)")
    outcome = play(driver, words, stop_when=ready.exists)
    assert outcome.kind == "interrupted"
    assert driver.left() == []


def test_command_that_is_not_installed_is_named(driver: Driver) -> None:
    outcome = play(driver, ("no-such-agent-anywhere", "x"))
    assert outcome.kind == "bad_request"
    assert "`no-such-agent-anywhere` could not be started" in outcome.detail


def test_agent_without_a_command_is_refused(driver: Driver) -> None:
    with pytest.raises(OutsideError, match="no command"):
        command.prepare(driver.turn("x"))


def test_huge_output_keeps_its_end(driver: Driver, script: Write) -> None:
    text = "for n in range(400): print('é' * 10000)\nprint('x' * 3_000_000 + 'y')\nprint('the end')"
    outcome = play(driver, script(text))
    assert outcome.kind == "ok"
    assert outcome.final.endswith("xxxy\nthe end")
    assert len(outcome.final.encode()) < LONGEST_LINE
    assert not [event for event in driver.events if isinstance(event, Warned)]


def test_half_a_character_is_replaced(driver: Driver, script: Write) -> None:
    text = "sys.stdout.buffer.write(b'caf\\xc3\\nna\\xc3\\xafve \\xff')"
    assert play(driver, script(text)).final == "caf\ufffd\nnaïve \ufffd"


def test_colours_and_titles_are_stripped(driver: Driver, script: Write) -> None:
    text = r"print('\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain\r\x00 \x1b(Btail\a')"
    assert play(driver, script(text)).final == "red plain tail"


def test_somebody_left_behind_does_not_hold_up_the_end(driver: Driver, script: Write) -> None:
    text = (
        "import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True); print('ok')"
    )
    outcome = play(driver, script(text), wall_s=20)
    assert (outcome.kind, outcome.final) == ("ok", "ok")
    assert driver.left() == []


def test_silent_command_is_ended_by_the_wall_limit(driver: Driver, script: Write) -> None:
    outcome = play(driver, script("print('hm', flush=True); time.sleep(60)"), wall_s=1)
    assert (outcome.kind, driver.left()) == ("timeout", [])


@pytest.mark.parametrize("before", ["", "print('Let me see.', flush=True)"])
def test_silent_command_is_not_ended_before_its_turn_is_over(
    before: str, driver: Driver, script: Write
) -> None:
    """E2: nobody knows whether it waits for its provider, and it need not say anything before."""
    outcome = play(driver, script(f"{before}\ntime.sleep(1.5)\nprint('ok')"), idle_s=0.4)
    assert outcome.kind == "ok"
    assert outcome.final.endswith("ok")


def test_end_is_in_the_transcript_for_whoever_takes_over(driver: Driver, script: Write) -> None:
    play(driver, script("print('all done')"))
    transcript = driver.place / "turn-1" / "transcript.jsonl"
    assert transcripts.read_finished_outcome(command, str(transcript)) == Outcome("ok", "all done")
    play(driver, script("print('half'); sys.exit(1)"))
    transcript = driver.place / "turn-2" / "transcript.jsonl"
    assert transcripts.read_finished_outcome(command, str(transcript)) is None


def test_little_of_the_environment_passes(
    driver: Driver, script: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s")
    monkeypatch.setenv("MY_KEY", "k")
    words = script("print([os.environ.get(name) for name in ('SECRET_TOKEN', 'MY_KEY')])")
    assert play(driver, words, env=("MY_*",)).final == "[None, 'k']"


def test_workspace_cannot_replace_a_module_of_the_process_above(
    driver: Driver, script: Write
) -> None:
    (driver.workspace / "json.py").write_text("raise SystemExit('imported')")
    assert play(driver, script("print('fine')")).final == "fine"


@given(st.text())
def test_feed_never_raises(line: str) -> None:
    command.feed(line)


@given(st.dictionaries(st.sampled_from(["type", "text", "usd", "tokens", "kind", "id"]), st.none()))
def test_feed_warns_of_events_with_odd_values(event: dict[str, Any]) -> None:
    for kind in (*command_process.EVENT_TYPES, "odd"):
        line = json.dumps({**event, "type": kind, "usd": "x", "tokens": "1e999", "kind": []})
        assert len(command.feed(line)) == 1


def test_nothing_is_enforced_and_that_is_said() -> None:
    assert "nothing is enforced" in command.unenforced(INSIDE)[0]
    assert command.stderr("boom") is None
    assert command.feed(" ") == ()
    assert command.judge(TurnSummary(said="half")) is None
    assert command.probe().installed
    assert not command.FORKS


def test_all_kinds_of_events_of_the_scripted_agent_are_known() -> None:
    assert os.path.isabs(command_process.__file__)
    own = (command_process.DONE, command_process.WAITING)
    assert {*command_process.EVENT_TYPES, *own} == set(command._EVENT_READERS)
