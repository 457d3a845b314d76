"""Protocols of steps as `envoy protocol` shows them: found, merged, checked and filled in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from porch.adapters import compiled, kept_steps, step_files
from porch.adapters.where import Where
from porch.dialects.nodes import Node
from porch.dialects.steps import Chain, follow
from porch.dialects.steps.lint import lint, unresolved
from porch.dialects.steps.records import Steps
from porch.errors import DefinitionError, Finding
from porch.model import parameters
from porch.views import steps as view
from porch.views.text import printable


@dataclass(frozen=True, slots=True)
class Loaded:
    """A protocol, and how the files that decide it looked before they were read."""

    chain: Chain
    stamps: list[list[Any]]


def load(where: Where, name: str, lenient: bool = False) -> Loaded:
    file = step_files.demand(where, name)
    stamps = compiled.stamps(step_files.candidates(where, name))

    def fetch(base: str) -> Node | None:
        stamps.extend(compiled.stamps(step_files.candidates(where, base)))
        return step_files.fetcher(file, where, [])(base)

    return Loaded(follow(step_files.read(file), fetch, lenient), stamps)


def listed(where: Where) -> list[dict[str, str]]:
    return [
        {"name": name, "file": file, "source": source, "description": _described(where, name)}
        for name, file, source in sorted(step_files.listed(where))
    ]


def _described(where: Where, name: str) -> str:
    """A protocol that cannot be read is still listed, with what is wrong in its place."""
    try:
        return load(where, name).chain.demand().description
    except DefinitionError as error:
        return f"(cannot be read: {error.findings[0].message})"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a command prints, and what it says beside that."""

    text: str
    data: dict[str, Any]
    notes: tuple[Finding, ...] = ()


def shown(
    where: Where,
    name: str,
    form: str = "text",
    lenient: bool = False,
    given: Mapping[str, str] | None = None,
) -> Shown:
    """In the form `text`, `raw` or `explain`; kept for the next time where nothing was given."""
    loaded = load(where, name, lenient)
    steps = loaded.chain.demand()
    if given is not None and (wrong := parameters.problems(steps.inputs, given)):
        raise DefinitionError(wrong)
    notes = (*loaded.chain.findings, *unresolved(steps))
    if given is None and not notes:
        kept_steps.keep(where, name, loaded.stamps, _forms(steps))
    return Shown(_FORMS[form](steps, given), view.data(steps, given, form == "raw"), notes)


Form = Callable[[Steps, Mapping[str, str] | None], str]
_FORMS: Mapping[str, Form] = {
    "text": view.text,
    "raw": lambda steps, given: view.text(steps, given, raw=True),
    "explain": lambda steps, _: view.explained(steps),
}


def _forms(steps: Steps) -> dict[str, Any]:
    """Everything that is asked for often, ready to be printed."""
    texts = {form: printable(make(steps, None)) for form, make in _FORMS.items()}
    return {**texts, "json": view.data(steps)}


def checked(where: Where, name: str, lenient: bool = False) -> list[Finding]:
    """All findings, of files and of references; nothing is printed from a cache."""
    chain = load(where, name, lenient).chain
    return [*chain.findings, *(lint(chain.steps) if chain.steps else [])]
