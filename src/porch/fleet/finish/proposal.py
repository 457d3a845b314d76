"""A pull request for the work of a run, or, without `gh`, a branch that others can see."""

import shutil

from msgspec import Struct

from porch.errors import FailedError
from porch.fleet.finish.pull_request_text import write_pull_request_text
from porch.fleet.finish.run_work import RunWork, name_work
from porch.fleet.finish.written_text import read_written_text
from porch.git.command import try_git
from porch.plan.branches import github
from porch.run.engine.fact_redaction import redact_text
from porch.run.engine.run_places import payload_directory
from porch.run.engine.session import HeldRun
from porch.store import payloads
from porch.text.late_pattern import late_pattern

_GITHUB = late_pattern(r"(?:https://|git@|ssh://git@)github\.com[/:]([^/]+/[^/]+?)(?:\.git)?/?")


class Proposal(Struct, frozen=True):
    """Where the work can be looked at, and what was done for that."""

    remote: str
    url: str
    message: str


def propose_work(found: HeldRun, work: RunWork) -> Proposal:
    """Push the branch and open a pull request; an open one is found and not changed."""
    if work.branch == work.into:
        raise FailedError(
            f"the work is on '{work.into}' itself; a pull request needs a branch of its own",
            fix="git switch -c NAME, then finish again; or --merge commits it here",
            code="finish-same-branch",
        )
    remote = github.find_remote(work.repo, work.branch)
    if shutil.which("gh") is None:
        github.push_branch(work.repo, remote, work.branch)
        url = _compare_address(work, remote)
        look = (
            url or f"git fetch {remote} && git diff {remote}/{work.into}...{remote}/{work.branch}"
        )
        said = (
            f"{work.branch} was pushed to {remote}; gh is not installed, so open the pull request"
        )
        return Proposal(remote, "", f"{said} yourself: {look}")
    # Asked first: a gh that is not logged in is heard of before anything is pushed.
    known = github.find_open_pull_request(work.repo, work.branch)
    github.push_branch(work.repo, remote, work.branch)
    if known:
        return Proposal(
            remote, known, f"the pull request was open already, and is updated: {known}"
        )
    url = _open_pull_request(found, work)
    return Proposal(remote, url, f"pull request into {work.into}: {url}")


def _open_pull_request(found: HeldRun, work: RunWork) -> str:
    state, store = found.book.state, payload_directory(found.where, found.name)
    run = state.run
    request = payloads.read_payload(store, run.subject).decode() if run.subject else ""
    protocol, records = found.book.definition.protocol, found.records_after(0)
    written = read_written_text(work, state)
    measured = write_pull_request_text(protocol, state, request, records, work.accepted)
    body = f"{written.body}\n\n{measured}" if written.body else measured
    title = written.title or redact_text(name_work(state))
    return github.create_pull_request(work.repo, work.into, work.branch, title, body, False)


def _compare_address(work: RunWork, remote: str) -> str:
    address = try_git(work.repo, "remote", "get-url", remote).stdout.strip()
    found = _GITHUB.fullmatch(address)
    return f"https://github.com/{found[1]}/compare/{work.into}...{work.branch}" if found else ""
