"""A run on a terminal: what happens scrolls by, where it stands is shown below, with a prompt."""

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from porch.adapters import inbox
from porch.adapters.where import Where
from porch.machine.records import Record, encode
from porch.machine.state import Decision, State
from porch.operations.runs import Driven, Watch
from porch.operations.session import workspace_of
from porch.operations.wishing import who
from porch.runtime.artifacts import digest_of, sums
from porch.runtime.driver import Manner
from porch.surfaces.cli.command import View
from porch.surfaces.cli.stream import driven_view
from porch.surfaces.cli.terminal import Keys
from porch.surfaces.cli.words import HELP, Typed, typed
from porch.views import timeline
from porch.views.text import printable

Drive = Callable[[Manner, Watch], Driven]
_LINES_SHOWN = 4


class Repl:
    """Shows a drive and turns what is typed into the same wishes that commands leave."""

    def __init__(self, where: Where, drive: Drive, manner: Manner):
        self._where = where
        self._drive = drive
        self._manner = manner
        self._console = Console(highlight=False)
        self._state: State | None = None
        self._last: deque[str] = deque(maxlen=_LINES_SHOWN)
        self._since = time.monotonic()
        self._seen: dict[str, str] = {}
        self._keys = Keys(self._line)

    def run(self) -> View:
        watch = Watch(self._record, self._output, notice=self._say, started=self._keys.listen)
        with (
            self._keys,
            Live(
                get_renderable=self._picture,
                console=self._console,
                refresh_per_second=8,
                transient=True,
            ),
        ):
            driven = self._drive(self._manner, watch)
        return driven_view(driven)

    def _record(self, record: Record, state: State) -> None:
        if self._state is None or set(self._state.positions) != set(state.positions):
            self._since = time.monotonic()
        self._state = state
        for line in timeline.lines([encode(record)]):
            self._say(line)
        for decision in state.decisions.values():
            if decision.position not in self._seen:
                self._view(decision)

    def _output(self, _effect: str, text: str) -> None:
        self._last.extend(line for line in printable(text).splitlines() if line.strip())

    def _say(self, text: str) -> None:
        self._console.print(Text(printable(text)), soft_wrap=True)

    def _picture(self) -> Group:
        return Group(*self._parts())

    def _parts(self) -> Iterator[Text | Table]:
        state = self._state
        if state is None:
            yield Text("starting ...", style="dim")
            return
        yield Text("─" * min(self._console.width, 100), style="dim")
        yield self._where_it_stands(state)
        for line in self._last:
            yield Text(f"  │ {line}", style="dim", overflow="ellipsis", no_wrap=True)
        for decision in state.decisions.values():
            asked = f"  ? {decision.name}: approve, reject REASON, view, help"
            yield Text(asked, style="bold yellow", overflow="ellipsis", no_wrap=True)
        yield Text(f"porch> {self._keys.typed}▏", overflow="fold")

    def _where_it_stands(self, state: State) -> Table:
        standing = next(iter(state.positions.values()), None)
        label = standing.label if standing else state.outcome
        elapsed = int(time.monotonic() - self._since)
        row = Table.grid(padding=(0, 2), expand=False)
        title = _plan_title(state) if standing and standing.item else ""
        row.add_row(
            Text(state.run.name, style="bold"),
            Text(label, style="cyan"),
            Text(title),
            Text(f"{elapsed // 60}:{elapsed % 60:02d}", style="dim"),
        )
        return row

    def _line(self, line: str) -> None:
        """One line was typed; deciding verbs become wishes, the rest is answered here."""
        state = self._state
        if state is None:
            return
        names = [decision.name for decision in state.decisions.values()]
        said = typed(line, names)
        if said.trouble:
            self._say(f"  {said.trouble}")
        elif said.exit:
            self._decide(state, said)
        else:
            self._do(state, said.verb)

    def _do(self, state: State, verb: str) -> None:
        match verb:
            case "stop":
                self._leave(state, {"kind": "stop"})
            case "quit":
                os.kill(os.getpid(), signal.SIGINT)
            case "view":
                for decision in state.decisions.values():
                    self._view(decision)
            case "status":
                self._say("  " + ", ".join(state.positions))
            case "help":
                self._say(HELP)
            case _:
                return

    def _decide(self, state: State, said: Typed) -> None:
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

    def _leave(self, state: State, wish: Mapping[str, object]) -> None:
        directory = os.path.join(self._where.run_dir(state.run.name), "inbox")
        inbox.leave(directory, {"who": who(), "channel": "repl", **wish})

    def _view(self, decision: Decision) -> None:
        """What is asked, and the digest of what was shown; an answer is for exactly that."""
        state = self._state
        if state is None:
            return
        shown = sums(workspace_of(self._where, state), "", decision.artifacts)
        self._seen[decision.position] = digest_of(shown)
        self._say(f"  {decision.name} is being asked")
        for path in shown:
            self._say(f"  read: {os.path.join(workspace_of(self._where, state), path)}")


def _plan_title(state: State) -> str:
    items = {item.id: item.title for known in state.items.values() for item in known.items}
    standing = next(iter(state.positions.values()))
    return items.get(standing.item, "")
