"""Finished output is kept for people to read: no more of it than that takes, and without secrets.

Most of a flood is thrown away, so it is cut before it is searched. A cut may leave half a secret,
which nobody recognises. So a margin is left at each cut, and goes when it has been searched.
"""

from porch.agents.redaction import Redactor
from porch.system.growing_file import compact_file

# Longer than what a match may need to be seen whole, also if all of it is spelled anew.
MARGIN = 512 * 1024


def clean_output(path: str, redactor: Redactor, keep: int) -> None:
    """Rewrite a finished file in place: without secrets, and of a long one only the two ends."""
    if not compact_file(path, keep, MARGIN, redactor.data):
        redactor.file(path)
        compact_file(path, keep)
