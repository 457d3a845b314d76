"""What was last drawn into the files of a plan, so that a file nobody touched is not read again.

For each file the sum of our fields in it, and how the file looked on disk while it showed what the
journal has. One that changed a moment before it was looked at is read once more: it could change
again within the same tick.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from typing import Any

from porch.errors import DefinitionError
from porch.plan.files import plan_files
from porch.system import atomic
from porch.system.regular_file import open_fresh
from porch.text.sha256 import sha256

_TICK_NS = 100_000_000
# Some file systems count whole seconds, or pairs of them.
_COARSE_NS = 2_100_000_000
_SECOND_NS = 1_000_000_000

Looks = Mapping[str, "Look"]
# Numbers that change whenever a file does, and what the journal had of it then.
Look = list[int | str]


def look_at(path: str, now: float, value: object) -> Look:
    """How a file looks from outside; nothing if that cannot be told from its next version."""
    try:
        return _make_look(os.lstat(path), now, value)
    except OSError:
        return []


def look_at_files(paths: Mapping[str, str], now: float, values: Mapping[str, object]) -> Looks:
    """The same for many, by name."""
    looks: dict[str, Look] = {}
    for name, path in paths.items():
        try:
            looks[name] = _make_look(os.lstat(path), now, values[name])
        except OSError:
            looks[name] = []
    return looks


def _make_look(found: os.stat_result, now: float, value: object) -> Look:
    last = max(found.st_ctime_ns, found.st_mtime_ns)
    age = int(now * _SECOND_NS) - last
    if age < (_TICK_NS if last % _SECOND_NS else _COARSE_NS):
        return []
    known = sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, known]


def digest_fields(fields: Mapping[str, Any]) -> str:
    data = json.dumps(fields, sort_keys=True, default=str).encode()
    return sha256(data).hexdigest()


def _load_stamps(path: str) -> dict[str, Any]:
    try:
        found = json.loads(plan_files.read_file_text(path) or "{}")
    except (ValueError, DefinitionError):
        return {}
    return found if isinstance(found, dict) else {}


class DrawnFiles:
    """The stamps of one plan, for whoever holds its lock; lost ones cost reading, and no more."""

    def __init__(self, directory: str):
        self._sums_file = os.path.join(directory, "drawn.json")
        self._looks_file = os.path.join(directory, "looks.json")
        self._sums, self._looks = _load_stamps(self._sums_file), _load_stamps(self._looks_file)
        self._has_new_sums = self._has_new_looks = False

    def touched(self, looks: Looks) -> list[str]:
        """The files that are not, or not certainly, what was seen there for the same values."""
        return [name for name, look in looks.items() if not look or self._looks.get(name) != look]

    def has_sum(self, name: str, sum_: str) -> bool:
        return bool(self._sums.get(name) == sum_)

    def stamp(self, name: str, sum_: str, look: Look) -> None:
        """The file was read or written with these fields when it looked like this."""
        if self._sums.get(name) != sum_:
            self._sums[name], self._has_new_sums = sum_, True
        if look and self._looks.get(name) != look:
            self._looks[name], self._has_new_looks = look, True

    def save(self) -> None:
        if self._has_new_sums:
            atomic.replace_file(self._sums_file, json.dumps(self._sums).encode(), sync=False)
        if self._has_new_looks:
            self._save_looks()
        self._has_new_sums = self._has_new_looks = False

    def _save_looks(self) -> None:
        """Where it cannot be written, every file is read, as if nobody knew it."""
        draft = f"{self._looks_file}.tmp"
        with contextlib.suppress(OSError):
            with open(draft, "w", encoding="utf-8", opener=open_fresh) as file:
                json.dump(self._looks, file)
            os.replace(draft, self._looks_file)
