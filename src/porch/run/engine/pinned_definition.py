"""The definition that governs a run, as it was pinned when the run began."""

from msgspec.structs import replace

from porch.machine.approvals import add_engine_states
from porch.model.definition import Definition, parse_stored_definition
from porch.run.engine.run_places import payload_directory
from porch.store import payloads
from porch.store.where import ProjectPaths


def read_pinned_definition(where: ProjectPaths, name: str, digest: str) -> Definition:
    definition = parse_stored_definition(
        payloads.read_payload(payload_directory(where, name), digest)
    )
    return replace(definition, protocol=add_engine_states(definition.protocol))
