"""The files of a run: its documents and what it changed, with sizes, and one of them as text."""

from collections.abc import Mapping, Sequence
from typing import Any

from porch.git.file_changes import ChangedContent
from porch.web.pages.diff_view import make_file_key
from porch.web.pages.documents import cut_document, draw_document
from porch.web.pages.page_words import describe_size

LARGEST = 2_000_000
FILES_ON_PAGE = 200
_WORDS = {"A": "new", "D": "deleted", "M": "changed", "T": "another type"}


def make_documents(sizes: Mapping[str, int | None], address: str) -> list[dict[str, Any]]:
    """Those that the protocol names; `sizes` has None for what is not there."""
    return [
        {
            "path": path,
            "told": "not written yet" if size is None else describe_size(size),
            "address": "" if size is None else _link(address, path, "document"),
        }
        for path, size in sizes.items()
    ]


def make_changed(files: Sequence[ChangedContent], address: str) -> list[dict[str, Any]]:
    return [
        {
            "path": file.path,
            "status": _WORDS.get(file.status, "changed"),
            "told": _describe_kind(file),
            "address": _link(address, file.path, "changed") if _has_text(file) else "",
        }
        for file in files
    ]


def _link(address: str, path: str, kind: str) -> str:
    return f"{address}?{kind}={make_file_key(path)}"


def _has_text(file: ChangedContent) -> bool:
    return bool(file.new) and not file.is_repository


def _describe_kind(file: ChangedContent) -> str:
    if file.is_repository:
        return "a repository in the repository"
    if not file.new:
        return "deleted"
    return f"{describe_size(file.new_size)}{', a link' if file.is_link else ''}"


def make_opened(path: str, data: bytes | None, size: int, is_link: bool = False) -> dict[str, Any]:
    """One file: Markdown drawn and made safe, other text as it is, everything else in words."""
    told = {"path": path, "size": describe_size(size), "drawn": None, "text": "", "left_out": 0}
    if data is None:
        return {**told, "why": "It is too large to be shown here."}
    if b"\0" in data:
        return {**told, "why": "It is not text."}
    text, left_out = cut_document(data.decode("utf-8", "replace"))
    if is_link:
        return {**told, "why": "It is a link. It leads to the place below.", "text": text}
    drawn = draw_document(path, text)
    return {**told, "drawn": drawn, "text": text, "left_out": left_out, "why": ""}
