"""Reading documents that people and agents write: regular files, of a size that somebody reads."""

from __future__ import annotations

import os

from porch.errors import DefinitionError, Finding, Place
from porch.system.regular_file import NotRegularFile, open_followed

MOST_BYTES = 2 * 1000 * 1000


def read_document(path: str, errors: str = "strict") -> str:
    """The text of a plan, prompt, protocol or script; a finding says why there is none.

    A file that is missing or denied is an OSError, as it is for `open`.
    """
    try:
        with open(path, "rb", opener=open_followed) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(MOST_BYTES + 1)
    except NotRegularFile as error:
        fix = "put a regular file in its place"
        told = Finding("not-a-regular-file", "this is not a regular file", Place(path), fix)
        raise DefinitionError([told]) from error
    if len(data) > MOST_BYTES:
        raise DefinitionError([_too_large(path, max(size, len(data)))])
    # As text files are read: every end of line is one.
    return data.decode("utf-8", errors).replace("\r\n", "\n").replace("\r", "\n")


def _too_large(path: str, size: int) -> Finding:
    message = f"the file has {size} bytes; at most {MOST_BYTES} are read"
    return Finding("document-too-large", message, Place(path), "make it shorter, or split it")
