"""Finding protocols by name and reading them whole: file, prompts, reviews, templates."""

import os
import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from porch.errors import DefinitionError, Finding, Place, UsageError, errors_in, suggest_name
from porch.run.definitions import step_files
from porch.store.where import PLAN_FILES, ProjectPaths, find_project
from porch.text.late_pattern import late_pattern

if TYPE_CHECKING:  # who only looks for protocols needs no compiler
    from porch.dialects.result import FetchTree
    from porch.model.definition import Definition
    from porch.model.parameters import Parameter
    from porch.model.protocol import Protocol
    from porch.run.definitions.definition_texts import DefinitionTexts
    from porch.text.nodes import Node

GRAPH = ".graph.yaml"
_NAME = late_pattern(r"[\w.-]+")
PACKAGED = step_files.PACKAGED_PROTOCOLS


class FoundProtocol(Struct, frozen=True):
    """A protocol file and what people call it."""

    name: str
    file: str
    source: str


class LocatedProtocol(Struct, frozen=True):
    """The file that a name or a path means, and the project that it belongs to."""

    file: str
    home: ProjectPaths
    is_name: bool


class LoadedDefinition(Struct, frozen=True):
    """A definition read from disk, its digest, the files it came from, and what was remarkable."""

    definition: "Definition | None"
    findings: tuple[Finding, ...]
    files: tuple[str, ...]
    digest: str = ""
    parameters: "tuple[Parameter, ...] | None" = None
    reviewers: Mapping[str, Place] = {}
    missing: tuple[str, ...] = ()  # files that would have been read first if they were there

    def demand(self) -> "Definition":
        if self.definition is None:
            raise DefinitionError(self.findings)
        return self.definition


def list_search_path(where: ProjectPaths) -> list[tuple[str, str]]:
    """Where protocols are looked for; the first match wins."""
    places = [
        (os.path.join(where.workspace, "codev", "protocols"), "project"),
        (os.path.join(where.root, "codev", "protocols"), "project"),
        (step_files.own_directory(where), "project"),
        (os.path.join(where.root, "codev-skeleton", "protocols"), "skeleton"),
        (PACKAGED, "packaged"),
        (step_files.PACKAGED, "packaged"),
    ]
    return list(dict.fromkeys(places))


def list_protocols(where: ProjectPaths) -> list[FoundProtocol]:
    """Every protocol that can be run by name, without those hidden by an earlier one."""
    found: dict[str, FoundProtocol] = {}
    steps = (step_files.own_directory(where), step_files.PACKAGED)
    for directory, source in list_search_path(where):
        for each in (
            _find_step_protocols(directory, source)
            if directory in steps
            else _find_in_directory(directory, source)
        ):
            found.setdefault(each.name, each)
    return sorted(found.values(), key=lambda each: each.name)


def list_packaged_protocols() -> list[FoundProtocol]:
    """Those that come with porch, also where a project has a copy."""
    steps = _find_step_protocols(step_files.PACKAGED, "packaged")
    return [*_find_in_directory(PACKAGED, "packaged"), *steps]


def _find_in_directory(directory: str, source: str) -> Iterator[FoundProtocol]:
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return
    for name in names:
        if name.startswith(("_", ".")):
            continue
        for file in _candidate_files(directory, name):
            if os.path.isfile(file):
                yield FoundProtocol(name.removesuffix(GRAPH), file, source)
                break


def _find_step_protocols(directory: str, source: str) -> Iterator[FoundProtocol]:
    for name in step_files.list_names(directory):
        yield FoundProtocol(name, os.path.join(directory, name + step_files.ENDING), source)


def _candidate_files(directory: str, name: str) -> Iterator[str]:
    """A protocol is a directory with a definition in it, or a graph by itself."""
    yield os.path.join(directory, name, "protocol.json")
    yield os.path.join(directory, name, name + GRAPH)
    if name.endswith(GRAPH):
        yield os.path.join(directory, name)


def _definition_files(directory: str, name: str) -> Iterator[str]:
    """What a directory that somebody names holds: a protocol, or the plan of a track."""
    yield from _candidate_files(directory, name)
    yield from (os.path.join(directory, name, plan) for plan in PLAN_FILES)


def find_protocol(where: ProjectPaths, name: str) -> FoundProtocol:
    known = list_protocols(where)
    for each in known:
        if each.name == name:
            return each
    names = [each.name for each in known]
    raise UsageError(
        f"there is no protocol '{name}'",
        fix=f"{suggest_name(name, names)}known protocols: {', '.join(names) or 'none'}; if "
        f"it is your request: porch run --request {shlex.quote(name)}; a longer request stands in "
        'quotes: porch run "what you want"',
        code="unknown-protocol",
    )


def locate_protocol(where: ProjectPaths, word: str) -> LocatedProtocol:
    """A known name is never taken for a file that happens to be called the same."""
    is_path = os.sep in word or word in (os.curdir, os.pardir)
    named = [each.file for each in list_protocols(where) if not is_path and each.name == word]
    if named:
        return LocatedProtocol(named[0], where, True)
    path = _definition_in(word) if os.path.isdir(word) else word
    if not (is_path or "." in word or os.path.exists(path)):
        return LocatedProtocol(find_protocol(where, word).file, where, True)
    whole = os.path.abspath(path)
    # Packaged protocols belong to nobody's project, so they are read as if for this one.
    is_ours = whole.startswith(PACKAGED + os.sep)
    home = where if is_ours else find_project(os.path.dirname(whole))
    return LocatedProtocol(path, home, False)


def _definition_in(directory: str) -> str:
    parent, name = os.path.split(os.path.abspath(directory))
    found = [file for file in _definition_files(parent, name) if os.path.isfile(file)]
    file = os.path.basename(found[0]) if found else "protocol.json"
    return os.path.normpath(os.path.join(directory, file))


def load_protocol(file: str, where: ProjectPaths | None = None) -> LoadedDefinition:
    """Read a protocol and everything it names; all findings, not the first."""
    from porch.dialects.registry import parse_definition
    from porch.model.definition import Definition, hash_definition
    from porch.run.definitions.definition_texts import DefinitionTexts, read_text

    files = [file]
    reading = parse_definition(read_text(file), file, _make_fetcher(file, where, files))
    protocol = reading.protocol or reading.draft
    if protocol is None:
        return LoadedDefinition(
            None, tuple(reading.findings), tuple(files), reviewers=reading.reviewers
        )
    texts = DefinitionTexts(os.path.dirname(file), reading, files)
    children = list(_load_children(file, where, protocol, texts))
    definition = Definition(
        protocol,
        {**texts.prompts(protocol), **{n: text for each in children for n, text in each.items()}},
        texts.reviews(protocol),
        {} if protocol.spec or reading.texts else texts.templates(),
    )
    findings = (*reading.findings, *texts.findings)
    whole = None if errors_in(findings) else definition
    return LoadedDefinition(
        whole,
        findings,
        tuple(files),
        hash_definition(definition),
        reading.parameters,
        reading.reviewers,
        tuple(texts.missing),
    )


def _make_fetcher(file: str, where: ProjectPaths | None, files: list[str]) -> "FetchTree":
    """Gives the tree of a definition that this one names, and notes its file."""
    if not file.endswith(GRAPH):
        return step_files.make_fetcher(file, where, files)

    def fetch(name: str) -> "Node | None":
        child = find_child_file(file, where, name)
        if child is None:
            return None
        if child not in files:
            files.append(child)
        return step_files.read_step_file(child)

    return fetch


def find_child_file(file: str, where: ProjectPaths | None, name: str) -> str | None:
    """The definition that a graph means by a name: beside it, then wherever protocols are."""
    if not _NAME.fullmatch(name):
        return None
    known = [directory for directory, _ in list_search_path(where)] if where else [PACKAGED]
    own = os.path.dirname(os.path.abspath(file))
    for directory in dict.fromkeys((own, os.path.dirname(own), *known)):
        for path in (*_candidate_files(directory, name), os.path.join(directory, name + GRAPH)):
            if os.path.isfile(path) and os.path.abspath(path) != os.path.abspath(file):
                return path
    return None


def _load_children(
    file: str, where: ProjectPaths | None, protocol: "Protocol", texts: "DefinitionTexts"
) -> Iterator[dict[str, str]]:
    """The texts of the graphs that children follow; what is wrong with those is wrong here."""
    from porch.model.protocol_parts import name_in_part

    for name in _list_child_names(protocol):
        found = find_child_file(file, where, name)
        loaded = load_protocol(found, where) if found else None
        if loaded is not None:
            texts.findings += [each for each in loaded.findings if each.severity == "error"]
            texts.files += [each for each in loaded.files if each not in texts.files]
            texts.missing += loaded.missing
            prompts = loaded.definition.prompts if loaded.definition else {}
            yield {name_in_part(name, each): text for each, text in prompts.items()}


def _list_child_names(protocol: "Protocol") -> Iterator[str]:
    """The protocols that children of this one follow, without those that follow from them."""
    from porch.model.protocol import Children
    from porch.model.protocol_parts import part_of_name

    for name, state in protocol.states.items():
        if isinstance(state.actor, Children) and state.actor.protocol and not part_of_name(name):
            yield state.actor.protocol
