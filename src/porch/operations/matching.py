"""Which runs a word may mean; without imports, because the fast path asks it too."""

from __future__ import annotations


def matching(known: list[str], word: str) -> list[str]:
    """The run of exactly this name, else all whose id it is, padded with zeros or not."""
    if word in known:
        return [word]
    return [name for name in known if _is_id_of(name, word)]


def _is_id_of(name: str, word: str) -> bool:
    """`0073` of 0073-user-auth, tick_0073_add-feature and bugfix_142 alike; ids may hold dashes."""
    if not word:
        return False
    front, middle = name.partition("-")[0], name.partition("_")[2]
    if name.startswith(f"{word}-") or middle == word or middle.startswith(f"{word}_"):
        return True
    numbers = (front, middle.partition("_")[0])
    return word.isdecimal() and any(n.isdecimal() and int(n) == int(word) for n in numbers)
