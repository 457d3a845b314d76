"""`envoy knowledge search` without argparse: an agent asks before it builds, again and again."""

from __future__ import annotations

import os
import sys

_NUMBERS = ("--limit", "--budget")
_SWITCHES = ("--metadata-only", "--json")


def answer_search(words: list[str]) -> int | None:
    """The exit code if these words are plain and the search went well; otherwise None."""
    asked = _read_search_words(words)
    if asked is None:
        return None
    phrases, numbers, switches = asked
    from porch.knowledge import search
    from porch.store import where as places

    try:
        data = search.search_documents(
            places.find_project(os.getcwd()),
            phrases,
            limit=numbers.get("--limit", search.DEFAULT_LIMIT),
            budget=numbers.get("--budget", search.DEFAULT_BUDGET),
            metadata_only="--metadata-only" in switches,
        )
    except _complaint_classes():
        return None  # the long way round has the words for it
    from porch.cli.json_printer import dump_json

    sys.stdout.write(dump_json({"status": "success", "data": data}) + "\n")
    sys.stdout.flush()
    return 0


SearchWords = tuple[list[str], dict[str, int], set[str]]


def _read_search_words(words: list[str]) -> SearchWords | None:
    phrases: list[str] = []
    numbers: dict[str, int] = {}
    switches: set[str] = set()
    rest = iter(words)
    for word in rest:
        if word in _NUMBERS:
            value = next(rest, "")
            if not value.isascii() or not value.isdigit() or len(value) > 9:
                return None
            numbers[word] = int(value)
        elif word in _SWITCHES:
            switches.add(word)
        elif word.startswith("-"):
            return None
        else:
            phrases.append(word)
    phrases = drop_program_name(phrases)
    is_plain = phrases and all(map(_is_phrase, phrases)) and 1 <= numbers.get("--limit", 1) <= 100
    return (phrases, numbers, switches) if is_plain else None


def drop_program_name(words: list[str]) -> list[str]:
    """`docs` before a phrase is the name of the index, of which there is one."""
    return words[1:] if len(words) > 1 and words[0] == "docs" else words


def _is_phrase(word: str) -> bool:
    return any(c.isalnum() for c in word) and not any("\ud800" <= c <= "\udfff" for c in word)


def _complaint_classes() -> tuple[type[BaseException], ...]:
    """Imported only once something has gone wrong."""
    import sqlite3

    from porch.errors import PorchError

    return (PorchError, sqlite3.Error)
