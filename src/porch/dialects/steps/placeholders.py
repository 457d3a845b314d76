"""Placeholders in the texts of steps: filled with what was given, or made ready for a prompt."""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from porch.model.parameters import Parameter

WORKTREE_BRANCH = "worktree_branch"
_BRANCH_NEEDS = {"feature_branch", "prompt_num"}
_BRANCH = "<FEATURE_BRANCH>--implementation-<PROMPT_NUM>[-<VARIANT>]"
_INSIDE = r"[^\[\]<>\n]*"


class Placeholder(Struct, frozen=True):
    """A place for a value: `<NAME>`, or `[-<NAME>]`, which goes altogether if there is none."""

    name: str
    before: str = ""
    after: str = ""


def fill_placeholders(text: str, declared: Sequence[Parameter], given: Mapping[str, str]) -> str:
    """In one go, so that no placeholder in a value is filled again."""
    return "".join(
        part if isinstance(part, str) else _placeholder_value(part, given)
        for part in split_placeholders(text, declared)
    )


def _placeholder_value(hole: Placeholder, given: Mapping[str, str]) -> str:
    said = given.get(hole.name, "")
    return f"{hole.before}{said}{hole.after}" if said else ""


def split_placeholders(text: str, declared: Sequence[Parameter]) -> Iterator[str | Placeholder]:
    """Text and holes in turn; the branch of the worktree is spelled out of the others."""
    spelled = _spell_out_branch(text, declared)
    names = {form: p.name for p in declared for form in (p.name.upper(), p.name.lower())}
    names |= {p.name: p.name for p in declared}
    at = 0
    for found in _placeholder_pattern(names).finditer(spelled) if names else ():
        name = names[found["optional"] or found["plain"]]
        yield spelled[at : found.start()]
        yield Placeholder(name, found["gap"] + (found["before"] or ""), found["after"] or "")
        at = found.end()
    yield spelled[at:]


def _placeholder_pattern(names: Mapping[str, str]) -> re.Pattern[str]:
    one = "|".join(re.escape(name) for name in names)
    optional = rf"\[(?P<before>{_INSIDE})<(?P<optional>{one})>(?P<after>{_INSIDE})\]"
    # The blank before it belongs to it: without a value no gap stays behind.
    return re.compile(rf"(?P<gap>[ \t]?)(?:{optional}|<(?P<plain>{one})>)")


def _spell_out_branch(text: str, declared: Sequence[Parameter]) -> str:
    names = {each.name for each in declared}
    if not names >= _BRANCH_NEEDS or WORKTREE_BRANCH in names:
        return text
    branch = _BRANCH if "variant" in names else _BRANCH.partition("[")[0]
    for form in (WORKTREE_BRANCH.upper(), WORKTREE_BRANCH):
        text = text.replace(f"<{form}>", branch)
    return text
