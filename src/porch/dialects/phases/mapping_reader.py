"""Reading one mapping of a phases file: known keys come from the table, words get checked."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from porch.dialects.phases.keys import KEYS
from porch.errors import Finding, Place, suggest_name
from porch.text.fields import Fields, check_name, describe_node
from porch.text.late_pattern import late_pattern
from porch.text.nodes import Entry, ListNode, MapNode, Node, ScalarNode

# More of the same kind helps nobody, and a hostile file must not cost minutes of comparing.
MOST_ALIKE = 20
MOST_ENTRIES = 40
MOST_PHASES = 100
MOST_STEPS = 200

_MODEL = late_pattern(r"\w[\w.-]{0,79}")
_DRIVE = late_pattern(r"[A-Za-z]:")
Findings = list[Finding]
T = TypeVar("T")


class StrictFields(Fields):
    """A mapping of a known kind; what is no key of that kind is reported at once."""

    def __init__(self, node: MapNode, kind: str, what: str, findings: Findings):
        super().__init__(node, what, findings)
        self.know(*KEYS[kind])
        foreign = [key for key in self.unknown_keys() if not key.startswith(("$", "_"))]
        for key in foreign[:MOST_ALIKE]:
            self._report_unknown(key, KEYS[kind])

    def _report_unknown(self, key: str, known: Iterable[str]) -> None:
        # A word that is a key in another place is not mistyped.
        is_elsewhere = any(key in keys for keys in KEYS.values())
        fix = "" if is_elsewhere else did_you_mean(key, known)
        message = f"unknown key '{key}' in {self.what}"
        place = self._keys[key]
        if fix:
            self.report("unknown-key", message, place, fix)
        else:
            self.report(
                "unknown-key", message, place, "remove it; porch does not use it", "warning"
            )

    def word(self, *keys: str) -> ScalarNode | None:
        """The first of these keys that is there, as a word that leads somewhere; null counts."""
        given = [key for key in keys if key in self]
        for key in given[1:]:
            message = f"'{given[0]}' and '{key}' of {self.what} mean the same thing"
            self.report("said-twice", message, self.place(key), f"keep '{given[0]}'")
        return self._word(given[0]) if given else None

    def _word(self, key: str) -> ScalarNode | None:
        node = self.child(key)
        if not isinstance(node, ScalarNode) or node.kind == "bool":
            self.text(key)
            return None
        if node.kind != "null" and not node.text.strip():
            self.report("missing-key", f"'{key}' of {self.what} is empty", node.place)
            return None
        return node

    def words(self, key: str) -> tuple[ScalarNode, ...]:
        """A list of names, each with its place."""
        self.list_of_text(key)
        node = self.child(key)
        items: tuple[Node, ...] = (
            node.items if isinstance(node, ListNode) else (node,) if node else ()
        )
        texts = [i for i in items if isinstance(i, ScalarNode) and i.kind in ("text", "number")]
        return tuple(
            limit_entries(texts, f"'{key}' of {self.what}", self.place(key), self.findings)
        )

    def path(self, key: str) -> str:
        text = self.text(key)
        word = ScalarNode(text, self.place(key))
        return text if not text or check_stays_inside(word, self.findings) else ""

    def seconds(self, key: str, default: float = 0.0) -> float:
        """Time that something is given; with none it could only fail."""
        node = self.child(key)
        if isinstance(node, ScalarNode) and node.kind == "number" and float(node.text) == 0:
            message = f"'{key}' of {self.what} must be more than 0 seconds"
            self.report("wrong-value", message, node.place, "leave it out for the usual time")
            return default
        return self.number(key, default)

    def form(self, key: str, kind: str) -> "StrictFields | None":
        inner = self.mapping(key)
        return StrictFields(inner.node, kind, inner.what, self.findings) if inner else None


def read_named_entries(
    node: MapNode, what: str, findings: Findings, most: int = MOST_ENTRIES
) -> tuple[Entry, ...]:
    wanted = [entry for entry in node.entries if not entry.key.text.startswith(("$", "_"))]
    kept = limit_entries(wanted, what, node.place, findings, most=most)
    return tuple(entry for entry in kept if check_name(entry.key, what, findings))


def limit_entries(
    items: Sequence[T], what: str, place: Place, findings: Findings, *, most: int = MOST_ENTRIES
) -> Sequence[T]:
    if len(items) > most:
        message = f"{what} has {len(items)} entries; the limit is {most}"
        findings.append(Finding("too-many", message, place, "split the protocol"))
    return items[:most]


def check_model_name(word: ScalarNode, what: str, findings: Findings) -> bool:
    """Models carry their version with dots."""
    return bool(_MODEL.fullmatch(word.text)) or check_name(word, what, findings)


def check_stays_inside(word: ScalarNode, findings: Findings) -> bool:
    text = word.text.strip()
    parts = text.replace("\\", "/").split("/")
    unsafe = "\0" in text or text.startswith("~") or _DRIVE.match(text)
    if text and parts[0] and ".." not in parts and ".git" not in parts and not unsafe:
        return True
    message = f"'{word.text[:80]}' is outside the project"
    fix = "write a path relative to the project, without '..'"
    findings.append(Finding("outside-path", message, word.place, fix))
    return False


def did_you_mean(word: str, known: Iterable[str]) -> str:
    return suggest_name(word[:100], known).rstrip()


def report_wrong_type(node: Node, what: str, wanted: str, findings: Findings) -> None:
    message = f"{what} must be {wanted}, not {describe_node(node)[:100]}"
    findings.append(Finding("wrong-type", message, node.place))
