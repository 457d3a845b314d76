"""A typed question to an agent: what it gets to see, where it works, what it may answer."""

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from porch.dialects.fields import Fields
from porch.dialects.graph import given
from porch.dialects.graph.declared import Declared
from porch.dialects.graph.meaning import Meaning
from porch.dialects.graph.measures import read_measures
from porch.dialects.graph.notes import Notes
from porch.dialects.graph.reading import listed, path, paths
from porch.dialects.nodes import Entry, MapNode
from porch.model import protocol as p
from porch.model import types as t

WORKSPACES = get_args(p.Workspace)
DIFF = "engine.diff"


def read_agent(name: str, fields: Fields, meaning: Meaning) -> p.Agent:
    notes = meaning.notes
    fields.know("exits", "unused")
    role, template = fields.required_text("role"), fields.required_text("template")
    notes.places[f"{name}.prompt"] = fields.place("template")
    takes = tuple(_takes(fields, meaning))
    measures = read_measures(name, fields.child("checks"), meaning, _near(takes))
    declared = meaning.declared[name].values()
    exits = tuple(_exit(each, meaning, measures.get(each.name, ())) for each in declared)
    if not exits:
        fix = "write 'exits', or say who else works here: 'git', 'human' or 'end'"
        notes.report("no-exits", f"state '{name}' has no exits", fields.node.place, fix)
    exits = _labelled(exits, fields, notes)
    ask = _ask(fields, takes, meaning)
    return p.Agent(role, template, exits, timeout_s=fields.number("timeout"), ask=ask)


def _labelled(exits: tuple[p.Exit, ...], fields: Fields, notes: Notes) -> tuple[p.Exit, ...]:
    """Severity and hint of an exit: for people, never for routing."""
    labels: dict[str, dict[str, str]] = {"severity": {}, "hints": {}}
    known = [each.name for each in exits]
    for key, found in labels.items():
        for entry in notes.entries(fields.child(key), f"'{key}'"):
            word = notes.word(entry.value, f"'{key}'")
            if entry.key.text not in known:
                notes.unknown("the exit", entry.key, known, "unknown-exit")
            elif word is not None:
                found[entry.key.text] = word.text
    severity, hints = labels.values()
    return tuple(
        replace(each, severity=severity.get(each.name, ""), hint=hints.get(each.name, ""))
        for each in exits
    )


def _near(takes: tuple[p.Take, ...]) -> dict[str, str]:
    """Names of the input that stand for one path, for use in the checks of the same state."""
    return {take.name: take.paths[0] for take in takes if len(take.paths) == 1}


def _ask(fields: Fields, takes: tuple[p.Take, ...], meaning: Meaning) -> p.Ask:
    meaning.notes.word(fields.child("workspace"), f"'workspace' of {fields.what}")
    chosen = next(listed(fields, "workspace", WORKSPACES, meaning.notes), "main")
    return p.Ask(
        takes,
        next(each for each in WORKSPACES if each == chosen),
        of_parent=fields.flag("of_parent"),
        fork_of=_role(fields, meaning),
        allows=tuple(paths(fields, "allows", meaning, "FilePath")),
        denies=tuple(paths(fields, "denies", meaning, "FilePath")),
        mechanical=fields.flag("mechanical"),
        memory=tuple(_memory(fields, meaning)),
        stalled=fields.text("fresh_when_stalled"),
        at=path(fields, "at", meaning, "Commit"),
        diff=_diff(fields, takes, meaning),
    )


def _diff(fields: Fields, takes: tuple[p.Take, ...], meaning: Meaning) -> tuple[str, str]:
    diff = meaning.notes.fields(fields.child("diff"), f"'diff' of {fields.what}")
    ends = ("", "")
    if diff is not None:
        meaning.notes.required(diff.node, "from", diff.what)
        ends = (path(diff, "from", meaning, "Commit"), path(diff, "to", meaning, "Commit"))
        diff.done()
    elif any(DIFF in take.paths for take in takes):
        message = f"'{DIFF}' is shown, but {fields.what} does not say which diff"
        fix = "write `diff: {from: <a commit>}`"
        meaning.notes.report("missing-key", message, fields.node.place, fix)
    return ends


def _role(fields: Fields, meaning: Meaning) -> str:
    word = meaning.notes.word(fields.child("fork"), f"'fork' of {fields.what}")
    if word is not None and word.text not in meaning.roles:
        meaning.notes.unknown("the role", word, meaning.roles, "unknown-word")
    return word.text if word else ""


def _memory(fields: Fields, meaning: Meaning) -> Iterator[str]:
    for word in meaning.notes.words(fields.child("memory"), f"'memory' of {fields.what}"):
        meaning.slots.setdefault(word.text, word)
        yield word.text


def _exit(declared: Declared, meaning: Meaning, measures: tuple[p.Measure, ...]) -> p.Exit:
    types = {each.name: each.type for each in declared.record.fields}
    filled = {}
    for name, word in declared.filled.items():
        found = meaning.path(word, moments=given.FILLED)
        if found and _fits(found, types[name], meaning):
            filled[name] = found
        elif found:
            message = f"'{word.text}' is no {t.printed(types[name])}, so it cannot fill '{name}'"
            meaning.notes.report("wrong-type", message, word.place)
    return p.Exit(
        declared.name,
        (declared.name,),
        record=declared.record,
        filled=filled,
        advisory=declared.advisory,
        measures=measures,
    )


def _fits(found: str, type_: t.Type, meaning: Meaning) -> bool:
    given_, wanted = (t.bare(each, meaning.types)[0] for each in (meaning.type_of(found), type_))
    return given_ == wanted


def _takes(fields: Fields, meaning: Meaning) -> Iterator[p.Take]:
    for entry in meaning.notes.entries(fields.child("input"), f"'input' of {fields.what}"):
        yield _take(entry, meaning, given.PROMPT)


def _take(entry: Entry, meaning: Meaning, taken: tuple[str, ...] = ()) -> p.Take:
    name, is_optional = entry.key.text.removesuffix("?"), entry.key.text.endswith("?")
    meaning.notes.is_free(replace(entry.key, text=name), "an input", taken)
    if not isinstance(entry.value, MapNode):
        return _led(name, is_optional, entry, meaning)
    parts = tuple(_take(each, meaning) for each in entry.value.entries)
    if not parts:
        _from_nowhere(entry, meaning.notes)
    return p.Take(name, (), is_optional, parts=parts)


def _from_nowhere(entry: Entry, notes: Notes) -> None:
    message = f"input '{entry.key.text}' comes from nowhere"
    notes.report("empty-list", message, entry.key.place, "write the path of what it is")


def _led(name: str, is_optional: bool, entry: Entry, meaning: Meaning) -> p.Take:
    found, is_file = [], False
    words = list(meaning.notes.words(entry.value, f"input '{name}'"))
    if not words:
        _from_nowhere(entry, meaning.notes)
    for word in words:
        text = word.text.removesuffix("?").removeprefix("@")
        is_optional = is_optional or word.text.endswith("?")
        moments = given.SHOWN if len(words) == 1 else {}
        each = meaning.path(word, text=text, moments=moments)
        if each and word.text.startswith("@"):
            is_file = meaning.is_of(each, "FilePath", word)
        if each and len(words) > 1 and each.startswith("parent"):
            message = (
                f"'{word.text}': of several paths the latest is taken, and a parent has others"
            )
            meaning.notes.report("wrong-value", message, word.place)
        found += [each] if each else []
    return p.Take(name, tuple(found), is_optional, is_file)
