"""Texts that prompts share: `{{> name}}` stands for a file of a directory `partials`.

A partial is put into the prompt when the protocol is read, so it is pinned with it. It may use
others. Each file is kept by itself, too, so that what is wrong in it has its own place.
"""

import os
import re
from collections.abc import Callable

from porch.errors import Finding, Place
from porch.system.document_file import MOST_BYTES
from porch.text.late_pattern import late_pattern

# Partials that use others twice grow faster than anybody reads.
MOST_PARTIALS = 200
_TAG = late_pattern(r"\{\{> *([^{}\n]*?) *\}\}")
_NAME = late_pattern(r"\w[\w-]*(?:/\w[\w-]*)*(?:\.md)?")


class PartialReader:
    """Fills one prompt; `find` gives the file of a partial, `read` the text of a file."""

    def __init__(self, find: Callable[[str], str | None], read: Callable[[str], str]) -> None:
        self._find = find
        self._read = read
        self._count = self._size = 0
        self.parts: dict[str, str] = {}  # each file, with nothing in the places of partials
        self.findings: list[Finding] = []

    def fill(self, file: str, above: tuple[str, ...] = ()) -> str:
        """The text of a file with its partials; `above` are the files that have led to it."""
        text, way = self._read(file), (*above, file)
        self._size += len(text)
        self.parts[file] = _TAG.sub(lambda tag: " " * len(tag[0]), text)
        return _TAG.sub(lambda tag: self._put(tag, text, way), text)

    def _put(self, tag: re.Match[str], text: str, way: tuple[str, ...]) -> str:
        line = text.count("\n", 0, tag.start()) + 1
        column = tag.start() - text.rfind("\n", 0, tag.start())
        place, name = Place(way[-1], line, column), tag[1]
        self._count += 1
        path = self._find(name.removesuffix(".md")) if _NAME.fullmatch(name) else None
        if path is None:
            message, fix = _explain_missing(name)
            self._report("missing-partial", message, fix, place)
        elif path in way:
            names = " -> ".join(os.path.basename(each) for each in (*way[way.index(path) :], path))
            message = f"these texts contain each other: {names}"
            self._report("endless-partial", message, "remove one of the tags", place)
        elif self._count > MOST_PARTIALS:
            message = f"the prompt has more than {MOST_PARTIALS} partials"
            self._report("too-many", message, "use fewer, or longer ones", place)
        elif self._size > MOST_BYTES:
            message = f"with its partials the prompt has more than {MOST_BYTES} characters"
            self._report("document-too-large", message, "make them shorter", place)
        else:
            return self.fill(path, way).rstrip("\n")
        return ""

    def _report(self, code: str, message: str, fix: str, place: Place) -> None:
        finding = Finding(code, message, place, fix)
        if code not in [each.code for each in self.findings] or code == "missing-partial":
            self.findings.append(finding)


def _explain_missing(name: str) -> tuple[str, str]:
    if not _NAME.fullmatch(name):
        message = f"'{name[:80]}' is not the name of a partial"
        return message, "write {{> name}}: letters, digits, '_', '-' and '/', without parameters"
    file = f"prompts/partials/{name.removesuffix('.md')}.md"
    return (
        f"there is no partial '{name[:80]}'",
        f"write {file} beside the protocol; no link leads out",
    )
