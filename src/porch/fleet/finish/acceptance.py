"""What a person has to accept before the work of a run is delivered; until then it is refused.

Parts that have not passed need a reason. Files that differ from what was approved, and work that
was done after the run ended, need to be accepted as they are.
"""

import shlex
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from porch.account.gaps import list_gaps
from porch.errors import FailedError, Finding
from porch.fleet.finish.approved_work import list_changed_approvals
from porch.fleet.finish.candidate_checks import make_finish_world
from porch.fleet.finish.later_protection import list_measuring_files
from porch.fleet.finish.run_work import RunWork
from porch.machine.state import RunState
from porch.model.definition import Definition
from porch.run.engine.run_commits import commit_later_work
from porch.show.phase_words import describe_gap
from porch.store.where import ProjectPaths

FinishWay = Literal["merge", "squash", "pr", "keep"]


class UnacceptedError(FailedError):
    """Nobody has accepted yet what the work is like; the fix is the command that does."""


class FinishRequest(Struct, frozen=True):
    """What a person asks of `porch finish`; `reason` is why parts that have not passed may go.

    `by` is who asked for it by letting the last gate pass.
    """

    way: FinishWay
    into: str = ""
    as_person: bool = False
    accept_changes: bool = False
    reason: str = ""
    by: str = ""


def add_concerns(
    where: ProjectPaths, state: RunState, definition: Definition, work: RunWork
) -> RunWork:
    """The work, with everything that a person has to know of it before it is delivered."""
    protocol, later = definition.protocol, work.later
    if later:
        world = replace(make_finish_world(where, state, definition), workspace=work.repo)
        measuring = list_measuring_files(world, work)
        is_refused = bool(measuring) and protocol.is_protecting
        later = replace(later, measuring=measuring, is_refused=is_refused)
    return replace(
        work,
        not_passed=tuple(map(describe_gap, list_gaps(protocol, state))),
        changed=list_changed_approvals(protocol, state, work),
        later=later,
    )


def commit_accepted_files(where: ProjectPaths, state: RunState, work: RunWork) -> bool:
    """What lies uncommitted behind the end of a run, and a person has accepted; False if none."""
    if not (work.later and work.later.uncommitted):
        return False
    kept = commit_later_work(where, state)
    if kept.failure:
        raise FailedError(
            f"work in {work.workspace} is not committed: {kept.failure}",
            fix=f"{kept.fix or 'put that right'}; then finish again",
            code="finish-not-committed",
        )
    return True


def refuse_unaccepted(id_: str, request: FinishRequest, work: RunWork) -> None:
    """Everything at once, with the one command that accepts all of it."""
    findings = list(_list_findings(request, work))
    if not findings:
        return
    last = findings[-1]
    if work.later and work.later.is_refused:
        raise _combine(findings)
    command = f"porch finish {id_} --{request.way}{_name_options(request, work)}"
    fix = f"{last.fix}; or deliver the work as it is: {command}"
    raise _combine([*findings[:-1], replace(last, fix=fix)])


def _combine(findings: Sequence[Finding]) -> UnacceptedError:
    error = UnacceptedError(findings[-1].message)
    error.findings = tuple(findings)
    return error


def _list_findings(request: FinishRequest, work: RunWork) -> Iterator[Finding]:
    if work.not_passed and not request.reason.strip():
        message = f"not all of it has passed: {'; '.join(work.not_passed)}"
        yield Finding("finish-not-passed", message, None, "nothing was changed")
    if work.changed and not request.accept_changes:
        fix = "put the files back as they were approved"
        yield Finding("finish-changed-approval", "; ".join(work.changed), None, fix)
    later = work.later
    if later and not request.accept_changes:
        look = f"git -C {shlex.quote(work.workspace)} status" if later.uncommitted else ""
        log = f"git log -p {later.end[:12]}..{work.branch}" if later.commits else ""
        fix = f"look at it: {'; '.join(filter(None, (log, look)))}"
        yield Finding("finish-later-work", "; ".join(later.describe()), None, fix)
    if later and later.is_refused:
        yield Finding(
            "finish-protected",
            f"the protocol protects {', '.join(later.measuring)}, which was changed after the run "
            "ended and decides what checks measure",
            None,
            f"put it back in {work.workspace} (git checkout {later.end[:12]} -- FILE, git commit), "
            "then finish again; or --keep",
        )


def _name_options(request: FinishRequest, work: RunWork) -> str:
    options = [f"--into {request.into}"] if request.into else []
    options += ["--accept-changes"] if work.accepted else []
    options += ['--accept "REASON"'] if work.not_passed else []
    return "".join(f" {option}" for option in options)
