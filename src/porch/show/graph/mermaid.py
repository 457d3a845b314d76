"""A protocol as a Mermaid flowchart, for Markdown pages that draw one."""

from collections.abc import Iterator

from porch.show.graph.frames import make_frames, walk_frames
from porch.show.graph.picture import Arrow, Node, ProtocolPicture
from porch.show.graph.walk_words import describe_arrow_walk, describe_node_walk
from porch.text.late_pattern import late_pattern

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
_PLAIN_SHAPE = ("[", "]")
_HARMLESS_CHARACTERS = frozenset(" _,+=:.()[]-/")
# At the beginning of a label, what Markdown would make a list of.
_LIST_MARK = late_pattern(r"^(\d+)\.|^-")


def render_mermaid(picture: ProtocolPicture) -> str:
    lines = [
        f"%% {quote_label(picture.title)}",
        "flowchart TD",
        *_render_nodes(picture),
        "  start(( )) --> " + picture.initial,
        *(_render_arrow(arrow) for arrow in picture.arrows),
        *_render_walk(picture),
    ]
    return "\n".join(lines) + "\n"


def quote_label(text: str) -> str:
    """Everything that Mermaid could take for its own becomes a number."""
    safe = "".join(c if c.isalnum() or c in _HARMLESS_CHARACTERS else f"#{ord(c)};" for c in text)
    return _LIST_MARK.sub(lambda found: f"{found[1] or ''}#{ord(found[0][-1])};", safe)


def _render_nodes(picture: ProtocolPicture) -> Iterator[str]:
    number = 0
    for depth, frame, node in walk_frames(make_frames(picture)):
        space = "  " * (depth + 1)
        if frame is not None:
            yield f'{space}subgraph g{number}["{quote_label(frame.title)}"]'
            number += 1
        else:
            yield space + (_render_node(node) if node else "end")


def _render_node(node: Node) -> str:
    before, after = _SHAPES.get(node.kind, _PLAIN_SHAPE)
    detail = f"{node.kind}: {node.detail}" if node.detail else node.kind
    told = [node.name, detail, *filter(None, [describe_node_walk(node)])]
    return f'{node.id}{before}"{"<br/>".join(map(quote_label, told))}"{after}'


def _render_arrow(arrow: Arrow) -> str:
    line = "-.->" if arrow.spent else "==>" if arrow.main else "-->"
    told = [*arrow.lines, *filter(None, [describe_arrow_walk(arrow)])]
    label = "<br/>".join(map(quote_label, told))
    return f'  {arrow.source} {line}|"{label}"| {arrow.target}'


def _render_walk(picture: ProtocolPicture) -> Iterator[str]:
    """Where a run stands is drawn thick, and where it never was is drawn pale."""
    if not picture.is_walked:
        return
    yield "  classDef here stroke-width:4px"
    yield "  classDef never opacity:0.5"
    here = [node.id for node in picture.nodes if node.is_here]
    never = [node.id for node in picture.nodes if node.state and not node.entered]
    for kind, ids in (("here", here), ("never", never)):
        if ids:
            yield f"  class {','.join(ids)} {kind}"
