"""The claims of an exit that the engine measures itself, written as a short list of words."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from porch.dialects.graph.path_types import DeclaredExit, PathMeanings
from porch.model import protocol as p
from porch.model import types as t
from porch.text.nodes import Entry, ListNode, MapNode, Node, ScalarNode

# Each word, and whether it names paths: none, some, or some that others must cover.
NONE, SOME, PAIR = "none", "some", "pair"
MEASURE_WORDS: Mapping[str, str] = {
    "builds": NONE,
    "green": NONE,
    "settled": NONE,
    "covers": PAIR,
    "within": PAIR,
    "red": PAIR,
    "untouched": PAIR,
    "raised": PAIR,
    "once": SOME,
    "names": SOME,
    "disjoint": SOME,
    "exists": SOME,
    "empty": SOME,
    "some": SOME,
    "ran": SOME,
    "finished": SOME,
    "in_conflict": SOME,
}
# What the paths of a check must lead to, before and behind `by`; those not named take any value.
WRITTEN, COUNTED = "written", "counted"
PATH_KINDS: Mapping[str, tuple[str, str]] = {
    "covers": (WRITTEN, WRITTEN),
    "within": ("FilePath", "FilePath"),
    "red": ("FilePath", "Commit"),
    "untouched": ("FilePath", "Commit"),
    "raised": ("Enum", "Commit"),
    "once": (WRITTEN, ""),
    "names": ("Text", ""),
    "disjoint": ("FilePath", ""),
    "exists": ("FilePath", ""),
    "empty": (COUNTED, ""),
    "some": (COUNTED, ""),
    "ran": ("Text", ""),
    "finished": ("FilePath", ""),
    "in_conflict": ("FilePath", ""),
}
# How many commits these compare with; the others take any number.
COMMIT_COUNTS = {"red": 1, "untouched": 1, "raised": 2}


class MeasureReader(Struct, frozen=True):
    """Reads the checks of one exit; names of its own fields come before those of the input."""

    meaning: PathMeanings
    own: Mapping[str, str]
    near: Mapping[str, str]

    def read(self, node: Node) -> Iterator[p.Measure]:
        for item in node.items if isinstance(node, ListNode) else (node,):
            yield from self._one(item)

    def _one(self, node: Node) -> Iterator[p.Measure]:
        match node:
            case ScalarNode(text=text) if MEASURE_WORDS.get(text) == NONE:
                yield p.Measure(text)
            case MapNode(entries=(entry,)):
                yield from self._named(entry)
            case ScalarNode(text=text) if text in MEASURE_WORDS:
                message = f"'{text}' needs a list of paths"
                self.meaning.notes.report("wrong-type", message, node.place)
            case ScalarNode():
                self.meaning.notes.unknown("the check", node, MEASURE_WORDS, "unknown-check")
            case _:
                message = "a check must be a word, or one word with a list of paths"
                self.meaning.notes.report("wrong-type", message, node.place)

    def _named(self, entry: Entry) -> Iterator[p.Measure]:
        word, notes = entry.key, self.meaning.notes
        match MEASURE_WORDS.get(word.text):
            case "some":
                yield p.Measure(word.text, self._paths(entry.value, word, 0))
            case "pair":
                fields = notes.fields(entry.value, f"'{word.text}'")
                if fields is not None:
                    of = self._paths(fields.child("every"), word, 0)
                    by = self._paths(fields.child("by"), word, 1)
                    fields.done()
                    self._count(word, of, by)
                    yield p.Measure(word.text, of, by)
            case "none":
                notes.report("wrong-type", f"'{word.text}' takes no paths", word.place)
            case _:
                notes.unknown("the check", word, MEASURE_WORDS, "unknown-check")

    def _count(self, word: ScalarNode, of: tuple[str, ...], by: tuple[str, ...]) -> None:
        wanted = COMMIT_COUNTS.get(word.text, len(by))
        if by and len(by) != wanted:
            message = f"'{word.text}' compares with {wanted} commits, not {len(by)}"
            self.meaning.notes.report("wrong-value", message, word.place)
        if word.text == "raised" and of and (len(of) > 1 or of[0] not in self.own.values()):
            message = "'raised' needs exactly one field, and it must belong to the exit itself"
            self.meaning.notes.report("wrong-value", message, word.place)

    def _paths(self, node: Node | None, word: ScalarNode, side: int) -> tuple[str, ...]:
        notes = self.meaning.notes
        words = list(notes.words(node, f"a path of '{word.text}'"))
        if not words:
            message = f"'{word.text}' does not say which paths to check"
            fix = (
                "write `every` and `by`"
                if MEASURE_WORDS[word.text] == PAIR
                else "write a list of paths"
            )
            notes.report("empty-list", message, word.place, fix)
        found = [(each, self.meaning.path(each, {**self.near, **self.own})) for each in words]
        kind = PATH_KINDS[word.text][side]
        return tuple(
            path for each, path in found if path and _has_kind(path, kind, each, self.meaning)
        )


def _has_kind(path: str, kind: str, word: ScalarNode, meaning: PathMeanings) -> bool:
    """Whether a check can say anything of the values that a path leads to."""
    type_ = meaning.type_of(path)
    solid = meaning.element_of(path)
    match kind:
        case "written":
            is_so = isinstance(solid, t.Enum | t.Scalar) and solid != t.Scalar("Bool")
        case "counted":
            outer, is_nullable = t.unwrap_type(type_, meaning.types)
            texts = (t.Scalar("Text"), t.Scalar("Blob"))
            is_so = is_nullable or isinstance(outer, t.ListOf) or outer in texts
        case "Enum":
            is_so = isinstance(solid, t.Enum)
        case _:
            is_so = isinstance(solid, t.Scalar) and solid.name == kind
    if not is_so:
        message = f"'{word.text}' is {t.format_type(type_)}; {_KIND_NEEDS.get(kind, kind)}"
        meaning.notes.report("wrong-type", message, word.place)
    return is_so


_KIND_NEEDS: Mapping[str, str] = {
    WRITTEN: "only text, numbers and words of an enum can be compared",
    COUNTED: "only a list, a text or a Maybe can be empty",
    "Enum": "this check needs an enum",
    "FilePath": "this check needs a FilePath",
    "Commit": "this check needs a Commit",
    "Text": "this check needs a Text",
}


def read_measures(
    state: str, node: Node | None, meaning: PathMeanings, near: Mapping[str, str]
) -> dict[str, tuple[p.Measure, ...]]:
    """The checks of every exit of a state."""
    found: dict[str, tuple[p.Measure, ...]] = {}
    known = meaning.declared[state]
    for entry in meaning.notes.entries(node, f"the checks of '{state}'"):
        if entry.key.text not in known:
            meaning.notes.unknown("the exit", entry.key, known, "unknown-exit")
            continue
        own = _own_paths(state, known[entry.key.text])
        found[entry.key.text] = tuple(MeasureReader(meaning, own, near).read(entry.value))
    return found


def _own_paths(state: str, exit_: DeclaredExit) -> dict[str, str]:
    return {f.name: f"{state}.{exit_.name}.{f.name}" for f in exit_.record.fields}
