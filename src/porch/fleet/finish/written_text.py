"""What an agent wrote for the pull request: `pr.md` among the documents of the run."""

import os

from msgspec import Struct

from porch.fleet.finish.run_work import RunWork
from porch.git.command import try_git
from porch.machine.state import RunState
from porch.run.engine.fact_redaction import redact_text
from porch.system.regular_file import open_regular
from porch.text.printable import make_printable

FILE = "pr.md"
LONGEST = 20_000


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
