"""Typed reading of a mapping: wrong types and unknown keys become findings, and reading goes on."""

import math
from collections.abc import Iterable
from typing import TypeVar, assert_never

from porch.errors import Finding, Place, Severity
from porch.text.late_pattern import late_pattern
from porch.text.nodes import WHOLE, ElementNode, ListNode, MapNode, Node, ScalarNode

T = TypeVar("T")
_NAME = late_pattern(r"\w(?:[\w-]{0,78}\w)?")


class Fields:
    """Every key that is asked for is known; `done()` complains about the others."""

    def __init__(self, node: MapNode, what: str, findings: list[Finding]):
        self.node = node
        self.what = what
        self.findings = findings
        self._values = {entry.key.text: entry.value for entry in node.entries}
        self._keys = {entry.key.text: entry.key.place for entry in node.entries}
        self._known: dict[str, None] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def keys(self) -> tuple[str, ...]:
        return tuple(self._values)

    def know(self, *keys: str) -> None:
        """These keys are read elsewhere."""
        self._known.update(dict.fromkeys(keys))

    def child(self, key: str) -> Node | None:
        """The value as it is; nothing if the key is absent."""
        self.know(key)
        return self._values.get(key)

    def place(self, key: str) -> Place:
        """Where the value stands, else the mapping that lacks it."""
        value = self._values.get(key)
        return value.place if value is not None else self.node.place

    def text(self, key: str, default: str = "") -> str:
        """Numbers are taken as written, so `id: 0073` and `version: 1.10` stay what they are."""
        node = self._given(key)
        if node is None:
            return default
        if isinstance(node, ScalarNode) and node.kind in ("text", "number"):
            return node.text
        return self._wrong(key, "text", node, default)

    def required_text(self, key: str) -> str:
        """A text that is there and not blank; else a finding and the empty text."""
        before = len(self.findings)
        text = self.text(key)
        if not text.strip() and len(self.findings) == before:
            problem = "is empty" if key in self else "is missing"
            fix = f"write some text for '{key}'"
            self.report("missing-key", f"'{key}' of {self.what} {problem}", self.place(key), fix)
        return text

    def flag(self, key: str, default: bool = False) -> bool:
        node = self._given(key)
        if node is None:
            return default
        if isinstance(node, ScalarNode) and node.kind == "bool":
            return node.text == "true"
        return self._wrong(key, "true or false", node, default)

    def whole(self, key: str, default: int = 0, least: int = 0) -> int:
        node = self._given(key)
        if node is None:
            return default
        value = _parse_number(node)
        if isinstance(value, int) and value >= least:
            return value
        return self._wrong(key, f"a whole number of at least {least}", node, default)

    def number(self, key: str, default: float = 0.0, least: float = 0.0) -> float:
        node = self._given(key)
        if node is None:
            return default
        value = _parse_number(node)
        if value is not None and value >= least:
            return float(value)
        return self._wrong(key, f"a number of at least {least:g}", node, default)

    def list_of_text(self, key: str, default: Iterable[str] = ()) -> tuple[str, ...]:
        """A list of texts; a single text counts as a list of one."""
        node = self._given(key)
        if node is None:
            return tuple(default)
        items = node.items if isinstance(node, ListNode) else (node,)
        texts = []
        for item in items:
            if isinstance(item, ScalarNode) and item.kind in ("text", "number"):
                texts.append(item.text)
            else:
                self._wrong(key, "a list of texts", item, None)
        return tuple(texts)

    def list_of_nodes(self, key: str) -> tuple[Node, ...]:
        node = self._given(key)
        if node is None:
            return ()
        return node.items if isinstance(node, ListNode) else self._wrong(key, "a list", node, ())

    def mapping(self, key: str) -> "Fields | None":
        """The mapping under a key, to be read in the same way; nothing if there is none."""
        node = self._given(key)
        if node is None:
            return None
        if isinstance(node, MapNode):
            return Fields(node, f"'{key}' of {self.what}", self.findings)
        return self._wrong(key, "a mapping", node, None)

    def note(self, key: str, message: str) -> None:
        """The key is known and has no meaning here; said only where it is written."""
        self.know(key)
        if key in self:
            self.report("no-meaning", f"'{key}': {message}", self._keys[key], severity="note")

    def report(
        self, code: str, message: str, place: Place, fix: str = "", severity: Severity = "error"
    ) -> None:
        self.findings.append(Finding(code, message, place, fix, severity))

    def unknown_keys(self) -> tuple[str, ...]:
        return tuple(key for key in self._values if key not in self._known)

    def done(self) -> None:
        """Every key was asked for by now; what is left is a slip of the pen."""
        for key in self.unknown_keys():
            from difflib import get_close_matches

            near = get_close_matches(key, self._unused(), n=1)
            fix = f"did you mean '{near[0]}'?" if near else "remove it"
            message = f"unknown key '{key}' in {self.what}"
            self.report("unknown-key", message, self._keys[key], fix)

    def _unused(self) -> list[str]:
        return [key for key in self._known if key not in self._values]

    def _given(self, key: str) -> Node | None:
        """Null is how people write 'not given'."""
        node = self.child(key)
        is_null = isinstance(node, ScalarNode) and node.kind == "null"
        return None if is_null else node

    def _wrong(self, key: str, wanted: str, node: Node, default: T) -> T:
        message = f"'{key}' must be {wanted}, not {describe_node(node)}"
        self.report("wrong-type", message, node.place)
        return default


def _parse_number(node: Node) -> int | float | None:
    """Nothing for what is no number or too large for one."""
    if not isinstance(node, ScalarNode) or node.kind != "number":
        return None
    value = float(node.text)
    if not math.isfinite(value):
        return None
    return int(node.text) if WHOLE.fullmatch(node.text) else value


def describe_node(node: Node) -> str:
    """What a value is, in the words of an error message."""
    match node:
        case ListNode():
            return "a list"
        case MapNode():
            return "a mapping"
        case ElementNode():
            return f"an element <{node.name}>"
        case ScalarNode():
            return "nothing" if node.kind == "null" else f"'{node.text}'"
        case _:
            assert_never(node)


def check_name(word: ScalarNode, what: str, findings: list[Finding]) -> bool:
    """Names become parts of positions, files and commands, so they are plain."""
    if _NAME.fullmatch(word.text) and word.text.isascii():
        return True
    fix = "use letters, digits, '_' and '-', at most 80 of them"
    message = f"'{word.text[:80]}' cannot be a name in {what}"
    findings.append(Finding("bad-name", message, word.place, fix))
    return False
