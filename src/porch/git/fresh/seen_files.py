"""What may differ from the index of a fresh worktree: files that were touched, and new ones.

Git looks for the new ones while we look for the others: two looks at all files, at the same time.
"""

import contextlib
import os
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from porch.errors import OutsideError
from porch.git.fresh.checkout_index import FreshIndex, forget_touched, put_fresh_index
from porch.system.early_answer import EarlyAnswer

# Has git print the files that the index lacks, with a zero behind each; calls what it was given
# while git looks.
ListNew = Callable[[Callable[[], object]], str]


class SeenFiles(NamedTuple):
    """Files that were touched since the index was written, and those that it lacks."""

    touched: list[str]
    new: list[str]


def look_at_files(
    toplevel: str, fresh: FreshIndex, id_bytes: int, path: str, list_new: ListNew
) -> SeenFiles | None:
    """Have the index at `path`, and tell what may differ from it.

    None, and no index, if it is no plain one or git cannot read it.
    """
    put_fresh_index(fresh, path)
    touched = EarlyAnswer(partial(forget_touched, toplevel, fresh, id_bytes, path))
    try:
        told = list_new(touched.ask)
    except OutsideError:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        return None
    names = touched.take()
    new = [name for name in told.split("\0") if name]
    return None if names is None else SeenFiles(names, new)
