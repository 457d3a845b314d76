"""Whether lines of a journal carry the sums that they should; apart, for it needs no `json`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

KEY = b',"sum":"'
TAIL = len(KEY) + 64 + len(b'"}')


def count_chained(lines: Sequence[bytes], previous: bytes) -> int:
    """How many lines from the first on carry the sum that they should."""
    if not lines:
        # What covers the whole journal is the common case, and needs no hash to be loaded.
        return 0
    from porch.text.sha256 import sha256

    for count, text in enumerate(lines):
        body = text[:-TAIL]
        total = sha256(previous + body + b"}").hexdigest().encode()
        if text != body + KEY + total + b'"}':
            return count
        previous = total
    return len(lines)
