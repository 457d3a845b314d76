"""What people read before they finish a run, and when it has just ended."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from porch.account.gaps import list_gaps
from porch.errors import PorchError
from porch.fleet.finish.run_work import RunWork, is_settled, name_work, survey_work
from porch.machine.state import RunState
from porch.model.delivery_checks import DeliveryCheck
from porch.model.track_names import CODUMENT
from porch.run.agents.roster import SCRIPTED
from porch.run.engine.pinned_definition import read_pinned_definition
from porch.show.board import describe_state_delivery
from porch.show.cost import format_usd
from porch.show.phase_words import describe_gap
from porch.store.run_names import quote_word, unique_word
from porch.store.uncommitted_work import read_uncommitted_work
from porch.store.where import ProjectPaths
from porch.text.printable import make_printable

if TYPE_CHECKING:  # the end of a run is told without a look at other runs
    from porch.fleet.finish.forecast import ConflictForecast

NAMED = 5
OLD_CHECKOUT = (
    "an earlier release began this run in your checkout, so porch finish commits its changes; "
    "new runs work in a worktree of their own, and with --here you commit the changes"
)


def list_not_passed(where: ProjectPaths, state: RunState) -> tuple[str, ...]:
    """What has not passed of a run, one sentence each."""
    definition = read_pinned_definition(where, state.run.name, state.run.digest)
    return tuple(map(describe_gap, list_gaps(definition.protocol, state)))


def list_noted(where: ProjectPaths, state: RunState) -> tuple[str, ...]:
    """What reviewers of a track noted without stopping it, one sentence each."""
    if state.run.protocol != CODUMENT:
        return ()
    from porch.show.track_notes import list_review_notes

    definition = read_pinned_definition(where, state.run.name, state.run.digest)
    return tuple(note.line for note in list_review_notes(definition.protocol, state))


def describe_ended_run(
    where: ProjectPaths, state: RunState, not_passed: Sequence[str] = ()
) -> list[str]:
    """What was done, what it cost, what has not passed or is not committed, and the way out."""
    try:
        work = survey_work(where, state)
    except (PorchError, OSError):
        # Outside a repository, or with nothing to compare: the end of a run is still its end.
        return []
    turns = "1 agent turn" if state.turns == 1 else f"{state.turns} agent turns"
    cost = f"{turns}, {format_usd(state, state.turns, state.usd)}"
    work = replace(work, not_passed=tuple(not_passed))
    if state.run.commits_nothing:
        first, *more = describe_checkout_work(state, work)
        return [make_printable(line) for line in (f"{first}; {cost}", *more)]
    lines = [f"  {work.describe()}; {cost}", *_list_concerns(where, state, work)]
    if not (work.files or work.commits):
        return lines
    is_done = is_settled(state, work)
    way = f"finish it: {_name_ways(where, state, work)}"
    if state.outcome != "complete" and not is_done:
        # What was given up is not offered for a merge; who wants it all the same can find it.
        way = f"nothing was merged; the work stays {_name_place(work)}"
    lines.append(f"  it is {describe_state_delivery(state)}" if is_done else f"  {way}")
    return [make_printable(line) for line in lines]


def _name_ways(where: ProjectPaths, state: RunState, work: RunWork) -> str:
    id_ = unique_word(where.names(), state.run.name, state.run.id)
    how = f"--merge {_name_target(work)}" if work.is_own else f"--merge commits it on {work.branch}"
    more = '; all but --keep need --accept "REASON"' if work.not_passed else ""
    return f"porch finish {id_} ({how}, --squash, --pr, --keep){more}"


def _name_place(work: RunWork) -> str:
    return f"on branch {work.branch}" if work.is_own else f"in {work.workspace}"


def _name_target(work: RunWork) -> str:
    """Where the work goes; a run that began on no branch is told that by a person."""
    return f"into {work.into}" if work.into else "--into BRANCH"


def _tell_no_target(state: RunState) -> str:
    gone = state.run.into
    return (
        f"it began on {gone}, and there is no such branch now" if gone else "it began on no branch"
    )


def _list_concerns(where: ProjectPaths, state: RunState, work: RunWork) -> list[str]:
    """What a person has to know before the work is delivered."""
    told = [f"  not passed: {each}" for each in work.not_passed]
    told += [f"  {each}" for each in (work.later.describe() if work.later else ())]
    return [*told, *_list_uncommitted(where, state, work)]


def _list_uncommitted(where: ProjectPaths, state: RunState, work: RunWork) -> list[str]:
    why = read_uncommitted_work(where.run_dir(state.run.name))
    is_later = work.later is not None and bool(work.later.uncommitted)
    if is_later or not (work.uncommitted or why):
        return []
    more = ", ..." if len(work.uncommitted) > NAMED else ""
    names = f"{', '.join(work.uncommitted[:NAMED])}{more}" or f"work in {work.workspace}"
    because = f" (why: {why}; porch finish tries it again)" if why else ""
    return [f"  not committed: {names}{because}"]


def describe_left_out(checks: Sequence[DeliveryCheck]) -> list[str]:
    """The checks that say nothing about the merged files, each with the reason."""
    told = ", ".join(check.describe() for check in checks if check.reason_left_out)
    return [f"not run on the merged files: {told}"] if told else []


def _list_checks(checks: Sequence[DeliveryCheck]) -> list[str]:
    due = ", ".join(check.name for check in checks if not check.reason_left_out)
    first = f"must pass on the merged files: {due}" if due else "no check runs on the merged files"
    return [f"  {line}" for line in (first, *describe_left_out(checks))]


def describe_checkout_work(state: RunState, work: RunWork) -> list[str]:
    """Where the changes of a run with `--here` are, and the command that commits them."""
    at = f"branch {work.branch}" if work.branch else "no branch"
    lines = [f"  the changes are in your checkout {work.workspace} ({at}): {work.describe()}"]
    if state.run.into not in ("", work.branch):
        lines.append(
            f"  the run began on {state.run.into}; to go back: git switch {state.run.into}"
        )
    lines += [f"  not passed: {each}" for each in work.not_passed]
    lines += [f"  {each}" for each in work.changed]
    return [*lines, *([f"  {name_commit_command(state, work)}"] if work.files else [])]


def name_commit_command(state: RunState, work: RunWork) -> str:
    """What to type; where the person has other changes, only the files of the run are named."""
    if not work.uncommitted:
        return "nothing is left to commit"
    paths = f"-- {' '.join(map(quote_word, work.uncommitted))}" if work.others else "-A"
    only = f" {paths}" if work.others else ""
    message = quote_word(name_work(state))
    return f"commit them there: git add {paths} && git commit -m {message}{only}"


def describe_choices(
    where: ProjectPaths,
    state: RunState,
    work: RunWork,
    forecast: "ConflictForecast | None",
    checks: Sequence[DeliveryCheck],
) -> str:
    """What there is, what each option would do, and what will conflict; nothing is changed."""
    run = state.run
    lines = [f"{run.name}: {work.describe()}", *(f"  {each}" for each in name_examples(state))]
    lines += _list_concerns(where, state, work)
    if delivered := describe_state_delivery(state):
        lines.append(f"  it is {delivered}")
    lines += _list_conflicts(work, forecast) if forecast else []
    lines += [f"  {each}" for each in work.changed]
    lines += _list_checks(checks)
    id_ = unique_word(where.names(), run.name, run.id)
    rows = _list_ways(work)
    lines += [] if work.is_own else [f"  {OLD_CHECKOUT}"]
    lines += ["Nothing was changed. Choose one:"]
    lines += [f"  porch finish {id_} {option:<9} {means}" for option, means in rows]
    if work.accepted:
        lines += ["  --accept-changes is needed, except for --keep: it delivers that as it is"]
    if work.not_passed:
        lines += ['  --accept "REASON" is needed, except for --keep: not all of it has passed']
    lines += [
        f"  --into BRANCH chooses another branch than {work.into}"
        if work.into
        else f"  {_tell_no_target(state)}: name the one that gets the work with --into BRANCH"
    ]
    return make_printable("\n".join(lines))


def name_examples(state: RunState) -> list[str]:
    """What whoever merges the files of a dry run should not find out afterwards."""
    is_scripted = state.run.agent == SCRIPTED
    return ["the scripted agent wrote these files: examples, not work"] if is_scripted else []


def name_cleanup(where: ProjectPaths, state: RunState, work: RunWork) -> list[str]:
    """What stays after a merge, and the command that removes it."""
    if not (work.is_own and os.path.isdir(work.workspace)):
        return []
    id_ = unique_word(where.names(), state.run.name, state.run.id)
    return [f"its worktree and branch {work.branch} are still there; remove them: af cleanup {id_}"]


def _list_ways(work: RunWork) -> tuple[tuple[str, str], ...]:
    into = f"into {work.into or 'BRANCH'}"
    if work.is_own:
        return (
            ("--merge", f"check the merged files, then merge {into} (a merge commit)"),
            ("--squash", f"the same as one commit {into.replace('into', 'on', 1)}"),
            ("--pr", f"push {work.branch} and open a pull request {into}"),
            ("--keep", f"leave the branch {work.branch} as it is"),
        )
    # Only runs of earlier releases are finished in a checkout.
    return (
        ("--merge", f"check, then commit on {work.branch} what the run changed"),
        ("--squash", "the same"),
        ("--pr", f"commit it, push {work.branch} and open a pull request"),
        ("--keep", "leave the files as they are, uncommitted"),
    )


def _list_conflicts(work: RunWork, forecast: "ConflictForecast") -> list[str]:
    mine = forecast.of_branch(work.branch)
    if not mine:
        return []
    order = ", ".join(forecast.order)
    told = [f"  expect a conflict: {pair.describe()}" for pair in mine]
    return [*told, f"  in this order the fewest conflict: {order}"]
