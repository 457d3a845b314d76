"""A protocol in the DOT language, for Graphviz and everything that reads it."""

from collections.abc import Iterator

from porch.views.graph.edges import Arrow, Node, Picture
from porch.views.graph.nesting import frames, walked

_SHAPES = {
    "agent": 'shape=box style="rounded"',
    "check": "shape=hexagon",
    "panel": "shape=box peripheries=2",
    "human": "shape=invtrapezium",
    "git": "shape=note",
    "children": "shape=box3d",
    "join": "shape=cds",
    "end": "shape=doubleoctagon",
    "missing": 'shape=box style="dashed"',
    "event": 'shape=ellipse style="dashed"',
    "due": 'shape=ellipse style="dashed"',
}
_PLAIN = "shape=box"
_BREAK = "\\n"


def dot(picture: Picture) -> str:
    lines = [
        f"digraph {quoted(picture.title)} {{",
        # Without it Graphviz gives up on arrows between frames in large pictures.
        "  newrank=true;",
        '  node [fontname="monospace" fontsize=11];',
        '  edge [fontname="monospace" fontsize=10];',
        "  start [shape=point width=0.15];",
        *_nodes(picture),
        f"  start -> {picture.initial};",
        *(_arrow(arrow) for arrow in picture.arrows),
        "}",
    ]
    return "\n".join(lines) + "\n"


def quoted(*lines: str) -> str:
    """One label; a backslash, a quote and an entity stand for themselves."""
    safe = [line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return f'"{_BREAK.join(safe)}"'


def _nodes(picture: Picture) -> Iterator[str]:
    number = 0
    for depth, frame, node in walked(frames(picture)):
        space = "  " * (depth + 1)
        if frame is not None:
            yield f"{space}subgraph cluster_{number} {{ label={quoted(frame.title)};"
            number += 1
        else:
            yield space + (_node(node) if node else "}")


def _node(node: Node) -> str:
    detail = f"{node.kind}: {node.detail}" if node.detail else node.kind
    shape = _SHAPES.get(node.kind, _PLAIN)
    return f"{node.id} [label={quoted(node.name, detail)} {shape}];"


def _arrow(arrow: Arrow) -> str:
    marks = {
        "style=dashed": arrow.spent,
        "penwidth=2": arrow.main,
        "color=blue fontcolor=blue": arrow.back,
    }
    told = " ".join([f"label={quoted(*arrow.lines)}", *(m for m, on in marks.items() if on)])
    return f"  {arrow.source} -> {arrow.target} [{told}];"
