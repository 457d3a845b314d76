"""Regular expressions that are compiled when they are first used.

To compile them takes up to a third of the time in which the modules of a command are loaded, and
a command uses few of those that its modules name.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AnyStr

    def late_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]: ...

else:

    def late_pattern(text, flags=0):
        """As `re.compile`; an expression that is wrong is found at its first use."""
        return LatePattern(text, flags)


class LatePattern:
    """Looks like the compiled pattern; what has been asked of it once is kept."""

    def __init__(self, text: str | bytes, flags: int):
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        # `re` keeps what it compiled, so a second name costs no second compilation.
        found = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)
        return found
