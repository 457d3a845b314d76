"""A protocol in the DOT language, for Graphviz and everything that reads it."""

from collections.abc import Iterator

from porch.show.graph.frames import make_frames, walk_frames
from porch.show.graph.picture import Arrow, Node, ProtocolPicture
from porch.show.graph.walk_words import describe_arrow_walk, describe_node_walk

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
_PLAIN_SHAPE = "shape=box"
_LINE_BREAK = "\\n"


def render_dot(picture: ProtocolPicture) -> str:
    lines = [
        f"digraph {quote_label(picture.title)} {{",
        # Without it Graphviz gives up on arrows between frames in large pictures.
        "  newrank=true;",
        '  node [fontname="monospace" fontsize=11];',
        '  edge [fontname="monospace" fontsize=10];',
        "  start [shape=point width=0.15];",
        *_render_nodes(picture),
        f"  start -> {picture.initial};",
        *(_render_arrow(arrow) for arrow in picture.arrows),
        "}",
    ]
    return "\n".join(lines) + "\n"


def quote_label(*lines: str) -> str:
    """One label; a backslash, a quote and an entity stand for themselves."""
    safe = [line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return f'"{_LINE_BREAK.join(safe)}"'


def _render_nodes(picture: ProtocolPicture) -> Iterator[str]:
    number = 0
    for depth, frame, node in walk_frames(make_frames(picture)):
        space = "  " * (depth + 1)
        if frame is not None:
            yield f"{space}subgraph cluster_{number} {{ label={quote_label(frame.title)};"
            number += 1
        else:
            yield space + (_render_node(node) if node else "}")


def _render_node(node: Node) -> str:
    detail = f"{node.kind}: {node.detail}" if node.detail else node.kind
    shape = _SHAPES.get(node.kind, _PLAIN_SHAPE)
    told = [node.name, detail, *filter(None, [describe_node_walk(node)])]
    mark = " penwidth=4" if node.is_here else ""
    return f"{node.id} [label={quote_label(*told)} {shape}{mark}];"


def _render_arrow(arrow: Arrow) -> str:
    marks = {
        "style=dashed": arrow.spent,
        "penwidth=2": arrow.main,
        "color=blue fontcolor=blue": arrow.back,
    }
    lines = [*arrow.lines, *filter(None, [describe_arrow_walk(arrow)])]
    told = " ".join([f"label={quote_label(*lines)}", *(m for m, on in marks.items() if on)])
    return f"  {arrow.source} -> {arrow.target} [{told}];"
