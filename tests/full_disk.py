"""A git that finds no room on the disk from some call on, and then finds it again."""

import os
import shutil
from pathlib import Path

# Three calls in a row may write nothing to any file. The signal for that is not heard, so git is
# told by each write that fails, as it is by a disk without room.
_GIT = """#!/bin/sh
read -r left < "$0.left"
left=$((left - 1))
echo $left > "$0.left"
[ $left -le 0 ] && [ $left -gt -3 ] && trap '' XFSZ && ulimit -f 0
exec {git} "$@"
"""


def make_short_of_room(place: Path, calls: int) -> str:
    """The PATH with which the n-th call of git, and two more, have no room to write."""
    place.mkdir(exist_ok=True)
    known = [each for each in os.environ["PATH"].split(":") if each != str(place)]
    shim = place / "git"
    shim.write_text(_GIT.format(git=shutil.which("git", path=":".join(known))))
    shim.chmod(0o755)
    (place / "git.left").write_text(f"{calls}\n")
    return ":".join([str(place), *known])


def count_calls(place: Path, calls: int) -> int:
    """How often git was called since."""
    return calls - int((place / "git.left").read_text())
