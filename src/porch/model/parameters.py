"""What a protocol must be given before it begins: names, types, and what is wrong with a value."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from msgspec import Struct

from porch.errors import Finding

ParameterType = Literal["integer", "string", "boolean", "array", "object"]
PARAMETER_TYPES: tuple[ParameterType, ...] = get_args(ParameterType)


class Parameter(Struct, frozen=True):
    """Something that a protocol must be given, or may be."""

    name: str
    type: ParameterType
    optional: bool = False
    description: str = ""


def check_parameters(declared: Sequence[Parameter], given: Mapping[str, str]) -> list[Finding]:
    """Everything that is unknown, missing or of the wrong type, all at once."""
    return [
        *_find_unknown(declared, given),
        *_find_missing(declared, given),
        *_find_mistyped(declared, given),
    ]


def _find_unknown(declared: Sequence[Parameter], given: Mapping[str, str]) -> Iterator[Finding]:
    names = [each.name for each in declared]
    for name in given:
        if name not in names:
            from difflib import get_close_matches

            near = get_close_matches(name, names, n=1)
            fix = f"did you mean '{near[0]}'?" if near else f"inputs: {', '.join(names) or 'none'}"
            yield Finding("unknown-input", f"'{name}' is not an input of this protocol", None, fix)


def _find_missing(declared: Sequence[Parameter], given: Mapping[str, str]) -> Iterator[Finding]:
    for each in declared:
        if not each.optional and each.name not in given:
            message = f"the input '{each.name}' is missing: {each.description or each.type}"
            yield Finding("missing-input", message, None, f"add --input {each.name}=...")


def _find_mistyped(declared: Sequence[Parameter], given: Mapping[str, str]) -> Iterator[Finding]:
    for each in declared:
        if each.name in given:
            try:
                parse_parameter(each, given[each.name])
            except ValueError:
                wanted, said = _TYPES[each.type], given[each.name]
                message = f"the input '{each.name}' must be {wanted.called}, not '{said}'"
                yield Finding("bad-input", message, None, wanted.fix)


def parse_parameter(declared: Parameter, text: str) -> Any:
    """What a given text means; ValueError if it is not of the declared type."""
    return _TYPES[declared.type].read(text)


def _parse_integer(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise ValueError(text)
    return int(text)


def _parse_string(text: str) -> str:
    if not text.strip():
        raise ValueError(text)
    return text


def _parse_boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"


def _parse_array(text: str) -> list[Any]:
    found = _parse_json(text)
    if not isinstance(found, list):
        raise ValueError(text)  # noqa: TRY004 - the caller asks one question: does it fit?
    return found


def _parse_object(text: str) -> dict[str, Any]:
    found = _parse_json(text)
    if not isinstance(found, dict):
        raise ValueError(text)  # noqa: TRY004 - as above
    return found


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError(text) from error


class _Type(Struct, frozen=True):
    """How a type is read, and how people call it."""

    read: Callable[[str], Any]
    called: str
    fix: str


_TYPES: Mapping[ParameterType, _Type] = {
    "integer": _Type(_parse_integer, "an integer", "write a whole number"),
    "string": _Type(_parse_string, "text", "write some text"),
    "boolean": _Type(_parse_boolean, "true or false", "write one of the two"),
    "array": _Type(_parse_array, "an array", 'write it as JSON: [{"specialist_name": "backend"}]'),
    "object": _Type(_parse_object, "an object", 'write it as JSON: {"name": "value"}'),
}
