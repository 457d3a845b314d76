"""Which runs a word may mean; without imports, because the fast path asks it too."""

from __future__ import annotations


def match_run_names(known: list[str], word: str) -> list[str]:
    """The run of exactly this name, else all whose id it is, padded with zeros or not."""
    if word.startswith("plan/"):
        # The plan of a branch; its directory has no slashes, see `operations.plans.place`.
        word = "plan_" + word[5:].replace("/", "~")
    if word in known or not word:
        return [word] if word else []
    exact = [name for name in known if _is_id_of(name, word)]
    return exact or [name for name in known if _is_number_of(name, word)]


def _is_id_of(name: str, word: str) -> bool:
    """`0073` of 0073-user-auth, tick_0073_add-feature and bugfix_142 alike; ids may hold dashes."""
    behind = name.partition("_")[2]
    return name.startswith(f"{word}-") or behind == word or behind.startswith(f"{word}_")


def _is_number_of(name: str, word: str) -> bool:
    ids = (name.partition("-")[0], name.partition("_")[2].partition("_")[0])
    return word.isdecimal() and any(id_.isdecimal() and int(id_) == int(word) for id_ in ids)
