"""A pull request for the work of a run, or, without `gh`, a branch that others can see.

What an agent wrote for it is `pr.md` among the documents of the run.
"""

import os
import shutil

from msgspec import Struct

from porch.errors import FailedError
from porch.fleet.finish.pull_request_text import write_pull_request_text
from porch.fleet.finish.run_work import RunWork, name_work
from porch.git.command import try_git
from porch.machine.state import RunState
from porch.plan.branches import github
from porch.run.engine.fact_redaction import redact_text
from porch.run.engine.run_places import payload_directory
from porch.run.engine.session import HeldRun
from porch.store import payloads
from porch.system.regular_file import open_regular
from porch.text.late_pattern import late_pattern
from porch.text.printable import make_printable
from porch.text.references import defuse_markup, defuse_references

FILE = "pr.md"
LONGEST = 20_000

_GITHUB = late_pattern(r"(?:https://|git@|ssh://git@)github\.com[/:]([^/]+/[^/]+?)(?:\.git)?/?")


class WrittenText(Struct, frozen=True):
    """A title and a body; both are empty if nobody wrote them."""

    title: str = ""
    body: str = ""


def read_written_text(work: RunWork, state: RunState) -> WrittenText:
    """Of the work that is proposed, not of what was edited since."""
    path = f"{state.run.project_dir}/{FILE}"
    if not state.run.project_dir:
        return WrittenText()
    text = _read_committed(work, path) if work.is_own else _read_file(work, path)
    return split_text(redact_text(make_printable(text)))


def split_text(text: str) -> WrittenText:
    """The first line is the title if it is a heading; the rest is the body."""
    first, _, rest = text.strip().partition("\n")
    if not first.startswith("# "):
        return WrittenText("", text.strip()[:LONGEST])
    return WrittenText(first.removeprefix("# ").strip(), rest.strip()[:LONGEST])


def _read_committed(work: RunWork, path: str) -> str:
    done = try_git(work.repo, "cat-file", "blob", f"{work.head}:{path}")
    return "" if done.returncode else done.stdout


def _read_file(work: RunWork, path: str) -> str:
    try:
        whole = os.path.join(work.workspace, path)
        with open(whole, encoding="utf-8", errors="replace", opener=open_regular) as file:
            return file.read(LONGEST)
    except OSError:
        return ""


class Proposal(Struct, frozen=True):
    """Where the work can be looked at, and what was done for that."""

    remote: str
    url: str
    message: str


def propose_work(found: HeldRun, work: RunWork) -> Proposal:
    """Push the branch and open a pull request; one that is open already gets a comment.

    Whoever opened it, an agent perhaps, wrote its title and text. Those are not changed, and what
    was measured is said all the same.
    """
    if work.branch == work.into:
        raise FailedError(
            f"the work is on '{work.into}' itself; a pull request needs a branch of its own",
            fix="git switch -c NAME, then commit and push it yourself; or --merge commits it here",
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
    measured = _describe_work(found, work)
    if known:
        github.comment_on_pull_request(work.repo, known, body=defuse_references(measured))
        said = "the pull request was open already; what was measured and decided is a comment there"
        return Proposal(remote, known, f"{said}: {known}")
    url = _open_pull_request(found, work, measured)
    return Proposal(remote, url, f"pull request into {work.into}: {url}")


def _describe_work(found: HeldRun, work: RunWork) -> str:
    state, store = found.book.state, payload_directory(found.where, found.name)
    subject = state.run.subject
    request = payloads.read_payload(store, subject).decode() if subject else ""
    protocol, records = found.book.definition.protocol, found.records_after(0)
    return write_pull_request_text(protocol, state, request, records, work)


def _open_pull_request(found: HeldRun, work: RunWork, measured: str) -> str:
    state = found.book.state
    written = read_written_text(work, state)
    before = f"{defuse_markup(written.body)}\n\n" if written.body else ""
    body = defuse_references(before + measured)
    title = defuse_references(written.title or redact_text(name_work(state)))
    return github.create_pull_request(
        work.repo, work.into, work.branch, title, body=body, draft=False
    )


def _compare_address(work: RunWork, remote: str) -> str:
    address = try_git(work.repo, "remote", "get-url", remote).stdout.strip()
    found = _GITHUB.fullmatch(address)
    return f"https://github.com/{found[1]}/compare/{work.into}...{work.branch}" if found else ""
