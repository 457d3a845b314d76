"""Protocols as people look at them: which there are, what each does, what is wrong with a file."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from porch.errors import DefinitionError, Finding, FindingShape, Place, UsageError, errors_in
from porch.run.definitions import library
from porch.run.definitions.clean_protocols import is_known_clean, keep_clean
from porch.run.definitions.reviewer_names import find_unknown_reviewers, list_settings_files
from porch.store import compiled_protocols
from porch.store.where import ProjectPaths
from porch.system.document_file import read_document

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import (
        ListedProtocolShape,
        ProtocolDataShape,
        ProtocolWordsShape,
        ShownProtocolShape,
    )


class ReadPlanPhase(TypedDict):
    """One phase that a plan has, with its own text."""

    id: str
    title: str
    description: str
    text: str


class ReadPlanPhases(TypedDict):
    """The phases of a plan, and from which part of the file they were read."""

    reading: str
    phases: list[ReadPlanPhase]
    findings: list[FindingShape]


def list_protocol_rows(where: ProjectPaths) -> list[dict[str, str]]:
    """What a file said is kept until one of those that had a say in it changes."""
    known = library.list_protocols(where)
    kept = compiled_protocols.kept_rows(where)
    new = {each.file: _describe_protocol(where, each) for each in known if each.file not in kept}
    good = {file: told for file, told in new.items() if told["files"]}
    if good:
        compiled_protocols.keep_rows(where, {**kept, **good})
    return [_protocol_row(each, {**kept, **new}[each.file]["told"]) for each in known]


def _protocol_row(found: library.FoundProtocol, told: "ProtocolWordsShape") -> dict[str, str]:
    return {
        "name": found.name,
        "file": found.file,
        "source": found.source,
        "version": told["version"],
        "description": told["description"],
    }


def _describe_protocol(where: ProjectPaths, found: library.FoundProtocol) -> "ListedProtocolShape":
    """A protocol that does not compile is still listed, with what is wrong in its place."""
    try:
        loaded = library.load_protocol(found.file, where)
        protocol = loaded.demand().protocol
    except DefinitionError as error:
        worst = next(iter(errors_in(error.findings)), error.findings[0])
        broken = f"(has errors: {worst.message})"
        return {"files": [], "told": {"version": "", "description": broken}}
    # A prompt that is new in one of these directories may be wrong.
    beside = [os.path.dirname(found.file)]
    beside += [os.path.join(beside[0], name) for name in ("prompts", "reviews", "templates")]
    told: ProtocolWordsShape = {"version": protocol.version, "description": protocol.description}
    return {"files": compiled_protocols.stamp_files([*loaded.files, *beside]), "told": told}


def show_protocol(where: ProjectPaths, name: str) -> "ShownProtocolShape":
    from porch.model import definition as definitions
    from porch.show import protocol as protocol_view

    found = library.locate_protocol(where, name)
    loaded = library.load_protocol(found.file, found.home)
    definition = loaded.demand()
    findings = [*loaded.findings, *find_unknown_reviewers(loaded.reviewers, found.home)]
    notes = [str(finding) for finding in findings]
    text = protocol_view.render_protocol(definition.protocol, found.file, notes)
    data: ProtocolDataShape = {
        "name": name if found.is_name else definition.protocol.name,
        "file": found.file,
        "digest": loaded.digest,
        "protocol": definitions.encode_definition(definition)["protocol"],
        "findings": [finding.as_json() for finding in findings],
    }
    told: ShownProtocolShape = {"text": text, "json": data}
    if found.is_name:
        files = [*loaded.files, *list_settings_files(where)]
        compiled_protocols.write_cached_protocol(where, name, files, told)
    return told


def lint_protocols(where: ProjectPaths, words: Sequence[str]) -> list[Finding]:
    """All findings of all protocols, each by its name or its path; not the first."""
    found: list[Finding] = []
    for word in words:
        try:
            located = library.locate_protocol(where, word)
            found.extend([] if is_known_clean(located) else _lint_protocol(located))
        except (DefinitionError, UsageError) as error:
            found.extend(error.findings)
    return found


def _lint_protocol(located: library.LocatedProtocol) -> list[Finding]:
    loaded = library.load_protocol(located.file, located.home)
    found = [*loaded.findings, *find_unknown_reviewers(loaded.reviewers, located.home)]
    if not found:
        keep_clean(located, (*loaded.files, *loaded.missing))
    return found


def read_schema(kind: str = "phases") -> dict[str, Any]:
    """The schema of `protocol.json`, or that of graph files."""
    if kind == "graph":
        from porch.dialects.graph.schema import SCHEMA as GRAPH_SCHEMA

        return dict(GRAPH_SCHEMA)
    from porch.dialects.phases.schema import SCHEMA

    return dict(SCHEMA)


def read_plan_phases(path: str) -> ReadPlanPhases:
    try:
        text = read_document(path, "replace")
    except OSError as error:
        raise UsageError(
            f"the plan cannot be read: {error.strerror}", code="unreadable", place=Place(path)
        ) from error
    from porch.dialects.plan_headings import read_plan

    reading = read_plan(text, path)
    phases: list[ReadPlanPhase] = [
        {"id": p.id, "title": p.title, "description": p.description, "text": p.text}
        for p in reading.phases
    ]
    findings = [finding.as_json() for finding in reading.findings]
    return {"reading": reading.reading, "phases": phases, "findings": findings}
