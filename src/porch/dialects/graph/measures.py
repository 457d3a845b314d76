"""The claims of an exit that the engine measures itself, written as a short list of words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from porch.dialects.graph.declared import Declared
from porch.dialects.graph.meaning import Meaning
from porch.dialects.nodes import Entry, ListNode, MapNode, Node, Scalar
from porch.model import protocol as p

# Each word, and whether it names paths: none, some, or some that others must cover.
NONE, SOME, PAIR = "none", "some", "pair"
WORDS: Mapping[str, str] = {
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
}
# How many commits these compare with; the others take any number.
COMMITS = {"red": 1, "untouched": 1, "raised": 2}


@dataclass(frozen=True, slots=True)
class Measures:
    """Reads the checks of one exit; names of its own fields come before those of the input."""

    meaning: Meaning
    own: Mapping[str, str]
    near: Mapping[str, str]

    def read(self, node: Node) -> Iterator[p.Measure]:
        for item in node.items if isinstance(node, ListNode) else (node,):
            yield from self._one(item)

    def _one(self, node: Node) -> Iterator[p.Measure]:
        match node:
            case Scalar(text=text) if WORDS.get(text) == NONE:
                yield p.Measure(text)
            case MapNode(entries=(entry,)):
                yield from self._named(entry)
            case Scalar(text=text) if text in WORDS:
                message = f"'{text}' needs the paths that it is about"
                self.meaning.notes.report("wrong-type", message, node.place)
            case Scalar():
                self.meaning.notes.unknown("the check", node, WORDS, "unknown-check")
            case _:
                message = "a check is a word, or one word with the paths it is about"
                self.meaning.notes.report("wrong-type", message, node.place)

    def _named(self, entry: Entry) -> Iterator[p.Measure]:
        word, notes = entry.key, self.meaning.notes
        match WORDS.get(word.text):
            case "some":
                yield p.Measure(word.text, self._paths(entry.value, word))
            case "pair":
                fields = notes.fields(entry.value, f"'{word.text}'")
                if fields is not None:
                    of = self._paths(fields.child("every"), word)
                    by = self._paths(fields.child("by"), word)
                    fields.done()
                    self._count(word, of, by)
                    yield p.Measure(word.text, of, by)
            case "none":
                notes.report("wrong-type", f"'{word.text}' is about no paths", word.place)
            case _:
                notes.unknown("the check", word, WORDS, "unknown-check")

    def _count(self, word: Scalar, of: tuple[str, ...], by: tuple[str, ...]) -> None:
        wanted = COMMITS.get(word.text, len(by))
        if by and len(by) != wanted:
            message = f"'{word.text}' compares with {wanted} commits, not {len(by)}"
            self.meaning.notes.report("wrong-value", message, word.place)
        if word.text == "raised" and of and (len(of) > 1 or of[0] not in self.own.values()):
            message = "'raised' changes one field of the exit itself"
            self.meaning.notes.report("wrong-value", message, word.place)

    def _paths(self, node: Node | None, word: Scalar) -> tuple[str, ...]:
        notes = self.meaning.notes
        words = list(notes.words(node, f"a path of '{word.text}'"))
        if not words:
            message = f"'{word.text}' does not say which paths it is about"
            fix = "write `every` and `by`" if WORDS[word.text] == PAIR else "write a list of paths"
            notes.report("empty-list", message, word.place, fix)
        found = [self.meaning.path(each, {**self.near, **self.own}) for each in words]
        return tuple(path for path in found if path)


def read_measures(
    state: str, node: Node | None, meaning: Meaning, near: Mapping[str, str]
) -> dict[str, tuple[p.Measure, ...]]:
    """The checks of every exit of a state."""
    found: dict[str, tuple[p.Measure, ...]] = {}
    known = meaning.declared[state]
    for entry in meaning.notes.entries(node, f"the checks of '{state}'"):
        if entry.key.text not in known:
            meaning.notes.unknown("the exit", entry.key, known, "unknown-exit")
            continue
        own = _own(state, known[entry.key.text])
        found[entry.key.text] = tuple(Measures(meaning, own, near).read(entry.value))
    return found


def _own(state: str, exit_: Declared) -> dict[str, str]:
    return {f.name: f"{state}.{exit_.name}.{f.name}" for f in exit_.record.fields}
