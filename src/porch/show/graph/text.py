"""A protocol for a terminal: every state in the order of the picture, and where its exits lead."""

from collections.abc import Iterator, Mapping

from porch.show.graph.picture import STATE_KINDS, Arrow, Node, NodeGroup, ProtocolPicture
from porch.show.graph.text_width import GLUE, wrap_cells
from porch.show.graph.walk_words import describe_arrow_walk, describe_node_walk

WIDTH = 80


def render_graph_text(picture: ProtocolPicture) -> str:
    order = _order_nodes(picture)
    number = {node.id: place for place, node in enumerate(order, 1)}
    lines = [*wrap_cells(picture.title, WIDTH), *wrap_cells(picture.description, WIDTH), ""]
    known = [node for node in order if node.kind in STATE_KINDS]
    lines += _wrap_indented(f"{len(known)} states; the first way through:", "", 0)
    lines += _wrap_indented(_format_main_path(picture, number), "", 2)
    heads = _node_headings(picture)
    last = None
    for node in order:
        head = heads.get(node.id, "")
        if head != last:
            lines += ["", *wrap_cells(head, WIDTH)]
        last = head
        lines += _render_state(picture, node, number)
    return "\n".join(lines) + "\n"


def _order_nodes(picture: ProtocolPicture) -> list[Node]:
    """By rank; the members of a group stay together, at the place of the first of them."""
    rank = {node.id: node.rank for node in picture.nodes}
    first = {
        member: (min(rank[each] for each in group.members), place)
        for place, group in enumerate(picture.groups)
        for member in group.members
    }
    alone = len(picture.groups)
    return sorted(picture.nodes, key=lambda n: (first.get(n.id, (n.rank, alone)), n.rank))


def _node_headings(picture: ProtocolPicture) -> dict[str, str]:
    loop_of = {member: loop.title for loop in picture.loops for member in loop.members}
    return {
        member: _group_heading(group, loop_of.get(member, ""))
        for group in picture.groups
        for member in group.members
    }


def _group_heading(group: NodeGroup, loop: str) -> str:
    return f"{group.title} ({loop})" if loop else group.title


def _format_main_path(picture: ProtocolPicture, number: Mapping[str, int]) -> str:
    main = {arrow.source: arrow.target for arrow in picture.arrows if arrow.main}
    here, way = picture.initial, [str(number[picture.initial])]
    while here in main:
        here = main[here]
        way.append(str(number[here]))
    return " > ".join(way)


def _render_state(picture: ProtocolPicture, node: Node, number: Mapping[str, int]) -> Iterator[str]:
    mark = "*" if node.is_here else ">" if node.id == picture.initial else " "
    detail = f"{node.kind}: {node.detail}" if node.detail else node.kind
    head, walked = f"{mark}{number[node.id]:>3} ", describe_node_walk(node)
    told = f"{node.name} ({detail}){f' [{walked}]' if walked else ''}"
    yield from _wrap_indented(told, head, len(head))
    names = {each.id: each.name for each in picture.nodes}
    for arrow in picture.arrows:
        if arrow.source == node.id:
            yield from _wrap_indented(_describe_exit(arrow, names, number), " " * 7, 9)


def _describe_exit(arrow: Arrow, names: Mapping[str, str], number: Mapping[str, int]) -> str:
    sign = "..>" if arrow.spent else "->"
    back = " (itself)" if arrow.source == arrow.target else " (back)" if arrow.back else ""
    target = f"{sign} {number[arrow.target]} {names[arrow.target]}{back}"
    walked = describe_arrow_walk(arrow)
    told = f"{'; '.join(arrow.lines)} {target.replace(' ', GLUE)}"
    return f"{told} [{walked}]" if walked else told


def _wrap_indented(text: str, head: str, indent: int) -> Iterator[str]:
    """Lines that fit; those behind the first are indented."""
    space = " " * indent
    for place, line in enumerate(wrap_cells(text, WIDTH - max(indent, len(head)))):
        yield (space if place else head or space) + line
