"""A run on a terminal with a prompt: what is typed becomes the same wishes that commands leave."""

import os
import signal
from collections.abc import Callable, Mapping

from msgspec.structs import replace
from rich.live import Live

from porch.cli.arguments import read_command_arguments
from porch.cli.command import View
from porch.cli.decision_words import ARGUMENTS, read_decision
from porch.cli.terminal.line_input import KeyReader
from porch.cli.terminal.screen import Screen
from porch.cli.terminal.stream import driven_view
from porch.cli.terminal.typed_request import DECIDING, HELP, TypedRequest, parse_typed_line
from porch.cli.verbs import CliCommand
from porch.errors import PorchError, UsageError
from porch.machine.facts import WishRefused
from porch.machine.records import JournalRecord
from porch.machine.state import RunState
from porch.run.decisions.shown_files import add_changes
from porch.run.engine.caller import refuse_agents
from porch.run.engine.driver import DriveManner
from porch.run.engine.fact_redaction import redact_wish
from porch.run.engine.run_places import workspace_of
from porch.run.verbs import decide, overview
from porch.run.verbs.launch import DriveResult, DriveWatch
from porch.run.verbs.read_run import read_run
from porch.run.verbs.run_lookup import find_run
from porch.store import inbox
from porch.store.where import ProjectPaths

_CHANNEL = "repl"
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
        self._seen: set[str] = set()

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
        if isinstance(record.fact, WishRefused):
            self._explain_refusal(state, record.fact)
        if not self._seen >= state.decisions.keys():
            self._view(state, [each for each in state.decisions if each not in self._seen])

    def _line(self, line: str) -> None:
        """One line was typed; deciding verbs become wishes, the rest is answered here."""
        state = self._state
        if state is None:
            return
        said = parse_typed_line(line)
        if said.trouble:
            self._screen.say(f"  {said.trouble}")
        elif {"-h", "--help"}.intersection(said.words):
            self._screen.say(HELP)
        elif said.verb in DECIDING:
            self._try(lambda: self._decide(state, said))
        else:
            self._try(lambda: self._do(state, said.verb))

    def _try(self, act: Callable[[], None]) -> None:
        """What a command would complain about is said here, and the run goes on."""
        try:
            act()
        except PorchError as error:
            self._complain(error)

    def _complain(self, error: PorchError) -> None:
        for each in error.findings:
            self._screen.say("\n".join(f"  {line}" for line in each.message.split("\n")))
            self._screen.say(f"  {each.fix}" if each.fix else "")

    def _do(self, state: RunState, verb: str) -> None:
        match verb:
            case "stop":
                refuse_agents(os.environ, as_person=False)
                self._leave(state, {"kind": "stop"})
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
        """As the command of this name would; only nobody waits here until the wish is answered."""
        run = state.run.name
        argv = [said.verb, *said.words] if said.names_run else [said.verb, run, *said.words]
        command = CliCommand(said.verb, "", lambda _: View(), ARGUMENTS[said.verb])
        args, found = read_command_arguments("porch", command, argv), read_run(self._where, run)
        if said.names_run and find_run(self._where, args.id) != run:
            raise UsageError(
                f"this prompt is for {run}, not for {args.id}", fix="type it in another terminal"
            )
        name, request = read_decision(said.verb, args, found)
        refuse_agents(os.environ, request.as_person)
        request = replace(request, channel=_CHANNEL)
        decision = decide.find_asked_decision(found, name)
        if decision is None:
            told = decide.answer_nothing_asked(self._where, found, name, request)
            self._screen.say(f"  {told.message}")
            return
        for note in decide.check_answer(self._where, found, decision, request):
            self._screen.say(f"  {note}")
        self._leave(state, decide.make_answer(self._where, found, decision, request))

    def _explain_refusal(self, state: RunState, fact: WishRefused) -> None:
        """An approval of files that changed: the difference is shown, and can then be accepted."""
        decision = state.decisions.get(fact.wish.position)
        if decision is None or fact.wish.channel != _CHANNEL or fact.notice:
            return
        wish = {"exit": fact.wish.exit, "digest": fact.wish.digest, "data": fact.wish.data}
        found = read_run(self._where, state.run.name)
        error = decide.find_file_refusal(self._where, found, decision, wish)
        if error is not None:
            self._complain(error)

    def _leave(self, state: RunState, wish: Mapping[str, object]) -> None:
        directory = os.path.join(self._where.run_dir(state.run.name), "inbox")
        inbox.leave_wish(directory, {"channel": _CHANNEL, **redact_wish(wish)})

    def _view(self, state: RunState, positions: list[str]) -> None:
        """What is asked, and what changed in its files; an answer is for what is shown here."""
        self._seen.update(positions)
        decisions = overview.read_picture(self._where, state.run.name)["decisions"]
        shown = [each for each in decisions if each["position"] in positions]
        add_changes(self._where, state, shown)
        for decision in shown:
            self._screen.asks(decision, workspace_of(self._where, state))
