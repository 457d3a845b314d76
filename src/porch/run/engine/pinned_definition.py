"""What was pinned when a run began: the definition that governs it, and what it was asked."""

import os
from functools import lru_cache

from msgspec.structs import replace

from porch.errors import StateError
from porch.machine.approvals import add_engine_states
from porch.machine.budgets import DRIVERLESS
from porch.machine.state import Run
from porch.model.definition import Definition, parse_stored_definition
from porch.model.protocol import Protocol
from porch.run.engine.run_places import payload_directory
from porch.store import payloads
from porch.store.where import ProjectPaths


def read_pinned_definition(where: ProjectPaths, name: str, digest: str) -> Definition:
    definition = parse_stored_definition(
        payloads.read_payload(payload_directory(where, name), digest)
    )
    return replace(definition, protocol=add_engine_states(definition.protocol))


def read_request_text(store: str, run: Run) -> str:
    """The whole text; nothing for a run that was given none."""
    return payloads.read_payload(store, run.subject).decode() if run.subject else ""


def find_shown_request(directory: str, protocol: Protocol, run: Run) -> str:
    """What pictures show; a spec has views of its own, and a lost text is no picture's business."""
    if protocol.spec or protocol.subject in DRIVERLESS or not run.subject:
        return ""
    return _read_kept_text(os.path.join(directory, "payloads"), run.subject)


@lru_cache(maxsize=8)
def _read_kept_text(store: str, digest: str) -> str:
    try:
        return payloads.read_payload(store, digest).decode("utf-8", "replace")
    except StateError:
        return ""
