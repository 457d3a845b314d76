"""The states of a graph: who works, what they may answer, and what the engine or people do.

What a git state is about stands under a name of its own for each input. Found by the ending of a
field's name, an approval was lost as soon as somebody renamed the field.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import get_args

from porch.dialects.graph import engine_fields
from porch.dialects.graph.declared_types import read_exit
from porch.dialects.graph.path_types import PathMeanings
from porch.dialects.graph.questions import read_agent
from porch.dialects.graph.word_lists import read_path, read_paths, read_words
from porch.model import protocol as p
from porch.model import types as t
from porch.model.memory_paths import RUN_QUESTIONS
from porch.model.validate import TYPED
from porch.text.fields import Fields
from porch.text.late_pattern import late_pattern
from porch.text.nodes import Entry, MapNode, Node, ScalarNode

_WORD_IN_BRACES = late_pattern(r"\{(\w+)\}")
APPROVED, OWN, CANDIDATE = "approved", "own", "candidate"
PATCH = "engine.patch"
CANDIDATE_RECORD = engine_fields.parse_record(engine_fields.GIT_EXITS["candidate"]["clean"])
# What each operation must be given by name, and how that is written.
NAMED_INPUTS: Mapping[str, Mapping[str, str]] = {
    "candidate": {
        APPROVED: "write `approved: Exit.field`, a field that is filled with `= engine.patch`",
        OWN: "write `own: [paths]`: where the tests lie that must be green",
    },
    "publish": {CANDIDATE: "write `candidate: state.clean`, of the state that makes it"},
}

HOLD_WORDS = ("target", "branch", "main")
OUTCOMES = get_args(p.Outcome)
QUESTION_KINDS = ("question", "failure", "gate")


def read_git_actor(op: p.GitOp, fields: Fields, meaning: PathMeanings) -> p.Git:
    named = NAMED_INPUTS.get(op, {})
    git = p.Git(
        op=op,
        message=fields.text("message"),
        reads=() if named else tuple(read_paths(fields, "reads", meaning)),
        approved=read_path(fields, APPROVED, meaning) if APPROVED in named else "",
        own=tuple(read_paths(fields, OWN, meaning, "FilePath")) if OWN in named else (),
        candidate=read_path(fields, CANDIDATE, meaning) if CANDIDATE in named else "",
    )
    _report_missing_inputs(named, fields, meaning)
    for word in _WORD_IN_BRACES.findall(git.message):
        if word != "id":
            message = f"'{{{word}}}' in 'message' of {fields.what} stands for nothing"
            meaning.notes.report("wrong-value", message, fields.place("message"), "write `{id}`")
    if git.approved and _filled_with(git.approved, meaning) != PATCH:
        _report_wrong_input(APPROVED, f"{git.approved} is not a hash of a patch", fields, meaning)
    if git.candidate and meaning.type_of(git.candidate) != CANDIDATE_RECORD:
        _report_wrong_input(CANDIDATE, f"{git.candidate} is not a candidate", fields, meaning)
    return git


def _report_missing_inputs(named: Mapping[str, str], fields: Fields, meaning: PathMeanings) -> None:
    for key, fix in named.items():
        if key not in fields:
            message = f"{fields.what} does not name '{key}'"
            meaning.notes.report("missing-key", message, fields.node.place, fix)


def _report_wrong_input(key: str, why: str, fields: Fields, meaning: PathMeanings) -> None:
    fix = next(each[key] for each in NAMED_INPUTS.values() if key in each)
    meaning.notes.report("wrong-value", f"'{key}' of {fields.what}: {why}", fields.place(key), fix)


def _filled_with(path: str, meaning: PathMeanings) -> str:
    """The path from which the engine fills a field; empty if an agent answers it."""
    state, _, rest = path.partition(".")
    exit_, _, field = rest.partition(".")
    declared = meaning.declared.get(state, {}).get(exit_)
    filled = declared.filled.get(field) if declared else None
    return filled.text if filled else ""


def read_exits(entries: tuple[Entry, ...], meaning: PathMeanings) -> None:
    """First of all, so that any state may name the exits of any other."""
    for entry in entries:
        name, node, notes = entry.key.text, entry.value, meaning.notes
        if not notes.is_free(
            entry.key,
            "a state",
            (
                *(*meaning.exits, *engine_fields.PATH_ROOTS),
                *(engine_fields.DUE_TARGET, *RUN_QUESTIONS),
            ),
        ):
            continue
        notes.places[name] = entry.key.place
        meaning.exits[name], meaning.declared[name] = {}, {}
        if isinstance(node, MapNode):
            _declare_exits(name, node, meaning)
            role = node.get("role")
            meaning.roles |= {role.text} if isinstance(role, ScalarNode) else set()


def _declare_exits(name: str, node: MapNode, meaning: PathMeanings) -> None:
    notes = meaning.notes
    for each in notes.entries(node.get("exits"), f"the exits of '{name}'"):
        if notes.is_free(each.key, "an exit", TYPED):
            exit_ = read_exit(each.key, each.value, meaning.types, notes)
            notes.places[f"{name}.{exit_.name}"] = exit_.place
            meaning.declared[name][exit_.name] = exit_
    records = {each.name: each.record for each in meaning.declared[name].values()}
    meaning.exits[name] = records or dict(_read_fixed_exits(node, meaning))


def _read_fixed_exits(node: MapNode, meaning: PathMeanings) -> Iterator[tuple[str, t.Record]]:
    """The exits of the engine's own actors and of people."""
    op, options = node.get("git"), node.get("options")
    if isinstance(op, ScalarNode):
        yield from (
            (e, engine_fields.parse_record(f))
            for e, f in engine_fields.GIT_EXITS.get(op.text, {}).items()
        )
    elif node.get("human") is not None and isinstance(options, MapNode):
        for entry in options.entries:
            if meaning.notes.is_free(entry.key, "an option", ()):
                yield entry.key.text, engine_fields.parse_record(_answer_fields(entry.value))


def _answer_fields(option: Node) -> engine_fields.FieldTypes:
    text = option.get("text") if isinstance(option, MapNode) else None
    is_asked = isinstance(text, ScalarNode) and text.text == "true"
    return engine_fields.HUMAN_ANSWER if is_asked else engine_fields.HUMAN_CHOICE


def read_state(entry: Entry, meaning: PathMeanings) -> p.State | None:
    name, notes = entry.key.text, meaning.notes
    fields = notes.fields(entry.value, f"state '{name}'")
    if fields is None or name not in meaning.exits:
        return None
    actor = _read_actor(name, fields, meaning)
    holds = tuple(read_words(fields, "holds", HOLD_WORDS, notes))
    title, about = fields.text("title"), fields.text("description")
    fields.done()
    return p.State(name, name, actor, title or name, about, holds=holds) if actor else None


def _read_actor(name: str, fields: Fields, meaning: PathMeanings) -> p.Actor | None:
    kind = next((kind for kind in ACTOR_READERS if kind in fields), "")
    return ACTOR_READERS[kind](name, fields, meaning) if kind else read_agent(name, fields, meaning)


def _read_git(_: str, fields: Fields, meaning: PathMeanings) -> p.Actor | None:
    op = fields.text("git")
    for known in get_args(p.GitOp):
        if op == known and op in engine_fields.GIT_EXITS:
            return read_git_actor(known, fields, meaning)
    word = ScalarNode(op, fields.place("git"))
    meaning.notes.unknown("the git operation", word, engine_fields.GIT_EXITS, "unknown-word")
    return None


def _read_human(name: str, fields: Fields, meaning: PathMeanings) -> p.Actor | None:
    notes, kind = meaning.notes, fields.text("human")
    if kind not in QUESTION_KINDS:
        word = ScalarNode(kind, fields.place("human"))
        notes.unknown("the kind of question", word, QUESTION_KINDS, "unknown-word")
    options = []
    for entry in notes.entries(fields.child("options"), f"the options of '{name}'"):
        inner = notes.fields(entry.value, f"option '{entry.key.text}'")
        if inner is not None:
            means, needs_text = inner.required_text("means"), inner.flag("text")
            notes.places[f"{name}.{entry.key.text}.text"] = inner.place("text")
            options.append(p.Option(entry.key.text, means, needs_text))
            inner.done()
    if not options:
        fix = "write 'options': what a person may answer"
        notes.report("no-exits", f"state '{name}' has no options", fields.node.place, fix)
    shows = tuple(read_paths(fields, "shows", meaning))
    ask: p.AskKind = next((k for k in get_args(p.AskKind) if k == kind), "question")
    return p.Human(ask, name, fields.text("title") or name, tuple(options), shows=shows)


def _read_end(_: str, fields: Fields, meaning: PathMeanings) -> p.Actor | None:
    outcome = fields.text("end")
    words = meaning.notes.words(fields.child("shows"), f"'shows' of {fields.what}")
    shows = tuple(path for word in words if (path := meaning.exit(word)))
    gives = _read_gives(fields, outcome, meaning)
    for known in OUTCOMES:
        if outcome == known:
            return p.End(known, shows, gives)
    word = ScalarNode(outcome, fields.place("end"))
    meaning.notes.unknown("the outcome", word, OUTCOMES, "unknown-word")
    return p.End("failed", shows, gives)


def _read_gives(fields: Fields, outcome: str, meaning: PathMeanings) -> str:
    word = meaning.notes.word(fields.child("gives"), f"'gives' of {fields.what}")
    if word is not None and outcome != "complete":
        message = f"'gives' of {fields.what}: only an end with 'complete' gives something"
        meaning.notes.report("wrong-value", message, word.place, "remove it")
    return meaning.exit(word) if word else ""


# What says who works; a state without any of these is an agent's.
ACTOR_READERS: Mapping[str, Callable[[str, Fields, PathMeanings], p.Actor | None]] = {
    "git": _read_git,
    "human": _read_human,
    "end": _read_end,
}


def read_unused_fields(
    entries: tuple[Entry, ...], meaning: PathMeanings
) -> Mapping[str, ScalarNode]:
    """Exit fields that a state declares as of no use to anybody."""
    found: dict[str, ScalarNode] = {}
    for entry in entries:
        node = entry.value.get("unused") if isinstance(entry.value, MapNode) else None
        for word in meaning.notes.words(node, f"'unused' of state '{entry.key.text}'"):
            path = meaning.path(word, text=f"{entry.key.text}.{word.text}")
            found.update({path: word} if path else {})
    return found
