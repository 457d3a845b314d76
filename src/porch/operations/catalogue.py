"""Protocols as people look at them: which there are, what each does, what is wrong with a file."""

import os
from collections.abc import Sequence
from typing import Any

from porch.adapters import compiled, library
from porch.adapters.where import Where
from porch.dialects.phases.schema import SCHEMA
from porch.dialects.plan_headings import read_plan
from porch.errors import DefinitionError, Finding, Place, UsageError
from porch.model import definition as definitions
from porch.views import protocol as protocol_view


def listed(where: Where) -> list[dict[str, str]]:
    return [_row(where, found) for found in library.listed(where)]


def _row(where: Where, found: library.Found) -> dict[str, str]:
    """A protocol that does not compile is still listed, with what is wrong in its place."""
    row = {"name": found.name, "file": found.file, "source": found.source}
    try:
        protocol = library.load(found.file, where).demand().protocol
    except DefinitionError as error:
        broken = f"(does not compile: {error.findings[0].message})"
        return {**row, "version": "", "description": broken}
    return {**row, "version": protocol.version, "description": protocol.description}


def shown(where: Where, name: str) -> dict[str, Any]:
    found = library.find(where, name)
    loaded = library.load(found.file, where)
    definition = loaded.demand()
    notes = [str(finding) for finding in loaded.findings]
    text = protocol_view.text(definition.protocol, found.file, notes)
    data = {
        "name": name,
        "file": found.file,
        "digest": loaded.digest,
        "protocol": definitions.encode(definition)["protocol"],
        "findings": [finding.as_json() for finding in loaded.findings],
    }
    told = {"text": text, "json": data}
    compiled.keep(where, name, list(loaded.files), told)
    return told


def linted(files: Sequence[str]) -> list[Finding]:
    """All findings of all files, not the first."""
    found: list[Finding] = []
    for file in files:
        path = os.path.join(file, "protocol.json") if os.path.isdir(file) else file
        try:
            found.extend(library.load(path).findings)
        except DefinitionError as error:
            found.extend(error.findings)
    return found


def schema() -> dict[str, Any]:
    return dict(SCHEMA)


def plan_phases(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError as error:
        raise UsageError(
            f"the plan cannot be read: {error.strerror}", code="unreadable", place=Place(path)
        ) from error
    reading = read_plan(text, path)
    phases = [
        {"id": p.id, "title": p.title, "description": p.description, "text": p.text}
        for p in reading.phases
    ]
    findings = [finding.as_json() for finding in reading.findings]
    return {"reading": reading.reading, "phases": phases, "findings": findings}
