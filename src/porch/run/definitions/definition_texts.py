"""The texts beside a protocol: prompts, reviews and templates, checked as they are read."""

import os
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from porch.errors import DefinitionError, Finding, Place, suggest_name
from porch.run.definitions import step_files
from porch.run.definitions.partials import PartialReader
from porch.system.document_file import read_document

if TYPE_CHECKING:
    from porch.dialects.result import ProtocolReading
    from porch.model.protocol import Protocol, State

# Kinds of reviews that files of other tools name; nobody has to write a text for them here.
REVIEWS_OF_OTHERS = (
    "spec", "plan", "impl", "pr", "pr-ready", "phase", "integration", "integration-review",
    "investigation", "critique",
)  # fmt: skip
PACKAGED_REVIEWS = os.path.join(step_files.PACKAGED_PROTOCOLS, "_reviews")
PACKAGED_PARTIALS = os.path.join(step_files.PACKAGED_PROTOCOLS, "_partials")

# For a phase without words of its own; status, plan, findings and signals follow as always.
_PLAIN_PROMPT = """# {title}

{about}

Do the work of this phase for project {{{{ project_id }}}} ({{{{ title }}}}) under \
{{{{ protocol }}}}. Its documents are in `{{{{ project_dir }}}}/`.
"""
_WRITTEN_FILE = "The document that this phase writes is `{{ artifact }}`.\n"


def _make_plain_prompt(state: "State") -> str:
    from porch.model.protocol import Agent

    text = _PLAIN_PROMPT.format(title=state.title or state.group, about=state.description)
    is_writing = isinstance(state.actor, Agent) and state.actor.artifacts
    return text + _WRITTEN_FILE if is_writing else text


class DefinitionTexts:
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
        if state.name in self.reading.texts:
            return self.reading.texts[state.name]
        path = self._first(*self.reading.prompts.get(state.name, ()))
        if state.name in self.reading.samples:
            return self._template(state, path)
        if path is None:
            self._missing(state)
            return _make_plain_prompt(state)
        from porch.show import prompt  # a protocol may have no file of one

        return self._checked(path, prompt.list_known_variables(bool(state.loop)))

    def _template(self, state: "State", path: str | None) -> str:
        """A template of a graph must be there, and render with everything it can be given."""
        from porch.show import strict_templates

        if path is None:
            named = _prompt_name(state)
            place = self.reading.places.get(f"{state.name}.prompt")
            message = f"'{state.name}' uses the template '{named}', which does not exist"
            self.findings.append(Finding("missing-template", message, place))
            return ""
        text = self._read(path)
        self.files.append(path)
        *full, minimal = self.reading.samples[state.name]
        found = [
            f
            for each in full
            for f in strict_templates.check_strict_template(text, path, each, minimal)
        ]
        places = self.reading.places
        self.findings += dict.fromkeys(found) or _find_unread_inputs(state, text, path, places)
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
            return read_text(path)
        except DefinitionError as error:
            self.findings += [each for each in error.findings if each not in self.findings]
            return ""

    def _checked(self, path: str, known: Collection[str]) -> str:
        """The text with its partials; each of its files is checked as a template by itself."""
        from porch.show import prompt

        partials = PartialReader(lambda name: self._find_partial(path, name), self._read)
        text = partials.fill(path)
        checked = (prompt.check_template(t, f, set(known)) for f, t in partials.parts.items())
        found = [*partials.findings, *(finding for each in checked for finding in each)]
        if not found and len(partials.parts) > 1:
            # Each of them may be right, and what they become together not.
            found = prompt.check_template(text, path, set(known))
        self.files += [file for file in partials.parts if file not in self.files]
        self.findings += [each for each in found if each not in self.findings]
        return text

    def _find_partial(self, prompt: str, name: str) -> str | None:
        """Beside the prompt, then among the prompts of the protocol, then the packaged ones."""
        beside = os.path.relpath(os.path.dirname(prompt) or os.curdir, self.directory or os.curdir)
        own = (os.path.join(each, "partials", f"{name}.md") for each in (beside, "prompts"))
        packaged = os.path.join(PACKAGED_PARTIALS, f"{name}.md")
        path = self._first(*dict.fromkeys(map(os.path.normpath, own)))
        if path is None:
            return packaged if os.path.isfile(packaged) else None
        inside = os.path.realpath(path).startswith(os.path.realpath(self.directory) + os.sep)
        return path if inside else None

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


def _find_unread_inputs(
    state: "State", template: str, path: str, places: Mapping[str, Place]
) -> list[Finding]:
    from porch.show.strict_templates import find_used_variables

    used = find_used_variables(template, path)
    return [
        Finding(
            "unread-input",
            f"the template of '{state.name}' does not use the input '{name}'",
            places.get(f"{state.name}.input.{name}"),
            f"use it in {os.path.basename(path)}, or remove it",
            "warning",
        )
        for name in _list_prompt_inputs(state)
        if name not in used
    ]


def _list_prompt_inputs(state: "State") -> Iterator[str]:
    """Inputs that only a template can use; checks look at some by themselves."""
    from porch.model.protocol import Agent

    if not isinstance(state.actor, Agent) or state.actor.ask is None:
        return
    measures = [measure for exit_ in state.actor.exits for measure in exit_.measures]
    measured = [path for each in measures for path in (*each.of, *each.by)]
    for take in state.actor.ask.takes:
        if not any(f"{path}.".startswith(f"{p}.") for p in take.paths for path in measured):
            yield take.name


def read_text(path: str) -> str:
    try:
        return read_document(path)
    except UnicodeDecodeError as error:
        where = Place(path)
        finding = Finding("not-utf8", f"the file is not UTF-8 text: {error.reason}", where)
        raise DefinitionError([finding]) from error
    except OSError as error:
        finding = Finding("unreadable", f"cannot read: {error.strerror or error}", Place(path))
        raise DefinitionError([finding]) from error
