"""A typed question to an agent: what it gets to see, where it works, what it may answer."""

from collections.abc import Iterator
from typing import get_args

from msgspec.structs import replace

from porch.dialects.graph import engine_fields
from porch.dialects.graph.findings import ReadingNotes, find_repeated
from porch.dialects.graph.measures import read_measures
from porch.dialects.graph.path_types import DeclaredExit, PathMeanings
from porch.dialects.graph.word_lists import read_path, read_paths, read_words
from porch.model import protocol as p
from porch.model import types as t
from porch.text.fields import Fields
from porch.text.nodes import Entry, MapNode

WORKSPACES = get_args(p.Workspace)
DIFF_PATH = "engine.diff"


def read_agent(name: str, fields: Fields, meaning: PathMeanings) -> p.Agent:
    notes = meaning.notes
    fields.know("exits", "unused")
    role, template = fields.required_text("role"), fields.required_text("template")
    notes.places[f"{name}.prompt"] = fields.place("template")
    takes = tuple(_read_inputs(name, fields, meaning))
    measures = read_measures(name, fields.child("checks"), meaning, _paths_by_input(takes))
    declared = meaning.declared[name].values()
    exits = tuple(_make_exit(each, meaning, measures.get(each.name, ())) for each in declared)
    if not exits:
        fix = "write 'exits'; without an agent, write 'git', 'human' or 'end'"
        notes.report("no-exits", f"state '{name}' has no exits", fields.node.place, fix)
    exits = _label_exits(exits, fields, notes)
    ask = _read_ask(fields, takes, meaning)
    if not ask.mechanical and any(m.name == "settled" for each in exits for m in each.measures):
        message = f"state '{name}' checks 'settled', but is never given an unfinished merge"
        fix = "write `mechanical: true`, or remove the check"
        notes.report("wrong-value", message, fields.place("checks"), fix)
    if ask.workspace == "read" and (ask.allows or ask.denies):
        key = "allows" if ask.allows else "denies"
        message = f"'{key}' of state '{name}' says nothing: who only reads changes no file"
        notes.report("wrong-value", message, fields.place(key), "remove it")
    return p.Agent(role, template, exits, timeout_s=fields.number("timeout"), ask=ask)


def _label_exits(
    exits: tuple[p.Exit, ...], fields: Fields, notes: ReadingNotes
) -> tuple[p.Exit, ...]:
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


def _paths_by_input(takes: tuple[p.Take, ...]) -> dict[str, str]:
    """Names of the input that stand for one path, for use in the checks of the same state."""
    return {take.name: take.paths[0] for take in takes if len(take.paths) == 1}


def _read_ask(fields: Fields, takes: tuple[p.Take, ...], meaning: PathMeanings) -> p.Ask:
    meaning.notes.word(fields.child("workspace"), f"'workspace' of {fields.what}")
    chosen = next(read_words(fields, "workspace", WORKSPACES, meaning.notes), "main")
    return p.Ask(
        takes,
        next(each for each in WORKSPACES if each == chosen),
        of_parent=fields.flag("of_parent"),
        fork_of=_read_fork_role(fields, meaning),
        allows=tuple(read_paths(fields, "allows", meaning, "FilePath")),
        denies=tuple(read_paths(fields, "denies", meaning, "FilePath")),
        mechanical=fields.flag("mechanical"),
        memory=tuple(_read_memory_slots(fields, meaning)),
        stalled=fields.text("fresh_when_stalled"),
        at=read_path(fields, "at", meaning, "Commit"),
        diff=_read_diff(fields, takes, meaning),
    )


def _read_diff(fields: Fields, takes: tuple[p.Take, ...], meaning: PathMeanings) -> tuple[str, str]:
    diff = meaning.notes.fields(fields.child("diff"), f"'diff' of {fields.what}")
    ends = ("", "")
    if diff is not None:
        meaning.notes.required(diff.node, "from", diff.what)
        ends = (
            read_path(diff, "from", meaning, "Commit"),
            read_path(diff, "to", meaning, "Commit"),
        )
        diff.done()
    elif any(DIFF_PATH in take.paths for take in takes):
        message = f"'{DIFF_PATH}' is shown, but {fields.what} does not say which diff"
        fix = "write `diff: {from: <a commit>}`"
        meaning.notes.report("missing-key", message, fields.node.place, fix)
    return ends


def _read_fork_role(fields: Fields, meaning: PathMeanings) -> str:
    word = meaning.notes.word(fields.child("fork"), f"'fork' of {fields.what}")
    if word is not None and word.text not in meaning.roles:
        meaning.notes.unknown("the role", word, meaning.roles, "unknown-word")
    return word.text if word else ""


def _read_memory_slots(fields: Fields, meaning: PathMeanings) -> Iterator[str]:
    for word in meaning.notes.words(fields.child("memory"), f"'memory' of {fields.what}"):
        meaning.slots.setdefault(word.text, word)
        yield word.text


def _make_exit(
    declared: DeclaredExit, meaning: PathMeanings, measures: tuple[p.Measure, ...]
) -> p.Exit:
    types = {each.name: each.type for each in declared.record.fields}
    filled = {}
    for name, word in declared.filled.items():
        found = meaning.path(word, moments=engine_fields.FILLED_FIELDS)
        if found and _has_type(found, types[name], meaning):
            filled[name] = found
        elif found:
            is_, not_ = (t.format_type(each) for each in (meaning.type_of(found), types[name]))
            message = f"'{word.text}' is {is_}, not {not_}, so it cannot fill '{name}'"
            meaning.notes.report("wrong-type", message, word.place)
    return p.Exit(
        declared.name,
        (declared.name,),
        record=declared.record,
        filled=filled,
        advisory=declared.advisory,
        measures=measures,
    )


def _has_type(found: str, type_: t.Type, meaning: PathMeanings) -> bool:
    given, may_be_null = t.unwrap_type(meaning.type_of(found), meaning.types)
    wanted, may_take_null = t.unwrap_type(type_, meaning.types)
    return given == wanted and (may_take_null or not may_be_null)


def _read_inputs(name: str, fields: Fields, meaning: PathMeanings) -> Iterator[p.Take]:
    entries = meaning.notes.entries(fields.child("input"), f"'input' of {fields.what}")
    names = [replace(each.key, text=each.key.text.removesuffix("?")) for each in entries]
    for word in find_repeated(names):
        message = f"'input' of {fields.what} has '{word.text}' twice, with `?` and without"
        meaning.notes.report("duplicate-name", message, word.place, "keep one of them")
    for entry in entries:
        take = _read_input(entry, meaning, engine_fields.PROMPT_NAMES)
        meaning.notes.places[f"{name}.input.{take.name}"] = entry.key.place
        yield take


def _read_input(entry: Entry, meaning: PathMeanings, taken: tuple[str, ...] = ()) -> p.Take:
    name, is_optional = entry.key.text.removesuffix("?"), entry.key.text.endswith("?")
    meaning.notes.is_free(replace(entry.key, text=name), "an input", taken)
    if not isinstance(entry.value, MapNode):
        return _read_input_paths(name, is_optional, entry, meaning)
    parts = tuple(_read_input(each, meaning) for each in entry.value.entries)
    if not parts:
        _report_no_source(entry, meaning.notes)
    return p.Take(name, (), is_optional, parts=parts)


def _report_no_source(entry: Entry, notes: ReadingNotes) -> None:
    message = f"input '{entry.key.text}' has no path"
    notes.report("empty-list", message, entry.key.place, "write the path of its value")


def _read_input_paths(name: str, is_optional: bool, entry: Entry, meaning: PathMeanings) -> p.Take:
    found, is_file = [], False
    words = list(meaning.notes.words(entry.value, f"input '{name}'"))
    if not words:
        _report_no_source(entry, meaning.notes)
    for word in words:
        text = word.text.removesuffix("?").removeprefix("@")
        is_optional = is_optional or word.text.endswith("?")
        moments = engine_fields.SHOWN_FIELDS if len(words) == 1 else {}
        each = meaning.path(word, text=text, moments=moments)
        if each and word.text.startswith("@"):
            is_file = meaning.is_of(each, "FilePath", word)
        if each and len(words) > 1 and each.startswith("parent"):
            message = f"'{word.text}': a path of the parent cannot be one of several paths"
            meaning.notes.report("wrong-value", message, word.place)
        found += [each] if each else []
    return p.Take(name, tuple(found), is_optional, is_file)
