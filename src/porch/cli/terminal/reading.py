"""What can be read at the prompt: the files of a question, what the run changed, its log, its cost.

All of it is read from the disk as the commands read it, when a person asks for it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from porch.cli.terminal.documents import LONGEST, render_difference, render_file
from porch.cli.terminal.question import uncut
from porch.errors import UsageError, suggest_name
from porch.fleet.finish.run_changes import RunChanges, compare_run
from porch.git.file_changes import ChangedContent, read_patches
from porch.machine.records import RawRecord
from porch.machine.state import Cost, Decision, RunState
from porch.model.artifact_names import find_changes_base
from porch.model.protocol import Protocol
from porch.run.decisions.asked_files import AskedFile, read_asked_files
from porch.run.verbs import run_log
from porch.show.cost import describe_money, format_duration, make_cost_data, sum_cost_by_phase
from porch.store.where import ProjectPaths
from porch.text.printable import make_printable

Found = TypeVar("Found")
_WORDS = {"A": "new", "D": "deleted", "M": "changed", "T": "another type"}


def read_documents(
    where: ProjectPaths, state: RunState, decisions: Sequence[Decision], file: str, width: int
) -> Iterator[RenderableType]:
    """The files that are asked about as they are now, or the one that was named."""
    files = [
        each
        for decision in decisions
        if decision.artifacts
        for each in read_asked_files(where, state, decision).files
    ]
    for each in _choose(files, file, lambda found: found.path):
        yield from _render_asked_file(each, width)


def _render_asked_file(file: AskedFile, width: int) -> Iterator[RenderableType]:
    yield from _head(file.path)
    if file.trouble:
        yield Text(f"({file.trouble})", style="yellow")
    elif find_changes_base(file.path):
        yield render_difference(file.text)
    else:
        yield render_file(file.path, file.text, width)
    if file.difference:
        yield from _head(f"what changed since {file.since}")
        yield render_difference(file.difference)


def read_changes(where: ProjectPaths, state: RunState, file: str) -> Iterator[RenderableType]:
    """The difference to the files with which the run began, file by file."""
    changes = compare_run(where, state)
    if changes.trouble:
        raise UsageError(changes.trouble, fix="")
    if not changes.files:
        yield Text("the run has changed no file so far")
    patches = _read_patches(changes, changes.files)
    for each in _choose(changes.files, file, lambda found: found.path):
        lines = "" if each.added is None else f", +{each.added} -{each.removed} lines"
        yield from _head(f"{each.path} ({_WORDS[each.status]}{lines})")
        if patch := patches.get(each.path):
            yield render_difference(patch)
        elif each.size > LONGEST:
            yield Text("(too large to be shown here; look at it with git diff)", style="yellow")


def _read_patches(changes: RunChanges, files: Sequence[ChangedContent]) -> Mapping[str, str]:
    small = [each for each in files if each.added is not None and each.size <= LONGEST]
    return read_patches(changes.place, changes.old, changes.new, small)


def list_changed_paths(where: ProjectPaths, state: RunState) -> list[str]:
    return [each.path for each in compare_run(where, state).files]


def read_log(
    where: ProjectPaths,
    state: RunState,
    render: Callable[[RawRecord], RenderableType],
) -> Iterator[RenderableType]:
    """The last records as they scrolled by, and how to see those before them."""
    tail = run_log.read_last_records(where, state.run.name, run_log.LINES_SHOWN)
    if tail is None:
        raise UsageError("the journal cannot be read", fix="see: porch doctor")
    if tail.earlier:
        word = state.run.id or state.run.name
        yield uncut(f"... {tail.earlier:,} earlier lines; show them: porch log {word} --all")
    yield from map(render, tail.records)


def read_cost(
    protocol: Protocol, state: RunState, allowed_usd: float, *, is_scripted: bool
) -> Iterator[RenderableType]:
    """A row for each phase; what was not measured is unknown, not free."""
    phases = sum_cost_by_phase(protocol, state)
    if not phases:
        yield Text("no agent has finished a turn yet, so no cost is known")
        return
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("phase", overflow="fold")
    for name in ("turns", "USD", "tokens", "time"):
        table.add_column(name, justify="right", overflow="fold")
    for name, used in phases.items():
        table.add_row(name, *_list_cells(used, is_scripted))
    whole = make_cost_data(protocol, state)
    total = Cost(whole["turns"], whole["usd"], whole["tokens"], whole["seconds"])
    table.add_row("all", *_list_cells(total, is_scripted), style="bold")
    yield table
    if allowed_usd and not is_scripted:
        yield Text(f"in all: {describe_money(whole, allowed_usd)}")
    if state.in_hand:
        yield Text("a turn is counted when it ends", style="dim")


def _list_cells(used: Cost, is_scripted: bool) -> tuple[str, ...]:
    unknown = "0" if is_scripted else "unknown"
    return (
        str(used.turns),
        f"{used.usd:.2f}" if used.usd else unknown,
        f"{used.tokens:,}" if used.tokens else unknown,
        format_duration(used.seconds),
    )


def _head(title: str) -> Iterator[RenderableType]:
    yield Text("")
    yield Text(make_printable(title), style="bold reverse", overflow="fold")
    yield Text("")


def _choose(files: Sequence[Found], wanted: str, name: Callable[[Found], str]) -> Sequence[Found]:
    """All of them, or those whose path ends in what was typed."""
    fits = [each for each in files if f"/{name(each)}".endswith(f"/{wanted.lstrip('/')}")]
    if wanted and not fits:
        near = suggest_name(wanted, map(name, files))
        raise UsageError(f"there is no file {wanted} here", fix=near or "press Tab for the files")
    return fits if wanted else files
