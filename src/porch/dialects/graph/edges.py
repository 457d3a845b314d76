"""Edges of a graph: where each exit leads, what that costs, forgets and keeps."""

import re
from collections.abc import Iterator, Mapping
from itertools import product

from msgspec import Struct, field
from msgspec.structs import replace

from porch.dialects.graph.engine_fields import DUE_TARGET, PATH_ROOTS
from porch.dialects.graph.findings import find_repeated
from porch.dialects.graph.limits import EpochBlock, read_budget_names
from porch.dialects.graph.path_types import PathMeanings
from porch.dialects.graph.type_fit import find_misfit
from porch.model import protocol as p
from porch.model import types as t
from porch.model.validate import exits_of
from porch.text.fields import Fields
from porch.text.nodes import Entry, ListNode, Node, ScalarNode

# Values are compared as they are written: 007 would never be 7.
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]*")


class ChoiceAlternative(Struct, frozen=True):
    """One alternative of a choice: when it is taken, and where it leads."""

    guards: tuple[p.Guard, ...]
    target: p.Target


class EdgeReader(Struct):
    """Reads edges; knows the states, the choices and the epoch they may lead to."""

    meaning: PathMeanings
    states: Mapping[str, p.State]
    budgets: Mapping[str, p.Budget]
    epoch: EpochBlock | None
    choices: Mapping[str, tuple[ChoiceAlternative, ...]] = field(default_factory=dict)
    kept: dict[str, ScalarNode] = field(default_factory=dict)  # slots that some edge writes

    def read(self, entry: Entry) -> Iterator[p.Edge]:
        """All edges of one `state.Exit`."""
        state, _, exit_ = entry.key.text.partition(".")
        notes = self.meaning.notes
        if state not in self.states:
            notes.unknown(
                "the state", ScalarNode(state, entry.key.place), self.states, "unknown-state"
            )
            return
        if exit_ not in exits_of(self.states[state]):
            known = [f"{state}.{name}" for name in exits_of(self.states[state])]
            notes.unknown("the exit", entry.key, known, "unknown-exit")
            return
        notes.places[f"{state}.{exit_}"] = entry.key.place
        for node in entry.value.items if isinstance(entry.value, ListNode) else (entry.value,):
            fields = notes.fields(node, f"an edge of '{entry.key.text}'")
            if fields is not None:
                yield from self.one(state, exit_, fields)
                fields.done()

    def one(self, state: str, exit_: str, fields: Fields) -> Iterator[p.Edge]:
        """One written edge; a choice in it becomes one edge for each of its ways."""
        notes = self.meaning.notes
        words = [*notes.words(fields.child("to"), "'to'")]
        if not words:
            message = f"exit '{exit_}' of '{state}' has no target"
            notes.report("missing-edge", message, fields.node.place, "write 'to'")
        for word in find_repeated(words):
            message = f"exit '{exit_}' of '{state}' leads to '{word.text}' twice"
            notes.report("duplicate-name", message, word.place, "name each target once")
        edge = self._in_epoch(self._plain(state, exit_, fields), fields, words)
        spent = notes.word(fields.child("spent"), "'spent'")
        if (spent or edge.spent_as) and not edge.charges:
            message = f"exit '{exit_}' of '{state}' charges no budget, so none can be used up"
            notes.report("bad-budget", message, fields.node.place, "write 'charge'")
        yield from self.ways(edge, words, spent or self._epoch_spent(edge, fields))

    def _plain(self, state: str, exit_: str, fields: Fields) -> p.Edge:
        record = self.meaning.exits[state].get(exit_)
        near = {f.name: f"{state}.{exit_}.{f.name}" for f in (record.fields if record else ())}
        return p.Edge(
            state,
            exit_,
            (),
            guards=tuple(read_guards(fields, near, self.meaning)),
            charges=self._charge(fields),
            resets=tuple(self._budgets(fields, "reset")),
            forgets=tuple(self._forgets(fields)),
            spent_as=self._spent_as(state, fields),
            is_alone=fields.flag("alone"),
            keeps=tuple(self._keeps(fields, near)),
            respecifies=dict(self._respecifies(fields, near)),
        )

    def _in_epoch(self, edge: p.Edge, fields: Fields, words: list[ScalarNode]) -> p.Edge:
        """The edge as it is, or as the way back to the beginning of an epoch."""
        same, free = fields.flag("same_epoch"), fields.flag("free")
        epoch = self.epoch
        if epoch is None or epoch.state not in [word.text for word in words]:
            if same or free:
                message = "'same_epoch' and 'free' are only for edges to the state of the epoch"
                self.meaning.notes.report("wrong-value", message, fields.node.place, "remove it")
            return edge
        if same:
            return edge
        resets = tuple(dict.fromkeys((*edge.resets, *epoch.resets)))
        charges = edge.charges or ("" if free else epoch.charge)
        return replace(edge, charges=charges, resets=resets, is_alone=True)

    def _epoch_spent(self, edge: p.Edge, fields: Fields) -> ScalarNode | None:
        epoch = self.epoch
        if epoch is None or not edge.is_alone or edge.charges != epoch.charge or not epoch.spent:
            return None
        return ScalarNode(epoch.spent, fields.node.place)

    def ways(
        self, edge: p.Edge, words: list[ScalarNode], spent: ScalarNode | None
    ) -> Iterator[p.Edge]:
        """The edge once for each combination of the choices that are named in it."""
        named = [word.text for word in (*words, spent) if word and word.text in self.choices]
        chosen = list(dict.fromkeys(named))
        for ways in product(*(self.choices[name] for name in chosen)):
            guards = [guard for way in ways for guard in way.guards]
            meant = {name: way.target for name, way in zip(chosen, ways, strict=True)}
            yield replace(
                edge,
                guards=(*edge.guards, *guards),
                targets=tuple(target for word in words for target in self.target(word, meant)),
                spent=tuple(self.target(spent, meant)) if spent and edge.charges else (),
            )

    def target(self, word: ScalarNode, meant: Mapping[str, p.Target]) -> Iterator[p.Target]:
        if word.text in meant:
            yield meant[word.text]
        elif word.text == DUE_TARGET:
            yield p.Target(is_due=True)
        elif word.text in self.states:
            yield p.Target(word.text)
        else:
            known = [*self.states, *self.choices, DUE_TARGET]
            self.meaning.notes.unknown("the state", word, known, "unknown-state")

    def _charge(self, fields: Fields) -> str:
        self.meaning.notes.word(fields.child("charge"), "'charge'")
        return next(self._budgets(fields, "charge"), "")

    def _budgets(self, fields: Fields, key: str) -> Iterator[str]:
        return read_budget_names(fields.child(key), f"'{key}'", self.budgets, self.meaning.notes)

    def _forgets(self, fields: Fields) -> Iterator[str]:
        words = self.meaning.notes.words(fields.child("forget"), "'forget'")
        return (path for word in words if (path := self.meaning.exit(word)))

    def _spent_as(self, state: str, fields: Fields) -> str:
        word = self.meaning.notes.word(fields.child("spent_as"), "'spent_as'")
        known = self.meaning.declared.get(state, {})
        if word is not None and word.text not in known:
            self.meaning.notes.unknown("the exit", word, known, "unknown-exit")
            return ""
        return word.text if word else ""

    def _respecifies(self, fields: Fields, near: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Fields of the spec, and what they are from here on."""
        notes = self.meaning.notes
        spec, _ = t.unwrap_type(self.meaning.spec, self.meaning.types)
        known = [field.name for field in spec.fields] if isinstance(spec, t.Record) else []
        for entry in notes.entries(fields.child("spec"), "'spec'"):
            word = notes.word(entry.value, "'spec'")
            if entry.key.text not in known:
                if self.meaning.is_spec_known:
                    notes.unknown("the field", entry.key, known, "unknown-path")
            elif word is not None and (path := self.meaning.path(word, near)):
                self._check_spec_field(_field_type(spec, entry.key.text), path, word)
                yield entry.key.text, path

    def _check_spec_field(self, wanted: t.Type, path: str, word: ScalarNode) -> None:
        wrong = find_misfit(self.meaning.type_of(path), wanted, self.meaning.types)
        if wrong:
            message = f"'{word.text}' cannot be this field of the spec: it is {wrong}"
            self.meaning.notes.report("wrong-type", message, word.place)

    def _keeps(self, fields: Fields, near: Mapping[str, str]) -> Iterator[p.Keep]:
        notes = self.meaning.notes
        for entry in notes.entries(fields.child("keep"), "'keep'"):
            word = notes.word(entry.value, "'keep'")
            text = word.text.removeprefix("+") if word else ""
            path = self.meaning.path(word, near, text) if word else ""
            if word and path and notes.is_free(entry.key, "a slot", ()):
                self.kept.setdefault(entry.key.text, entry.key)
                yield p.Keep(entry.key.text, path, word.text.startswith("+"))


def _field_type(record: t.Solid, name: str) -> t.Type:
    fields = record.fields if isinstance(record, t.Record) else ()
    return next(field.type for field in fields if field.name == name)


def read_choices(node: Node | None, edges: EdgeReader) -> dict[str, tuple[ChoiceAlternative, ...]]:
    """Named choices: lists of guarded ways that several edges share."""
    notes = edges.meaning.notes
    entries = notes.entries(node, "'choices'")
    taken = (*edges.states, *PATH_ROOTS, DUE_TARGET)
    return {
        entry.key.text: tuple(_read_alternatives(entry, edges))
        for entry in entries
        if notes.is_free(entry.key, "a choice", taken)
    }


def _read_alternatives(entry: Entry, edges: EdgeReader) -> Iterator[ChoiceAlternative]:
    notes, what = edges.meaning.notes, f"choice '{entry.key.text}'"
    items = entry.value.items if isinstance(entry.value, ListNode) else (entry.value,)
    if not items:
        notes.report("empty-list", f"{what} has no targets", entry.key.place, "list them")
    for item in items:
        fields = notes.fields(item, what)
        if fields is None:
            continue
        guards = tuple(read_guards(fields, {}, edges.meaning))
        word = notes.required(fields.node, "to", f"a target of {what}")
        if word and edges.epoch and word.text == edges.epoch.state:
            message = f"{what} leads to '{word.text}', but only an edge can begin a new plan"
            notes.report("wrong-value", message, word.place, "name the state at the edges instead")
        fields.know("to")
        fields.done()
        yield from (
            ChoiceAlternative(guards, target) for target in (edges.target(word, {}) if word else ())
        )


def read_guards(
    fields: Fields, near: Mapping[str, str], meaning: PathMeanings
) -> Iterator[p.Guard]:
    """`when` and `unless`; an edge may have both."""
    when = meaning.notes.word(fields.child("when"), "'when'")
    unless = meaning.notes.word(fields.child("unless"), "'unless'")
    if when is not None:
        yield from _read_when(when, near, meaning)
    if unless is not None:
        path = meaning.path(unless, near)
        if path and _can_be_empty(path, unless, meaning):
            yield p.Guard(path, "empty")


def _read_when(
    word: ScalarNode, near: Mapping[str, str], meaning: PathMeanings
) -> Iterator[p.Guard]:
    left, sign, right = _split_condition(word.text)
    path = meaning.path(word, near, left)
    if not path:
        return
    match sign:
        case "==":
            if _check_comparable(path, right, word, meaning):
                yield p.Guard(path, "equals", right)
        case "within" | "touches":
            places = [meaning.path(word, near, each) for each in right.split()]
            if all(meaning.is_of(each, "FilePath", word) for each in (path, *places) if each):
                yield p.Guard(path, sign, " ".join(places))
        case _ if _can_be_empty(path, word, meaning):
            yield p.Guard(path, "filled")
        case _:
            return


def _can_be_empty(path: str, word: ScalarNode, meaning: PathMeanings) -> bool:
    """A number is never empty, yet 0 would be taken for nothing."""
    solid, _ = t.unwrap_type(meaning.type_of(path), meaning.types)
    if solid != t.Scalar("Int"):
        return True
    message = f"'{word.text}' is an Int, and a number is neither present nor empty"
    fix = f"compare it: `{word.text} == 0`"
    meaning.notes.report("wrong-type", message, word.place, fix)
    return False


def _split_condition(text: str) -> tuple[str, str, str]:
    for sign in (" == ", *(f" {test} " for test in p.FILE_TESTS)):
        left, found, right = text.partition(sign)
        if found:
            return left.strip(), found.strip(), right.strip()
    return text.strip(), "", ""


def _check_comparable(path: str, literal: str, word: ScalarNode, meaning: PathMeanings) -> bool:
    """Whether the literal is one of the values that can stand there."""
    solid, _ = t.unwrap_type(meaning.type_of(path), meaning.types)
    problem = ""
    match solid:
        case t.Enum(options) if literal not in options:
            problem = f"'{literal}' is not one of {', '.join(options)}"
        case t.Scalar("Int") if not _WHOLE_NUMBER.fullmatch(literal):
            problem = f"'{literal}' is not a whole number as it is usually written"
        case t.Scalar("Bool") | t.ListOf() | t.Tuple_() | t.Record() | t.Ref():
            problem = "only text, a number or a word of an enum can be compared"
        case _:
            return True
    meaning.notes.report("wrong-value", f"'{word.text}': {problem}", word.place)
    return False
