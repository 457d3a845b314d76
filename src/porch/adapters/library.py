"""Finding protocols by name and reading them whole: file, prompts, reviews, templates."""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import porch
from porch.adapters import step_files
from porch.adapters.where import Where
from porch.dialects.parsing import parse
from porch.dialects.reading import Reading
from porch.errors import DefinitionError, Finding, Place, UsageError, errors_in
from porch.model.definition import Definition, digest
from porch.model.parameters import Parameter
from porch.model.protocol import Agent, Panel, Protocol, State
from porch.views import jinja, prompt

GRAPH = ".graph.yaml"
PACKAGED = os.path.join(os.path.dirname(porch.__file__), "protocols")


@dataclass(frozen=True, slots=True)
class Found:
    """A protocol file and what people call it."""

    name: str
    file: str
    source: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """A definition read from disk, its digest, the files it came from, and what was remarkable."""

    definition: Definition | None
    findings: tuple[Finding, ...]
    files: tuple[str, ...]
    digest: str = ""
    parameters: tuple[Parameter, ...] | None = None

    def demand(self) -> Definition:
        if self.definition is None:
            raise DefinitionError(self.findings)
        return self.definition


def search_path(where: Where) -> list[tuple[str, str]]:
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


def listed(where: Where) -> list[Found]:
    """Every protocol that can be run by name, without those hidden by an earlier one."""
    found: dict[str, Found] = {}
    steps = (step_files.own_directory(where), step_files.PACKAGED)
    for directory, source in search_path(where):
        for each in _steps(directory, source) if directory in steps else _in(directory, source):
            found.setdefault(each.name, each)
    return sorted(found.values(), key=lambda each: each.name)


def _in(directory: str, source: str) -> Iterator[Found]:
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return
    for name in names:
        if name.startswith(("_", ".")):
            continue
        for file in _files(directory, name):
            if os.path.isfile(file):
                yield Found(name.removesuffix(GRAPH), file, source)
                break


def _steps(directory: str, source: str) -> Iterator[Found]:
    for name in step_files.names(directory):
        yield Found(name, os.path.join(directory, name + step_files.ENDING), source)


def _files(directory: str, name: str) -> Iterator[str]:
    """A protocol is a directory with a definition in it, or a graph by itself."""
    yield os.path.join(directory, name, "protocol.json")
    yield os.path.join(directory, name, name + GRAPH)
    if name.endswith(GRAPH):
        yield os.path.join(directory, name)


def find(where: Where, name: str) -> Found:
    known = listed(where)
    for each in known:
        if each.name == name:
            return each
    names = ", ".join(each.name for each in known) or "none"
    raise UsageError(
        f"there is no protocol called '{name}'",
        fix=f"known protocols: {names}; a new one is a directory codev/protocols/{name}/",
        code="unknown-protocol",
    )


def load(file: str, where: Where | None = None) -> Loaded:
    """Read a protocol and everything it names; all findings, not the first."""
    files = [file]
    reading = parse(_text(file), file, step_files.fetcher(file, where, files))
    if reading.protocol is None:
        return Loaded(None, tuple(reading.findings), tuple(files))
    texts = _Texts(os.path.dirname(file), reading, files)
    definition = Definition(
        reading.protocol,
        texts.prompts(reading.protocol),
        texts.reviews(reading.protocol),
        {} if reading.protocol.spec or reading.texts else texts.templates(),
    )
    findings = (*reading.findings, *texts.findings)
    whole = None if errors_in(findings) else definition
    return Loaded(whole, findings, tuple(files), digest(definition), reading.parameters)


# For a phase without words of its own; status, plan, findings and signals follow as always.
_PLAIN_PROMPT = """# {title}

{about}

Do the work of this phase for project {{{{ project_id }}}} ({{{{ title }}}}) under \
{{{{ protocol }}}}. Its documents are in `{{{{ project_dir }}}}/`.
"""


class _Texts:
    """The Markdown beside a protocol, checked as it is read."""

    def __init__(self, directory: str, reading: Reading, files: list[str]) -> None:
        self.directory = directory
        self.reading = reading
        self.files = files
        self.findings: list[Finding] = []

    def prompts(self, protocol: Protocol) -> dict[str, str]:
        agents = [s for s in protocol.states.values() if isinstance(s.actor, Agent)]
        return {state.name: self._prompt(state) for state in agents}

    def _prompt(self, state: State) -> str:
        if state.name in self.reading.texts:
            return self.reading.texts[state.name]
        path = self._first(*self.reading.prompts.get(state.name, ()))
        if state.name in self.reading.samples:
            return self._template(state, path)
        if path is None:
            self._missing(state)
            return _PLAIN_PROMPT.format(title=state.title or state.group, about=state.description)
        return self._checked(path, prompt.known(bool(state.loop)))

    def _template(self, state: State, path: str | None) -> str:
        """A template of a graph must be there, and render with everything it can be given."""
        if path is None:
            named = state.actor.prompt if isinstance(state.actor, Agent) else ""
            place = self.reading.places.get(f"{state.name}.prompt")
            message = f"the template '{named}' of '{state.name}' is not there"
            self.findings.append(Finding("missing-template", message, place))
            return ""
        text = _text(path)
        self.files.append(path)
        *full, minimal = self.reading.samples[state.name]
        found = [f for each in full for f in jinja.problems(text, path, each, minimal)]
        self.findings += dict.fromkeys(found)
        return text

    def _missing(self, state: State) -> None:
        named = state.actor.prompt if isinstance(state.actor, Agent) else ""
        if named:
            message = (
                f"phase '{state.group}' names the prompt '{named}', which is not there; "
                "its agent gets a plain one"
            )
            fix = f"write prompts/{os.path.basename(named)} beside the protocol"
            place = self.reading.places.get(f"{state.name}.prompt")
            finding = Finding("missing-prompt", message, place, fix, "warning")
            self.findings += [finding] if finding not in self.findings else []

    def _checked(self, path: str, known: Collection[str]) -> str:
        text = _text(path)
        if path not in self.files:
            self.files.append(path)
            self.findings.extend(prompt.check(text, path, set(known)))
        return text

    def _first(self, *names: str) -> str | None:
        for name in names:
            path = os.path.normpath(os.path.join(self.directory, name))
            inside = path.startswith(os.path.normpath(self.directory) + os.sep)
            if inside and os.path.isfile(path):
                return path
        return None

    def reviews(self, protocol: Protocol) -> dict[str, str]:
        kinds = {s.actor.review for s in protocol.states.values() if isinstance(s.actor, Panel)}
        return {kind: self._review(kind) for kind in sorted(kinds)}

    def _review(self, kind: str) -> str:
        own = self._first(os.path.join("reviews", f"{kind}.md"))
        path = own or os.path.join(PACKAGED, "_reviews", f"{os.path.basename(kind)}.md")
        if not os.path.isfile(path):
            path = os.path.join(PACKAGED, "_reviews", "generic.md")
        return self._checked(path, prompt.REVIEW_VARIABLES)

    def templates(self) -> dict[str, str]:
        directory = os.path.join(self.directory, "templates")
        if not os.path.isdir(directory):
            return {}
        paths = [os.path.join(directory, name) for name in sorted(os.listdir(directory))]
        kept = [path for path in paths if os.path.isfile(path)]
        self.files.extend(kept)
        return {os.path.basename(path): _text(path) for path in kept}


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except UnicodeDecodeError as error:
        where = Place(path)
        finding = Finding("not-utf8", f"the file is not UTF-8 text: {error.reason}", where)
        raise DefinitionError([finding]) from error
    except OSError as error:
        finding = Finding("unreadable", f"cannot read: {error.strerror or error}", Place(path))
        raise DefinitionError([finding]) from error
