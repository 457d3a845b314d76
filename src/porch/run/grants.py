"""What a person trusts: digests of settings, in a file beside the person's own settings.

A grant that appears while an agent or a check works may be the agent's. It counts for no run from
the start: whoever starts an agent or a check holds a watch, which others see. It is marked when the
watch ends, and does not count until a person grants the same once more.
"""

import fcntl
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from msgspec import Struct, field
from msgspec.structs import replace

from porch.errors import OutsideError
from porch.system import atomic
from porch.system.clock import Clock
from porch.system.regular_file import open_regular
from porch.system.variables import find_state_home
from porch.text.late_pattern import late_pattern

FILE = "trust"
_WATCHES = os.path.join("porch", "trust-watches")
_DIGEST = late_pattern(r"[0-9a-f]{32}")
_OTHERS_WRITE = 0o022
# What the person at the terminal of this command has just said yes to.
_ANSWERED: set[str] = set()
_AFRESH = "nothing in it counts; remove it, then trust again what you want: porch trust"


class Grant(Struct, frozen=True):
    """One digest that a person trusts; `during` names the run whose turn it appeared in."""

    digest: str
    at: str
    by: str
    file: str
    during: str = ""


class Grants(Struct, frozen=True):
    """All grants; `trouble` says why none of them counts.

    `watched` are the runs whose agents or checks are still at work, by the digests that they keep
    from counting.
    """

    by_digest: Mapping[str, Grant] = field(default_factory=dict)
    trouble: str = ""
    watched: Mapping[str, str] = field(default_factory=dict)

    @property
    def digests(self) -> frozenset[str]:
        """What counts."""
        marked = {key for key, grant in self.by_digest.items() if grant.during}
        return frozenset(self.by_digest.keys() - marked - self.watched.keys())

    def explain(self, digest: str) -> str:
        """Why something that a person may have granted does not count."""
        if run := self.watched.get(digest):
            return (
                f"a grant for it appeared while an agent or a check of {run} works, so it does not "
                f"count before that has ended and you repeat it; for one run: --trust {digest}"
            )
        grant = self.by_digest.get(digest)
        if grant and grant.during:
            return (
                f"a grant for it appeared while an agent or a check of {grant.during} ran, "
                "so it does not count until you repeat it"
            )
        return self.trouble


def read_grants(directory: str) -> Grants:
    """The grants in the directory of a person's own settings, and which of them count now."""
    watches = list(_list_watches(directory))  # first: one that ends meanwhile marks what is new
    grants = _read_file(directory)
    watched = {key: run for run, before in watches for key in grants.digests.difference(before)}
    return replace(grants, watched={k: watched[k] for k in watched.keys() - _ANSWERED})


def count_in_this_command(digests: Iterable[str]) -> None:
    """No agent can have typed it here, so it need not wait until agents elsewhere have ended."""
    _ANSWERED.update(digests)


def _read_file(directory: str) -> Grants:
    path = os.path.join(directory, FILE)
    try:
        with open(path, encoding="utf-8", opener=open_regular) as file:
            stat = os.fstat(file.fileno())
            text = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return Grants()
    except (OSError, ValueError) as error:
        return Grants(trouble=f"{path} cannot be read ({error}): {_AFRESH}")
    if stat.st_uid != os.getuid() or stat.st_mode & _OTHERS_WRITE:
        return Grants(trouble=f"others can write {path}: {_AFRESH}")
    grants = [_parse_line(line) for line in text.splitlines()]
    if None in grants or (text and not text.endswith("\n")):
        return Grants(trouble=f"{path} is damaged: {_AFRESH}")
    return Grants({grant.digest: grant for grant in grants if grant})


def _parse_line(line: str) -> Grant | None:
    words = line.split("\t")
    return Grant(*words) if len(words) == 5 and _DIGEST.fullmatch(words[0]) else None


def add_grant(directory: str, digest: str, file: str, by: str) -> None:
    """Trust this content from now on; what could not be read is replaced."""
    with _change_grants(directory) as grants:
        grants[digest] = Grant(digest, Clock().now(), *map(_clean_word, (by, file)))


def revoke_grant(directory: str, digest: str) -> bool:
    """Trust it no longer; False if it was not there."""
    with _change_grants(directory) as grants:
        return grants.pop(digest, None) is not None


def mark_new_grants(directory: str, before: Collection[str], run: str) -> list[str]:
    """Let no grant count that did not count before a turn of this run; returns their digests."""
    if not _read_file(directory).digests - set(before):
        return []
    with _change_grants(directory) as grants:
        new = [key for key, each in grants.items() if not each.during and key not in before]
        grants |= {key: replace(grants[key], during=_clean_word(run)) for key in new}
    return new


class GrantWatch:
    """An agent or a check at work: what is granted meanwhile counts for nobody.

    A file names what counted before. It is locked for as long as the watch lasts, so one that is
    not locked was held by a process that was killed. It lies where programs keep their state, so
    that nothing has to be made beside a person's settings.
    """

    def __init__(self, directory: str, run: str) -> None:
        self._directory, self._run = directory, _clean_word(run)
        self.before = tuple(sorted(read_grants(directory).digests))
        self._path = os.path.join(_find_watches(), os.urandom(8).hex())
        try:
            self._fd = self._open()
        except (OSError, OutsideError):
            self._fd = -1  # what is granted is marked at the end all the same

    def _open(self) -> int:
        """Nobody sees the file before it is locked and complete."""
        atomic.ensure_directory(os.path.dirname(self._path))
        new = f"{self._path}.new"
        fd = open_regular(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(fd, fcntl.LOCK_EX)
        lines = (self._directory, self._run, *self.before)
        atomic.write_all(fd, "\n".join(lines).encode("utf-8", "surrogateescape"))
        os.rename(new, self._path)
        return fd

    def close(self) -> list[str]:
        """Mark what was granted meanwhile; returns the digests."""
        new = mark_new_grants(self._directory, self.before, self._run)
        if self._fd >= 0:
            atomic.try_os_call(os.unlink, self._path)
            os.close(self._fd)
        return new


def _find_watches() -> str:
    """Not there without a home."""
    return os.path.join(find_state_home(os.environ) or os.devnull, _WATCHES)


def _list_watches(directory: str) -> Iterator[tuple[str, list[str]]]:
    """The run and what counted before, of each watch; one of the dead is ended instead of them."""
    place = _find_watches()
    try:
        names = [name for name in sorted(os.listdir(place)) if not name.endswith(".new")]
    except OSError:
        return
    for path in (os.path.join(place, name) for name in names):
        try:
            file = open(path, "rb", opener=open_regular)  # noqa: SIM115
        except OSError:
            continue  # it has ended
        with file:
            lines = file.read().decode("utf-8", "surrogateescape").split("\n")
            if lines[0] != directory or len(lines) == 1:
                continue  # of another home
            _, run, *before = lines
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield run, before
                continue
            mark_new_grants(directory, before, run)
            atomic.try_os_call(os.unlink, path)


@contextmanager
def _change_grants(directory: str) -> Iterator[dict[str, Grant]]:
    atomic.ensure_directory(directory)
    path = os.path.join(directory, FILE)
    try:
        lock = open(f"{path}.lock", "a", encoding="ascii", opener=open_regular)  # noqa: SIM115
    except OSError as error:
        raise atomic.disk_error(path, "write", error) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        grants = dict(_read_file(directory).by_digest)
        yield grants
        lines = ("\t".join((g.digest, g.at, g.by, g.file, g.during)) for g in grants.values())
        text = "".join(f"{line}\n" for line in lines)
        atomic.replace_file(path, text.encode("utf-8", "replace"), sync=True, mode=0o600)


def _clean_word(text: str) -> str:
    return " ".join(text.split()) or "-"
