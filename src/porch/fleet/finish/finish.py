"""One command ends the story of a run: its work is merged, proposed or kept, and that is recorded.

The run's lock is held throughout, so two who finish at once do it one after the other, and the
second finds that it is done. Some protocols have a pull request at the end of a run, without a
person who types it. Where `gh` or a remote is missing, or the run was a trial with the scripted
agent, nothing happens: the last words of the run say how to finish it.
"""

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import BusyError, FailedError, PorchError, UsageError
from porch.fleet.finish.acceptance import (
    FinishRequest,
    FinishWay,
    UnacceptedError,
    add_concerns,
    commit_accepted_files,
    refuse_unaccepted,
)
from porch.fleet.finish.candidate_checks import list_checks_of_run
from porch.fleet.finish.checkout_work import commit_here
from porch.fleet.finish.finish_texts import (
    OLD_CHECKOUT,
    describe_checkout_work,
    describe_choices,
    describe_left_out,
    name_cleanup,
    name_commit_command,
    name_examples,
)
from porch.fleet.finish.forecast import find_conflicts, forecast_live_runs, list_live_branches
from porch.fleet.finish.proposal import propose_work
from porch.fleet.finish.publish import merge_work
from porch.fleet.finish.run_work import SETTLED, RunWork, is_settled, survey_work
from porch.fleet.finish.submodule_work import refuse_unpushed_submodules
from porch.git import repository
from porch.machine import facts as f
from porch.machine.state import RunState
from porch.model.delivery_checks import DeliveryCheck
from porch.model.protocol import Protocol
from porch.plan.branches import github
from porch.plan.branches.base_branch import branch_commit, find_base_branch
from porch.run.engine.caller import find_agent_sign, find_user_name
from porch.run.engine.run_commits import KeptWork, commit_last_work
from porch.run.engine.run_places import own_branch, workspace_of
from porch.run.engine.session import HeldRun, hold_run
from porch.run.verbs.next_step import describe_next_step
from porch.run.verbs.read_run import read_run
from porch.show.board import describe_delivery, describe_state_delivery
from porch.store.where import ProjectPaths
from porch.system import crash_points

_THERE = "the work was there already"


class FinishResult(Struct, frozen=True):
    """What became of the work, in words and for programs."""

    message: str
    data: dict[str, Any]


def show_choices(where: ProjectPaths, name: str, into: str = "") -> FinishResult:
    """What there is to finish and in which ways; nothing is changed."""
    found = read_run(where, name)
    _refuse_unfinished(where, found.state, found.definition.protocol)
    if _is_tidied_away(where, found.state):
        return _tell_settled(name, found.state)
    work = survey_work(where, found.state, into)
    if (known := _find_settled(name, found.state, work)) is not None:
        return known
    if into and work.is_own:
        _require_target(found.state, work, may_be_remote=True)
    work = add_concerns(where, found.state, found.definition, work)
    if found.state.run.commits_nothing:
        text = "\n".join([f"{name}:", *describe_checkout_work(found.state, work)])
        delivered = describe_state_delivery(found.state)
        return FinishResult(text, {"run": name, "finished": delivered, **_data_of(work)})
    is_there = work.is_own and bool(work.into) and _has_target(work)
    pairs = forecast_live_runs(where, work.into) if is_there else None
    shown = work if is_there or not work.is_own else replace(work, into="")
    checks = list_checks_of_run(where, found.state, found.definition.protocol)
    text = describe_choices(where, found.state, shown, pairs, checks)
    data = {"run": name, "finished": describe_state_delivery(found.state), **_data_of(work)}
    conflicts = [pair.describe() for pair in pairs.of_branch(work.branch)] if pairs else []
    more = {"conflicts": conflicts, "changed_approvals": list(work.changed)}
    due = {each.name: each.command.shell for each in checks if not each.reason_left_out}
    return FinishResult(text, {**data, **more, "checks": due, "left_out": _reasons(checks)})


def finish_run(where: ProjectPaths, name: str, request: FinishRequest) -> FinishResult:
    """Finish the work of a run in one way, once."""
    way, into = request.way, request.into
    with _hold_ended_run(where, name) as found:
        state = found.book.state
        if _is_tidied_away(where, state):
            return _tell_settled(name, state)
        _commit_missing_work(where, state, way)
        work = survey_work(where, state, into)
        known = _find_settled(name, state, work)
        if known is not None and not (work.is_own and _is_meant_elsewhere(state, way, into)):
            return known
        if way != "keep" and state.run.commits_nothing:
            raise _checkout_error(state, work)
        if way != "keep" and work.is_own:
            _require_target(state, work, may_be_remote=way == "pr")
            refuse_unpushed_submodules(work)
        if way in ("merge", "squash") and state.outcome != "complete":
            raise FailedError(
                f"{name} is {state.outcome}; only a complete run is merged",
                fix="look at its branch first; --pr and --keep are possible",
                code="finish-not-complete",
            )
        if way != "keep":
            work = _require_acceptance(found, request, work)
        rivals = _list_rivals(where, work) if way != "keep" else []
        fact, said = _WAYS[way](found, work, way == "squash", bool(into))
        crash_points.reach_point("finish.before-record")
        done = replace(
            fact,
            by=request.by or find_user_name(),
            as_person=request.as_person,
            accepted=work.accepted,
            not_passed=work.not_passed if work.reason else (),
            reason=work.reason,
        )
        found.book.record(done)
        checks = list_checks_of_run(where, state, found.book.definition.protocol)
        data = {"run": name, **_fact_data(done), "conflicts": rivals, "left_out": _reasons(checks)}
        told = [f"other live runs conflict with it: {each}" for each in rivals]
        return FinishResult("\n".join(_tell(name, done, [*said, *told])), data)


def _require_acceptance(found: HeldRun, request: FinishRequest, work: RunWork) -> RunWork:
    """The work as it goes, with what lies uncommitted behind the end once that is accepted."""
    where, state, definition = found.where, found.book.state, found.book.definition
    work = add_concerns(where, state, definition, work)
    refuse_unaccepted(state.run.id or found.name, request, work)
    if commit_accepted_files(where, state, work):
        work = add_concerns(where, state, definition, survey_work(where, state, request.into))
        refuse_unaccepted(state.run.id or found.name, request, work)
    return replace(work, reason=request.reason.strip() if work.not_passed else "")


def _list_rivals(where: ProjectPaths, work: RunWork) -> list[str]:
    """Who will have to give way after this; said to whoever did not ask before."""
    if not work.is_own or not _has_target(work):
        return []
    others = [each for each in list_live_branches(where) if each != work.branch]
    pairs = find_conflicts(work.repo, work.branch, others, work.into)
    return [pair.describe() for pair in pairs if pair.other != work.into]


@contextmanager
def _hold_ended_run(where: ProjectPaths, name: str) -> Iterator[HeldRun]:
    """Whoever drives a run holds it, and mostly it has not ended then; that is said first."""
    with ExitStack() as stack:
        try:
            found = stack.enter_context(hold_run(where, name, "porch finish"))
        except BusyError:
            seen = read_run(where, name)
            _refuse_unfinished(where, seen.state, seen.definition.protocol)
            raise
        _refuse_unfinished(where, found.book.state, found.book.definition.protocol)
        yield found


def _refuse_unfinished(where: ProjectPaths, state: RunState, protocol: Protocol) -> None:
    if not state.outcome:
        raise FailedError(
            f"{state.run.name} has not ended, so there is nothing to finish yet",
            fix=describe_next_step(where, state, protocol),
            code="finish-too-early",
        )


def _require_target(state: RunState, work: RunWork, *, may_be_remote: bool) -> None:
    """The branch that gets the work is there; a pull request can go to one of a remote, too."""
    if not work.into:
        raise _no_target_error(state)
    if work.into == work.branch:
        raise FailedError(
            f"'{work.into}' is the branch of the run itself, so there is nothing to merge",
            fix="name the branch that gets the work: --into BRANCH (`git branch` lists them)",
            code="finish-no-target",
        )
    if _has_target(work) or (may_be_remote and branch_commit(work.repo, work.into)):
        return
    raise FailedError(
        f"there is no branch '{work.into}' in {work.repo}",
        fix="name one that is there: --into BRANCH (`git branch` lists them)",
        code="finish-no-target",
    )


def _checkout_error(state: RunState, work: RunWork) -> FailedError:
    """A run with `--here` is the person's to commit."""
    return FailedError(
        f"{state.run.name} worked in your checkout {work.workspace}, where porch commits and "
        f"merges nothing; its changes there: {work.describe()}",
        fix=name_commit_command(state, work),
        code="finish-in-checkout",
    )


def _has_target(work: RunWork) -> bool:
    return repository.resolve_commit(work.repo, f"refs/heads/{work.into}") is not None


def _no_target_error(state: RunState) -> FailedError:
    return FailedError(
        f"{state.run.name} began on no branch (a detached HEAD), so nobody knows where its work "
        "should go",
        fix="name the branch: --into BRANCH",
        code="finish-no-target",
    )


def _commit_missing_work(where: ProjectPaths, state: RunState, way: FinishWay) -> None:
    """What could not be committed at the end of the run is tried again; nothing goes without it."""
    kept = commit_last_work(where, state) if state.run.own_worktree else KeptWork()
    if kept.failure and way != "keep":
        place = workspace_of(where, state)
        fix = kept.fix or "put that right"
        raise FailedError(
            f"work of {state.run.name} in {place} is not committed: {kept.failure}",
            fix=f"{fix}; then finish again; --keep leaves everything as it is",
            code="finish-not-committed",
        )


def _find_settled(name: str, state: RunState, work: RunWork) -> FinishResult | None:
    """A second finish is no error; later commits on the branch can be finished again."""
    return _tell_settled(name, state) if is_settled(state, work) else None


def _is_meant_elsewhere(state: RunState, way: FinishWay, into: str) -> bool:
    """Merged into one branch, and now another one is named: both may have it, as for a release."""
    known = state.run.delivery
    is_other = known is not None and into not in ("", known.into)
    return is_other and way in ("merge", "squash")


def _is_tidied_away(where: ProjectPaths, state: RunState) -> bool:
    """Merged, and then its branch was deleted, as `af cleanup` does: nothing is left to finish."""
    known, branch = state.run.delivery, own_branch(state)
    is_settled = known is not None and known.how in SETTLED
    is_gone = bool(branch) and not repository.resolve_commit(where.base, f"refs/heads/{branch}")
    return is_settled and is_gone


def _tell_settled(name: str, state: RunState) -> FinishResult:
    said = f"{name} is already {describe_state_delivery(state)}"
    return FinishResult(f"{said}; nothing was changed", {"run": name, "finished": said})


def _merge(
    found: HeldRun, work: RunWork, is_squash: bool, is_named: bool
) -> tuple[f.WorkFinished, list[str]]:
    said: list[str] = []
    if not work.is_own:
        made = commit_here(found, work)
        said.append(OLD_CHECKOUT)
        if not is_named or work.into == work.branch:
            fact = f.WorkFinished(
                how="committed",
                branch=work.branch,
                head=made.commit,
                into=work.branch,
                commit=made.commit,
                checks=made.checks,
            )
            return fact, [*said, *(_tell_checks(found, made.checks) if made.is_new else [_THERE])]
        work = replace(work, head=made.commit)
        said.append(f"committed on {work.branch} ({made.commit[:12]})")
    merged = merge_work(found, work, is_squash)
    said += _tell_checks(found, merged.checks) if merged.is_new else [_THERE]
    state = found.book.state
    said += [*name_examples(state), *_tell_leftovers(work), *name_cleanup(found.where, state, work)]
    fact = f.WorkFinished(
        how="squashed" if is_squash else "merged",
        branch=work.branch,
        head=work.head,
        into=work.into,
        commit=merged.commit,
        checks=merged.checks,
    )
    return fact, said


def _propose(
    found: HeldRun, work: RunWork, _is_squash: bool, is_named: bool
) -> tuple[f.WorkFinished, list[str]]:
    if not work.is_own:
        base = work.into if is_named else find_base_branch(work.workspace).branch
        work = replace(work, into=base)
    if not work.is_own and work.branch != work.into:
        work = replace(work, head=commit_here(found, work).commit)
    made = propose_work(found, work)
    fact = f.WorkFinished(
        how="proposed" if made.url else "pushed",
        branch=work.branch,
        head=work.head,
        into=work.into,
        url=made.url,
    )
    return fact, [made.message, *(_tell_leftovers(work) if work.is_own else [])]


def _keep(
    found: HeldRun, work: RunWork, _is_squash: bool, _is_named: bool
) -> tuple[f.WorkFinished, list[str]]:
    if work.is_own:
        base = work.into or found.book.state.run.base_commit[:12]
        said = [f"look at it: git log {base}..{work.branch}", *_tell_leftovers(work)]
        return f.WorkFinished(how="kept", branch=work.branch, head=work.head), said
    where = f"the files stay as they are in {work.workspace}"
    return f.WorkFinished(how="kept", head=work.head), [where]


_WAYS = {"merge": _merge, "squash": _merge, "pr": _propose, "keep": _keep}


def choose_way(chosen: Sequence[FinishWay]) -> FinishWay | None:
    if len(chosen) > 1:
        names = ", ".join(f"--{way}" for way in chosen)
        raise UsageError(f"{names} exclude each other", fix="use only one of them")
    return chosen[0] if chosen else None


def _tell(name: str, fact: f.WorkFinished, said: list[str]) -> list[str]:
    words = describe_delivery(fact.how, fact.into, fact.url, fact.branch)
    at = f" ({fact.commit[:12]})" if fact.commit else ""
    return [f"{name}: {words}{at}", *(f"  {line}" for line in said)]


def _tell_checks(found: HeldRun, results: Mapping[str, str]) -> list[str]:
    told = ", ".join(f"{name} {result}" for name, result in results.items())
    checks = list_checks_of_run(found.where, found.book.state, found.book.definition.protocol)
    left_out = describe_left_out(checks)
    first = f"checked on the merged files: {told}" if told else "no check was set, so none ran"
    return [first if told or not left_out else "no check ran on the merged files", *left_out]


def _reasons(checks: Iterable[DeliveryCheck]) -> dict[str, str]:
    return {each.name: each.reason_left_out for each in checks if each.reason_left_out}


def _tell_leftovers(work: RunWork) -> list[str]:
    left = ", ".join(work.uncommitted[:5])
    told = f"these files in {work.workspace} are not committed, so they are not included"
    return [f"{told}: {left}"] if left else []


def _data_of(work: RunWork) -> dict[str, Any]:
    return {
        "branch": work.branch,
        "into": work.into,
        "commits": work.commits,
        "files": list(work.files),
        "added": work.added,
        "removed": work.removed,
        "uncommitted": list(work.uncommitted),
        "not_passed": list(work.not_passed),
        "later": list(work.later.describe()) if work.later else [],
    }


def _fact_data(fact: f.WorkFinished) -> dict[str, Any]:
    names = ("how", "branch", "into", "commit", "url", "reason")
    told = {name: getattr(fact, name) for name in names}
    return {**told, "checks": dict(fact.checks), "not_passed": list(fact.not_passed)}


def propose_when_complete(
    where: ProjectPaths, state: RunState, protocols: Collection[str], notice: Callable[[str], None]
) -> None:
    """What goes wrong is said, and changes nothing: the work is there, and can be finished."""
    if not _is_proposed(where, state, protocols):
        return
    word = state.run.id or state.run.name
    try:
        told = finish_run(where, state.run.name, FinishRequest("pr"))
    except UnacceptedError as error:
        notice(f"the pull request was not opened: {error}")
    except (PorchError, OSError) as error:
        notice(f"the pull request was not opened: {error}; try `porch finish {word} --pr`")
    else:
        notice(told.message)


def _is_proposed(where: ProjectPaths, state: RunState, protocols: Collection[str]) -> bool:
    if state.outcome != "complete" or state.run.protocol not in protocols:
        return False
    # An agent that starts a run cannot publish by it: finishing is for people.
    if not own_branch(state) or state.run.delivery or find_agent_sign(os.environ):
        return False
    return shutil.which("gh") is not None and has_remote(where, own_branch(state))


def has_remote(where: ProjectPaths, branch: str) -> bool:
    try:
        return bool(github.find_remote(where.base, branch))
    except PorchError:
        return False
