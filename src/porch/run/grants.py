"""What a person trusts: digests of settings, in a file beside the person's own settings.

A grant that appears while an agent works may be the agent's. It is marked when the turn ends, and
does not count until a person grants the same once more.
"""

import fcntl
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from msgspec import Struct, field
from msgspec.structs import replace

from porch.system import atomic
from porch.system.clock import Clock
from porch.system.regular_file import open_regular
from porch.text.late_pattern import late_pattern

FILE = "trust"
_DIGEST = late_pattern(r"[0-9a-f]{32}")
_OTHERS_WRITE = 0o022
_AFRESH = "nothing in it counts; remove it, then trust again what you want: porch trust"


class Grant(Struct, frozen=True):
    """One digest that a person trusts; `during` names the run whose turn it appeared in."""

    digest: str
    at: str
    by: str
    file: str
    during: str = ""


class Grants(Struct, frozen=True):
    """All grants; `trouble` says why none of them counts."""

    by_digest: Mapping[str, Grant] = field(default_factory=dict)
    trouble: str = ""

    @property
    def digests(self) -> frozenset[str]:
        """What counts."""
        return frozenset(key for key, grant in self.by_digest.items() if not grant.during)

    def explain(self, digest: str) -> str:
        """Why something that a person may have granted does not count."""
        grant = self.by_digest.get(digest)
        if grant and grant.during:
            return (
                f"a grant for it appeared while an agent or a check of {grant.during} ran, "
                "so it does not count until you repeat it"
            )
        return self.trouble


def read_grants(directory: str) -> Grants:
    """The grants in the directory of a person's own settings."""
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
    if not read_grants(directory).digests - set(before):
        return []
    with _change_grants(directory) as grants:
        new = [key for key, each in grants.items() if not each.during and key not in before]
        grants |= {key: replace(grants[key], during=_clean_word(run)) for key in new}
    return new


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
        grants = dict(read_grants(directory).by_digest)
        yield grants
        lines = ("\t".join((g.digest, g.at, g.by, g.file, g.during)) for g in grants.values())
        text = "".join(f"{line}\n" for line in lines)
        atomic.replace_file(path, text.encode("utf-8", "replace"), sync=True, mode=0o600)


def _clean_word(text: str) -> str:
    return " ".join(text.split()) or "-"
