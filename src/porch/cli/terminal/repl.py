"""A run on a terminal with a prompt: what is typed becomes the same wishes that commands leave."""

import os
import signal
from collections.abc import Callable, Mapping

from rich.live import Live

from porch.cli.command import View
from porch.cli.terminal.line_input import KeyReader
from porch.cli.terminal.screen import Screen
from porch.cli.terminal.stream import driven_view
from porch.cli.terminal.typed_request import HELP, TypedRequest, parse_typed_line
from porch.errors import PorchError
from porch.machine.records import JournalRecord
from porch.machine.state import RunState
from porch.run.engine.artifacts import digest_hashes, hash_artifacts
from porch.run.engine.caller import refuse_agents
from porch.run.engine.driver import DriveManner
from porch.run.engine.fact_redaction import redact_wish
from porch.run.engine.run_places import workspace_of
from porch.run.verbs import overview
from porch.run.verbs.launch import DriveResult, DriveWatch
from porch.store import inbox
from porch.store.where import ProjectPaths

Drive = Callable[[DriveManner, DriveWatch], DriveResult]


class Repl:
    """Shows a drive and takes a person's word for it."""

    def __init__(self, where: ProjectPaths, drive: Drive, manner: DriveManner):
        self._where = where
        self._drive = drive
        self._manner = manner
        self._keys = KeyReader(self._line, self._redraw, self._quit)
        self._screen = Screen(lambda: self._keys.typed)
        self._live = Live(
            get_renderable=self._screen.picture,
            console=self._screen.console,
            refresh_per_second=4,
            transient=True,
        )
        self._state: RunState | None = None
        self._seen: dict[str, str] = {}

    def run(self) -> View:
        watch = DriveWatch(
            self._record,
            self._screen.output,
            notice=self._screen.note,
            started=self._keys.listen,
            protocol=self._screen.follows,
        )
        with self._keys, self._live:
            driven = self._drive(self._manner, watch)
        return driven_view(driven, self._where)

    def _redraw(self) -> None:
        self._live.refresh()

    def _quit(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    def _record(self, record: JournalRecord, state: RunState) -> None:
        self._state = state
        self._screen.happened(record, state)
        if not self._seen.keys() >= state.decisions.keys():
            self._view(state, [each for each in state.decisions if each not in self._seen])

    def _line(self, line: str) -> None:
        """One line was typed; deciding verbs become wishes, the rest is answered here."""
        state = self._state
        if state is None:
            return
        said = parse_typed_line(line, [decision.name for decision in state.decisions.values()])
        if said.trouble:
            self._screen.say(f"  {said.trouble}")
        elif said.exit:
            self._decide(state, said)
        else:
            self._do(state, said.verb)

    def _do(self, state: RunState, verb: str) -> None:
        match verb:
            case "stop" if self._is_person():
                self._leave(state, {"kind": "stop"})
            case "stop":
                pass
            case "quit":
                self._quit()
            case "view" if not state.decisions:
                self._screen.say("  no decision is waiting for you")
            case "view":
                self._view(state, list(state.decisions))
            case "status":
                text = overview.read_picture(self._where, state.run.name)["text"]
                self._screen.say("\n".join(f"  {line}" for line in text))
            case _:
                self._screen.say(HELP)

    def _decide(self, state: RunState, said: TypedRequest) -> None:
        if not self._is_person():
            return
        decision = next(d for d in state.decisions.values() if d.name == said.decision)
        wish = {
            "kind": "decide",
            "position": decision.position,
            "exit": said.exit,
            "text": said.text,
            "digest": self._seen.get(decision.position, ""),
            "data": {"name": decision.name},
        }
        self._leave(state, wish)

    def _is_person(self) -> bool:
        try:
            refuse_agents(os.environ, as_person=False)
        except PorchError as error:
            self._screen.say(f"  {error}")
            return False
        return True

    def _leave(self, state: RunState, wish: Mapping[str, object]) -> None:
        directory = os.path.join(self._where.run_dir(state.run.name), "inbox")
        inbox.leave_wish(directory, {"channel": "repl", **redact_wish(wish)})

    def _view(self, state: RunState, positions: list[str]) -> None:
        """What is asked, and the digest of what was shown; an answer is for exactly that."""
        workspace = workspace_of(self._where, state)
        for decision in overview.read_picture(self._where, state.run.name)["decisions"]:
            position = decision["position"]
            if position in positions and position in state.decisions:
                artifacts = state.decisions[position].artifacts
                self._seen[position] = digest_hashes(hash_artifacts(workspace, "", artifacts))
                self._screen.asks(decision, workspace)
