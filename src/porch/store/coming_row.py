"""The row of a run as it will be after the next record, written just before that record.

Rows are drawn some time after a record, and who should draw one may be killed before. Then this one
covers the journal, and nobody has to fold the run to list it. It is written in place, because to
replace a file makes some disks write at once. So whoever reads it may meet one that is half
written: it begins with its length and a checksum.
"""

from __future__ import annotations

import os
from binascii import crc32

FILE = "coming_row"
# A link or a pipe that somebody put there is neither followed nor waited for.
_FLAGS = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_HEAD = b"%08x %08x\n"
_HEAD_LENGTH = len(_HEAD % (0, 0))


class ComingRow:
    """The file for whoever writes records; it stays open from one of them to the next."""

    __slots__ = ("_fd", "_path")

    def __init__(self, run: str):
        self._path = os.path.join(run, FILE)
        self._fd = -1

    def write(self, row: bytes) -> None:
        """What is left of a longer one stays behind it, where nobody reads."""
        if self._fd < 0:
            self._fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | _FLAGS, 0o666)
        os.pwrite(self._fd, _HEAD % (len(row), crc32(row)) + row, 0)

    def close(self) -> None:
        """Until somebody writes again."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def read_coming_row(directory: int, name: str) -> bytes:
    """The row in the directory `name` under an open one; ValueError if it is half written."""
    fd = os.open(f"{name}/{FILE}", os.O_RDONLY | _FLAGS, dir_fd=directory)
    try:
        length, checksum = (int(each, 16) for each in os.read(fd, _HEAD_LENGTH).split())
        row = os.read(fd, min(length, os.fstat(fd).st_size))
    finally:
        os.close(fd)
    if crc32(row) != checksum:
        raise ValueError(FILE)
    return row
