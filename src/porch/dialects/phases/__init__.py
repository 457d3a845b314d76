"""The dialect of phases: `protocol.json` of both generations, and mixtures of them."""

from porch.dialects.result import ProtocolReading, in_file_order, refused_reading
from porch.errors import Finding, errors_in
from porch.text.nodes import MapNode, Node

__all__ = ["read", "recognises"]


def recognises(root: Node) -> bool:
    """JSON has no other dialect; elsewhere the list of phases tells."""
    is_json = root.place.file.lower().endswith(".json")
    return is_json or (isinstance(root, MapNode) and root.get("phases") is not None)


def read(root: Node) -> ProtocolReading:
    # Whoever reads a file of another dialect asks only whether this is one of ours.
    from porch.dialects.phases.compiler import build_lookup, compile_definition
    from porch.dialects.phases.gate_rules import find_gate_findings
    from porch.dialects.phases.mapping_reader import report_wrong_type
    from porch.dialects.phases.reader import read_definition
    from porch.dialects.phases.way_rules import find_way_findings
    from porch.model.gate_ways import find_ways_around_gates
    from porch.model.validate import validate_protocol

    findings: list[Finding] = []
    if not isinstance(root, MapNode):
        report_wrong_type(root, "a protocol", "a mapping with 'name' and 'phases'", findings)
        return refused_reading(findings)
    definition, prompts_dir = read_definition(root, findings)
    protocol, draft = compile_definition(definition, prompts_dir, findings)
    if protocol is not None:
        is_sound = not errors_in(findings)
        prove = validate_protocol if is_sound else find_ways_around_gates
        findings += prove(protocol, draft.places)
        # A lookup of their own: what it finds again is left out with everything that is said twice.
        atlas = build_lookup(definition, findings)
        findings += list(find_way_findings(definition, atlas))
        findings += list(find_gate_findings(definition, atlas))
    is_good = protocol is not None and not errors_in(findings)
    panels = [phase.consultation for phase in definition.phases if phase.consultation]
    return ProtocolReading(
        protocol if is_good else None,
        draft.places,
        in_file_order(findings),
        draft.prompts,
        reviewers={name: p.models_place or p.place for p in reversed(panels) for name in p.models},
        draft=None if is_good else protocol,
    )
