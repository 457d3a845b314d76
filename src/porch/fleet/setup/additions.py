"""Files that others write too, with and without what porch added: sections and entries.

What stood there before comes back byte for byte if nobody changed the file since. Otherwise only
the section or the entries of porch go, and the file keeps everything else.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal

from msgspec import Struct

from porch.errors import UsageError
from porch.fleet.setup.claude_settings import (
    PERMISSIONS,
    SETTINGS_FILE,
    merge_claude_settings,
)
from porch.fleet.setup.json_additions import strip_additions
from porch.fleet.setup.mcp_entries import CLAUDE_FILE, add_claude_entry
from porch.fleet.setup.package_files import load_agents_section
from porch.text.sha256 import sha256

_SECTION = re.compile(r"<!-- porch: begin -->.*?<!-- porch: end -->\n?", re.DOTALL)
_GAPS = ("", "\n", "\n\n")

RemovalFate = Literal["removed", "shortened", "kept", "gone"]


class WrittenFile(Struct, frozen=True):
    """A file as porch left it; `before` is what it held when porch added to it."""

    digest: str
    before: bytes | None = None


class Remainder(Struct, frozen=True):
    """What is left of a file without porch. `gone` means that nothing of porch is in it now."""

    fate: RemovalFate
    data: bytes = b""
    note: str = ""


def hash_content(data: bytes) -> str:
    return sha256(data).hexdigest()


def append_section(text: str) -> str:
    """The text of a page for agents with the section of porch at its end."""
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + load_agents_section()


# By the file, in which ways porch adds to it; the last one adds most.
_WAYS: Mapping[str, tuple[Callable[[str], str], ...]] = {
    SETTINGS_FILE: (
        partial(merge_claude_settings, with_permissions=False),
        partial(merge_claude_settings, with_hook=False, with_permissions=True),
        partial(merge_claude_settings, with_permissions=True),
    ),
    CLAUDE_FILE: (add_claude_entry,),
}


def is_shared(path: str) -> bool:
    """Whether porch adds to this file, and does not own it: a page lies at the top."""
    return path in _WAYS or ("/" not in path and path.endswith(".md"))


def remove_additions(path: str, data: bytes, written: WrittenFile | None) -> Remainder:
    """A shared file without porch; where no record says more, without what it writes today."""
    text = data.decode("utf-8", "surrogateescape")
    if path in _WAYS:
        return _remove_entries(path, text, written)
    return _remove_section(text, written)


def _make_remainder(text: str, is_ours: bool) -> Remainder:
    """An empty file goes only if porch had made it."""
    data = text.encode("utf-8", "surrogateescape")
    return Remainder("removed") if is_ours and not text else Remainder("shortened", data)


def _remove_section(text: str, written: WrittenFile | None) -> Remainder:
    sections = list(_SECTION.finditer(text))
    if len(sections) != 1:
        why = "it has several sections of porch" if sections else ""
        return Remainder("kept" if sections else "gone", note=why)
    section = sections[0]
    if written is not None and _hash_text(text) == written.digest:
        before = _decode(written.before)
        if any(text == f"{before}{gap}{section[0]}" for gap in _GAPS):
            return _make_remainder(before, written.before is None)
    if section[0].strip() != load_agents_section().strip():
        return Remainder("kept", note="its section of porch was changed")
    front = text[: section.start()]
    # An empty line in front of the section came with it.
    front = front[:-1] if front.endswith("\n\n") else front
    is_ours = written is None or written.before is None
    return _make_remainder(front + text[section.end() :], is_ours)


def _remove_entries(path: str, text: str, written: WrittenFile | None) -> Remainder:
    document = _load(text)
    if document is None:
        return Remainder("kept", note="it is not a JSON object")
    before = _decode(written.before) if written else ""
    for after in _list_possible(path, document, before, written):
        if text == after:
            return _make_remainder(before, written is None or written.before is None)
        stripped = strip_additions(document, _load(before) or {}, _load(after))
        if stripped == document:
            return Remainder("gone")
        is_empty = not stripped and not before
        left = "" if is_empty else json.dumps(stripped, indent=2, ensure_ascii=False) + "\n"
        return _make_remainder(left, written is None or written.before is None)
    return Remainder("gone")


def _list_possible(
    path: str, document: Any, before: str, written: WrittenFile | None
) -> Iterator[str]:
    """What porch may have made of the earlier content: the digest says it, or what is there now."""
    for way in _WAYS[path]:
        try:
            after = way(before)
        except UsageError:
            continue
        if written is not None and _hash_text(after) == written.digest:
            yield after
    if written is None:
        ways = _WAYS[path]
        allowed = (document.get("permissions") or {}).get("allow") or ()
        has_all = path == SETTINGS_FILE and all(each in allowed for each in PERMISSIONS)
        yield ways[-1 if has_all else 0]("")


def _load(text: str) -> Any:
    try:
        document = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _decode(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")


def _hash_text(text: str) -> str:
    return hash_content(text.encode("utf-8", "surrogateescape"))
