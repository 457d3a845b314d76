"""The outline of a box by what works in it, so that a picture can be read without its words."""

from collections.abc import Callable

from porch.views.graph.layout import Box

Corner = tuple[float, float]


def outline(kind: str, box: Box) -> str:
    return _SHAPES.get(kind, _plain)(box)


def _path(corners: list[Corner], kind: str = "") -> str:
    points = "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)
    return f'<path{kind} d="M{points}z"/>'


def _rectangle(x: float, y: float, wide: float, high: float) -> list[Corner]:
    return [(x, y), (x + wide, y), (x + wide, y + high), (x, y + high)]


def _plain(box: Box) -> str:
    return _path(_rectangle(box.x, box.y, box.width, box.height))


def _round(box: Box, radius: float) -> str:
    x, y, right, bottom = box.x, box.y, box.x + box.width, box.y + box.height
    arc = f"a{radius:.1f} {radius:.1f} 0 0 1"
    return (
        f'<path d="M{x + radius:.1f} {y:.1f}H{right - radius:.1f}{arc} {radius:.1f} {radius:.1f}'
        f"V{bottom - radius:.1f}{arc} {-radius:.1f} {radius:.1f}"
        f"H{x + radius:.1f}{arc} {-radius:.1f} {-radius:.1f}"
        f'V{y + radius:.1f}{arc} {radius:.1f} {-radius:.1f}z"/>'
    )


def _agent(box: Box) -> str:
    return _round(box, 10)


def _check(box: Box) -> str:
    """Six corners."""
    x, y, right, bottom = box.x, box.y, box.x + box.width, box.y + box.height
    middle, cut = (y + bottom) / 2, 10
    top = [(x + cut, y), (right - cut, y), (right, middle)]
    return _path([*top, (right - cut, bottom), (x + cut, bottom), (x, middle)])


def _panel(box: Box) -> str:
    """A box with doubled sides."""
    inner = _rectangle(box.x + 6, box.y, box.width - 12, box.height)
    return _plain(box) + _path(inner, ' class="inner"')


def _human(box: Box) -> str:
    """Wider above than below, as a place where something is put in by hand."""
    x, y, right, bottom = box.x, box.y, box.x + box.width, box.y + box.height
    return _path([(x, y), (right, y), (right - 10, bottom), (x + 10, bottom)])


def _git(box: Box) -> str:
    """A sheet with a folded corner."""
    x, y, right, bottom = box.x, box.y, box.x + box.width, box.y + box.height
    sheet = _path([(x, y), (right - 12, y), (right, y + 12), (right, bottom), (x, bottom)])
    return sheet + _path([(right - 12, y), (right, y + 12), (right - 12, y + 12)])


def _children(box: Box) -> str:
    """Two sheets, one behind the other."""
    behind = _rectangle(box.x + 5, box.y, box.width - 5, box.height - 5)
    front = _rectangle(box.x, box.y + 5, box.width - 5, box.height - 5)
    return _path(behind) + _path(front)


def _join(box: Box) -> str:
    """Between two bars."""
    low = box.y + box.height - 4
    bars = [_rectangle(box.x, y, box.width, 4) for y in (box.y, low)]
    return _plain(box) + "".join(_path(bar) for bar in bars)


def _end(box: Box) -> str:
    inside = Box(box.id, box.x + 3, box.y + 3, box.width - 6, box.height - 6, ())
    return _round(box, box.height / 2) + _round(inside, inside.height / 2)


_SHAPES: dict[str, Callable[[Box], str]] = {
    "agent": _agent,
    "check": _check,
    "panel": _panel,
    "human": _human,
    "git": _git,
    "children": _children,
    "join": _join,
    "end": _end,
}
