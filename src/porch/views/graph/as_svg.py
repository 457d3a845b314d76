"""A protocol as one SVG file that needs nothing else: no script, no font, no reference outside."""

from collections.abc import Iterator
from html import escape

from porch.views.graph import boxes
from porch.views.graph.cells import width, wrapped
from porch.views.graph.edges import Arrow, Node, Picture
from porch.views.graph.layout import MARGIN, Band, Box, Drawing, Label, Route, drawing
from porch.views.graph.shapes import outline

_LEGEND = (
    "solid: an exit   dashed: its budget is spent   blue: goes back",
    "-name: charges a budget   [when ...]: only then",
)
_HEAD = 58.0
_FOOT = 44.0
_TURNED = 18.0
_TITLE = 60

_XML = "http://www.w3.org/2000/svg"
_ROLE = 'role="graphics-document"'
_HEADS = (
    '<defs><marker id="porch-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
    'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z"/>'
    "</marker></defs>"
)
_STYLE = """
svg{color-scheme:light dark;--page:#fff;--ink:#1f2328;--soft:#59636e;--line:#59636e;--band:#f6f8fa;
--edge:#d1d9e0;--back:#0969da;--agent:#ddf4ff;--check:#dafbe1;--panel:#fbefff;--human:#fff8c5;
--git:#fff1e5;--children:#e6f6f4;--join:#eaeef2;--end:#eaeef2;--other:#fff}
@media(prefers-color-scheme:dark){svg{--page:#0d1117;--ink:#e6edf3;--soft:#9198a1;--line:#9198a1;
--band:#151b23;--edge:#3d444d;--back:#58a6ff;--agent:#10243e;--check:#12261e;--panel:#271a3a;
--human:#2f2708;--git:#33200f;--children:#0c2a2b;--join:#212830;--end:#212830;--other:#0d1117}}
text{font:12px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:var(--ink);
white-space:pre}
.page{fill:var(--page)}
.title{font-size:16px;font-weight:bold}
.name{font-weight:bold}
.detail,.note,.label text,.legend,.about{font-size:11px}
.detail,.legend,.about,.band text{fill:var(--soft)}
.node path{stroke:var(--ink);stroke-width:1.2;fill:var(--other)}
.node .inner{fill:none}
.agent path{fill:var(--agent)}.check path{fill:var(--check)}.panel path{fill:var(--panel)}
.human path{fill:var(--human)}.git path{fill:var(--git)}.children path{fill:var(--children)}
.join path{fill:var(--join)}.end path{fill:var(--end)}
.missing path,.due path,.event path{stroke-dasharray:2 3}
.arrow>path{fill:none;stroke:var(--line);stroke-width:1.3;marker-end:url(#porch-head)}
.arrow.main>path{stroke:var(--ink);stroke-width:2}
.arrow.back>path{stroke:var(--back)}
.arrow.back text{fill:var(--back)}
.arrow.spent>path{stroke-dasharray:6 4}
.arrow:hover>path{stroke-width:3}
.label rect{fill:var(--page)}
.start{fill:var(--ink)}
.band rect{fill:var(--band);stroke:var(--edge)}
#porch-head path{fill:var(--line);fill:context-stroke}
""".strip()


def svg(picture: Picture) -> str:
    drawn = drawing(picture)
    left = _left(drawn)
    wide = max(left + drawn.width, _written(picture) + 2 * MARGIN)
    high = _HEAD + drawn.height + _FOOT
    size = f'width="{_n(wide)}" height="{_n(high)}"'
    parts = [
        f'<svg xmlns="{_XML}" viewBox="0 0 {_n(wide)} {_n(high)}" {size} {_ROLE}>',
        f"<title>{_e(picture.title)}</title>",
        f"<desc>{_e(picture.description)}</desc>" if picture.description else "",
        f"<style>{_STYLE}</style>",
        _HEADS,
        f'<rect class="page" {size}/>',
        *_heading(picture, wide),
        f'<g transform="translate({_n(left)} {_n(_HEAD)})">',
        *_bands(drawn, left),
        *(_arrow(picture, route, False) for route in drawn.routes),
        *(_arrow(picture, route, True) for route in drawn.loops),
        *(_node(picture, node, drawn.boxes[node.id]) for node in picture.nodes),
        "</g>",
        *_legend(high),
        "</svg>",
    ]
    return "\n".join(filter(None, parts)) + "\n"


def _written(picture: Picture) -> float:
    legend = max(width(line) for line in _LEGEND) * boxes.LABEL_CELL
    return max(legend, width(_fitting(picture.title, _TITLE)) * 10.0)


def _heading(picture: Picture, wide: float) -> Iterator[str]:
    title, about = _fitting(picture.title, _TITLE), picture.description
    yield f'<text class="title" x="{_n(MARGIN)}" y="34">{_e(title)}</text>'
    if about:
        told = _fitting(about, int((wide - 2 * MARGIN) / boxes.LABEL_CELL))
        yield f'<text class="about" x="{_n(MARGIN)}" y="54">{_e(told)}</text>'


def _fitting(text: str, room: int) -> str:
    """The whole of it is in the title of its element."""
    return text if width(text) <= room else wrapped(text, max(room - 3, 2))[0] + "..."


def _legend(high: float) -> Iterator[str]:
    for number, line in enumerate(_LEGEND):
        y = high - _FOOT + 16 + number * 15
        yield f'<text class="legend" x="{_n(MARGIN)}" y="{_n(y)}">{_e(line)}</text>'


def _left(drawn: Drawing) -> float:
    """Room for the names of the bands, turned, at the left of everything else."""
    depths = {band.depth for band in drawn.bands}
    return len(depths) * _TURNED + (MARGIN if depths else 0.0)


def _bands(drawn: Drawing, left: float) -> Iterator[str]:
    depths = sorted({band.depth for band in drawn.bands})
    for band in drawn.bands:
        yield _band(band, drawn, depths.index(band.depth) * _TURNED - left + MARGIN / 2)


def _band(band: Band, drawn: Drawing, x: float) -> str:
    top, high = band.top - 7, band.bottom - band.top + 14
    told = _fitting(band.title, int(high / 7.4))
    y = band.top + (band.bottom - band.top) / 2
    return (
        f'<g class="band" role="img"><title>{_e(band.title)}</title>'
        f'<rect x="{_n(x)}" y="{_n(top)}" width="{_n(drawn.width - x - MARGIN / 2)}" '
        f'height="{_n(high)}" rx="6"/>'
        f'<text text-anchor="middle" transform="translate({_n(x + 13)} {_n(y)}) rotate(-90)">'
        f"{_e(told)}</text></g>"
    )


def _arrow(picture: Picture, route: Route, is_loop: bool) -> str:
    arrow = picture.arrows[route.arrow]
    marks = {"back": arrow.back, "spent": arrow.spent, "main": arrow.main}
    kinds = " ".join(["arrow", *(name for name, on in marks.items() if on)])
    path = _around(route) if is_loop else _down(route)
    return (
        f'<g class="{kinds}" role="img"><title>{_e(_told(picture, arrow))}</title>'
        f'<path d="{path}"/>{_label(route.label)}</g>'
    )


def _told(picture: Picture, arrow: Arrow) -> str:
    names = {node.id: node.name for node in picture.nodes}
    return f"{names[arrow.source]} to {names[arrow.target]}: {'; '.join(arrow.lines)}"


def _down(route: Route) -> str:
    """Straight through the rows, curved between them; a curve never leaves its gap."""
    (x, y), *rest = route.points
    path = [f"M{_n(x)} {_n(y)}"]
    for number, (nx, ny) in enumerate(rest):
        if number % 2 == 0 or nx == x:
            path.append(f"L{_n(nx)} {_n(ny)}")
        else:
            half = (y + ny) / 2
            path.append(f"C{_n(x)} {_n(half)} {_n(nx)} {_n(half)} {_n(nx)} {_n(ny)}")
        x, y = nx, ny
    return "".join(path)


def _around(route: Route) -> str:
    (x, y), *bends = route.points
    return f"M{_n(x)} {_n(y)}C" + " ".join(f"{_n(bx)} {_n(by)}" for bx, by in bends)


def _label(label: Label) -> str:
    if not label.lines:
        return ""
    x, y = label.x + boxes.LABEL_PADDING, label.y + boxes.LABEL_LINE - 1
    rows = [
        f'<text x="{_n(x)}" y="{_n(y + row * boxes.LABEL_LINE)}">{_e(line)}</text>'
        for row, line in enumerate(label.lines)
    ]
    return (
        f'<g class="label"><rect x="{_n(label.x)}" y="{_n(label.y)}" width="{_n(label.width)}" '
        f'height="{_n(label.height)}" rx="4"/>{"".join(rows)}</g>'
    )


def _node(picture: Picture, node: Node, box: Box) -> str:
    told = f"{node.name}, {node.kind}{': ' if node.detail else ''}{node.detail}"
    first = node.id == picture.initial
    return (
        f'<g class="node {node.kind}" role="img">'
        f"<title>{_e(told)}{', the first' if first else ''}</title>"
        f"{_start(box) if first else ''}{outline(node.kind, box)}{''.join(_text(box))}</g>"
    )


def _start(box: Box) -> str:
    x, y = box.x - 28, box.y + box.height / 2
    return (
        f'<circle class="start" cx="{_n(x)}" cy="{_n(y)}" r="6"/>'
        f'<g class="arrow main"><path d="M{_n(x)} {_n(y)}L{_n(box.x)} {_n(y)}"/></g>'
    )


def _text(box: Box) -> Iterator[str]:
    x, y = box.x + box.width / 2, box.y + boxes.PADDING / 2
    for line in box.lines:
        y += boxes.LINE[line.style]
        yield (
            f'<text class="{line.style}" text-anchor="middle" x="{_n(x)}" y="{_n(y - 4)}">'
            f"{_e(line.text)}</text>"
        )


def _n(number: float) -> str:
    """A tenth of a pixel is enough, and reads the same on every machine."""
    return f"{number:.1f}".removesuffix(".0")


def _e(text: str) -> str:
    # Two code points are text for Python and for nobody who reads XML.
    return escape(text.replace("\ufffe", "").replace("\uffff", ""))
