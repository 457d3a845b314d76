"""Where a turn's transcript lies and how to read one, also while its agent is still writing."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from porch.adapters.follow import Follower, Line

TRANSCRIPT = "transcript.jsonl"
# Beside a transcript, in one line: which kind of agent wrote it.
AGENT = "agent"
_LONGEST_KIND = 64
# The marks that every effect id has: these alone make no two names alike.
_USUAL = str.maketrans(dict.fromkeys("/:#", "_"))


@dataclass(frozen=True, slots=True)
class Part:
    """One conversation turn of an effect; a typed question may take several."""

    directory: str
    agent: str

    @property
    def path(self) -> str:
        return os.path.join(self.directory, TRANSCRIPT)


def directory_name(effect: str) -> str:
    """The name of the directory of an effect: its own, made safe."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in effect)
    if safe == effect.translate(_USUAL):
        return safe
    # Two names may look alike once they are made safe.
    return f"{safe[:100]}-{sha256(effect.encode()).hexdigest()[:12]}"


def parts(run_directory: str, effect: str) -> list[Part]:
    """What an effect left, in order; nothing if it wrote no transcript."""
    home = os.path.join(run_directory, "turns", directory_name(effect))
    inner = sorted(_numbered(home), key=lambda name: int(name.partition("-")[2]))
    places = [home, *(os.path.join(home, name) for name in inner)]
    found = [Part(place, _agent(place)) for place in places]
    return [part for part in found if os.path.isfile(part.path)]


def _numbered(home: str) -> list[str]:
    names = os.listdir(home) if os.path.isdir(home) else ()
    return [n for n in names if n.startswith("turn-") and n.partition("-")[2].isdecimal()]


def _agent(directory: str) -> str:
    try:
        with open(os.path.join(directory, AGENT), encoding="utf-8", errors="replace") as file:
            return file.readline(_LONGEST_KIND).strip() or "scripted"
    except OSError:
        return "scripted"


def lines(part: Part, is_ended: bool) -> Iterator[Line]:
    """Its lines, a bounded number at a time; half a line counts only once nobody writes on."""
    waiting: list[Line] = []
    follower = Follower(part.path, waiting.append)
    more = True
    while more:
        more = follower.poll()
        yield from waiting
        waiting.clear()
    if is_ended:
        follower.drain()
        yield from waiting
