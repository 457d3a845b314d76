"""YAML without its surprises: events become nodes, and nothing is guessed from a plain scalar.

Events rather than composed nodes, because composing forgets anchors and tags, and recurses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field

from porch.errors import Place
from porch.text.late_pattern import late_pattern
from porch.text.nodes import (
    MAX_NUMBER,
    NUMBER,
    SURROGATE,
    Entry,
    ListNode,
    MapNode,
    Node,
    ReadingStopped,
    ScalarKind,
    ScalarNode,
    SourceText,
    require_readable_text,
)

if TYPE_CHECKING:
    import yaml

# Said by what is in it: a class of all that is not takes milliseconds to compile.
_UNPRINTABLE = late_pattern(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]"
)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})
_FOREIGN_TAG = "write the value without a tag"


def read_yaml(text: str, file: str) -> Node:
    source = require_readable_text(text, file)
    try:
        node = _parse_document(source)
    except ReadingStopped:
        node = None
    if node is None or source.findings:
        raise source.complaint()
    return node


def _parse_document(source: SourceText) -> Node | None:
    import yaml

    for match in _UNPRINTABLE.finditer(source.text):
        message = f"the character U+{ord(match[0]):04X} is not allowed in YAML"
        source.report("not-text", message, source.place(match.start()), "remove it")
    if source.findings:
        return None
    builder = _YamlBuilder(source)
    try:
        for event in yaml.parse(source.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            builder.take(event)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        context = f" {problem.context}" if problem.context else ""
        source.stop("yaml-syntax", f"{problem.problem}{context}", builder.place(mark))
    except (ValueError, OverflowError) as problem:
        # The pure Python loader lets impossible \U escapes through to chr().
        source.stop("yaml-syntax", f"invalid character: {problem}", builder.last)
    if builder.root is None and not source.findings:
        fix = "write the definition into it"
        source.stop("empty-file", "the file has only comments", Place(source.file), fix)
    return builder.root


class _OpenCollection(Struct):
    """A list or mapping whose end has not come yet."""

    kind: Literal["list", "mapping"]
    place: Place
    keys: list[ScalarNode] = field(default_factory=list)
    values: list[Node] = field(default_factory=list)
    first: dict[str, Place] = field(default_factory=dict)

    def expects_key(self) -> bool:
        return self.kind == "mapping" and len(self.keys) == len(self.values)

    def closed(self) -> Node:
        if self.kind == "list":
            return ListNode(tuple(self.values), self.place)
        entries = zip(self.keys, self.values, strict=True)
        return MapNode(tuple(Entry(key, value) for key, value in entries), self.place)


class _YamlBuilder:
    def __init__(self, source: SourceText):
        self.source = source
        self.root: Node | None = None
        self.last = Place(source.file, 1, 1)
        self._open: list[_OpenCollection] = []
        self._documents = 0

    def place(self, mark: Any) -> Place:
        return Place(self.source.file, mark.line + 1, mark.column + 1) if mark else self.last

    def take(self, event: yaml.Event) -> None:
        self.last = self.place(event.start_mark)
        step = _EVENT_ACTIONS.get(type(event).__name__)
        if step is not None:
            step(self, event)

    def document(self, event: yaml.Event) -> None:
        self._documents += 1
        if self._documents > 1:
            fix = "keep one document per file"
            self.source.stop("yaml-documents", "a second document starts here", self.last, fix)

    def alias(self, event: Any) -> None:
        name = f"*{event.anchor}"
        message = f"the alias {name} is not supported, because a finding must point at one line"
        self.source.report("yaml-alias", message, self.last, "write the value here")
        self.add(ScalarNode(name, self.last))

    def scalar(self, event: Any) -> None:
        self.refuse_extras(event)
        if SURROGATE.search(event.value):
            message = "invalid character in this text (a lone surrogate)"
            self.source.report("not-text", message, self.last, "write the character itself")
        is_plain = event.style in (None, "")
        is_key = self.expects_key()
        if is_key and is_plain and event.value == "<<":
            fix = "write the merged keys here"
            self.source.report("yaml-merge", "merge keys are not supported", self.last, fix)
        kind = _scalar_kind(event.value) if is_plain and not is_key else "text"
        text = event.value.lower() if kind == "bool" else event.value
        self.add(ScalarNode(text, self.last, kind))

    def expects_key(self) -> bool:
        return bool(self._open) and self._open[-1].expects_key()

    def open_list(self, event: Any) -> None:
        self.open("list", event)

    def open_mapping(self, event: Any) -> None:
        self.open("mapping", event)

    def open(self, kind: Literal["list", "mapping"], event: Any) -> None:
        self.refuse_extras(event)
        self.source.check_depth(len(self._open) + 1, self.last)
        self._open.append(_OpenCollection(kind, self.last))

    def close(self, event: yaml.Event) -> None:
        self.add(self._open.pop().closed())

    def add(self, node: Node) -> None:
        if not self._open:
            self.root = node
        elif self.expects_key():
            self.add_key(node, self._open[-1])
        else:
            self._open[-1].values.append(node)

    def add_key(self, node: Node, opened: _OpenCollection) -> None:
        if isinstance(node, ScalarNode):
            self.source.check_duplicate(node, opened.first)
            opened.keys.append(node)
        else:
            fix = "write the key as plain text"
            self.source.report("yaml-key", "a key must be plain text", node.place, fix)
            opened.keys.append(ScalarNode("", node.place))

    def refuse_extras(self, event: Any) -> None:
        if event.anchor:
            why = "because a finding must point at one line"
            message = f"the anchor &{event.anchor} is not supported, {why}"
            fix = "remove it, and write the value where it is needed"
            self.source.report("yaml-alias", message, self.last, fix)
        if event.tag:
            self.source.report(
                "yaml-tag", f"the tag {event.tag} is not supported", self.last, _FOREIGN_TAG
            )


_EVENT_ACTIONS = {
    "DocumentStartEvent": _YamlBuilder.document,
    "AliasEvent": _YamlBuilder.alias,
    "ScalarEvent": _YamlBuilder.scalar,
    "SequenceStartEvent": _YamlBuilder.open_list,
    "MappingStartEvent": _YamlBuilder.open_mapping,
    "SequenceEndEvent": _YamlBuilder.close,
    "MappingEndEvent": _YamlBuilder.close,
}


def _scalar_kind(text: str) -> ScalarKind:
    if text in _NULLS:
        return "null"
    if text in _BOOLS:
        return "bool"
    return "number" if len(text) <= MAX_NUMBER and NUMBER.fullmatch(text) else "text"
