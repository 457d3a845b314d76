"""What keeps the file of a gate from being an answer, seen without reading all of it.

Whoever lists what people are asked says this too, so it loads nothing but patterns. What is wrong
inside a finished file is written on top of it by whoever tried to read it, and found there.
"""

from __future__ import annotations

import os
import re
import stat

from porch.text.late_pattern import late_pattern

BLOCK_FIRST = "## ---- envoy could not use this yet"
BLOCK_LAST = "## ---- end of what envoy says here"
ADVICE = "## Fix this below, then set done to true and save. These lines are removed for you."
EMPTY = "the file is empty"
LARGEST = 4 << 20

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DONE = late_pattern(
    r"""^(["']?)done\1[ \t]*:[ \t]*(["']?)([^"'#\r\n]*?)\2[ \t]*(?:#.*)?\r?$""", re.MULTILINE
)
_FINISHED = ("true", "yes", "on", "1", "y")
_UNFINISHED = ("false", "no", "off", "0", "n", "", "~", "null")


def list_form_problems(path: str) -> list[str]:
    """Why nobody can take this file for an answer; nothing while it may still become one."""
    data = _read_whole_file(path)
    if data is None:
        return []
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return ["it is not UTF-8; save it as UTF-8"]
    if "\0" in text:
        return ["it is not UTF-8; save it as UTF-8"]
    words = [match[3].strip() for match in _DONE.finditer(text)]
    if any(word.lower() in _FINISHED for word in words):
        return []
    # What was told is about an earlier look; what is seen is so now.
    return _list_seen_problems(text, words) or _list_told_problems(text)


def _list_seen_problems(text: str, words: list[str]) -> list[str]:
    if not text.strip():
        return [f"{EMPTY}; delete it, and a new form is written"]
    odd = [word for word in words if word.lower() not in _UNFINISHED]
    if odd:
        return [f"'done' says '{odd[0]}', which is neither true nor false; write 'done: true'"]
    return [] if words else ["there is no 'done' in it; write 'done: true' at its end"]


def _list_told_problems(text: str) -> list[str]:
    """What was written on top when somebody tried to read it."""
    lines = text.split("\n")
    if not lines[0].startswith(BLOCK_FIRST):
        return []
    told: list[str] = []
    for line in (each.rstrip() for each in lines[1:]):
        if line.startswith(BLOCK_LAST) or not line.startswith("##"):
            break
        if line.startswith("##   ") and told:
            told[-1] = f"{told[-1]}; {line[5:]}"
        elif line != ADVICE:
            told.append(line[3:])
    return told


def _read_whole_file(path: str) -> bytes | None:
    """Nothing where there is no such file; a pipe or a link is somebody else's matter."""
    try:
        fd = os.open(path, _FLAGS)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        return None
    with open(fd, "rb") as file:
        return file.read(LARGEST)
