"""A protocol as a Mermaid flowchart, for Markdown pages that draw one."""

import re
from collections.abc import Iterator

from porch.views.graph.edges import Arrow, Node, Picture
from porch.views.graph.nesting import frames, walked

# What stands around the quoted label, by kind.
_SHAPES = {
    "agent": ("(", ")"),
    "check": ("{{", "}}"),
    "panel": ("[[", "]]"),
    "human": ("[/", "\\]"),
    "git": ("[(", ")]"),
    "children": ("[\\", "/]"),
    "join": (">", "]"),
    "end": ("([", "])"),
    "event": ("((", "))"),
}
_PLAIN = ("[", "]")
_HARMLESS = frozenset(" _,+=:.()[]-/")
# At the beginning of a label, what Markdown would make a list of.
_LISTED = re.compile(r"^(\d+)\.|^-")


def mermaid(picture: Picture) -> str:
    lines = [
        f"%% {quoted(picture.title)}",
        "flowchart TD",
        *_nodes(picture),
        "  start(( )) --> " + picture.initial,
        *(_arrow(arrow) for arrow in picture.arrows),
    ]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """Everything that Mermaid could take for its own becomes a number."""
    safe = "".join(c if c.isalnum() or c in _HARMLESS else f"#{ord(c)};" for c in text)
    return _LISTED.sub(lambda found: f"{found[1] or ''}#{ord(found[0][-1])};", safe)


def _nodes(picture: Picture) -> Iterator[str]:
    number = 0
    for depth, frame, node in walked(frames(picture)):
        space = "  " * (depth + 1)
        if frame is not None:
            yield f'{space}subgraph g{number}["{quoted(frame.title)}"]'
            number += 1
        else:
            yield space + (_node(node) if node else "end")


def _node(node: Node) -> str:
    before, after = _SHAPES.get(node.kind, _PLAIN)
    detail = f"{node.kind}: {node.detail}" if node.detail else node.kind
    return f'{node.id}{before}"{quoted(node.name)}<br/>{quoted(detail)}"{after}'


def _arrow(arrow: Arrow) -> str:
    line = "-.->" if arrow.spent else "==>" if arrow.main else "-->"
    label = "<br/>".join(quoted(told) for told in arrow.lines)
    return f'  {arrow.source} {line}|"{label}"| {arrow.target}'
