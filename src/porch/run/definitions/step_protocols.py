"""Protocols of steps as `envoy protocol` shows them: found, merged, checked and filled in."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from porch.dialects.steps.extends import ExtendsChain, follow_extends
from porch.dialects.steps.file_records import StepProtocol
from porch.dialects.steps.lint import (
    find_impossible_branches,
    find_unresolved_references,
    lint_references,
)
from porch.errors import DefinitionError, Finding
from porch.model import parameters
from porch.run.definitions import step_files
from porch.show import steps as view
from porch.store import compiled_protocols, compiled_steps
from porch.store.where import ProjectPaths
from porch.text.nodes import Node
from porch.text.printable import make_printable


class LoadedSteps(Struct, frozen=True):
    """A protocol, and how the files that decide it looked before they were read."""

    chain: ExtendsChain
    stamps: list[list[Any]]


def load_steps(where: ProjectPaths, name: str, lenient: bool = False) -> LoadedSteps:
    file = step_files.require_step_file(where, name)
    stamps = compiled_protocols.stamp_files(step_files.list_candidates(where, name))
    find = step_files.make_fetcher(file, where, [])

    def fetch(base: str) -> Node | None:
        stamps.extend(compiled_protocols.stamp_files(step_files.list_candidates(where, base)))
        return find(base)

    return LoadedSteps(follow_extends(step_files.read_step_file(file), fetch, lenient), stamps)


def list_step_protocols(where: ProjectPaths) -> list[dict[str, str]]:
    return [
        {
            "name": name,
            "file": file,
            "source": source,
            "description": _read_description(where, name),
        }
        for name, file, source in sorted(step_files.list_step_files(where))
    ]


def _read_description(where: ProjectPaths, name: str) -> str:
    """A protocol that cannot be read is still listed, with what is wrong in its place."""
    try:
        return load_steps(where, name).chain.demand().description
    except DefinitionError as error:
        return f"(cannot be read: {error.findings[0].message})"


class ShownSteps(Struct, frozen=True):
    """What a command prints, and what it says beside that."""

    text: str
    data: view.StepsShape
    notes: tuple[Finding, ...] = ()


def show_steps(
    where: ProjectPaths,
    name: str,
    *,
    form: str = "text",
    lenient: bool = False,
    given: Mapping[str, str] | None = None,
) -> ShownSteps:
    """In the form `text`, `raw` or `explain`; kept for the next time where nothing was given."""
    loaded = load_steps(where, name, lenient)
    steps = loaded.chain.demand()
    if given is not None and (wrong := parameters.check_parameters(steps.inputs, given)):
        raise DefinitionError(wrong)
    doubts = (*find_unresolved_references(steps), *find_impossible_branches(steps, "warning"))
    notes = (*loaded.chain.findings, *doubts)
    if given is None and not notes:
        compiled_steps.write_cached_forms(where, name, loaded.stamps, _render_all_formats(steps))
    return ShownSteps(
        _FORMS[form](steps, given), view.make_steps_data(steps, given, form == "raw"), notes
    )


StepsFormat = Callable[[StepProtocol, Mapping[str, str] | None], str]
_FORMS: Mapping[str, StepsFormat] = {
    "text": view.render_steps,
    "raw": lambda steps, given: view.render_steps(steps, given, raw=True),
    "explain": lambda steps, _: view.explain_step_sources(steps),
}


def _render_all_formats(steps: StepProtocol) -> view.StepFormsShape:
    """Everything that is asked for often, ready to be printed."""
    return {
        "text": make_printable(_FORMS["text"](steps, None)),
        "raw": make_printable(_FORMS["raw"](steps, None)),
        "explain": make_printable(_FORMS["explain"](steps, None)),
        "json": view.make_steps_data(steps),
    }


def check_steps(where: ProjectPaths, name: str, lenient: bool = False) -> list[Finding]:
    """All findings, of files and of references; nothing is printed from a cache."""
    chain = load_steps(where, name, lenient).chain
    steps = chain.steps
    doubts = steps and (*lint_references(steps), *find_impossible_branches(steps, "error"))
    return [*chain.findings, *(doubts or ())]
