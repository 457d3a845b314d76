"""Reading files of a project that may be absent, odd or huge: a set-up looks, it does not fail."""

import os

from porch.system.regular_file import open_followed

# Nobody writes scripts of this size by hand.
_LONGEST = 1 << 20


def read_small_file(root: str, name: str) -> str:
    """The beginning of a text file; nothing where there is none that can be read."""
    try:
        with open(os.path.join(root, name), "rb", opener=open_followed) as file:
            return file.read(_LONGEST).decode("utf-8-sig", "replace")
    except OSError:
        return ""
