"""Values made up from types, so that templates and schemas can be tried before anything runs."""

from typing import Any, assert_never

from porch.model import types as t
from porch.model.typed_answers import DEPTH_LIMIT, ITEM_LIMIT, check_value

# Where a full sample stops being generous: larger ones teach nothing and take time.
_PLENTY = 1000
_PLENTY_DEEP = DEPTH_LIMIT // 2


def build_sample_value(type_: t.Type, types: t.Types, full: bool) -> Any:
    """A value of this type: all that may be there, or only what must be.

    What contains itself is filled once around. A type that no answer can satisfy (it has no end,
    or its smallest value is over the limits of `answers`) has no sample either: what comes back
    for it has `problems`.
    """
    made = _SampleMaker(types, full).value(type_, "", 0, ())
    if full and check_value(made, type_, types):
        return build_sample_value(type_, types, full=False)
    return made


class _SampleMaker:
    """Makes one value; its parts carry where they are, or a number, so that they differ."""

    def __init__(self, types: t.Types, is_full: bool):
        self._types = types
        self._is_full = is_full
        self._count = 0

    def value(self, declared: t.Type, where: str, depth: int, around: tuple[t.Record, ...]) -> Any:
        """`around` holds the records that this value is part of."""
        type_, is_nullable = t.unwrap_type(declared, self._types)
        if depth > DEPTH_LIMIT or self._count > ITEM_LIMIT:
            return None
        if is_nullable and not self._has_room(type_, depth, around):
            return None
        self._count += 1
        return self._solid(type_, where, depth, around)

    def _solid(self, type_: t.Solid, where: str, depth: int, around: tuple[t.Record, ...]) -> Any:
        match type_:
            case t.Scalar(name):
                return self._scalar(name, where.removeprefix(".") or "text")
            case t.Enum(options):
                return options[self._count % len(options) if self._is_full else 0]
            case t.ListOf(of):
                return self._list(of, where, depth + 1, around)
            case t.Tuple_(parts):
                places = [(f"{where}[{at}]", part) for at, part in enumerate(parts)]
                return [self.value(part, place, depth + 1, around) for place, part in places]
            case t.Record(fields):
                inner = (*around, type_)
                named = [(f.name, f"{where}.{f.name}", f.type) for f in fields]
                return {name: self.value(of, at, depth + 1, inner) for name, at, of in named}
            case t.Ref():
                return None
            case _:
                assert_never(type_)

    def _list(self, of: t.Type, where: str, depth: int, around: tuple[t.Record, ...]) -> list[Any]:
        element = t.unwrap_type(of, self._types)[0]
        has_room = self._has_room(element, depth, around)
        places = [f"{where}[{at}]" for at in range(2)] if has_room else []
        return [self.value(of, place, depth, around) for place in places]

    def _has_room(self, type_: t.Solid, depth: int, around: tuple[t.Record, ...]) -> bool:
        is_small = self._count < _PLENTY and depth < _PLENTY_DEEP
        return self._is_full and is_small and sum(one == type_ for one in around) < 2

    def _scalar(self, name: t.ScalarName, where: str) -> str | int | bool:
        if not self._is_full:
            return _LEAST[name]
        made: dict[t.ScalarName, str | int | bool] = {
            "Text": where,
            "Int": self._count,
            "Bool": True,
            "FilePath": f"src/sample_{self._count}.txt",
            "Commit": f"{self._count:040x}",
            "Blob": where,
        }
        return made[name]


_LEAST: dict[t.ScalarName, str | int | bool] = {
    "Text": "x",
    "Int": 0,
    "Bool": False,
    "FilePath": "x",
    "Commit": "0000000",
    "Blob": "x",
}
