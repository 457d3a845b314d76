"""Which names of an index may be left out of a measurement, by patterns that are git globs."""

import os
import re
from collections.abc import Sequence
from functools import cache

from porch.text.late_pattern import late_pattern

_SIGN = late_pattern(r"[*?\[\\]")
_OTHER_SIGNS = late_pattern(r"[?\[\\]|\*\*|^[./]|/$|//|^$")


def is_pattern(text: str) -> bool:
    """Whether it may mean other names than itself."""
    return _SIGN.search(text) is not None


def may_leave_out(exclude: Sequence[str], data: bytes) -> bool:
    """Whether a name in an index may fit one of the patterns: it holds what they begin with."""
    return any(os.fsencode(_SIGN.split(pattern)[0]) in data for pattern in exclude)


@cache
def compile_left_out(exclude: tuple[str, ...]) -> re.Pattern[bytes]:
    """The names that are left out for certain: other signs than one star are git's to read."""
    plain = [each for each in exclude if not _OTHER_SIGNS.search(each)]
    starred = ["[^/]*".join(map(re.escape, each.split("*"))) for each in plain if "*" in each]
    whole = [f"{re.escape(each)}(?:/.*)?" for each in plain if "*" not in each]
    return re.compile(os.fsencode("|".join([*starred, *whole]) or "(?!)"), re.DOTALL)
