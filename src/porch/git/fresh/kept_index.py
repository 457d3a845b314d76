"""An index of ours that is kept from one measurement to the next, and what a note says of it."""

import contextlib
import os
import time
from typing import NamedTuple

from porch.git import git_directory
from porch.system import atomic
from porch.text.late_pattern import late_pattern

# The clock of a file system lags behind by less than this.
_TICK_NS = 100_000_000
# Git takes a file for young that changed in the second of the index, or later.
_YOUNG_S = 2
_FRESH = late_pattern(r"[0-9]+ to [0-9]+")


class IndexNote(NamedTuple):
    """What was true when the index was last used, and from which nanosecond to which that was.

    The same index means the same tree, if it tells of all files.
    """

    tracked: str = ""
    stamp: str = ""
    tree: str = ""
    fresh: str = ""
    is_whole: str = ""

    @property
    def is_ended(self) -> bool:
        """Whether a measurement came to its end, and noted when that was as it is noted now."""
        return _FRESH.fullmatch(self.fresh) is not None


def read_note(index: str) -> IndexNote:
    parts = _read_bytes(f"{index}.note").decode(errors="replace").split("\n")
    return IndexNote(*parts) if len(parts) == len(IndexNote._fields) else IndexNote()


def write_note(index: str, note: IndexNote) -> None:
    atomic.replace_file(f"{index}.note", "\n".join(note).encode(), sync=False)


def read_clock(toplevel: str) -> int:
    """A time before which nothing changes any more, by the clock of the files."""
    from porch.git.fresh.file_clock import read_file_clock

    return read_file_clock(toplevel) or time.time_ns() - _TICK_NS


def describe_time_since(began_ns: int) -> str:
    """From when to when a measurement took place that began then and ends now."""
    return f"{began_ns} to {time.time_ns() + _TICK_NS}"


def forget_fresh_stats(toplevel: str, index: str, id_bytes: int, note: IndexNote) -> IndexNote:
    """Git compares whole seconds: what changed in those may have changed again without a trace.

    What may have, it has to read again. The note is that of the index as it is then.
    """
    from porch.git.fresh.touched_files import find_unproven
    from porch.git.index.raw_index import zero_stats

    first, last = map(int, note.fresh.split(" to "))
    data = _read_bytes(index)
    unproven, has_proven = find_unproven(toplevel, data, id_bytes, first, last)
    if unproven:
        atomic.replace_file(index, zero_stats(data, id_bytes, unproven), sync=False)
    if has_proven:
        trust_times(index)
    return note if unproven else note._replace(stamp=git_directory.stamp_file(index))


def trust_times(index: str) -> None:
    """Have git not read files again that are as young as the index: which those are, we know."""
    later = time.time() + _YOUNG_S
    with contextlib.suppress(FileNotFoundError):  # of nothing git writes none
        os.utime(index, (later, later))


def _read_bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""
