"""The dialect of phases: `protocol.json` of both generations, and mixtures of them."""

from porch.dialects.nodes import MapNode, Node
from porch.dialects.phases.compiler import compile_definition
from porch.dialects.phases.forms import wrong
from porch.dialects.phases.reader import read_definition
from porch.dialects.reading import Reading, in_file_order, refused
from porch.errors import Finding, errors_in
from porch.model.validate import validate

__all__ = ["read", "recognises"]


def recognises(root: Node) -> bool:
    """JSON has no other dialect; elsewhere the list of phases tells."""
    is_json = root.place.file.lower().endswith(".json")
    return is_json or (isinstance(root, MapNode) and root.get("phases") is not None)


def read(root: Node) -> Reading:
    findings: list[Finding] = []
    if not isinstance(root, MapNode):
        wrong(root, "a protocol", "a mapping with 'name' and 'phases'", findings)
        return refused(findings)
    definition, prompts_dir = read_definition(root, findings)
    protocol, draft = compile_definition(definition, prompts_dir, findings)
    if protocol is not None and not errors_in(findings):
        findings += validate(protocol, draft.places)
    is_good = protocol is not None and not errors_in(findings)
    return Reading(
        protocol if is_good else None, draft.places, in_file_order(findings), draft.prompts
    )
