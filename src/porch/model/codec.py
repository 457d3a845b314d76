"""Frozen dataclasses to tagged JSON and back, so that records and pinned definitions are data."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

TAG = "is"
Reader = Callable[[Any], Any]
Writer = Callable[[Any], Any]
_NO_DEFAULT = object()
# Most values are these, and asking for their type is cheaper than asking what they resemble.
_SCALARS = frozenset((str, int, float, bool, type(None)))


class Codec:
    """Knows a closed set of dataclasses by name; fields that hold their default are left out.

    What a field's type calls plain (payloads, maps of text) is JSON already and is taken as it is,
    so that no key an agent may write is ever read as one of our tags.
    """

    def __init__(self, classes: Iterable[type]):
        self._classes = {cls.__name__: cls for cls in classes}
        self._writers: dict[type, tuple[tuple[str, Any, Writer], ...]] = {}
        self._readers: dict[str, tuple[type, tuple[tuple[str, Reader], ...]]] = {}

    def encode(self, value: Any) -> Any:
        if type(value) in _SCALARS:
            return value
        if self._classes.get(type(value).__name__) is type(value):
            return self._encode_object(value)
        if isinstance(value, (tuple, list)):
            return [self.encode(item) for item in value]
        if isinstance(value, Mapping):
            return {key: self.encode(item) for key, item in value.items()}
        return value

    def _encode_object(self, value: Any) -> dict[str, Any]:
        cls = type(value)
        known = self._writers.get(cls) or self._writers.setdefault(cls, self._described(cls))
        out: dict[str, Any] = {TAG: cls.__name__}
        for name, default, write in known:
            item = getattr(value, name)
            if item is default:
                continue
            if item != default or isinstance(item, bool) is not isinstance(default, bool):
                out[name] = item if type(item) in _SCALARS else write(item)
        return out

    def _described(self, cls: type) -> tuple[tuple[str, Any, Writer], ...]:
        hints = get_type_hints(cls)
        return tuple(
            (f.name, _default(f), _plain if self._reader(hints[f.name]) is None else self.encode)
            for f in fields(cls)
            if f.init
        )

    def decode(self, value: Any) -> Any:
        """The object of a tagged mapping."""
        kept = dict(value)
        name = kept.pop(TAG)
        known = self._readers.get(name)
        if known is None:
            known = self._readers[name] = self._reading(self._classes[name])
        cls, readers = known
        for field_, reader in readers:
            if field_ in kept:
                kept[field_] = reader(kept[field_])
        return cls(**kept)

    def decode_all(self, values: Iterable[Any]) -> tuple[Any, ...]:
        return tuple([self.decode(value) for value in values])

    def _reading(self, cls: type) -> tuple[type, tuple[tuple[str, Reader], ...]]:
        hints = get_type_hints(cls)
        found = ((f.name, self._reader(hints[f.name])) for f in fields(cls) if f.init)
        return cls, tuple((name, reader) for name, reader in found if reader is not None)

    def _reader(self, hint: Any) -> Reader | None:
        """How a value of this type comes out of JSON; None where it is JSON already."""
        origin, arguments = get_origin(hint), get_args(hint)
        if origin in (Union, UnionType):
            return self.decode if any(map(is_dataclass, arguments)) else None
        if origin is tuple:
            return tuple if self._reader(arguments[0]) is None else self.decode_all
        if origin is Mapping and self._reader(arguments[1]) is not None:
            return self._decode_values
        return self.decode if is_dataclass(hint) else None

    def _decode_values(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return {key: self.decode(item) for key, item in value.items()}


def _plain(value: Any) -> Any:
    """JSON of a value without tags; a dataclass inside is the mapping of its fields."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    return value


def _default(field_: "Field[Any]") -> Any:
    if field_.default is not MISSING:
        return field_.default
    if field_.default_factory is not MISSING:
        return field_.default_factory()
    return _NO_DEFAULT
