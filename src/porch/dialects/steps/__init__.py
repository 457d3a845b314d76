"""The dialect of steps: numbered texts in YAML that extend each other; see implementation.yaml."""

from porch.dialects.result import FetchTree, ProtocolReading
from porch.text.nodes import MapNode, Node

__all__ = ["FetchTree", "read", "recognises"]


def recognises(root: Node) -> bool:
    """Steps may all come from the protocol that is extended."""
    return isinstance(root, MapNode) and any(root.get(key) for key in ("steps", "extends"))


def read(root: Node, fetch: FetchTree) -> ProtocolReading:
    from porch.dialects.steps.compiler import WORK, compile_steps, render_steps_template
    from porch.dialects.steps.extends import follow_extends
    from porch.dialects.steps.lint import find_impossible_branches, find_unresolved_references
    from porch.model.validate import validate_protocol

    chain = follow_extends(root, fetch)
    if chain.steps is None:
        return ProtocolReading(None, findings=chain.findings)
    protocol = compile_steps(chain.steps)
    places = dict.fromkeys(protocol.states, root.place)
    findings = (
        *chain.findings,
        *find_unresolved_references(chain.steps),
        *find_impossible_branches(chain.steps, "warning"),
        *validate_protocol(protocol, places),
    )
    return ProtocolReading(
        protocol,
        places,
        findings,
        texts={WORK: render_steps_template(chain.steps)},
        parameters=chain.steps.inputs,
    )
