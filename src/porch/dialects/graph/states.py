"""The states of a graph: who works, what they may answer, and what the engine or people do."""

from collections.abc import Callable, Iterator, Mapping
from typing import get_args

from porch.dialects.fields import Fields
from porch.dialects.graph import given
from porch.dialects.graph.asking import read_agent
from porch.dialects.graph.declared import read_exit
from porch.dialects.graph.meaning import Meaning
from porch.dialects.graph.reading import listed, paths
from porch.dialects.nodes import Entry, MapNode, Scalar
from porch.model import protocol as p
from porch.model import types as t
from porch.model.validate import TYPED

HOLDS = ("target", "branch", "main")
OUTCOMES = get_args(p.Outcome)
ASKS = ("question", "failure", "gate")
CANDIDATE = given.record(given.GIT["candidate"]["clean"])


def read_exits(entries: tuple[Entry, ...], meaning: Meaning) -> None:
    """First of all, so that any state may name the exits of any other."""
    for entry in entries:
        name, node, notes = entry.key.text, entry.value, meaning.notes
        if not notes.is_free(entry.key, "a state", (*meaning.exits, *given.ROOTS, given.DUE)):
            continue
        notes.places[name] = entry.key.place
        meaning.exits[name], meaning.declared[name] = {}, {}
        if isinstance(node, MapNode):
            _declare(name, node, meaning)
            role = node.get("role")
            meaning.roles |= {role.text} if isinstance(role, Scalar) else set()


def _declare(name: str, node: MapNode, meaning: Meaning) -> None:
    notes = meaning.notes
    for each in notes.entries(node.get("exits"), f"the exits of '{name}'"):
        if notes.is_free(each.key, "an exit", TYPED):
            exit_ = read_exit(each.key, each.value, meaning.types, notes)
            notes.places[f"{name}.{exit_.name}"] = exit_.place
            meaning.declared[name][exit_.name] = exit_
    records = {each.name: each.record for each in meaning.declared[name].values()}
    meaning.exits[name] = records or dict(_given(node, meaning))


def _given(node: MapNode, meaning: Meaning) -> Iterator[tuple[str, t.Record]]:
    """The exits of the engine's own actors and of people."""
    op, options = node.get("git"), node.get("options")
    if isinstance(op, Scalar):
        yield from ((e, given.record(f)) for e, f in given.GIT.get(op.text, {}).items())
    elif node.get("human") is not None and isinstance(options, MapNode):
        for entry in options.entries:
            if meaning.notes.is_free(entry.key, "an option", ()):
                yield entry.key.text, given.record(given.HUMAN)


def read_state(entry: Entry, meaning: Meaning) -> p.State | None:
    name, notes = entry.key.text, meaning.notes
    fields = notes.fields(entry.value, f"state '{name}'")
    if fields is None or name not in meaning.exits:
        return None
    actor = _actor(name, fields, meaning)
    holds = tuple(listed(fields, "holds", HOLDS, notes))
    title, about = fields.text("title"), fields.text("description")
    fields.done()
    return p.State(name, name, actor, title or name, about, holds=holds) if actor else None


def _actor(name: str, fields: Fields, meaning: Meaning) -> p.Actor | None:
    kind = next((kind for kind in ACTORS if kind in fields), "")
    return ACTORS[kind](name, fields, meaning) if kind else read_agent(name, fields, meaning)


def _git(_: str, fields: Fields, meaning: Meaning) -> p.Actor | None:
    op = fields.text("git")
    reads = tuple(paths(fields, "reads", meaning))
    if op == "publish" and not any(meaning.type_of(path) == CANDIDATE for path in reads):
        fix = "write `reads: [candidate.clean]`, with the name of the state that makes it"
        message = f"{fields.what} does not read the candidate that it shall publish"
        meaning.notes.report("missing-key", message, fields.node.place, fix)
    for known in get_args(p.GitOp):
        if op == known and op in given.GIT:
            return p.Git(op=known, reads=reads, message=fields.text("message"))
    word = Scalar(op, fields.place("git"))
    meaning.notes.unknown("the git operation", word, given.GIT, "unknown-word")
    return None


def _human(name: str, fields: Fields, meaning: Meaning) -> p.Actor | None:
    notes, kind = meaning.notes, fields.text("human")
    if kind not in ASKS:
        word = Scalar(kind, fields.place("human"))
        notes.unknown("the kind of question", word, ASKS, "unknown-word")
    options = []
    for entry in notes.entries(fields.child("options"), f"the options of '{name}'"):
        inner = notes.fields(entry.value, f"option '{entry.key.text}'")
        if inner is not None:
            means, needs_text = inner.required_text("means"), inner.flag("text")
            options.append(p.Option(entry.key.text, means, needs_text))
            inner.done()
    if not options:
        fix = "write 'options': what a person may answer"
        notes.report("no-exits", f"state '{name}' has no options", fields.node.place, fix)
    shows = tuple(paths(fields, "shows", meaning))
    ask: p.AskKind = next((k for k in get_args(p.AskKind) if k == kind), "question")
    return p.Human(ask, name, fields.text("title") or name, tuple(options), shows=shows)


def _end(_: str, fields: Fields, meaning: Meaning) -> p.Actor | None:
    outcome = fields.text("end")
    words = meaning.notes.words(fields.child("shows"), f"'shows' of {fields.what}")
    shows = tuple(path for word in words if (path := meaning.exit(word)))
    for known in OUTCOMES:
        if outcome == known:
            return p.End(known, shows)
    word = Scalar(outcome, fields.place("end"))
    meaning.notes.unknown("the outcome", word, OUTCOMES, "unknown-word")
    return None


# What says who works; a state without any of these is an agent's.
ACTORS: Mapping[str, Callable[[str, Fields, Meaning], p.Actor | None]] = {
    "git": _git,
    "human": _human,
    "end": _end,
}


def unused(entries: tuple[Entry, ...], meaning: Meaning) -> Mapping[str, Scalar]:
    """Exit fields that a state declares as of no use to anybody."""
    found: dict[str, Scalar] = {}
    for entry in entries:
        node = entry.value.get("unused") if isinstance(entry.value, MapNode) else None
        for word in meaning.notes.words(node, f"'unused' of state '{entry.key.text}'"):
            path = meaning.path(word, text=f"{entry.key.text}.{word.text}")
            found.update({path: word} if path else {})
    return found
