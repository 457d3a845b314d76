"""Whose words the fields of a remembered exit are."""

import pytest
from msgspec.structs import replace

from porch.machine.path_values import is_named_by_engine
from porch.model import protocol as p

ACTORS: dict[str, p.Actor] = {
    "write": p.Agent("writer", exits=(p.Exit("Written"),)),
    "kids": p.Children("write", "plan.specs"),
    "merge": p.Git(op="publish"),
}
PHASES = p.Protocol(
    "p", p.Target("write"), {n: p.State(n, n, actor) for n, actor in ACTORS.items()}, ()
)
GRAPH = replace(PHASES, spec="Note")


@pytest.mark.parametrize(
    "path, is_ours",
    [
        ("write.Written", False),
        ("write.exhausted", True),
        ("kids.settled", False),
        ("merge.refused", True),
        ("gone.Written", True),
    ],
)
def test_fields_of_agents_and_children_belong_to_the_author_of_a_graph(
    path: str, is_ours: bool
) -> None:
    """X8: they may be called like a word of the engine and mean something else."""
    assert is_named_by_engine(GRAPH, path) is is_ours
    assert is_named_by_engine(PHASES, path)
