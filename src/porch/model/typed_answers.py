"""What an agent answered, held against its type: harmless slips are repaired, the rest is named."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, assert_never

from porch.model import types as t
from porch.text.late_pattern import late_pattern

TEXT_LIMIT = 256 * 1024
BLOB_LIMIT = 4 * 1024 * 1024
DEPTH_LIMIT = 40
ITEM_LIMIT = 10_000
PATH_LIMIT = 4096
PART_LIMIT = 255
# Enough to recognise a value in a complaint that goes back into a prompt.
_SHOWN = 60
# Beyond this a floating number no longer says which whole one was meant.
_EXACT = 2**53
_WHOLE_NUMBER = late_pattern(r"-?[0-9]{1,15}")
_COMMIT = late_pattern(r"[0-9a-f]{7,64}")


def check_value(value: Any, type_: t.Type, types: t.Types, where: str = "") -> list[str]:
    """Everything that is wrong with a JSON value, each complaint beginning with where it is."""
    if excess := _describe_excess(value):
        return [f"{where or 'answer'}: {excess}"]
    return list(_find_problems(value, type_, types, where))


def repair_value(value: Any, type_: t.Type, types: t.Types) -> tuple[Any, list[str]]:
    """The value with slips repaired that can mean one thing only, and a note about each."""
    if _describe_excess(value):
        return value, []
    notes: list[str] = []
    return _AnswerRepair(types, notes).repaired(value, type_, ""), notes


def path_problem(text: str) -> str:
    """What is wrong with a path inside a repository; nothing is the empty text."""
    if not text.isprintable():
        return "has a character that does not print"
    path = plain_path(text)
    return next((wrong for wrong, is_so in _PATH_RULES if is_so(path)), "")


def plain_path(text: str) -> str:
    """The shortest spelling of a path, so that two that are the same also look the same."""
    kept = text.strip()
    if not kept or kept.startswith("/"):
        return kept
    return (
        "/".join(part for part in kept.split("/") if part.strip() not in ("", ".")).strip() or "."
    )


def _has_part(*names: str) -> Callable[[str], bool]:
    return lambda path: any(_fold_file_name(part) in names for part in path.split("/"))


def _fold_file_name(part: str) -> str:
    """A name as forgiving file systems see it: without its case, blanks and dots behind it."""
    name = part.strip().casefold()
    return name if name == ".." else name.rstrip(" .")


def _is_too_long(path: str) -> bool:
    longest = max(len(part.encode()) for part in path.split("/"))
    return longest > PART_LIMIT or len(path.encode()) > PATH_LIMIT


_PATH_RULES: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("is empty", lambda path: not path),
    ("has a backslash; write forward slashes", lambda path: "\\" in path),
    ("is absolute; write it from the top of the repository", lambda path: path.startswith("/")),
    ("begins with a drive letter", lambda path: bool(re.match("[A-Za-z]:", path))),
    ("begins with '~', which is not expanded here", lambda path: path.startswith("~")),
    ("contains '..'", _has_part("..")),
    ("is inside '.git', which belongs to git", _has_part(".git")),
    ("is longer than file systems allow", _is_too_long),
)


def _describe_excess(value: Any) -> str:
    """Whether a value is too deep or too large to look at, without being deep ourselves."""
    ahead, count = [(value, 0)], 0
    while ahead:
        item, depth = ahead.pop()
        count += 1
        if depth > DEPTH_LIMIT:
            return f"nested more than {DEPTH_LIMIT} levels deep; use fewer levels"
        if count + len(ahead) > ITEM_LIMIT:
            return f"more than {ITEM_LIMIT} values; send fewer"
        ahead.extend((part, depth + 1) for part in _child_values(item))
    return ""


def _child_values(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _find_problems(value: Any, declared: t.Type, types: t.Types, where: str) -> Iterator[str]:
    type_, is_nullable = t.unwrap_type(declared, types)
    if value is None and is_nullable:
        return
    match type_:
        case t.Scalar(name):
            yield from _check_scalar(value, name, where)
        case t.Enum(options):
            yield from _check_enum(value, options, where)
        case t.ListOf(of):
            yield from _check_list(value, of, types, where)
        case t.Tuple_(parts):
            yield from _check_tuple(value, parts, types, where)
        case t.Record(fields):
            yield from _check_record(value, fields, types, where)
        case t.Ref(name):
            yield f"{where or 'answer'}: the type '{name}' does not exist"
        case _:
            assert_never(type_)


def _check_scalar(value: Any, name: t.ScalarName, where: str) -> Iterator[str]:
    python = {"Int": int, "Bool": bool}.get(name, str)
    if type(value) is not python:
        yield _describe_mismatch(where, name, _describe_kind(value))
    elif isinstance(value, str) and (wrong := _text_problem(value, name)):
        yield f"{where or 'answer'}: {wrong}"


def _text_problem(value: str, name: t.ScalarName) -> str:
    if name == "FilePath":
        wrong = path_problem(value)
        return wrong and f"the path {_format_value(value)} {wrong}"
    if name == "Commit":
        fits = _COMMIT.fullmatch(value)
        return (
            "" if fits else f"expected a commit of 7 to 64 hex digits, got {_format_value(value)}"
        )
    limit = BLOB_LIMIT if name == "Blob" else TEXT_LIMIT
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        return "has an invalid character (a lone surrogate), which cannot be stored"
    return f"{size} bytes of text; the limit is {limit}" if size > limit else ""


def _check_enum(value: Any, options: tuple[str, ...], where: str) -> Iterator[str]:
    if value not in options:
        yield _describe_mismatch(where, f"one of {', '.join(options)}", _format_value(value))


def _check_list(value: Any, of: t.Type, types: t.Types, where: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield _describe_mismatch(where, t.format_type(t.ListOf(of)), _describe_kind(value))
        return
    for at, item in enumerate(value):
        yield from _find_problems(item, of, types, f"{where}[{at}]")


def _check_tuple(
    value: Any, parts: tuple[t.Type, ...], types: t.Types, where: str
) -> Iterator[str]:
    if not isinstance(value, list) or len(value) != len(parts):
        got = f"{len(value)} values" if isinstance(value, list) else _describe_kind(value)
        yield _describe_mismatch(
            where, f"{len(parts)} values {t.format_type(t.Tuple_(parts))}", got
        )
        return
    for at, (item, part) in enumerate(zip(value, parts, strict=True)):
        yield from _find_problems(item, part, types, f"{where}[{at}]")


def _check_record(
    value: Any, fields: tuple[t.Field, ...], types: t.Types, where: str
) -> Iterator[str]:
    names = [field.name for field in fields]
    if not isinstance(value, dict):
        yield _describe_mismatch(
            where, f"an object with {', '.join(names) or 'no fields'}", _describe_kind(value)
        )
        return
    for field in fields:
        inside = _field_path(where, field.name)
        if field.name in value:
            yield from _find_problems(value[field.name], field.type, types, inside)
        else:
            yield f"{inside}: missing, expected {t.format_type(field.type)}"
    for key in value:
        if key not in names:
            known = ", ".join(names) or "none"
            yield f"{where or 'answer'}: unknown field {_format_value(key)} (known: {known})"


class _AnswerRepair:
    """Walks a value along its type and writes down what it changed."""

    def __init__(self, types: t.Types, notes: list[str]):
        self._types = types
        self._notes = notes

    def repaired(self, value: Any, declared: t.Type, where: str) -> Any:
        match t.unwrap_type(declared, self._types)[0]:
            case t.Scalar(name):
                return self._noted(value, _SLIPS[name](value), where)
            case t.Enum(options):
                is_slip = isinstance(value, str) and value.strip() in options
                return self._noted(value, value.strip() if is_slip else value, where)
            case t.ListOf(of) if isinstance(value, list):
                return [self.repaired(v, of, f"{where}[{at}]") for at, v in enumerate(value)]
            case t.Tuple_(parts) if isinstance(value, list) and len(value) == len(parts):
                pairs = enumerate(zip(value, parts, strict=True))
                return [self.repaired(v, part, f"{where}[{at}]") for at, (v, part) in pairs]
            case t.Record(fields) if isinstance(value, dict):
                return self._record(value, fields, where)
            case _:
                return value

    def _record(
        self, value: dict[str, Any], fields: tuple[t.Field, ...], where: str
    ) -> dict[str, Any]:
        repaired = dict(value)
        for field in fields:
            inside = _field_path(where, field.name)
            if field.name in value:
                repaired[field.name] = self.repaired(value[field.name], field.type, inside)
            elif t.unwrap_type(field.type, self._types)[1]:
                repaired[field.name] = None
                self._notes.append(f"{inside}: was missing, read as null")
        return repaired

    def _noted(self, said: Any, read: Any, where: str) -> Any:
        if read is not said and (type(read) is not type(said) or read != said):
            self._notes.append(
                f"{where or 'answer'}: read {_format_value(said)} as {_format_value(read)}"
            )
        return read


def _as_int(value: Any) -> Any:
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value.strip()):
        return int(value)
    # JSON knows one kind of number, and some writers put a point behind whole ones.
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < _EXACT
    return int(value) if is_whole else value


def _as_bool(value: Any) -> Any:
    said = value.strip().lower() if isinstance(value, str) else value
    return said == "true" if said in ("true", "false") else value


def _as_path(value: Any) -> Any:
    return plain_path(value) if isinstance(value, str) else value


def _as_word(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _as_is(value: Any) -> Any:
    return value


_SLIPS: Mapping[t.ScalarName, Callable[[Any], Any]] = {
    "Text": _as_is,
    "Int": _as_int,
    "Bool": _as_bool,
    "FilePath": _as_path,
    "Commit": _as_word,
    "Blob": _as_is,
}


def _describe_mismatch(where: str, expected: str, got: str) -> str:
    return f"{where or 'answer'}: expected {expected}, got {got}"


def _field_path(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _describe_kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "a number with a fraction" if value % 1 else "a number"
    return _KINDS.get(type(value), "something that is not JSON")


_KINDS: Mapping[type, str] = {
    type(None): "null",
    int: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}


def _format_value(value: Any) -> str:
    if isinstance(value, str):
        return repr(value) if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}..."
    is_short = type(value) in (int, float) and abs(value) < _EXACT
    return str(value) if is_short else _describe_kind(value)
