"""Which runs a word may mean, and which word means one run and no other.

Without imports, because the fast path asks it too.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from porch.show.shapes import DecisionShape, OptionShape

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-")
# Programs and verbs are short words.
_LONGEST_COMMAND = 64


# Runs that commands move and nobody drives, by how their names begin.
DRIVERLESS = ("plan_", "ask_")


def match_run_names(known: list[str], word: str) -> list[str]:
    """The run of exactly this name, else all whose id it is, padded with zeros or not."""
    kind, slash, rest = word.partition("/")
    if slash and f"{kind}_" in DRIVERLESS:
        # The plan of a branch, or a round of questions; directories have no slashes.
        word = f"{kind}_{rest.replace('/', '~')}"
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


def unique_word(names: list[str], name: str, id_: str) -> str:
    """What to type for a run so that nobody is asked which one was meant."""
    is_enough = bool(id_) and match_run_names(names, id_) == [name]
    return quote_word(id_ if is_enough else name)


def quote_word(text: str) -> str:
    """As a shell takes it for one word."""
    return text if text and _SAFE.issuperset(text) else "'" + text.replace("'", "'\"'\"'") + "'"


def rename_in_commands(text: str, id_: str, word: str) -> str:
    """The text with `porch VERB ID` and `af VERB ID` naming the run by this word."""
    if not id_ or word == quote_word(id_):
        return text
    return word.join(split_at_names(text, id_))


def split_at_names(text: str, id_: str) -> list[str]:
    """The text without its id where commands name the run by it.

    No pattern: lists of very many questions ask this of every answer.
    """
    old = f" {quote_word(id_)}"
    first, *rest = text.split(old)
    seen, parts = first, [first]
    for part in rest:
        if _ends_with_verb(seen[-_LONGEST_COMMAND:]) and not _continues_word(part[:1]):
            parts[-1] += " "
            parts.append(part)
        else:
            parts[-1] += old + part
        seen += old + part
    return parts


def _ends_with_verb(text: str) -> bool:
    """Whether `porch VERB` or `af VERB` stands at the end, the program as a word of its own."""
    front, _, verb = text.rpartition(" ")
    if not (verb.isascii() and verb.isalpha() and verb.islower()):
        return False
    for program in ("porch", "af"):
        if front.endswith(program):
            return not _continues_name(front[: -len(program)][-1:])
    return False


def _continues_name(char: str) -> bool:
    return char.isalnum() or char == "_"


def _continues_word(char: str) -> bool:
    return _continues_name(char) or char in (".", "-")


def rename_decision(decision: DecisionShape, word: str) -> DecisionShape:
    """A decision whose answers name its run uniquely."""
    id_ = str(decision["id"])
    if word == id_:
        return decision.copy()
    options: list[OptionShape] = [
        {**option, "command": rename_in_commands(option["command"], id_, word)}
        for option in decision.get("options") or ()
    ]
    return {**decision, "options": options}


def list_shared_ids(ids: Mapping[str, str]) -> frozenset[str]:
    """Of names with their ids: the ids that several have."""
    seen: set[str] = set()
    shared: set[str] = set()
    for id_ in ids.values():
        (shared if id_ in seen else seen).add(id_)
    return frozenset(shared)
