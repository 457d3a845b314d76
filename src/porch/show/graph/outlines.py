"""The outline of a box by what works in it, so that a picture can be read without its words."""

from collections.abc import Callable

from porch.show.graph.layout import NodeBox

Corner = tuple[float, float]


def draw_outline(kind: str, box: NodeBox) -> str:
    return _OUTLINES.get(kind, _draw_plain_box)(box)


def _draw_path(corners: list[Corner], kind: str = "") -> str:
    points = "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)
    return f'<path{kind} d="M{points}z"/>'


def _rectangle_corners(x: float, y: float, wide: float, high: float) -> list[Corner]:
    return [(x, y), (x + wide, y), (x + wide, y + high), (x, y + high)]


def _draw_plain_box(box: NodeBox) -> str:
    return _draw_path(_rectangle_corners(box.x, box.y, box.width, box.height))


def _draw_round_box(box: NodeBox, radius: float) -> str:
    x, y, right, bottom = box.x, box.y, box.x + box.width, box.y + box.height
    arc = f"a{radius:.1f} {radius:.1f} 0 0 1"
    return (
        f'<path d="M{x + radius:.1f} {y:.1f}H{right - radius:.1f}{arc} {radius:.1f} {radius:.1f}'
        f"V{bottom - radius:.1f}{arc} {-radius:.1f} {radius:.1f}"
        f"H{x + radius:.1f}{arc} {-radius:.1f} {-radius:.1f}"
        f'V{y + radius:.1f}{arc} {radius:.1f} {-radius:.1f}z"/>'
    )


def _draw_agent_box(box: NodeBox) -> str:
    return _draw_round_box(box, 10)


def _draw_check_box(box: NodeBox) -> str:
    """Six corners."""
    x, y, right, bottom = box.x, box.y, box.x + box.width, box.y + box.height
    middle, cut = (y + bottom) / 2, 10
    top = [(x + cut, y), (right - cut, y), (right, middle)]
    return _draw_path([*top, (right - cut, bottom), (x + cut, bottom), (x, middle)])


def _draw_panel_box(box: NodeBox) -> str:
    """A box with doubled sides."""
    inner = _rectangle_corners(box.x + 6, box.y, box.width - 12, box.height)
    return _draw_plain_box(box) + _draw_path(inner, ' class="inner"')


def _draw_human_box(box: NodeBox) -> str:
    """Wider above than below, as a place where something is put in by hand."""
    x, y, right, bottom = box.x, box.y, box.x + box.width, box.y + box.height
    return _draw_path([(x, y), (right, y), (right - 10, bottom), (x + 10, bottom)])


def _draw_git_box(box: NodeBox) -> str:
    """A sheet with a folded corner."""
    x, y, right, bottom = box.x, box.y, box.x + box.width, box.y + box.height
    sheet = _draw_path([(x, y), (right - 12, y), (right, y + 12), (right, bottom), (x, bottom)])
    return sheet + _draw_path([(right - 12, y), (right, y + 12), (right - 12, y + 12)])


def _draw_children_box(box: NodeBox) -> str:
    """Two sheets, one behind the other."""
    behind = _rectangle_corners(box.x + 5, box.y, box.width - 5, box.height - 5)
    front = _rectangle_corners(box.x, box.y + 5, box.width - 5, box.height - 5)
    return _draw_path(behind) + _draw_path(front)


def _draw_join_box(box: NodeBox) -> str:
    """Between two bars."""
    low = box.y + box.height - 4
    bars = [_rectangle_corners(box.x, y, box.width, 4) for y in (box.y, low)]
    return _draw_plain_box(box) + "".join(_draw_path(bar) for bar in bars)


def _draw_end_box(box: NodeBox) -> str:
    inside = NodeBox(box.id, box.x + 3, box.y + 3, box.width - 6, box.height - 6, ())
    return _draw_round_box(box, box.height / 2) + _draw_round_box(inside, inside.height / 2)


_OUTLINES: dict[str, Callable[[NodeBox], str]] = {
    "agent": _draw_agent_box,
    "check": _draw_check_box,
    "panel": _draw_panel_box,
    "human": _draw_human_box,
    "git": _draw_git_box,
    "children": _draw_children_box,
    "join": _draw_join_box,
    "end": _draw_end_box,
}
