"""How much room a directory takes on the disk, as far as a short look tells."""

import os

from msgspec import Struct

MOST_ENTRIES = 10_000
_BLOCK = 512


class DiskUse(Struct, frozen=True):
    """What was counted; without `is_whole` there is more than this."""

    size: int
    is_whole: bool


def measure_disk(path: str, most: int = MOST_ENTRIES) -> DiskUse:
    """All files below it; links are not followed, and what cannot be read is not counted."""
    size, seen, left = 0, 0, [path]
    while left:
        try:
            with os.scandir(left.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if seen > most:
                        return DiskUse(size, is_whole=False)
                    size += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
        except OSError:
            continue
    return DiskUse(size, is_whole=True)
