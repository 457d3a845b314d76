"""A protocol as one SVG file that needs nothing else: no script, no font, no reference outside."""

from collections.abc import Iterator
from html import escape

from porch.show.board import text_width
from porch.show.graph import boxes
from porch.show.graph.layout import (
    MARGIN,
    ArrowLabel,
    ArrowRoute,
    Drawing,
    GroupBand,
    NodeBox,
    lay_out_picture,
)
from porch.show.graph.outlines import draw_outline
from porch.show.graph.picture import Arrow, Node, ProtocolPicture
from porch.show.graph.text_width import wrap_cells
from porch.show.graph.walk_words import describe_arrow_walk, describe_node_walk

_LEGEND = (
    "solid: an exit   dashed: its budget is spent   blue: goes back",
    "-name: charges a budget   [when ...]: only then",
)
_WALKED = "thick frame: the run is here   green: a way that it took   pale: not yet"
_HEAD_HEIGHT = 58.0
_FOOT_HEIGHT = 44.0
_TURNED_WIDTH = 18.0
_TITLE_CELLS = 60

_SVG_NAMESPACE = "http://www.w3.org/2000/svg"
_ROLE = 'role="graphics-document"'
_ARROW_HEADS = (
    '<defs><marker id="porch-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
    'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z"/>'
    "</marker></defs>"
)
_LIGHT = """svg{color-scheme:light;--page:#fff;--ink:#1f2328;--soft:#59636e;--line:#59636e;
--band:#f6f8fa;--edge:#d1d9e0;--back:#0969da;--taken:#1d6e37;--agent:#ddf4ff;--check:#dafbe1;
--panel:#fbefff;--human:#fff8c5;--git:#fff1e5;--children:#e6f6f4;--join:#eaeef2;--end:#eaeef2;
--other:#fff}"""
_DARK = """svg{color-scheme:dark;--page:#19191b;--ink:#e6edf3;--soft:#a6a6ad;--line:#9198a1;
--band:#1f1f22;--edge:#3d444d;--back:#58a6ff;--taken:#7fd396;--agent:#10243e;--check:#12261e;
--panel:#271a3a;--human:#2f2708;--git:#33200f;--children:#0c2a2b;--join:#212830;--end:#212830;
--other:#19191b}"""
_BOTH = f"{_LIGHT}\n@media(prefers-color-scheme:dark){{{_DARK}}}"
# What a reader chose; without a choice the picture is as the rest of their screen.
_SCHEMES = {"light": _LIGHT, "dark": _DARK}
_STYLE = """
text{font:12px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:var(--ink);
white-space:pre}
.page{fill:var(--page)}
.title{font-size:16px;font-weight:bold}
.name{font-weight:bold}
.detail,.note,.walk,.label text,.legend,.about{font-size:11px}
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
.arrow.taken>path{stroke:var(--taken);stroke-width:2.6}
.arrow.taken text,.walk{fill:var(--taken);font-weight:bold}
.node.here path{stroke:var(--back);stroke-width:4}
.node.here .inner{stroke-width:1.2}
.node.never,.arrow.never{opacity:.62}
.label rect{fill:var(--page)}
.start{fill:var(--ink)}
.band rect{fill:var(--band);stroke:var(--edge)}
#porch-head path{fill:var(--line);fill:context-stroke}
""".strip()


def render_svg(picture: ProtocolPicture, scheme: str = "") -> str:
    """`scheme` is light or dark where somebody chose; else the picture follows the screen."""
    drawn = lay_out_picture(picture)
    left = _measure_band_margin(drawn)
    wide = max(left + drawn.width, _measure_heading_width(picture) + 2 * MARGIN)
    high = _HEAD_HEIGHT + drawn.height + _measure_foot(picture)
    size = f'width="{_n(wide)}" height="{_n(high)}"'
    parts = [
        f'<svg xmlns="{_SVG_NAMESPACE}" viewBox="0 0 {_n(wide)} {_n(high)}" {size} {_ROLE}>',
        f"<title>{_e(picture.title)}</title>",
        f"<desc>{_e(picture.description)}</desc>" if picture.description else "",
        f"<style>{_SCHEMES.get(scheme, _BOTH)}\n{_STYLE}</style>",
        _ARROW_HEADS,
        f'<rect class="page" {size}/>',
        *_render_heading(picture, wide),
        f'<g transform="translate({_n(left)} {_n(_HEAD_HEIGHT)})">',
        *_render_bands(drawn, left),
        *(_render_arrow(picture, route, False) for route in drawn.routes),
        *(_render_arrow(picture, route, True) for route in drawn.loops),
        *(_render_node(picture, node, drawn.boxes[node.id]) for node in picture.nodes),
        "</g>",
        *_render_legend(picture, high),
        "</svg>",
    ]
    return "\n".join(filter(None, parts)) + "\n"


def locate_run(picture: ProtocolPicture) -> tuple[int, int]:
    """Where in the drawing the run stands, in pixels; if it is nowhere, where it began."""
    drawn = lay_out_picture(picture)
    wanted = next((node.id for node in picture.nodes if node.is_here), picture.initial)
    box = drawn.boxes[wanted]
    left = _measure_band_margin(drawn)
    return round(left + box.x + box.width / 2), round(_HEAD_HEIGHT + box.y + box.height / 2)


def _measure_heading_width(picture: ProtocolPicture) -> float:
    legend = max(text_width(line) for line in _list_legend(picture)) * boxes.LABEL_CELL
    return max(legend, text_width(_fit_text(picture.title, _TITLE_CELLS)) * 10.0)


def _render_heading(picture: ProtocolPicture, wide: float) -> Iterator[str]:
    title, about = _fit_text(picture.title, _TITLE_CELLS), picture.description
    yield f'<text class="title" x="{_n(MARGIN)}" y="34">{_e(title)}</text>'
    if about:
        told = _fit_text(about, int((wide - 2 * MARGIN) / boxes.LABEL_CELL))
        yield f'<text class="about" x="{_n(MARGIN)}" y="54">{_e(told)}</text>'


def _fit_text(text: str, room: int) -> str:
    """The whole of it is in the title of its element."""
    return text if text_width(text) <= room else wrap_cells(text, max(room - 3, 2))[0] + "..."


def _list_legend(picture: ProtocolPicture) -> tuple[str, ...]:
    return (*_LEGEND, _WALKED) if picture.is_walked else _LEGEND


def _measure_foot(picture: ProtocolPicture) -> float:
    return _FOOT_HEIGHT + (15.0 if picture.is_walked else 0.0)


def _render_legend(picture: ProtocolPicture, high: float) -> Iterator[str]:
    for number, line in enumerate(_list_legend(picture)):
        y = high - _measure_foot(picture) + 16 + number * 15
        yield f'<text class="legend" x="{_n(MARGIN)}" y="{_n(y)}">{_e(line)}</text>'


def _measure_band_margin(drawn: Drawing) -> float:
    """Room for the names of the bands, turned, at the left of everything else."""
    depths = {band.depth for band in drawn.bands}
    return len(depths) * _TURNED_WIDTH + (MARGIN if depths else 0.0)


def _render_bands(drawn: Drawing, left: float) -> Iterator[str]:
    depths = sorted({band.depth for band in drawn.bands})
    for band in drawn.bands:
        yield _render_band(
            band, drawn, depths.index(band.depth) * _TURNED_WIDTH - left + MARGIN / 2
        )


def _render_band(band: GroupBand, drawn: Drawing, x: float) -> str:
    top, high = band.top - 7, band.bottom - band.top + 14
    told = _fit_text(band.title, int(high / 7.4))
    y = band.top + (band.bottom - band.top) / 2
    return (
        f'<g class="band" role="img"><title>{_e(band.title)}</title>'
        f'<rect x="{_n(x)}" y="{_n(top)}" width="{_n(drawn.width - x - MARGIN / 2)}" '
        f'height="{_n(high)}" rx="6"/>'
        f'<text text-anchor="middle" transform="translate({_n(x + 13)} {_n(y)}) rotate(-90)">'
        f"{_e(told)}</text></g>"
    )


def _render_arrow(picture: ProtocolPicture, route: ArrowRoute, is_loop: bool) -> str:
    arrow = picture.arrows[route.arrow]
    marks = {
        "back": arrow.back,
        "spent": arrow.spent,
        "main": arrow.main,
        "taken": arrow.taken > 0,
        "never": picture.is_walked and not arrow.taken,
    }
    kinds = " ".join(["arrow", *(name for name, on in marks.items() if on)])
    path = _loop_path(route) if is_loop else _route_path(route)
    return (
        f'<g class="{kinds}" role="img"><title>{_e(_describe_arrow(picture, arrow))}</title>'
        f'<path d="{path}"/>{_render_label(route.label)}</g>'
    )


def _describe_arrow(picture: ProtocolPicture, arrow: Arrow) -> str:
    names = {node.id: node.name for node in picture.nodes}
    told = "; ".join([*arrow.lines, *filter(None, [describe_arrow_walk(arrow)])])
    return f"{names[arrow.source]} to {names[arrow.target]}: {told}"


def _route_path(route: ArrowRoute) -> str:
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


def _loop_path(route: ArrowRoute) -> str:
    (x, y), *bends = route.points
    return f"M{_n(x)} {_n(y)}C" + " ".join(f"{_n(bx)} {_n(by)}" for bx, by in bends)


def _render_label(label: ArrowLabel) -> str:
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


def _render_node(picture: ProtocolPicture, node: Node, box: NodeBox) -> str:
    detail = f"{node.kind}: {node.detail}" if node.detail else node.kind
    told = ", ".join([node.name, detail, *filter(None, [describe_node_walk(node)])])
    first = node.id == picture.initial
    is_new = picture.is_walked and not (node.entered or node.is_here)
    mark = " here" if node.is_here else " never" if is_new else ""
    return (
        f'<g class="node {node.kind}{mark}" role="img">'
        f"<title>{_e(told)}{', the first' if first else ''}</title>"
        f"{_render_start(box) if first else ''}{draw_outline(node.kind, box)}"
        f"{''.join(_render_box_text(box))}</g>"
    )


def _render_start(box: NodeBox) -> str:
    x, y = box.x - 28, box.y + box.height / 2
    return (
        f'<circle class="start" cx="{_n(x)}" cy="{_n(y)}" r="6"/>'
        f'<g class="arrow main"><path d="M{_n(x)} {_n(y)}L{_n(box.x)} {_n(y)}"/></g>'
    )


def _render_box_text(box: NodeBox) -> Iterator[str]:
    x, y = box.x + box.width / 2, box.y + boxes.PADDING / 2
    for line in box.lines:
        y += boxes.LINE_HEIGHT[line.style]
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
