"""The graph that children follow: this one or another, what it is about and what its ends give."""

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from porch.dialects.graph import engine_fields
from porch.dialects.graph.part_names import PartNames
from porch.dialects.graph.path_types import PathMeanings
from porch.dialects.graph.type_fit import find_misfit
from porch.model import protocol as p
from porch.model import types as t
from porch.text.nodes import Entry, MapNode, ScalarNode


class ChildGraph(Struct, frozen=True):
    """What a parent has to know of the graph that its children follow.

    `result` is the record of what a parent is told of a child that has merged.
    """

    part: str
    spec: t.Type
    result: t.Record
    protocol: p.Protocol | None = None  # of another graph; None for the graph itself
    is_known: bool = True  # False: it cannot be read, so nothing can be said of its children


class CompiledGraph(Struct, frozen=True):
    """Another graph as it was read; `problems` are why no child can follow it."""

    protocol: p.Protocol | None
    result: t.Record
    problems: tuple[str, ...] = ()


# The graph of a name; None if there is no such file.
CompileGraph = Callable[[str], CompiledGraph | None]


def read_result_type(entries: tuple[Entry, ...], meaning: PathMeanings) -> t.Record:
    """What the ends of this graph give, for a parent to read."""
    found = {word.text: (word, path) for word, path in _list_given_exits(entries, meaning)}
    if meaning.event:
        for word, _ in found.values():
            message = "'gives' is not possible here: with 'interrupts' a child gives its event"
            meaning.notes.report("wrong-value", message, word.place, "remove it")
        return _exit_record(meaning.event, meaning)
    records = {path: _exit_record(path, meaning) for _, path in found.values()}
    first = next(iter(records.values()), t.Record(()))
    for word, path in found.values():
        if records[path] != first:
            message = f"'{word.text}' has other fields than what another end gives"
            fix = "let every end with 'complete' give the same record"
            meaning.notes.report("wrong-type", message, word.place, fix)
    return add_child_id(first)


def add_child_id(record: t.Record) -> t.Record:
    """A result says whose it is, unless it has an id of its own."""
    known = [field.name for field in record.fields]
    own = () if "id" in known else (t.Field("id", t.Scalar("Text")),)
    return t.Record((*own, *record.fields))


def _list_given_exits(
    entries: tuple[Entry, ...], meaning: PathMeanings
) -> Iterator[tuple[ScalarNode, str]]:
    for entry in entries:
        node = entry.value if isinstance(entry.value, MapNode) else None
        if node is not None and node.get("end") is not None and node.get("gives") is not None:
            word = meaning.notes.word(node.get("gives"), f"'gives' of state '{entry.key.text}'")
            path = meaning.exit(word) if word else ""
            if word and path:
                yield word, path
            else:
                meaning.is_result_known = False


def _exit_record(path: str, meaning: PathMeanings) -> t.Record:
    state, _, exit_ = path.partition(".")
    return meaning.exits[state][exit_]


def read_child_graph(
    spawn: MapNode, own: t.Record, meaning: PathMeanings, compile_graph: CompileGraph
) -> ChildGraph:
    """The graph that 'protocol' of the block 'spawn' names; without it, this one."""
    itself = ChildGraph("", meaning.spec, own, is_known=meaning.is_spec_known)
    word = meaning.notes.word(spawn.get("protocol"), "'protocol' of 'spawn'")
    if word is None:
        return itself
    found = compile_graph(word.text)
    if found is None:
        message = f"the protocol '{word.text}' does not exist"
        fix = "name a graph that `porch protocols` lists, or write it"
        meaning.notes.report("unknown-child", message, word.place, fix)
        return replace(itself, is_known=False)
    for problem in found.problems:
        meaning.notes.report("bad-child", f"'{word.text}': {problem}", word.place)
    if found.protocol is None:
        return replace(itself, is_known=False)
    names = PartNames(word.text, frozenset(found.protocol.states))
    meaning.types = {**meaning.types, **names.types(found.protocol.types)}
    spec = t.Ref(names.own(found.protocol.spec))
    graph = ChildGraph(word.text, spec, names.record(found.result), found.protocol)
    _check_parent_paths(graph, word, meaning)
    return graph


def _check_parent_paths(graph: ChildGraph, word: ScalarNode, meaning: PathMeanings) -> None:
    """What the other graph reads of a parent must be there in an instance of this one."""
    from porch.dialects.graph.proofs.missing_inputs import list_state_needs

    states = graph.protocol.states.values() if graph.protocol else ()
    for state in states:
        for name, paths in list_state_needs(state):
            wrong = [path for path in paths if not _is_parent_path_known(path, graph, meaning)]
            if wrong and len(wrong) == len(paths):
                message = (
                    f"'{word.text}' cannot be followed by children of this graph: '{name}' of its "
                    f"state '{state.name}' is {wrong[0]}"
                )
                fix = "mark it with `?` there; a parent of another graph does not have it"
                meaning.notes.report("bad-child", message, word.place, fix)


_OF_ANY_PARENT = tuple(f"parent.instance.{name}" for name in engine_fields.INSTANCE_FIELDS)


def _is_parent_path_known(path: str, graph: ChildGraph, meaning: PathMeanings) -> bool:
    if not path.startswith("parent.") or path.startswith(_OF_ANY_PARENT):
        return True
    front = "parent.instance.spec"
    if path != front and not path.startswith(f"{front}."):
        return False
    return not meaning.is_spec_known or not find_misfit(meaning.spec, graph.spec, meaning.types)
