"""Findings and places of one graph file while it is read; reading goes on after each finding."""

from collections.abc import Container, Iterable, Iterator

from msgspec import Struct, field

from porch.errors import Finding, Place, Severity, suggest_name
from porch.text.fields import Fields, check_name, describe_node
from porch.text.nodes import Entry, ListNode, MapNode, Node, ScalarNode


class ReadingNotes(Struct):
    """What was noticed, and where each state, exit and edge stands in the file."""

    findings: list[Finding] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)

    def report(
        self, code: str, message: str, place: Place, fix: str = "", severity: Severity = "error"
    ) -> None:
        self.findings.append(Finding(code, message, place, fix, severity))

    def unknown(self, what: str, word: ScalarNode, known: Iterable[str], code: str) -> None:
        fix = suggest_name(word.text, known).rstrip()
        self.report(code, f"{what} '{word.text}' does not exist", word.place, fix)

    def fields(self, node: Node | None, what: str) -> Fields | None:
        """A mapping to be read key by key; anything else is a finding."""
        if isinstance(node, MapNode):
            return Fields(node, what, self.findings)
        if node is not None:
            message = f"{what} must be a mapping, not {describe_node(node)}"
            self.report("wrong-type", message, node.place)
        return None

    def entries(self, node: Node | None, what: str) -> tuple[Entry, ...]:
        found = self.fields(node, what)
        return found.node.entries if found else ()

    def words(self, node: Node | None, what: str) -> Iterator[ScalarNode]:
        """A text or a list of texts, each with its place."""
        items = node.items if isinstance(node, ListNode) else (node,) if node is not None else ()
        for item in items:
            if isinstance(item, ScalarNode) and item.kind in ("text", "number"):
                yield item
            else:
                message = f"{what} must be a name or a list of names, not {describe_node(item)}"
                self.report("wrong-type", message, item.place)

    def word(self, node: Node | None, what: str) -> ScalarNode | None:
        """A text by itself; of a list nobody could say which one is meant."""
        if isinstance(node, ListNode):
            self.report("wrong-type", f"{what} must be one name, not a list", node.place)
            return None
        return next(self.words(node, what), None)

    def required(self, node: MapNode, key: str, what: str) -> ScalarNode | None:
        """The word under a key that must be there."""
        if node.get(key) is None:
            fix = f"write '{key}'"
            self.report("missing-key", f"'{key}' of {what} is missing", node.place, fix)
        return self.word(node.get(key), f"'{key}' of {what}")

    def is_free(self, word: ScalarNode, what: str, taken: Container[str]) -> bool:
        """Whether something can be called this: a plain name that nothing else has."""
        if not check_name(word, what, self.findings):
            return False
        if word.text in taken:
            message = f"the name '{word.text}' is already used, so {what} cannot have it"
            self.report("reserved-name", message, word.place, "rename it")
            return False
        return True


def find_repeated(words: Iterable[ScalarNode]) -> Iterator[ScalarNode]:
    """Those that say what one before them has said."""
    seen: set[str] = set()
    for word in words:
        if word.text in seen:
            yield word
        seen.add(word.text)


def as_text(node: Node) -> str:
    """A type or path as written; YAML reads `[T]` as a list of one, which means the same."""
    if isinstance(node, ListNode):
        return f"[{', '.join(as_text(item) for item in node.items)}]"
    return node.text if isinstance(node, ScalarNode) else ""
