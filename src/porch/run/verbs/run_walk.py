"""The ways that a run went through its protocol, drawn."""

from typing import TYPE_CHECKING

from porch.errors import UsageError
from porch.run.definitions.protocol_graph import FORMATS
from porch.run.verbs.read_run import ReadRun, read_run
from porch.show.graph.picture import ProtocolPicture, make_protocol_picture
from porch.show.graph.walked_ways import drop_idle_questions, make_walk, mark_walk
from porch.store.where import ProjectPaths

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import DrawnProtocolShape


def draw_walk(run: ReadRun, instance: str | None = None) -> ProtocolPicture:
    protocol = drop_idle_questions(run.definition.protocol, run.state)
    return mark_walk(make_protocol_picture(protocol), make_walk(protocol, run.state, instance))


def draw_run_protocol(where: ProjectPaths, name: str, word: str, form: str) -> "DrawnProtocolShape":
    """The protocol of a run as it was pinned; `word` is the protocol that somebody named too."""
    run = read_run(where, name)
    protocol = run.definition.protocol
    if word not in ("", protocol.name):
        raise UsageError(
            f"the run {name} follows the protocol '{protocol.name}', not '{word}'",
            fix=f"porch protocols graph {protocol.name} --run {run.state.run.id or name}",
            code="run-of-other-protocol",
        )
    picture = FORMATS[form](draw_walk(run))
    return {"name": protocol.name, "run": name, "format": form, "picture": picture}
