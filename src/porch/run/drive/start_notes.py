"""What people should know before agents begin: said in one line, kept whole, not said twice."""

import os

from porch.run.engine.drive_options import DriveWatch
from porch.system import atomic

FILE = "start-notes.txt"


def tell_notes(
    directory: str, run: str, notes: list[str], terms: list[str], watch: DriveWatch
) -> None:
    """Notes are few and each wants an answer; terms are many and mostly the same every time."""
    told = [*notes, *terms]
    if told == kept_notes(directory):
        return
    atomic.replace_file(os.path.join(directory, FILE), "\n".join(told).encode(), sync=False)
    for note in notes:
        watch.notice(note)
    if terms:
        more = f"{len(terms)} notes on cost and permissions" if len(terms) > 1 else "1 note on cost"
        watch.notice(f"{terms[0].partition(':')[0]}; {more}: porch explain {run} --verbose")


def kept_notes(directory: str) -> list[str]:
    """What was said last; nothing for a run that nobody has driven."""
    try:
        with open(os.path.join(directory, FILE), encoding="utf-8") as file:
            return file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return []
