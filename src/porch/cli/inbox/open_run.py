"""A run opened without a decision: how far it is, pausing and resuming it, and finishing its work.

To finish is asked for twice: the second time with what would happen. What a person was shown of
the work is compared with what is there then; if it is not the same, nothing is done.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from porch.account.outcomes import SIGNS
from porch.cli.inbox.inbox_rows import InboxRow
from porch.cli.inbox.opened_row import (
    Action,
    Block,
    OpenedRow,
    RowPage,
    ShownMovedError,
    list_action_blocks,
)
from porch.cli.inbox.run_pages import (
    GONE,
    make_cost_page,
    make_difference_page,
    make_log_page,
    make_pause,
    make_resume,
    stamp_journal,
)
from porch.fleet.finish.acceptance import FinishRequest, FinishWay
from porch.fleet.finish.finish import finish_run, has_remote, show_choices
from porch.run.engine.caller import refuse_agents
from porch.run.verbs.liveness import describe_current_turns, find_current_turns
from porch.run.verbs.read_run import ReadRun, read_run
from porch.show.fleet.checklist import list_checklist
from porch.store.where import ProjectPaths

_WAYS: tuple[tuple[FinishWay, str, str], ...] = (
    ("merge", "m", "Merge"),
    ("squash", "s", "Squash and merge"),
    ("pr", "p", "Pull request"),
    ("keep", "K", "Keep"),  # k moves up a line
)


def open_run(where: ProjectPaths, row: InboxRow) -> OpenedRow:
    """A run at work, paused, or without a driver; it is opened again when it goes on."""
    run = row.place.run
    stamp = stamp_journal(where, run)
    found = read_run(where, run)
    picture = found.picture()
    is_driven = row.kind in ("working", "queued")
    action = make_pause(where, run) if is_driven else make_resume(where, run)
    return OpenedRow(
        title=f"{row.id}  {row.title}",
        sentence=row.what,
        pages=(
            RowPage("Overview", "o", lambda: list(_list_progress(where, found, picture, action))),
            make_difference_page(where, found.state),
            make_log_page(where, run, row.id),
            make_cost_page(picture),
        ),
        actions=(action,),
        watch=lambda: _find_news(where, run, stamp),
        is_live=True,
    )


def _find_news(where: ProjectPaths, run: str, stamp: tuple[int, int] | None) -> str:
    now = stamp_journal(where, run)
    if now is None:
        return GONE
    return "" if now == stamp else "There is news of this run. Press u to read it again."


def _list_progress(
    where: ProjectPaths, found: ReadRun, picture: Any, action: Action
) -> Iterator[Block]:
    for turn in describe_current_turns(find_current_turns(where, found.name, picture["in_hand"])):
        yield Block("text", turn)
    for row in list_checklist(found.definition.protocol, found.state):
        notes = f"  {'; '.join(row.notes)}" if row.notes else ""
        yield Block("plain", f"{'  ' * row.level}[{SIGNS[row.outcome]}] {row.phase}{notes}")
    yield from list_action_blocks((action,))
    if request := found.request.strip():
        yield Block("title", "Asked for")
        yield Block("quote", request)


def open_trouble(row: InboxRow) -> OpenedRow:
    """What cannot be read, or used, in full."""
    page = RowPage("Overview", "o", lambda: [Block("text", row.what)])
    return OpenedRow(title=row.title, sentence="Something is wrong here:", pages=(page,))


def open_finish(where: ProjectPaths, row: InboxRow) -> OpenedRow:
    """A complete run: what would be delivered, and in which ways."""
    run = row.place.run
    stamp = stamp_journal(where, run)
    found = read_run(where, run)
    choices = show_choices(where, run)
    data = choices.data
    if "branch" not in data:  # somebody has finished it meanwhile
        return OpenedRow(title=f"{row.id}  {row.title}", sentence=choices.message)
    actions = tuple(_list_ways(where, row, data))
    return OpenedRow(
        title=f"{row.id}  {row.title}",
        sentence=f"The work is complete on branch {data['branch']}. What becomes of it?",
        pages=(
            RowPage("Overview", "o", lambda: list(_list_work(data, actions))),
            make_difference_page(where, found.state),
            make_log_page(where, run, row.id),
            make_cost_page(found.picture()),
        ),
        actions=actions,
        watch=lambda: _find_news(where, run, stamp),
    )


def _list_work(data: Mapping[str, Any], actions: tuple[Action, ...]) -> Iterator[Block]:
    files, commits = len(data["files"]), data["commits"]
    yield Block(
        "text",
        f"{commits} commit{'' if commits == 1 else 's'}, {files} file{'' if files == 1 else 's'}, "
        f"+{data['added']:,} -{data['removed']:,} lines",
    )
    for told in data["not_passed"]:
        yield Block("bad", f"Not passed: {told}")
    for told in (*data["changed_approvals"], *data["later"]):
        yield Block("warn", told)
    for path in data["uncommitted"]:
        yield Block("warn", f"Not committed: {path}")
    for told in data["conflicts"]:
        yield Block("warn", f"Expect a conflict: {told}")
    if data["checks"]:
        yield Block("plain", f"Must pass on the merged files: {', '.join(data['checks'])}")
    for name, why in data["left_out"].items():
        yield Block("plain", f"Not run on the merged files: {name} ({why})")
    yield from list_action_blocks(actions)


def _list_ways(where: ProjectPaths, row: InboxRow, data: Mapping[str, Any]) -> Iterator[Action]:
    into, branch = data["into"] or "its branch", data["branch"]
    effects = {
        "merge": f"checks the merged files, then merges into {into}",
        "squash": f"the same, as one commit on {into}",
        "pr": f"pushes {branch} and opens a pull request into {into}",
        "keep": f"leaves the branch {branch} as it is",
    }
    concerns = [*(f"not passed: {each}" for each in data["not_passed"])]
    concerns += [*data["changed_approvals"], *data["later"]]
    for way, key, label in _WAYS:
        if way == "pr" and not has_remote(where, branch):
            continue
        told = concerns if way != "keep" else []
        needs_reason = bool(data["not_passed"]) and way != "keep"
        yield Action(
            key=key,
            label=label,
            effect=effects[way] + ("; needs a reason" if needs_reason else ""),
            takes_text=needs_reason,
            needs_text=needs_reason,
            text_label="Why it may be delivered although not all of it has passed (recorded)",
            question="\n".join([f"{label}: {effects[way]}.", *told, f"{label} {row.id} now?"]),
            perform=lambda reason, way=way: _finish(where, row, data, way, reason),  # type: ignore[misc]
        )


def _finish(
    where: ProjectPaths, row: InboxRow, shown: Mapping[str, Any], way: FinishWay, reason: str
) -> str:
    refuse_agents(os.environ, as_person=False)
    now = show_choices(where, row.place.run).data
    keys = (
        "branch",
        "into",
        "files",
        "added",
        "removed",
        "not_passed",
        "changed_approvals",
        "later",
    )
    if any(now.get(key) != shown[key] for key in keys):
        raise ShownMovedError(
            "the work changed after it was shown, so nothing was done",
            fix="look at it again, then decide",
        )
    is_accepted = bool(shown["changed_approvals"] or shown["later"])
    request = FinishRequest(way, accept_changes=is_accepted, reason=reason)
    return finish_run(where, row.place.run, request).message
