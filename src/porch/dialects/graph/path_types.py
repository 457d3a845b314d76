"""What the paths of a graph file mean: which remembered exit, which field, of which type."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from porch.dialects.graph import engine_fields
from porch.dialects.graph.findings import ReadingNotes
from porch.errors import Place, suggest_name
from porch.model import types as t
from porch.text.nodes import ScalarNode


class UnknownPath(Exception):
    """A path leads nowhere from this word on; these would have been possible."""

    def __init__(self, name: str, known: Sequence[str]):
        super().__init__(name)
        self.name = name
        self.known = known


class DeclaredExit(Struct, frozen=True):
    """One exit of an agent: its record, what the engine fills, what is only advice."""

    name: str
    record: t.Record
    place: Place
    filled: Mapping[str, ScalarNode] = field(default_factory=dict)
    advisory: tuple[str, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)  # of its fields


class PathMeanings(Struct):
    """Every exit of every state with its record, so that no path can lead nowhere unnoticed."""

    notes: ReadingNotes
    types: Mapping[str, t.Type]
    spec: t.Type
    budgets: tuple[str, ...] = ()
    exits: dict[str, dict[str, t.Record]] = field(default_factory=dict)
    declared: dict[str, dict[str, DeclaredExit]] = field(default_factory=dict)
    roles: set[str] = field(default_factory=set)
    slots: dict[str, ScalarNode] = field(default_factory=dict)  # read by a state as its memory
    event: str = ""
    unsaid: tuple[str, ...] = ()  # where paths begin of which nothing can be said
    is_result_known: bool = True  # False: what its ends give cannot be read

    @property
    def is_spec_known(self) -> bool:
        """Whether the type of the spec was found; without it nothing can be said of its fields."""
        return isinstance(t.unwrap_type(self.spec, self.types)[0], t.Record)

    def leave_unsaid(self, *begins: str) -> None:
        """What is wrong there was told; what only follows from it would hide that."""
        self.unsaid = (*self.unsaid, *begins)

    def path(
        self,
        word: ScalarNode,
        near: Mapping[str, str] | None = None,
        text: str = "",
        moments: Mapping[str, str] | None = None,
    ) -> str:
        """The canonical path of what is written; the empty text, and a finding, if there is none.

        `near` are names that mean something just here, `moments` the words of `engine` that do.
        """
        text = text or word.text
        first, _, rest = text.partition(".")
        if near and first in near:
            text = f"{near[first]}.{rest}" if rest else near[first]
        found = self._canonical(ScalarNode(text, word.place))
        if self.unsaid and _strip_parents(found).startswith(self.unsaid):
            return ""
        if found and self._is_known(found, word) and self._is_timely(found, word, moments or {}):
            return found
        return ""

    def exit(self, word: ScalarNode) -> str:
        """The path of a whole exit, as it is remembered and forgotten."""
        path = self.path(word)
        if not path or (path.count(".") == 1 and path.partition(".")[0] in self.exits):
            return path
        message = f"'{word.text}' is not an exit"
        self.notes.report("unknown-exit", message, word.place, "name an exit: `state.Exit`")
        return ""

    def is_of(self, path: str, scalar: t.ScalarName, word: ScalarNode) -> bool:
        """Whether a path leads to values of one kind, alone or in a list."""
        solid = self._solid(self.type_of(path))[0]
        if solid == t.Scalar(scalar):
            return True
        message = f"'{word.text}' must be a {scalar}, not {t.format_type(solid)}"
        self.notes.report("wrong-type", message, word.place)
        return False

    def element_of(self, path: str) -> t.Solid:
        """The type of the single values at the end of a path, in however many lists they are."""
        return self._solid(self.type_of(path))[0]

    def type_of(self, path: str) -> t.Type:
        """The type at the end of a canonical path; raises Lost if it does not get there."""
        path = _strip_parents(path)
        if path == "parent":
            return t.Ref("Node")
        first, name, *names = [*path.split("."), ""]
        known = self._known(first)
        if name not in known:
            raise UnknownPath(name, list(known))
        return self._inside(known[name], names[:-1])

    def _known(self, first: str) -> Mapping[str, t.Type]:
        if first == "instance":
            return {"spec": self.spec, **_parse_types(engine_fields.INSTANCE_FIELDS)}
        return dict(self._engine()) if first == "engine" else self.exits[first]

    def _engine(self) -> Iterator[tuple[str, t.Type]]:
        yield from _parse_types(
            {**engine_fields.FILLED_FIELDS, **engine_fields.SHOWN_FIELDS}
        ).items()
        yield from ((name, t.Ref("Count")) for name in self.budgets)
        yield "children", engine_fields.parse_record(engine_fields.CHILDREN_FIELDS)
        if self.event:
            state, exit_ = self.event.split(".")
            event = self.exits[state][exit_]
            yield "update", t.Record((*event.fields, t.Field("newParentHead", t.Scalar("Commit"))))
            yield "siblings", t.ListOf(event)

    def _inside(self, type_: t.Type, names: Sequence[str]) -> t.Type:
        is_list = may_be_null = False
        for name in names:
            # In a list, what is null is left out; elsewhere nothing is behind it.
            may_be_null |= not is_list and t.unwrap_type(type_, self.types)[1]
            solid, through = self._solid(type_)
            parts = _type_parts(solid)
            if name not in parts:
                raise UnknownPath(name, list(parts))
            type_, is_list = parts[name], is_list or through
        type_ = self._gathered(type_) if is_list else type_
        return t.Maybe(type_) if may_be_null else type_

    def _gathered(self, type_: t.Type) -> t.ListOf:
        """Of values that lie in a list, all in one list."""
        solid, is_nullable = t.unwrap_type(type_, self.types)
        if isinstance(solid, t.ListOf):
            return solid
        return t.ListOf(solid if is_nullable else type_)

    def _solid(self, type_: t.Type) -> tuple[t.Solid, bool]:
        """What a path goes into, and whether it does so element by element."""
        solid, is_list = t.unwrap_type(type_, self.types)[0], False
        while isinstance(solid, t.ListOf):
            solid, is_list = t.unwrap_type(solid.of, self.types)[0], True
        return solid, is_list

    def _canonical(self, word: ScalarNode) -> str:
        first, _, rest = word.text.partition(".")
        if first == "parent":
            inner = self._canonical(ScalarNode(rest, word.place)) if rest else ""
            return f"parent.{inner}" if inner else "" if rest else "parent"
        if first in engine_fields.PATH_ROOTS or first in self.exits:
            return word.text
        return self._by_exit(word, first)

    def _by_exit(self, word: ScalarNode, exit_: str) -> str:
        states = [name for name, exits in self.exits.items() if exit_ in exits]
        if len(states) == 1:
            return f"{states[0]}.{word.text}"
        if states:
            fix = f"write {' or '.join(f'{name}.{exit_}' for name in states)}"
            message = f"'{exit_}' is an exit of several states"
            self.notes.report("ambiguous-path", message, word.place, fix)
            return ""
        known = [name for exits in self.exits.values() for name in exits]
        self.notes.unknown(
            "the path", word, [*known, *self.exits, *engine_fields.PATH_ROOTS], "unknown-path"
        )
        return ""

    def _is_known(self, path: str, word: ScalarNode) -> bool:
        try:
            self.type_of(path)
        except UnknownPath as lost:
            fix = suggest_name(lost.name, lost.known).rstrip()
            if lost.known and not fix:
                fix = f"possible: {', '.join(lost.known)}"
            name = f"'{lost.name}'" if lost.name else "the next part"
            message = f"'{word.text}' is not a valid path: {name} does not exist"
            self.notes.report("unknown-path", message, word.place, fix)
            return False
        return True

    def _is_timely(self, path: str, word: ScalarNode, moments: Mapping[str, str]) -> bool:
        """The engine does not remember what it only knows for a moment."""
        while path.startswith("parent."):
            path = path.removeprefix("parent.")
            moments = {}
        first, name, *_ = [*path.split("."), ""]
        at_times = {**engine_fields.FILLED_FIELDS, **engine_fields.SHOWN_FIELDS}
        if first != "engine" or name not in at_times or name in moments:
            return True
        where = (
            "a field that it fills"
            if name in engine_fields.FILLED_FIELDS
            else "an input of a state"
        )
        message = f"'{word.text}' cannot be used here: the engine gives it only to {where}"
        self.notes.report("unknown-path", message, word.place)
        return False


def _strip_parents(path: str) -> str:
    while path.startswith("parent."):
        path = path.removeprefix("parent.")
    return path


def _parse_types(fields: engine_fields.FieldTypes) -> dict[str, t.Type]:
    return {name: t.parse_type(text) for name, text in fields.items()}


def _type_parts(solid: t.Type) -> Mapping[str, t.Type]:
    if isinstance(solid, t.Record):
        return {field.name: field.type for field in solid.fields}
    return dict(_numbered_parts(solid)) if isinstance(solid, t.Tuple_) else {}


def _numbered_parts(pair: t.Tuple_) -> Iterator[tuple[str, t.Type]]:
    return ((str(at), part) for at, part in enumerate(pair.parts))
