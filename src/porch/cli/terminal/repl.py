"""A run on a terminal with a prompt: what is typed becomes the same wishes that commands leave."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace
from rich.console import RenderableType
from rich.live import Live
from rich.text import Text

from porch.agents.transcripts import list_transcript_parts
from porch.cli.arguments import read_command_arguments
from porch.cli.command import View
from porch.cli.decision_words import ARGUMENTS, read_decision
from porch.cli.terminal.finish_offer import offer_finish
from porch.cli.terminal.line_editor import LineEditor
from porch.cli.terminal.line_input import KeyReader
from porch.cli.terminal.one_key import read_one_key
from porch.cli.terminal.screen import Screen
from porch.cli.terminal.terminal_faults import on_suspend, open_console
from porch.cli.terminal.typed_request import (
    DECIDING,
    HELP,
    TypedRequest,
    add_only_decision,
    complete_line,
    parse_typed_line,
    shorten_command,
    use_prompt_words,
)
from porch.cli.terminal_width import terminal_style
from porch.cli.verbs import CliCommand
from porch.errors import PorchError, UsageError
from porch.machine.budgets import RUN, allowed_amount
from porch.machine.facts import SettingsPinned, WishRefused
from porch.machine.records import JournalRecord
from porch.machine.state import RunState
from porch.run.agents.roster import SCRIPTED
from porch.run.decisions.shown_files import add_changes
from porch.run.engine.caller import refuse_agents
from porch.run.engine.driver import DriveManner
from porch.run.engine.fact_redaction import redact_wish
from porch.run.engine.run_places import workspace_of
from porch.run.pinned_settings import read_pinned_settings
from porch.run.settings import Settings, load_settings
from porch.run.verbs import decide, overview
from porch.run.verbs.launch import DriveResult, DriveWatch
from porch.run.verbs.read_run import ReadRun, read_run
from porch.run.verbs.run_lookup import find_run
from porch.store import inbox
from porch.store.where import ProjectPaths

if TYPE_CHECKING:
    from porch.show.shapes import DecisionShape

_CHANNEL = "repl"
Drive = Callable[[DriveManner, DriveWatch], DriveResult]


class Repl:
    """Shows a drive and takes a person's word for it."""

    def __init__(self, where: ProjectPaths, drive: Drive, manner: DriveManner):
        self._where = where
        self._drive = drive
        self._manner = manner
        self._editor = LineEditor(self._complete)
        self._keys = KeyReader(self._editor, self._line, self._redraw, self._quit)
        self._screen = Screen(lambda: self._editor.view, self._find_agent, open_console())
        self._live = Live(
            get_renderable=self._screen.picture,
            console=self._screen.console,
            refresh_per_second=4,
            transient=True,
        )
        self._state: RunState | None = None
        self._settings: Settings | None = None
        self._seen: set[str] = set()

    def run(self) -> View:
        watch = DriveWatch(
            self._record,
            self._screen.output,
            notice=self._screen.note,
            started=self._keys.listen,
            protocol=self._screen.follows,
        )
        with self._keys, self._live, on_suspend(self._let_go, self._take_back):
            driven = self._drive(self._manner, watch)
        return offer_finish(
            driven,
            self._where,
            self._screen.spent,
            read_key=read_one_key,
            look=terminal_style(),
        )

    def _redraw(self) -> None:
        self._live.refresh()

    def _quit(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    def _let_go(self) -> None:
        """Ctrl-Z: the shell gets its terminal as it was."""
        self._live.stop()
        self._keys.release()

    def _take_back(self) -> None:
        self._keys.hold()
        self._live.start(refresh=True)

    def _record(self, record: JournalRecord, state: RunState) -> None:
        self._state = state
        if self._settings is None or isinstance(record.fact, SettingsPinned):
            self._settings = self._read_settings(state)
        self._screen.happened(
            record, state, self._allowed_usd(state), is_scripted=state.run.agent == SCRIPTED
        )
        if isinstance(record.fact, WishRefused):
            self._explain_refusal(state, record.fact)
        if not self._seen >= state.decisions.keys():
            self._ask(state, [each for each in state.decisions if each not in self._seen])

    def _read_settings(self, state: RunState) -> Settings:
        now = load_settings(self._where.root)
        return read_pinned_settings(self._where, state.run.name, state.run.settings, now)

    def _allowed_usd(self, state: RunState) -> float:
        """The limit of the whole run, with what a person granted; 0 if there is none."""
        limit = self._settings.max_usd if self._settings else 0
        return allowed_amount(state, f"{RUN}.max_usd", limit) if limit else 0

    def _find_agent(self, effect: str) -> str:
        """Known as soon as a turn has begun to write."""
        state = self._state
        directory = self._where.run_dir(state.run.name) if state else ""
        parts = list_transcript_parts(directory, effect) if state else []
        return parts[-1].agent if parts else ""

    def _complete(self, front: str) -> list[str]:
        state = self._state
        if state is None:
            return []
        files: list[str] = []
        with contextlib.suppress(PorchError, OSError):
            if parse_typed_line(front).verb == "diff":
                from porch.cli.terminal.reading import list_changed_paths

                files = list_changed_paths(self._where, state)
            else:
                files = [path for each in state.decisions.values() for path in each.artifacts]
        return complete_line(front, self._list_decisions(state), files)

    def _line(self, line: str) -> None:
        """One line was typed; deciding verbs become wishes, the rest is answered here."""
        state = self._state
        if state is None:
            return
        if not line.strip():
            self._screen.turn_page()
            return
        said = parse_typed_line(line)
        if said.trouble:
            self._screen.say(f"  {said.trouble}")
        elif {"-h", "--help"}.intersection(said.words):
            self._screen.say(HELP)
        elif said.verb in DECIDING:
            self._try(lambda: self._decide(state, said))
        else:
            self._try(lambda: self._do(state, said.verb, "".join(said.words)))

    def _try(self, act: Callable[[], None]) -> None:
        """What a command would complain about is said here, and the run goes on."""
        try:
            act()
        except PorchError as error:
            self._complain(error)
        except OSError as error:
            self._screen.say(f"  it could not be read: {error}")

    def _complain(self, error: PorchError) -> None:
        for each in error.findings:
            self._screen.say("\n".join(f"  {line}" for line in each.message.split("\n")))
            self._screen.say(f"  {use_prompt_words(each.fix)}" if each.fix else "")

    def _do(self, state: RunState, verb: str, file: str) -> None:
        match verb:
            case "stop":
                refuse_agents(os.environ, as_person=False)
                self._leave(state, {"kind": "stop"})
            case "quit":
                self._quit()
            case "view" if not state.decisions:
                self._screen.say("  no decision is waiting for you")
            case "view" | "diff" | "log" | "cost":
                self._screen.show(*self._read(state, verb, file))
            case "status":
                text = overview.read_picture(self._where, state.run.name)["text"]
                self._screen.show(*(Text(f"  {line}") for line in text))
            case _:
                self._screen.say(HELP)

    def _read(self, state: RunState, verb: str, file: str) -> Iterator[RenderableType]:
        """Loaded late: most of the time nobody reads anything."""
        from porch.cli.terminal import reading

        match verb:
            case "view":
                # Noted before they are read: what is written after this is news.
                asked = list(self._render_questions(state, list(state.decisions)))
                decisions = list(state.decisions.values())
                width = self._screen.width
                yield from reading.read_documents(self._where, state, decisions, file, width)
                yield from asked
            case "diff":
                yield from reading.read_changes(self._where, state, file)
            case "log":
                yield from reading.read_log(self._where, state, self._screen.render_record)
            case _:
                protocol = read_run(self._where, state.run.name).definition.protocol
                is_scripted = state.run.agent == SCRIPTED
                limit = self._allowed_usd(state)
                yield from reading.read_cost(protocol, state, limit, is_scripted=is_scripted)

    def _decide(self, state: RunState, said: TypedRequest) -> None:
        """As the command of this name would; only nobody waits here until the wish is answered."""
        run, found = state.run.name, read_run(self._where, state.run.name)
        argv = [said.verb, *said.words]
        if not said.names_run:
            argv = [said.verb, run, *self._name_only_decision(found, said)]
        command = CliCommand(said.verb, "", lambda _: View(), ARGUMENTS[said.verb])
        args = read_command_arguments("porch", command, argv)
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
            self._screen.say(f"  {use_prompt_words(told.message)}")
            return
        for note in decide.check_answer(self._where, found, decision, request):
            self._screen.say(f"  {note}")
        self._leave(state, decide.make_answer(self._where, found, decision, request))

    def _name_only_decision(self, found: ReadRun, said: TypedRequest) -> Sequence[str]:
        only = decide.find_asked_decision(found, "")
        if only is None:
            return said.words
        return add_only_decision(
            said.verb, said.words, only.name, partial(decide.is_decision_name, found)
        )

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
            return
        shown = [each for each in self._list_decisions(state) if each["name"] == decision.name]
        options = [option for each in shown for option in each["options"]]
        if fact.wish.exit not in [option["answer"] for option in options]:
            is_only = len(state.decisions) == 1
            typed = [shorten_command(option["command"], is_only) for option in options]
            self._screen.say(f"  possible: {'; '.join(typed)}")

    def _leave(self, state: RunState, wish: Mapping[str, object]) -> None:
        directory = os.path.join(self._where.run_dir(state.run.name), "inbox")
        inbox.leave_wish(directory, {"channel": _CHANNEL, **redact_wish(wish)})

    def _ask(self, state: RunState, positions: list[str]) -> None:
        self._seen.update(positions)
        self._screen.show_all(*self._render_questions(state, positions))

    def _render_questions(self, state: RunState, positions: list[str]) -> Iterator[RenderableType]:
        """What is asked, and what changed in its files; an answer is for what is shown here."""
        decisions = self._list_decisions(state)
        shown = [each for each in decisions if each["position"] in positions]
        add_changes(self._where, state, shown)
        root, is_only = workspace_of(self._where, state), len(decisions) == 1
        for decision in shown:
            yield self._screen.render_question(decision, root, is_only)

    def _list_decisions(self, state: RunState) -> list["DecisionShape"]:
        return overview.read_picture(self._where, state.run.name)["decisions"]
