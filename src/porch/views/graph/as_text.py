"""A protocol for a terminal: every state in the order of the picture, and where its exits lead."""

from collections.abc import Iterator, Mapping

from porch.views.graph.cells import GLUE, wrapped
from porch.views.graph.edges import STATES, Arrow, Group, Node, Picture

WIDTH = 80


def text(picture: Picture) -> str:
    order = _order(picture)
    number = {node.id: place for place, node in enumerate(order, 1)}
    lines = [*wrapped(picture.title, WIDTH), *wrapped(picture.description, WIDTH), ""]
    known = [node for node in order if node.kind in STATES]
    lines += _told(f"{len(known)} states; the first way through:", "", 0)
    lines += _told(_way(picture, number), "", 2)
    heads = _heads(picture)
    last = None
    for node in order:
        head = heads.get(node.id, "")
        if head != last:
            lines += ["", *wrapped(head, WIDTH)]
        last = head
        lines += _state(picture, node, number)
    return "\n".join(lines) + "\n"


def _order(picture: Picture) -> list[Node]:
    """By rank; the members of a group stay together, at the place of the first of them."""
    rank = {node.id: node.rank for node in picture.nodes}
    first = {
        member: (min(rank[each] for each in group.members), place)
        for place, group in enumerate(picture.groups)
        for member in group.members
    }
    alone = len(picture.groups)
    return sorted(picture.nodes, key=lambda n: (first.get(n.id, (n.rank, alone)), n.rank))


def _heads(picture: Picture) -> dict[str, str]:
    loop_of = {member: loop.title for loop in picture.loops for member in loop.members}
    return {
        member: _head(group, loop_of.get(member, ""))
        for group in picture.groups
        for member in group.members
    }


def _head(group: Group, loop: str) -> str:
    return f"{group.title} ({loop})" if loop else group.title


def _way(picture: Picture, number: Mapping[str, int]) -> str:
    main = {arrow.source: arrow.target for arrow in picture.arrows if arrow.main}
    here, way = picture.initial, [str(number[picture.initial])]
    while here in main:
        here = main[here]
        way.append(str(number[here]))
    return " > ".join(way)


def _state(picture: Picture, node: Node, number: Mapping[str, int]) -> Iterator[str]:
    mark = ">" if node.id == picture.initial else " "
    detail = f"{node.kind}: {node.detail}" if node.detail else node.kind
    head = f"{mark}{number[node.id]:>3} "
    yield from _told(f"{node.name} ({detail})", head, len(head))
    names = {each.id: each.name for each in picture.nodes}
    for arrow in picture.arrows:
        if arrow.source == node.id:
            yield from _told(_exit(arrow, names, number), " " * 7, 9)


def _exit(arrow: Arrow, names: Mapping[str, str], number: Mapping[str, int]) -> str:
    sign = "..>" if arrow.spent else "->"
    back = " (itself)" if arrow.source == arrow.target else " (back)" if arrow.back else ""
    target = f"{sign} {number[arrow.target]} {names[arrow.target]}{back}"
    return f"{'; '.join(arrow.lines)} {target.replace(' ', GLUE)}"


def _told(text: str, head: str, indent: int) -> Iterator[str]:
    """Lines that fit; those behind the first are indented."""
    space = " " * indent
    for place, line in enumerate(wrapped(text, WIDTH - max(indent, len(head)))):
        yield (space if place else head or space) + line
