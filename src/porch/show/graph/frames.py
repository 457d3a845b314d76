"""Which nodes stand inside which frame, for the formats that draw frames themselves."""

from collections.abc import Iterator

from msgspec import Struct

from porch.show.graph.picture import Node, ProtocolPicture


class Frame(Struct, frozen=True):
    """Nodes under a title; no title means no frame. Frames within are groups of a loop."""

    title: str
    nodes: tuple[Node, ...]
    frames: tuple["Frame", ...] = ()


def make_frames(picture: ProtocolPicture) -> Frame:
    """Everything in one frame without a title; a group that leaves its loop has no frame."""
    loop_of = {member: loop.title for loop in picture.loops for member in loop.members}
    outside = _make_frame(picture, "", [n for n in picture.nodes if n.id not in loop_of])
    loops = tuple(
        _make_frame(picture, loop.title, [n for n in picture.nodes if n.id in loop.members])
        for loop in picture.loops
    )
    return Frame("", outside.nodes, (*outside.frames, *loops))


def _make_frame(picture: ProtocolPicture, title: str, nodes: list[Node]) -> Frame:
    here = {node.id: node for node in nodes}
    groups = [g for g in picture.groups if all(member in here for member in g.members)]
    inside = {member for group in groups for member in group.members}
    return Frame(
        title,
        tuple(node for node in nodes if node.id not in inside),
        tuple(Frame(g.title, tuple(here[member] for member in g.members)) for g in groups),
    )


def walk_frames(frame: Frame, depth: int = 0) -> Iterator[tuple[int, Frame | None, Node | None]]:
    """In the order of writing: a frame opens, its nodes and frames follow, it closes (None)."""
    if frame.title:
        yield depth, frame, None
    inner = depth + 1 if frame.title else depth
    for node in frame.nodes:
        yield inner, None, node
    for each in frame.frames:
        yield from walk_frames(each, inner)
    if frame.title:
        yield depth, None, None
