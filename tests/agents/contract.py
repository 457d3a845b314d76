"""What every kind of agent owes the runtime: the checks that each row of AGENTS goes through.

A check takes a stage and fails by an assertion. Processes are real: a small program stands in for
the command line and says what the kind's samples say, by the same road as the turns of a run.
"""

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from porch.agents import AgentTable, port, transcripts
from porch.agents.events import Answered, Event, Warned
from porch.agents.outcomes import AnswerWay, OutcomeKind
from porch.agents.transcripts import TranscriptListener, read_turn_summary
from porch.claims.legal_signal import LegalSignal
from porch.claims.signals import choose_signal, read_signals
from porch.model.permissions import INSIDE, READ_ONLY, UNLIMITED, Permissions
from porch.run.agents import trial_repository
from porch.run.agents import turn as turns
from porch.run.agents.roster import EmployedAgent, Roster
from porch.run.agents.world import World
from porch.run.settings import Settings
from porch.system import process
from porch.system.growing_file import OutputLine
from porch.system.process import CommandResult
from porch.tree.answers.answer_block import read_answer_block
from tests.agents.driving import mark_for
from tests.agents.samples import (
    ANSWER,
    CRASH_CODE,
    EXIT,
    PAYLOAD,
    VERSION,
    Samples,
    Saying,
)

PROMPT = "Please write the specification of a greeter."
SIGNAL = "<signal>SPEC_DRAFTED</signal>"
SECRET = "hush-6f1d0c9b7a5e4d3c"
TYPES = ("{}", '{"type": ["x"]}', '{"type": 7}')
JUNK = ("nonsense", "[1]", '"text"', *TYPES, "[" * 9999, "\x00\ufffd")
LONG_S = 60.0


@dataclass(frozen=True)
class Played:
    """How a turn came out, and where its files lie."""

    outcome: port.Outcome
    directory: Path

    @property
    def transcript(self) -> str:
        return str(self.directory / turns.TRANSCRIPT)


@dataclass
class Stage:
    """One kind of agent in a workspace of its own, with nothing of this machine on its PATH."""

    kind: str
    agent: port.AgentPort
    samples: Samples
    place: Path
    monkeypatch: pytest.MonkeyPatch
    count: int = 0

    def __post_init__(self) -> None:
        for name in ("bin", "home", "workspace", "run"):
            (self.place / name).mkdir(parents=True)
        self.monkeypatch.setenv("PATH", f"{self.place / 'bin'}:/usr/bin:/bin")
        self.monkeypatch.setenv("HOME", str(self.place / "home"))
        for name in ("CODEX_HOME", "GEMINI_CLI_HOME", "CLAUDE_CONFIG_DIR"):
            self.monkeypatch.delenv(name, raising=False)

    @property
    def mark(self) -> str:
        return mark_for(self.place)

    def turn(self, saying: Saying, **more: Any) -> port.Turn:
        self.count += 1
        given = {
            "effect": f"effect-{self.count}",
            "prompt": PROMPT,
            "request": {"exit_file": str(self.place / "exit.json")},
            "workspace": str(self.place / "workspace"),
            "directory": self._world().new_turn_directory(f"effect-{self.count}"),
        }
        return port.Turn(**{**given, **self.samples.arrange(self.place, saying), **more})

    def asked(self, **more: Any) -> str:
        """All that the command line is told for a turn: its words, and its files but the prompt."""
        turn = self.turn(self.samples.says("x"), **more)
        prepared = self.agent.prepare(turn)
        files = (path for path in Path(turn.directory).iterdir() if path.is_file())
        texts = [path.read_text() for path in sorted(files) if path.name != "prompt.md"]
        told = "\n".join((*prepared.argv, *texts))
        return told.replace(turn.directory, "TURN").replace(turn.effect, "EFFECT")

    def play(self, saying: Saying, wall_s: float = LONG_S, **more: Any) -> Played:
        turn = self.turn(saying, **more)
        taken = asyncio.run(self._take(turn, wall_s))
        assert isinstance(taken, turns.EndedTurn)
        return Played(taken.outcome, Path(turn.directory))

    def stopped(self, saying: Saying) -> turns.EndedTurn | turns.StoppedTurn:
        """A turn that is stopped from outside as soon as it has said anything."""
        return asyncio.run(self._stop(self.turn(saying)))

    async def _take(self, turn: port.Turn, wall_s: float) -> turns.EndedTurn | turns.StoppedTurn:
        post = EmployedAgent(self.kind, self.kind, self.agent, command=turn.command)
        return await turns.run_turn(self._world(), post, turn, wall_s=wall_s, idle_s=0)

    async def _stop(self, turn: port.Turn) -> turns.EndedTurn | turns.StoppedTurn:
        taking = asyncio.ensure_future(self._take(turn, LONG_S))
        # Another process writes the file; nobody here could set an event.
        while not taking.done() and not _size(turn.file(turns.TRANSCRIPT)):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        taking.cancel()
        return await taking

    def _world(self) -> World:
        empty = trial_repository.make_empty_world(Settings(), Roster(Settings(), ""))
        workspace, directory = str(self.place / "workspace"), str(self.place / "run")
        return replace(empty, workspace=workspace, directory=directory, mark=self.mark)


Check = Callable[[Stage], None]


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def set_stage(
    kind: str, table: AgentTable, samples: Samples, place: Path, patch: pytest.MonkeyPatch
) -> Stage:
    return Stage(kind, table[kind], samples, place / kind, patch)


def a_signal_arrives(stage: Stage) -> None:
    outcome = stage.play(stage.samples.says(f"I wrote it.\n\n{SIGNAL}")).outcome
    assert outcome.kind == "ok", outcome.detail
    choice = choose_signal(read_signals(outcome.final), {"SPEC_DRAFTED": LegalSignal("drafted")})
    assert choice.exit == "drafted", choice.notes


def a_typed_answer_arrives_by_each_of_its_ways(stage: Stage) -> None:
    assert set(stage.samples.typed) == set(stage.agent.ANSWERS), "a way without a sample"
    for way, saying in stage.samples.typed.items():
        outcome = stage.play(saying, schema={"type": "object"}).outcome
        assert outcome.kind == "ok", outcome.detail
        assert _answer(stage, way, outcome) == Answered(EXIT, PAYLOAD), way


def _answer(stage: Stage, way: AnswerWay, outcome: port.Outcome) -> Answered | None:
    match way:
        case "schema":
            return outcome.answer
        case "message":
            closing = read_answer_block(outcome.final)
            return Answered(closing.exit, closing.payload) if closing else None
        case "file":
            told = json.loads((stage.place / "exit.json").read_text())
            return Answered(told["exit"], told["payload"]) if told == ANSWER else None


def a_silent_end_is_no_success(stage: Stage) -> None:
    _fails(stage, stage.samples.silent, "crashed")


def a_refusal_is_told_apart(stage: Stage) -> None:
    _fails(stage, stage.samples.refused, "refused")


def a_rate_limit_is_told_apart_and_says_how_long(stage: Stage) -> None:
    assert _fails(stage, stage.samples.rate_limit, "rate_limit").wait_s > 0


def a_missing_login_is_told_apart(stage: Stage) -> None:
    _fails(stage, stage.samples.auth, "auth")


def a_crash_without_words_says_how_it_ended(stage: Stage) -> None:
    outcome = _fails(stage, stage.samples.crashed, "crashed")
    assert f"exit code {CRASH_CODE}" in outcome.detail


def _fails(stage: Stage, saying: Saying, kind: OutcomeKind) -> port.Outcome:
    played = stage.play(saying)
    assert played.outcome.kind == kind, played.outcome
    assert played.outcome.detail
    # Nor does whoever finds the transcript after a crash take it for a success.
    assert transcripts.read_finished_outcome(stage.agent, played.transcript) is None
    return played.outcome


def garbage_means_nothing(stage: Stage) -> None:
    listener = TranscriptListener(stage.agent.feed)
    for text in JUNK:
        found: tuple[Event, ...] = stage.agent.feed(text)
        assert all(isinstance(event, Warned) for event in found), text
        listener.take(OutputLine(text))
    ended = CommandResult(0, None, "exited", 1.0)
    assert port.derive_outcome(stage.agent, listener.summary, ended, "").kind == "crashed"


def garbage_between_its_lines_changes_nothing(stage: Stage) -> None:
    played = stage.play(stage.samples.says(SIGNAL))
    lines = Path(played.transcript).read_text().splitlines()
    spoilt = stage.place / "spoilt.jsonl"
    spoilt.write_text("".join(f"{text}\n" for line in lines for text in (line, *JUNK)))
    found = read_turn_summary(str(spoilt), stage.agent.feed)
    assert (found.final or "").strip() == played.outcome.final.strip() == SIGNAL


def it_is_known_to_be_over_when_it_said_its_last_word(stage: Stage) -> None:
    played = stage.play(stage.samples.says(SIGNAL))
    assert read_turn_summary(played.transcript, stage.agent.feed).is_over


def a_success_is_found_in_the_transcript_alone(stage: Stage) -> None:
    played = stage.play(stage.samples.says(SIGNAL))
    found = transcripts.read_finished_outcome(stage.agent, played.transcript)
    assert found is not None
    assert (found.final, found.session) == (played.outcome.final, played.outcome.session)


def a_turn_that_hangs_is_ended_in_time(stage: Stage) -> None:
    outcome = stage.play(stage.samples.begins, wall_s=0.4).outcome
    assert outcome.kind == "timeout", outcome
    assert process.list_marked_processes(stage.mark) == []


def a_stopped_turn_leaves_nobody_and_its_conversation_is_known(stage: Stage) -> None:
    stopped = stage.stopped(stage.samples.begins)
    assert isinstance(stopped, turns.StoppedTurn)
    assert stopped.session
    assert process.list_marked_processes(stage.mark) == []


def a_conversation_goes_on_by_its_name(stage: Stage) -> None:
    first = stage.play(stage.samples.says("x")).outcome
    assert first.session
    assert stage.agent.resumes(stage.turn(stage.samples.says("x")).command)
    plain, resumed = stage.asked(), stage.asked(resume=first.session)
    assert first.session not in plain
    assert first.session in resumed
    again = stage.play(stage.samples.says("y"), resume=first.session).outcome
    assert (again.kind, again.final) == ("ok", "y")
    # The same total told again is nothing new; an amount of the turn is what it says.
    assert again.tokens == (0 if stage.agent.COUNTS_ALL else stage.samples.tokens)


def a_fork_is_asked_for_in_another_way(stage: Stage) -> None:
    ways = {stage.asked(), stage.asked(resume="conv-1"), stage.asked(fork="conv-1")}
    # A command of one's own is never asked to fork.
    assert len(ways) == 3 or not stage.agent.FORKS


def usage_is_told(stage: Stage) -> None:
    assert stage.samples.tokens > 0
    assert stage.samples.usd > 0 or not stage.agent.TELLS_USD
    outcome = stage.play(stage.samples.says("x")).outcome
    assert (outcome.tokens, outcome.usd) == (stage.samples.tokens, stage.samples.usd)
    assert outcome.cached + outcome.output <= outcome.tokens


def secrets_are_in_no_file_that_stays(stage: Stage) -> None:
    stage.monkeypatch.setenv("SOME_TOKEN", SECRET)
    saying = stage.samples.says(f"It is {SECRET}.")
    played = stage.play(replace(saying, errors=f"seen: {SECRET}\n"))
    assert (played.outcome.kind, SECRET in played.outcome.final) == ("ok", False)
    for name in (turns.TRANSCRIPT, "errors.txt"):
        text = (played.directory / name).read_text()
        assert SECRET not in text, name
    assert "[redacted]" in Path(played.transcript).read_text()


def of_the_environment_only_its_own_passes(stage: Stage) -> None:
    stage.monkeypatch.setenv("SOME_TOKEN", SECRET)
    own = [name.replace("*", "X") for name in stage.agent.CREDENTIALS]
    for name in own:
        stage.monkeypatch.setenv(name, str(stage.place))
    env = stage.agent.prepare(stage.turn(stage.samples.says("x"))).env
    assert SECRET not in env.values()
    assert set(own) | {"PATH", "HOME"} <= set(env)


def permissions_change_how_it_is_started_or_it_says_that_nothing_holds_it(stage: Stage) -> None:
    each = (INSIDE, READ_ONLY, UNLIMITED)
    ways = {stage.asked(permissions=permissions) for permissions in each}
    if stage.agent.HOLDS_PERMISSIONS:
        assert len(ways) == len(each)
    else:
        assert all(map(stage.agent.unenforced, each))
    assert all(_are_sentences(stage, permissions) for permissions in each)


def _are_sentences(stage: Stage, permissions: Permissions) -> bool:
    return all(len(text.split()) > 3 for text in stage.agent.unenforced(permissions))


def its_prompt_and_its_output_are_files_of_the_turn(stage: Stage) -> None:
    """Command lines are seen by everybody; and a runner that takes over looks for these names."""
    turn = stage.turn(stage.samples.says("x"))
    prepared = stage.agent.prepare(turn)
    assert not any(PROMPT in word for word in prepared.argv)
    assert PROMPT in Path(turn.file("prompt.md")).read_text()
    assert prepared.output == turn.file(turns.TRANSCRIPT)
    assert prepared.errors == turn.file("errors.txt")


def its_probe_tells_whether_it_is_there(stage: Stage) -> None:
    path = f"{stage.place / 'bin'}"
    stage.monkeypatch.setenv("PATH", path)
    missing = stage.agent.probe()
    assert missing.installed is (not stage.agent.EXECUTABLE)
    assert missing.installed or missing.note
    stage.monkeypatch.setenv("PATH", f"{path}{os.pathsep}/usr/bin:/bin")
    stage.samples.arrange(stage.place, stage.samples.says("x"))
    there = stage.agent.probe()
    assert there.installed
    assert there.version == VERSION or not stage.agent.EXECUTABLE


def a_person_is_told_how_to_log_in(stage: Stage) -> None:
    assert stage.agent.LOGIN or not stage.agent.EXECUTABLE


CHECKS: tuple[Check, ...] = (
    a_signal_arrives,
    a_typed_answer_arrives_by_each_of_its_ways,
    a_silent_end_is_no_success,
    a_refusal_is_told_apart,
    a_rate_limit_is_told_apart_and_says_how_long,
    a_missing_login_is_told_apart,
    a_crash_without_words_says_how_it_ended,
    garbage_means_nothing,
    garbage_between_its_lines_changes_nothing,
    it_is_known_to_be_over_when_it_said_its_last_word,
    a_success_is_found_in_the_transcript_alone,
    a_turn_that_hangs_is_ended_in_time,
    a_stopped_turn_leaves_nobody_and_its_conversation_is_known,
    a_conversation_goes_on_by_its_name,
    a_fork_is_asked_for_in_another_way,
    usage_is_told,
    secrets_are_in_no_file_that_stays,
    of_the_environment_only_its_own_passes,
    permissions_change_how_it_is_started_or_it_says_that_nothing_holds_it,
    its_prompt_and_its_output_are_files_of_the_turn,
    its_probe_tells_whether_it_is_there,
    a_person_is_told_how_to_log_in,
)
