"""What a decision is about: named files by content, so that committing them changes nothing."""

import os
import stat
from collections.abc import Iterable, Mapping

from porch.text.sha256 import sha256

MISSING = "missing"


def hash_artifacts(workspace: str, project_dir: str, names: Iterable[str]) -> dict[str, str]:
    """Path relative to the workspace and SHA-256 of each artifact."""
    paths = [os.path.normpath(os.path.join(project_dir, name)) for name in names]
    return {path: _hash_file(os.path.join(workspace, path)) for path in paths}


def digest_hashes(known: Mapping[str, str]) -> str:
    """One digest over paths and contents, and nothing else."""
    whole = sha256()
    for path in sorted(known):
        whole.update(f"{path}\0{known[path]}\n".encode())
    return whole.hexdigest()


def changed_artifacts(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return sorted(path for path in {*then, *now} if then.get(path) != now.get(path))


def _hash_file(path: str) -> str:
    """Agents choose what lies there: a pipe must not hold anybody up, a device never end."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except OSError as error:
        return f"unreadable: {error.strerror}"
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return "not a file"
        import hashlib

        return hashlib.file_digest(file, "sha256").hexdigest()
