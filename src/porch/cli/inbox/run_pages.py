"""What all opened runs have in common: their log, cost and difference, pausing, and going on."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.cli.inbox.opened_row import Action, Block, RowPage, describe_error
from porch.errors import EXIT_BUSY, FailedError, PorchError
from porch.fleet.drivers.go_on import needs_new_driver, start_again
from porch.fleet.finish.run_changes import compare_run
from porch.git.file_changes import read_patches
from porch.machine.state import RunState
from porch.run.engine.caller import refuse_agents
from porch.run.verbs import run_log, steer
from porch.store.lock import run_busy_error
from porch.store.run_drivers import find_driver
from porch.store.where import ProjectPaths
from porch.web.pages import diff_view
from porch.web.pages.work_view import make_cost

# By which way an answer came; records name it.
CHANNEL = "terminal"
GONE = "This run is gone: its directory was deleted."


def stamp_journal(where: ProjectPaths, run: str) -> tuple[int, int] | None:
    """Another value as soon as there is a new record; None if the run is gone."""
    try:
        seen = os.stat(os.path.join(where.run_dir(run), "journal.jsonl"))
    except OSError:
        return None
    return seen.st_size, seen.st_mtime_ns


def make_log_page(where: ProjectPaths, run: str, word: str) -> RowPage:
    def load() -> Iterator[Block]:
        words = run_log.words_of(where, run)
        text = run_log.render_last_lines(where, run, word, run_log.LINES_SHOWN, words=words)
        yield Block("quote", text if text is not None else "The journal cannot be read: porch log")

    return RowPage("Log", "l", lambda: list(load()), is_log=True)


def make_cost_page(picture: Mapping[str, Any]) -> RowPage:
    def load() -> Iterator[Block]:
        made = make_cost(picture["cost"])
        for row in made["cost_rows"]:
            yield Block("text", f"{row['phase']}: {_describe_cost(row)}")
        yield Block("title", f"In all: {_describe_cost(made['cost_total'])}")

    return RowPage("Cost", "c", lambda: list(load()))


def _describe_cost(row: Mapping[str, str]) -> str:
    return f"{row['turns']}, {row['usd']}, {row['tokens']}, {row['took']}"


def make_difference_page(
    where: ProjectPaths, state: RunState, first: Sequence[Block] = ()
) -> RowPage:
    """What changed in the files of a question, then all that the run changed."""
    return RowPage("Difference", "f", lambda: [*first, *_list_changes(where, state)])


def _list_changes(where: ProjectPaths, state: RunState) -> Iterator[Block]:
    changes = compare_run(where, state)
    if changes.trouble:
        yield Block("plain", f"What the run changed cannot be shown: {changes.trouble}.")
        return
    total = diff_view.describe_total(changes.files)
    added, removed = total["added"], total["removed"]
    yield Block("title", f"The run changed {total['files']}: +{added:,} -{removed:,} lines")
    near = [each for each in changes.files if diff_view.is_shown_beside(each)]
    near = near[: diff_view.FILES_ON_PAGE]
    patches = read_patches(changes.place, changes.old, changes.new, near)
    for row in diff_view.make_files(changes.files, patches, ""):
        counts = "" if row["added"] is None else f", +{row['added']} -{row['removed']}"
        yield Block("title", f"{row['path']} ({row['status']}{counts})")
        patch = patches.get(row["path"])
        yield Block("difference", patch) if patch else Block("plain", row["why"])


def continue_run(where: ProjectPaths, run: str) -> str:
    """A driver for what comes next; empty if nothing has to go on, or somebody drives it."""
    if not needs_new_driver(where, run):
        return ""
    try:
        started = start_again(where, run)
    except (PorchError, OSError) as error:
        told = describe_error(error) if isinstance(error, PorchError) else str(error)
        return f"The run does not go on: {told}"
    if started.run:
        return "The run continues."
    # Somebody else was quicker to start one: that is as good.
    if started.code in (0, EXIT_BUSY):
        return ""
    return f"The run does not go on: {started.said or 'its driver ended without output'}"


def make_pause(where: ProjectPaths, run: str) -> Action:
    def perform(_: str) -> str:
        done = steer.stop_run(where, run, channel=CHANNEL)
        return f"{done.message.partition(';')[0]}."

    return Action(
        key="p", label="Pause", effect="stops its agents; nothing is lost", perform=perform
    )


def make_resume(where: ProjectPaths, run: str) -> Action:
    def perform(_: str) -> str:
        refuse_agents(os.environ, as_person=False)
        holder = find_driver(where.run_dir(run)).holder
        if holder is not None:
            raise run_busy_error(run, holder)
        started = start_again(where, run)
        if not started.run:
            raise FailedError(
                f"{run} does not go on: {started.said or 'its driver ended without output'}",
            )
        return f"{run} continues (pid {started.pid})."

    return Action(key="r", label="Resume", effect="continues where it stopped", perform=perform)
