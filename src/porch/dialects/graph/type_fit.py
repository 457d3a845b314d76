"""Whether values of one type can stand where another is declared; if not, what is in the way."""

from collections.abc import Collection
from typing import assert_never

from porch.model import types as t

# Whatever is written in letters can be read as plain text.
_TEXTS = ("Text", "Blob")
_WRITTEN = ("Text", "Blob", "FilePath", "Commit")


def find_misfit(given: t.Type, wanted: t.Type, types: t.Types) -> str:
    """Why not every value of `given` is one of `wanted`; nothing is the empty text."""
    return _TypeFit(types).misfit(given, wanted, "")


def find_record_misfit(
    given: t.Record,
    wanted: t.Record,
    types: t.Types,
    *,
    supplied: Collection[str] = (),
    extra: Collection[str] = (),
) -> str:
    """The same of two records; `supplied` fields come from elsewhere, `extra` ones go elsewhere."""
    said = {field.name for field in given.fields}
    known = {field.name for field in wanted.fields}
    asked = t.remove_fields(wanted, [name for name in supplied if name not in said])
    given = t.remove_fields(given, [name for name in extra if name not in known])
    return _TypeFit(types).misfit(given, asked, "")


class _TypeFit:
    """Goes through two types side by side; a pair that contains itself is looked at once."""

    def __init__(self, types: t.Types):
        self._types = types
        self._seen: set[tuple[t.Type, t.Type]] = set()

    def misfit(self, given: t.Type, wanted: t.Type, where: str) -> str:
        if given == wanted or (given, wanted) in self._seen:
            return ""
        self._seen.add((given, wanted))
        have, may_be_null = t.unwrap_type(given, self._types)
        want, may_take_null = t.unwrap_type(wanted, self._types)
        if may_be_null and not may_take_null:
            return _describe(where, given, wanted)
        return self._solid(have, want, where, _describe(where, given, wanted))

    def _solid(self, have: t.Solid, want: t.Solid, where: str, no: str) -> str:
        match want:
            case t.Scalar(name):
                return "" if _is_scalar(have, name) else no
            case t.Enum(options):
                return "" if isinstance(have, t.Enum) and {*have.options} <= {*options} else no
            case t.ListOf(of):
                return self.misfit(have.of, of, f"{where}[]") if isinstance(have, t.ListOf) else no
            case t.Tuple_(parts):
                return self._tuple(have, parts, where, no)
            case t.Record():
                return self._record(have, want, where) if isinstance(have, t.Record) else no
            case t.Ref():
                return "" if have == want else no
            case _:
                assert_never(want)

    def _tuple(self, have: t.Solid, parts: tuple[t.Type, ...], where: str, no: str) -> str:
        if not isinstance(have, t.Tuple_) or len(have.parts) != len(parts):
            return no
        pairs = enumerate(zip(have.parts, parts, strict=True))
        found = (self.misfit(a, b, f"{where}[{at}]") for at, (a, b) in pairs)
        return next(filter(None, found), "")

    def _record(self, have: t.Record, want: t.Record, where: str) -> str:
        given = {field.name: field.type for field in have.fields}
        front = f"{where}." if where else ""
        for field in want.fields:
            if field.name in given:
                wrong = self.misfit(given[field.name], field.type, f"{front}{field.name}")
                if wrong:
                    return wrong
            elif not t.unwrap_type(field.type, self._types)[1]:
                return f"'{front}{field.name}' is missing"
        known = {field.name for field in want.fields}
        more = next((name for name in given if name not in known), "")
        return f"'{front}{more}' is not one of its fields" if more else ""


def _is_scalar(have: t.Solid, name: t.ScalarName) -> bool:
    if have == t.Scalar(name):
        return True
    is_written = isinstance(have, t.Enum) or (isinstance(have, t.Scalar) and have.name in _WRITTEN)
    return name in _TEXTS and is_written


def _describe(where: str, given: t.Type, wanted: t.Type) -> str:
    front = f"'{where}' is " if where else ""
    return f"{front}{t.format_type(given)}, not {t.format_type(wanted)}"
