"""Protocols as pictures: found by name or by file, drawn in the format somebody asked for."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from porch.adapters import library
from porch.adapters.where import Where
from porch.views.graph.as_dot import dot
from porch.views.graph.as_mermaid import mermaid
from porch.views.graph.as_svg import svg
from porch.views.graph.as_text import text
from porch.views.graph.edges import Picture, picture

FORMATS: Mapping[str, Callable[[Picture], str]] = {
    "text": text,
    "mermaid": mermaid,
    "dot": dot,
    "svg": svg,
}


def drawn(where: Where, word: str, form: str) -> dict[str, Any]:
    file = _file(where, word)
    protocol = library.load(file, where).demand().protocol
    told = FORMATS[form](picture(protocol))
    return {"name": protocol.name, "file": file, "format": form, "picture": told}


def _file(where: Where, word: str) -> str:
    """A known name is never taken for a file that happens to be called the same."""
    for found in library.listed(where):
        if found.name == word:
            return found.file
    inside = os.path.join(word, "protocol.json")
    if os.path.isfile(inside):
        return inside
    return word if os.path.isfile(word) else library.find(where, word).file
