"""One graph file with everything that is proved of it, and the graphs that its children follow."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from porch.dialects.graph.child_graphs import CompiledGraph
from porch.dialects.graph.compiler import GraphCompiler
from porch.dialects.graph.findings import ReadingNotes
from porch.dialects.graph.part_names import add_part
from porch.dialects.graph.proofs.child_results import find_missing_results
from porch.dialects.graph.proofs.idle_budgets import find_idle_budgets
from porch.dialects.graph.proofs.missing_inputs import find_missing_inputs
from porch.dialects.graph.proofs.turned_exits import find_turning_circles
from porch.dialects.graph.proofs.unread_fields import find_unread_fields, find_unread_texts
from porch.dialects.graph.template_samples import make_template_samples
from porch.dialects.result import FetchTree, ProtocolReading, in_file_order
from porch.errors import DefinitionError, Finding, errors_in
from porch.model import protocol as p
from porch.model import types as t
from porch.model.validate import validate_protocol
from porch.text.nodes import MapNode, Node, ScalarNode


class ReadGraph(Struct, frozen=True):
    """What came of a file, and what its children would tell their parent."""

    reading: ProtocolReading
    result: t.Record = t.Record(())
    unsure: tuple[Finding, ...] = ()


class GraphReader(Struct, frozen=True):
    """Reads a graph and those that it names; `above` are the graphs that led here."""

    fetch: FetchTree
    recognises: Callable[[Node], bool]
    above: tuple[str, ...] = ()

    def read(self, root: Node) -> ReadGraph:
        notes = ReadingNotes()
        if not isinstance(root, MapNode):
            notes.report("wrong-type", "a graph is a mapping of blocks", root.place)
            return ReadGraph(_refused(notes))
        inside = replace(self, above=(*self.above, _name_of(root)))
        compiler = GraphCompiler(root, notes, inside.compile_child)
        protocol = compiler.protocol()
        unsure = () if errors_in(notes.findings) else tuple(_prove(protocol, compiler, notes))
        if errors_in(notes.findings):
            return ReadGraph(_refused(notes))
        child = compiler.blocks.child
        linked = protocol
        if child is not None and child.protocol is not None:
            linked = add_part(protocol, child.part, child.protocol)
        prompts = {n: (f"templates/{a}", a) for n, a in _list_agent_prompts(protocol)}
        samples = make_template_samples(protocol, compiler.meaning)
        found = in_file_order(notes.findings)
        reading = ProtocolReading(linked, notes.places, found, prompts, samples)
        return ReadGraph(reading, compiler.blocks.result, unsure)

    def compile_child(self, name: str) -> CompiledGraph | None:
        """The graph that children follow; a graph that leads back to itself has no end."""
        if name in self.above:
            way = " -> ".join((*self.above, name))
            why = (
                "leave out 'protocol': children follow their own graph by themselves"
                if name == self.above[-1]
                else f"the graphs spawn each other without an end: {way}"
            )
            return CompiledGraph(None, t.Record(()), (why,))
        try:
            root = self.fetch(name)
        except DefinitionError as error:
            return CompiledGraph(None, t.Record(()), (_count_findings(error.findings),))
        if root is None:
            return None
        if not self.recognises(root):
            return CompiledGraph(None, t.Record(()), ("it is not a graph",))
        read = self.read(root)
        wrong = [*errors_in(read.reading.findings), *read.unsure]
        problems = (_count_findings(wrong),) if wrong else ()
        return CompiledGraph(read.reading.protocol, read.result, problems)


def _prove(protocol: p.Protocol, compiler: GraphCompiler, notes: ReadingNotes) -> Iterator[Finding]:
    """Proofs about the whole; what follows are those that matter only to a parent."""
    notes.findings += validate_protocol(protocol, notes.places)
    notes.findings += find_unread_fields(protocol, compiler.meaning, compiler.unused)
    notes.findings += find_unread_texts(protocol, notes.places)
    notes.findings += find_idle_budgets(protocol, notes.places)
    notes.findings += find_turning_circles(protocol, notes.places)
    if errors_in(notes.findings):
        return
    notes.findings += find_missing_inputs(protocol, notes.places)
    if errors_in(notes.findings):
        return
    unsure = list(find_missing_results(protocol, notes.places))
    child = compiler.blocks.child
    if child is not None and not child.part:
        notes.findings += unsure
    yield from unsure


def _refused(notes: ReadingNotes) -> ProtocolReading:
    return ProtocolReading(None, notes.places, in_file_order(notes.findings))


def _name_of(root: MapNode) -> str:
    document = root.get("document")
    name = document.get("name") if isinstance(document, MapNode) else None
    return name.text if isinstance(name, ScalarNode) else ""


def _count_findings(findings: Sequence[Finding]) -> str:
    first = findings[0]
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    where = f" at {first.place}" if first.place else ""
    return f"{first.message}{where}{more}"


def _list_agent_prompts(protocol: p.Protocol) -> list[tuple[str, str]]:
    states = protocol.states.items()
    return [(name, s.actor.prompt) for name, s in states if isinstance(s.actor, p.Agent)]
