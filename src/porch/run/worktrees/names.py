"""What the worktree of a run is called; its branch has the same name."""

import re

from porch.run.definitions.subject_names import RunSubject
from porch.text.sha256 import sha256

DIRECTORY = "worktrees"
# In bytes: git adds `.lock` to it, and file systems take 255.
_LONGEST = 120
_DIGITS = 8


def make_worktree_name(protocol: str, about: RunSubject) -> str:
    """`spider_0073_user-auth`; a run that is an execution has such a name already."""
    is_execution = about.project_dir.startswith("codev/executions/")
    name = about.run if is_execution else f"{protocol}_{about.id}_{about.title}"
    return _shorten(_make_ref_safe(name))


def _make_ref_safe(name: str) -> str:
    """A name that git takes for a branch: ids and titles may still end like a file of its own."""
    safe = re.sub(r"[^\w.-]+", "-", name)
    safe = re.sub(r"\.{2,}", ".", safe).strip(".-")
    return re.sub(r"\.lock$", "-lock", safe, flags=re.IGNORECASE)


def _shorten(name: str) -> str:
    """What is too long is cut, and told from its like by a digest."""
    data = name.encode()
    if len(data) <= _LONGEST:
        return name
    front = data[: _LONGEST - _DIGITS - 1].decode(errors="ignore").rstrip(".-")
    return f"{front}-{sha256(data).hexdigest()[:_DIGITS]}"
