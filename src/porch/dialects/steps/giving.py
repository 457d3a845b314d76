"""Inputs that were given: checked against what a protocol declares, and put into its texts."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from porch.dialects.steps.records import Input, InputType
from porch.errors import Finding

WORKTREE_BRANCH = "worktree_branch"
_BRANCH_NEEDS = ("feature_branch", "prompt_num")


def problems(inputs: Sequence[Input], given: Mapping[str, str]) -> list[Finding]:
    """Everything that is unknown, missing or of the wrong type, all at once."""
    return [*_unknown(inputs, given), *_missing(inputs, given), *_wrong(inputs, given)]


def _unknown(inputs: Sequence[Input], given: Mapping[str, str]) -> Iterator[Finding]:
    names = [each.name for each in inputs]
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            fix = f"did you mean '{near[0]}'?" if near else f"inputs: {', '.join(names) or 'none'}"
            yield Finding("unknown-input", f"'{name}' is not an input of this protocol", None, fix)


def _missing(inputs: Sequence[Input], given: Mapping[str, str]) -> Iterator[Finding]:
    for each in inputs:
        if not each.optional and each.name not in given:
            message = f"the input '{each.name}' is missing: {each.description or each.type}"
            yield Finding("missing-input", message, None, f"add --input {each.name}=...")


def _wrong(inputs: Sequence[Input], given: Mapping[str, str]) -> Iterator[Finding]:
    for each in inputs:
        if each.name in given:
            try:
                value(each, given[each.name])
            except ValueError:
                wanted = f"{_ARTICLE[each.type]} {each.type}"
                message = f"the input '{each.name}' must be {wanted}, not '{given[each.name]}'"
                yield Finding("bad-input", message, None, _EXAMPLE[each.type])


def value(declared: Input, text: str) -> Any:
    """What a given text means; ValueError if it is not of the declared type."""
    return _READ[declared.type](text)


def _integer(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise ValueError(text)
    return int(text)


def _string(text: str) -> str:
    if not text.strip():
        raise ValueError(text)
    return text


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"


def _json_of(kind: type) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            found = json.loads(text)
        except RecursionError as error:
            raise ValueError(text) from error
        if not isinstance(found, kind):
            raise ValueError(text)  # noqa: TRY004 - the caller asks one question: does it fit?
        return found

    return read


_READ: Mapping[InputType, Callable[[str], Any]] = {
    "integer": _integer,
    "string": _string,
    "boolean": _boolean,
    "array": _json_of(list),
    "object": _json_of(dict),
}
_ARTICLE: Mapping[InputType, str] = {
    "integer": "an", "string": "a", "boolean": "a", "array": "an", "object": "an",
}  # fmt: skip
_EXAMPLE: Mapping[InputType, str] = {
    "integer": "write a whole number",
    "string": "write a text that is not empty",
    "boolean": "write true or false",
    "array": 'write it as JSON: [{"specialist_name": "backend", "approach_num": 1}]',
    "object": 'write it as JSON: {"name": "value"}',
}


def words(inputs: Sequence[Input], given: Mapping[str, str]) -> dict[str, str]:
    """What stands in for each placeholder; an optional one that was not given is empty."""
    found = {each.name.lower(): given.get(each.name, "") for each in inputs}
    if all(found.get(name) for name in _BRANCH_NEEDS):
        found[WORKTREE_BRANCH] = worktree_branch(
            found["feature_branch"], found["prompt_num"], found.get("variant", "")
        )
    return found


def worktree_branch(feature: str, prompt: str, variant: str = "") -> str:
    return f"{feature}--implementation-{prompt}{f'-{variant}' if variant else ''}"


def filled(text: str, words: Mapping[str, str]) -> str:
    """`<NAME>` and `<name>` become the word; `[-<NAME>]` goes with its brackets, or altogether."""
    if not words:
        return text
    names = "|".join(re.escape(form) for name in words for form in (name.upper(), name))
    pattern = re.compile(
        rf"(?P<gap>[ \t]?)\[(?P<before>[^\[\]<>\n]*)<(?P<optional>{names})>(?P<after>[^\[\]<>\n]*)\]"
        rf"|(?P<space>[ \t]?)<(?P<plain>{names})>"
    )
    return pattern.sub(lambda found: _word(found, words), text)


def _word(found: re.Match[str], words: Mapping[str, str]) -> str:
    said = words[(found["optional"] or found["plain"]).lower()]
    if not said:
        return ""
    if found["plain"]:
        return f"{found['space']}{said}"
    return f"{found['gap']}{found['before']}{said}{found['after']}"
