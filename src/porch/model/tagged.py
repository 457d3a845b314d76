"""Structs as tagged JSON and back, so that records, pinned definitions and states are data.

msgspec's own writer is not used: digests and sums are taken over these bytes, and it leaves
defaults out by identity, writes 1e16 for 1e+16, makes 0 a 0.0 and refuses half a surrogate pair.
"""

from collections.abc import Callable, Iterable, Mapping
from types import UnionType
from typing import Any, Union, get_args, get_origin

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, astuple, fields

TAG = "is"
Way = Callable[[Any], Any]
_NO_DEFAULT = object()
# Most values are these, and asking for their type is cheaper than asking what they resemble.
_SCALARS = frozenset((str, int, float, bool, type(None)))


class Tagged(Struct, frozen=True, tag_field=TAG, tag=""):
    """A value kept on disk; its tag is written out and stays, whatever the class is called."""


class Ways(Struct, frozen=True):
    """How a value of one type goes into JSON and comes out; `read` is None where it is JSON."""

    write: Way
    read: Way | None


class TaggedJson:
    """Knows a closed set of structs by tag; fields that hold their default are left out.

    What a field's type calls plain (payloads, maps of text) is JSON already and is taken as it is,
    so that no key an agent may write is ever read as one of our tags.
    """

    def __init__(self, classes: Iterable[type[Tagged]]):
        self._classes = {str(cls.__struct_config__.tag): cls for cls in classes}
        self._tags = {cls: tag for tag, cls in self._classes.items()}
        self._writers: dict[type, tuple[tuple[str, Any, Way], ...]] = {}
        self._readers: dict[str, tuple[type[Tagged], tuple[tuple[str, Way], ...]]] = {}

    def encode(self, value: Any) -> Any:
        if type(value) in _SCALARS:
            return value
        if type(value) in self._tags:
            return self._encode_object(value)
        if isinstance(value, (tuple, list)):
            return [self.encode(item) for item in value]
        if isinstance(value, Mapping):
            return {key: self.encode(item) for key, item in value.items()}
        return value

    def _encode_object(self, value: Any) -> dict[str, Any]:
        cls = type(value)
        known = self._writers.get(cls) or self._writers.setdefault(cls, self._writers_of(cls))
        out: dict[str, Any] = {TAG: self._tags[cls]}
        for (name, default, write), item in zip(known, astuple(value), strict=True):
            if item is default:
                continue
            if item != default or isinstance(item, bool) is not isinstance(default, bool):
                out[name] = item if type(item) in _SCALARS else write(item)
        return out

    def _writers_of(self, cls: type[Tagged]) -> tuple[tuple[str, Any, Way], ...]:
        return tuple((f.name, _field_default(f), self._ways(f.type).write) for f in fields(cls))

    def decode(self, value: Any) -> Any:
        """The object of a tagged mapping."""
        kept = dict(value)
        tag = kept.pop(TAG)
        known = self._readers.get(tag)
        if known is None:
            known = self._readers[tag] = self._readers_of(self._classes[tag])
        cls, readers = known
        for name, read in readers:
            if name in kept:
                kept[name] = read(kept[name])
        return cls(**kept)

    def decode_all(self, values: Iterable[Any]) -> tuple[Any, ...]:
        return tuple([self.decode(value) for value in values])

    def _readers_of(self, cls: type[Tagged]) -> tuple[type[Tagged], tuple[tuple[str, Way], ...]]:
        found = ((f.name, self._ways(f.type).read) for f in fields(cls))
        return cls, tuple((name, read) for name, read in found if read is not None)

    def _ways(self, hint: Any) -> Ways:
        origin, arguments = get_origin(hint), get_args(hint)
        if origin in (Union, UnionType):
            return self._ways(next(filter(_is_tagged, arguments), Any))
        if origin is tuple:
            inner = self._ways(arguments[0])
            return (
                Ways(_untagged_json, tuple)
                if inner.read is None
                else Ways(self.encode, self.decode_all)
            )
        if origin is Mapping:
            return self._ways_of_mapping(*arguments)
        return Ways(self.encode, self.decode) if _is_tagged(hint) else Ways(_untagged_json, None)

    def _ways_of_mapping(self, key: Any, value: Any) -> Ways:
        inner = self._ways(value)
        if get_origin(key) is tuple:
            return _as_pair_list(inner)
        return (
            Ways(_untagged_json, None)
            if inner.read is None
            else Ways(self.encode, self._decode_values)
        )

    def _decode_values(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return {key: self.decode(item) for key, item in value.items()}


def _as_pair_list(inner: Ways) -> Ways:
    """A mapping by tuples: JSON has no such keys, so it is a list of keys with their values."""
    read = inner.read or _return_same
    return Ways(
        lambda value: [[list(key), inner.write(item)] for key, item in value.items()],
        lambda pairs: {tuple(key): read(item) for key, item in pairs},
    )


def _return_same(value: Any) -> Any:
    return value


def _is_tagged(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Tagged)


def _untagged_json(value: Any) -> Any:
    """JSON of a value without tags; a struct inside is the mapping of its fields."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, (tuple, list)):
        return [_untagged_json(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _untagged_json(item) for key, item in value.items()}
    if isinstance(value, Struct):
        return {name: _untagged_json(getattr(value, name)) for name in value.__struct_fields__}
    return value


def _field_default(field: FieldInfo) -> Any:
    if field.default is not NODEFAULT:
        return field.default
    if field.default_factory is not NODEFAULT:
        return field.default_factory()
    return _NO_DEFAULT
