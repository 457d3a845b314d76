"""The dialect of steps: numbered texts in YAML that extend each other; see implementation.yaml."""

from porch.dialects.nodes import Node
from porch.dialects.reading import Reading
from porch.dialects.steps.chain import Chain, Fetch, follow
from porch.dialects.steps.compiler import WORK, compiled, prompt
from porch.dialects.steps.lint import unresolved
from porch.dialects.steps.reader import recognises
from porch.model.validate import validate

__all__ = ["Chain", "Fetch", "follow", "read", "recognises"]


def read(root: Node, fetch: Fetch) -> Reading:
    chain = follow(root, fetch)
    if chain.steps is None:
        return Reading(None, findings=chain.findings)
    protocol = compiled(chain.steps)
    places = dict.fromkeys(protocol.states, root.place)
    findings = (*chain.findings, *unresolved(chain.steps), *validate(protocol, places))
    return Reading(
        protocol,
        places,
        findings,
        texts={WORK: prompt(chain.steps)},
        parameters=chain.steps.inputs,
    )
