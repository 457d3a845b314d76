"""Finding protocols by name and reading them whole: file, prompts, reviews, templates."""

import os
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from porch.errors import DefinitionError, Finding, Place, UsageError, errors_in, suggest_name
from porch.run.definitions import child_protocols, step_files
from porch.store.where import PLAN_FILES, ProjectPaths, find_project
from porch.system.document_file import read_document
from porch.text.late_pattern import late_pattern

if TYPE_CHECKING:  # who only looks for protocols needs no compiler
    from porch.dialects.result import FetchTree, ProtocolReading
    from porch.model.definition import Definition
    from porch.model.parameters import Parameter
    from porch.model.protocol import Protocol, State

# Kinds of reviews that files of other tools name; nobody has to write a text for them here.
REVIEWS_OF_OTHERS = (
    "spec", "plan", "impl", "pr", "pr-ready", "phase", "integration", "integration-review",
    "investigation", "critique",
)  # fmt: skip
GRAPH = ".graph.yaml"
_NAME = late_pattern(r"[\w.-]+")
PACKAGED = step_files.PACKAGED_PROTOCOLS
PACKAGED_REVIEWS = os.path.join(PACKAGED, "_reviews")


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
    told = f"{suggest_name(name, names)}known protocols: {', '.join(names) or 'none'}"
    raise UsageError(
        f"there is no protocol '{name}'",
        fix=f"{told}; to add one, create the directory codev/protocols/{name}/"
        if _NAME.fullmatch(name)
        else f"the name of a protocol comes first, then what you want; {told}",
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

    files = [file]
    reading = parse_definition(_read_text(file), file, _make_fetcher(file, where, files))
    protocol = reading.protocol or reading.draft
    if protocol is None:
        return LoadedDefinition(
            None, tuple(reading.findings), tuple(files), reviewers=reading.reviewers
        )
    texts = _ProtocolTexts(os.path.dirname(file), reading, files)
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
    if not file.endswith(GRAPH):
        return step_files.make_fetcher(file, where, files)
    return child_protocols.make_fetcher(lambda name: find_child_file(file, where, name), files)


def find_child_file(file: str, where: ProjectPaths | None, name: str) -> str | None:
    """The definition that a graph means by a name: beside it, then wherever protocols are."""
    if not _NAME.fullmatch(name):
        return None
    known = [directory for directory, _ in list_search_path(where)] if where else [PACKAGED]
    for directory in dict.fromkeys((*child_protocols.list_neighbours(file), *known)):
        for path in (*_candidate_files(directory, name), os.path.join(directory, name + GRAPH)):
            if os.path.isfile(path) and os.path.abspath(path) != os.path.abspath(file):
                return path
    return None


def _load_children(
    file: str, where: ProjectPaths | None, protocol: "Protocol", texts: "_ProtocolTexts"
) -> Iterator[dict[str, str]]:
    """The texts of the graphs that children follow; what is wrong with those is wrong here."""
    for name in child_protocols.list_child_names(protocol):
        found = find_child_file(file, where, name)
        loaded = load_protocol(found, where) if found else None
        if loaded is not None:
            texts.findings += [each for each in loaded.findings if each.severity == "error"]
            texts.files += [each for each in loaded.files if each not in texts.files]
            texts.missing += loaded.missing
            prompts = loaded.definition.prompts if loaded.definition else {}
            yield child_protocols.name_child_prompts(name, prompts)


# For a phase without words of its own; status, plan, findings and signals follow as always.
_PLAIN_PROMPT = """# {title}

{about}

Do the work of this phase for project {{{{ project_id }}}} ({{{{ title }}}}) under \
{{{{ protocol }}}}. Its documents are in `{{{{ project_dir }}}}/`.
"""


class _ProtocolTexts:
    """The Markdown beside a protocol, checked as it is read."""

    def __init__(self, directory: str, reading: "ProtocolReading", files: list[str]) -> None:
        self.directory = directory
        self.reading = reading
        self.files = files
        self.findings: list[Finding] = []
        self.missing: list[str] = []

    def prompts(self, protocol: "Protocol") -> dict[str, str]:
        from porch.model.protocol import Agent
        from porch.model.protocol_parts import part_of_name

        agents = [s for s in protocol.states.values() if isinstance(s.actor, Agent)]
        # Those of another graph have their texts beside that one.
        return {s.name: self._prompt(s) for s in agents if not part_of_name(s.name)}

    def _prompt(self, state: "State") -> str:
        from porch.show import prompt

        if state.name in self.reading.texts:
            return self.reading.texts[state.name]
        path = self._first(*self.reading.prompts.get(state.name, ()))
        if state.name in self.reading.samples:
            return self._template(state, path)
        if path is None:
            self._missing(state)
            return _PLAIN_PROMPT.format(title=state.title or state.group, about=state.description)
        return self._checked(path, prompt.list_known_variables(bool(state.loop)))

    def _template(self, state: "State", path: str | None) -> str:
        """A template of a graph must be there, and render with everything it can be given."""
        from porch.run.definitions.unread_inputs import find_unread_inputs
        from porch.show import graph_templates as jinja

        if path is None:
            named = _prompt_name(state)
            place = self.reading.places.get(f"{state.name}.prompt")
            message = f"'{state.name}' uses the template '{named}', which does not exist"
            self.findings.append(Finding("missing-template", message, place))
            return ""
        text = self._read(path)
        self.files.append(path)
        *full, minimal = self.reading.samples[state.name]
        found = [f for each in full for f in jinja.check_graph_template(text, path, each, minimal)]
        places = self.reading.places
        self.findings += dict.fromkeys(found) or find_unread_inputs(state, text, path, places)
        return text

    def _missing(self, state: "State") -> None:
        named = _prompt_name(state)
        if named:
            message = f"phase '{state.group}' uses the prompt '{named}', which does not exist"
            fix = f"write prompts/{os.path.basename(named)} next to the protocol file"
            place = self.reading.places.get(f"{state.name}.prompt")
            finding = Finding("missing-prompt", message, place, fix)
            self.findings += [finding] if finding not in self.findings else []

    def _read(self, path: str) -> str:
        """What cannot be read is one finding among others."""
        try:
            return _read_text(path)
        except DefinitionError as error:
            self.findings += [each for each in error.findings if each not in self.findings]
            return ""

    def _checked(self, path: str, known: Collection[str]) -> str:
        text = self._read(path)
        if path not in self.files:
            from porch.show import prompt

            self.files.append(path)
            self.findings.extend(prompt.check_template(text, path, set(known)))
        return text

    def _first(self, *names: str) -> str | None:
        """From wherever the definition was named: its own directory may well be called ''."""
        directory = os.path.abspath(self.directory)
        for name in names:
            path = os.path.normpath(os.path.join(self.directory, name))
            inside = os.path.abspath(path).startswith(directory + os.sep)
            if inside and os.path.isfile(path):
                return path
            self.missing.append(path)
        return None

    def reviews(self, protocol: "Protocol") -> dict[str, str]:
        from porch.model.protocol import Panel

        kinds = {
            state.actor.review: self.reading.places.get(f"{name}.review")
            for name, state in reversed(list(protocol.states.items()))
            if isinstance(state.actor, Panel)
        }
        return {kind: self._review(kind, kinds[kind]) for kind in sorted(kinds)}

    def _review(self, kind: str, place: Place | None) -> str:
        from porch.show import prompt

        if kind in self.reading.texts:
            return self.reading.texts[kind]
        own = self._first(os.path.join("reviews", f"{kind}.md"))
        path = own or os.path.join(PACKAGED_REVIEWS, f"{os.path.basename(kind)}.md")
        if not os.path.isfile(path):
            self.findings.append(_unknown_review_finding(kind, place))
            path = os.path.join(PACKAGED_REVIEWS, "generic.md")
        return self._checked(path, prompt.REVIEW_VARIABLES)

    def templates(self) -> dict[str, str]:
        directory = os.path.join(self.directory, "templates")
        if not os.path.isdir(directory):
            return {}
        paths = [os.path.join(directory, name) for name in sorted(os.listdir(directory))]
        kept = [path for path in paths if os.path.isfile(path)]
        self.files.extend(kept)
        return {os.path.basename(path): self._read(path) for path in kept}


def _unknown_review_finding(kind: str, place: Place | None) -> Finding:
    """Reviewers who are asked in general terms find less than the file promises."""
    own = f"reviews/{kind[:80]}.md"
    if kind in REVIEWS_OF_OTHERS:
        message = f"there is no text for the review '{kind}'; its reviewers get the general one"
        return Finding("unknown-review", message, place, f"write {own} beside the protocol", "note")
    known = sorted(name.removesuffix(".md") for name in os.listdir(PACKAGED_REVIEWS))
    fix = f"{suggest_name(kind, known)}known reviews: {', '.join(known)}; or write {own}"
    return Finding("unknown-review", f"there is no review '{kind[:80]}'", place, fix)


def _prompt_name(state: "State") -> str:
    from porch.model.protocol import Agent

    return state.actor.prompt if isinstance(state.actor, Agent) else ""


def _read_text(path: str) -> str:
    try:
        return read_document(path)
    except UnicodeDecodeError as error:
        where = Place(path)
        finding = Finding("not-utf8", f"the file is not UTF-8 text: {error.reason}", where)
        raise DefinitionError([finding]) from error
    except OSError as error:
        finding = Finding("unreadable", f"cannot read: {error.strerror or error}", Place(path))
        raise DefinitionError([finding]) from error
