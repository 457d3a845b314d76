"""Which files are not the ones that an index tells of, compared as exactly as the system can.

Git compares times in whole seconds. Here the number of each file counts, and the time of its last
change to the nanosecond, which nobody can set back.
"""

import os
from collections.abc import Iterable
from struct import Struct as PackedFields
from typing import NamedTuple

from porch.git.index.raw_index import find_changed_in

SECOND_NS = 1_000_000_000
# Of an entry: the time of change, and behind the other time the device and the number of the file.
_NOTED = PackedFields(">II8xII")
_BITS = 0xFFFFFFFF


class FileClock(NamedTuple):
    """An instant of the file system of one device; what changes later has this time or a later."""

    ns: int
    device: int


def find_touched(
    toplevel: str, data: bytes, entries: Iterable[tuple[int, bytes]], since: FileClock
) -> dict[int, bytes]:
    """The entries whose file is another one, has another time of change, or is gone.

    Also those that changed at this instant or later: their times prove nothing. Many files have
    the same time. So where directories changed places, only the number of a file tells it from
    the other.
    """
    read_noted, stat = _NOTED.unpack_from, os.stat
    instant, device = since.ns, since.device & _BITS
    touched, top = {}, os.open(toplevel, os.O_RDONLY)
    try:
        # From the top: to look up the whole path of each takes a third longer.
        for start, name in entries:
            seconds, rest, noted_device, number = read_noted(data, start)
            noted = seconds * SECOND_NS + rest
            try:
                now = stat(name, dir_fd=top, follow_symlinks=False)
            except OSError:
                touched[start] = name
                continue
            is_same = now.st_ino & _BITS == number and noted_device == device
            if not is_same or now.st_ctime_ns != noted or noted >= instant:
                touched[start] = name
    finally:
        os.close(top)
    return touched


def find_unproven(
    toplevel: str, data: bytes, id_bytes: int, first_ns: int, last_ns: int
) -> tuple[list[int], bool]:
    """The entries that git may wrongly take for unchanged, if it read them between these times.

    Also whether there are others that changed in the same seconds. Those were read after they
    changed, so a later change has a later time, and none of them has one.
    """
    near = find_changed_in(data, id_bytes, first_ns // SECOND_NS, last_ns // SECOND_NS)
    since = FileClock(first_ns, os.lstat(os.path.join(toplevel, ".git")).st_dev)
    unproven = find_touched(toplevel, data, near, since)
    return sorted(unproven), len(unproven) < len(near)
