"""Directories for files that nobody needs a moment later, made without a module that loads twenty.

Short commands use them, and `tempfile` with all that it loads costs a third of a bare Python.
"""

import contextlib
import os
from collections.abc import Iterator

_VARIABLES = ("TMPDIR", "TEMP", "TMP")
_DIGITS = 8  # bytes of a name that nobody can guess


@contextlib.contextmanager
def scratch_directory(prefix: str) -> Iterator[str]:
    """A new directory that only this user can read; it is removed with all files in it."""
    path = _make_directory(prefix)
    try:
        yield path
    finally:
        _remove_directory(path)


def copy_with_times(source: str, to: str) -> None:
    """The bytes of a file and its times, by which git knows what may have changed since."""
    with open(source, "rb") as old, open(to, "wb") as new:
        new.write(old.read())
        found = os.fstat(old.fileno())
    os.utime(to, ns=(found.st_atime_ns, found.st_mtime_ns))


def _make_directory(prefix: str) -> str:
    named = (os.environ.get(name) for name in _VARIABLES)
    place = os.path.abspath(next(filter(None, named), "/tmp"))  # noqa: S108 - as `tempfile` has it
    path = os.path.join(place, f"{prefix}{os.urandom(_DIGITS).hex()}")
    try:
        os.mkdir(path, 0o700)
    except OSError:
        # It knows more places, and what to say if none of them will do.
        import tempfile

        return tempfile.mkdtemp(prefix=prefix)
    return path


def _remove_directory(path: str) -> None:
    try:
        for entry in list(os.scandir(path)):
            os.unlink(entry.path)
        os.rmdir(path)
    except OSError:
        import shutil

        shutil.rmtree(path, ignore_errors=True)
