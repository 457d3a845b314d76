"""What a person has to accept before the work of a run is delivered; until then it is refused.

Parts that have not passed need a reason. Files that differ from what was approved, and work that
was done after the run ended, need to be accepted as they are.
"""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from porch.account.gaps import list_gaps
from porch.errors import FailedError, Finding
from porch.fleet.finish.approved_work import list_changed_approvals
from porch.fleet.finish.run_work import RunWork
from porch.machine.state import RunState
from porch.model.protocol import Protocol
from porch.show.phase_words import describe_gap

FinishWay = Literal["merge", "squash", "pr", "keep"]


class UnacceptedError(FailedError):
    """Nobody has accepted yet what the work is like; the fix is the command that does."""


class FinishRequest(Struct, frozen=True):
    """What a person asks of `porch finish`; `reason` is why parts that have not passed may go."""

    way: FinishWay
    into: str = ""
    as_person: bool = False
    accept_changes: bool = False
    reason: str = ""


def add_concerns(protocol: Protocol, state: RunState, work: RunWork) -> RunWork:
    """The work, with everything that a person has to know of it before it is delivered."""
    return replace(
        work,
        not_passed=tuple(map(describe_gap, list_gaps(protocol, state))),
        changed=list_changed_approvals(protocol, state, work),
    )


def refuse_unaccepted(id_: str, request: FinishRequest, work: RunWork) -> None:
    """Everything at once, with the one command that accepts all of it."""
    findings = list(_list_findings(request, work))
    if not findings:
        return
    last = findings[-1]
    command = f"porch finish {id_} --{request.way}{_name_options(request, work)}"
    fix = f"{last.fix}; or deliver the work as it is: {command}"
    error = UnacceptedError(last.message, code=last.code)
    error.findings = (*findings[:-1], replace(last, fix=fix))
    raise error


def _list_findings(request: FinishRequest, work: RunWork) -> Iterator[Finding]:
    if work.not_passed and not request.reason.strip():
        message = f"not all of it has passed: {'; '.join(work.not_passed)}"
        yield Finding("finish-not-passed", message, None, "nothing was changed")
    if work.changed and not request.accept_changes:
        fix = "put the files back as they were approved"
        yield Finding("finish-changed-approval", "; ".join(work.changed), None, fix)


def _name_options(request: FinishRequest, work: RunWork) -> str:
    options = [f"--into {request.into}"] if request.into else []
    options += ["--accept-changes"] if work.accepted else []
    options += ['--accept "REASON"'] if work.not_passed else []
    return "".join(f" {option}" for option in options)
