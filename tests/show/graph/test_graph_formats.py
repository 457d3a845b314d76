"""Text, Mermaid, DOT and SVG: the same bytes each time, and no name breaks out of its label."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.model.protocol import (
    Agent,
    Budget,
    Edge,
    End,
    Guard,
    Human,
    Loop,
    Protocol,
    State,
    Target,
)
from porch.run.definitions import library
from porch.show.board import text_width
from porch.show.graph import dot as as_dot
from porch.show.graph import mermaid as as_mermaid
from porch.show.graph.dot import render_dot
from porch.show.graph.mermaid import render_mermaid
from porch.show.graph.picture import ProtocolPicture, make_protocol_picture
from porch.show.graph.svg import render_svg
from porch.show.graph.text import render_graph_text

SVG = "{http://www.w3.org/2000/svg}"
FORMATS: list[Callable[[ProtocolPicture], str]] = [
    render_graph_text,
    render_mermaid,
    render_dot,
    render_svg,
]
HOSTILE = (
    "<script>alert(1)</script>",
    "\"quoted\" & 'single'",
    "two\nlines\r\nand a tab\t",
    "\x1b[31mred\x1b[0m\x00\x07",
    "]]>--><!--",
    '`tick` %%{init: {}}%% |pipe| {"}"}',
    "end",
    "\\N \\",
    "#quot; &lt; ;",
    "\ufffe\uffff\u202e",
    "\u72b6\u614b" * 30,
    "x" * 90,
    "",
)
ANY = st.text(max_size=25) | st.sampled_from(HOSTILE)


def small(*names: str) -> ProtocolPicture:
    """Each name as a state, an exit, a budget, a guard, a group, a role and a title."""
    states = {n: State(n, names[0], Agent(n), title=n, loop="each") for n in names}
    states["over"] = State("over", "over", End("complete"))
    states["ask"] = State("ask", "ask", Human("gate", "g", "t", ()))
    edges = [
        Edge(n, n, (Target(m),), (Guard(n, "has", n),), n, (Target("ask"), Target("over")))
        for n, m in zip(names, [*names[1:], "over"], strict=True)
    ]
    edges += [
        Edge(n, "again", (Target(n), Target(names[0]), Target(next_of="each"))) for n in names
    ]
    return make_protocol_picture(
        Protocol(
            names[0],
            Target(names[0]),
            states,
            tuple(edges),
            names[-1],
            names[0],
            budgets={n: Budget(n, 3) for n in names},
            loops={"each": Loop("each", names[-1], names[0], Target("over"))},
        )
    )


def spider() -> ProtocolPicture:
    file = f"{library.PACKAGED}/spider/protocol.json"
    return make_protocol_picture(library.load_protocol(file).demand().protocol)


def named(shown: ProtocolPicture) -> dict[str, str]:
    return {node.id: node.name for node in shown.nodes}


def test_text_lists_states_by_rank_with_their_exits_and_where_they_lead() -> None:
    states = {
        "draft": State("draft", "draft", Agent("writer")),
        "gate": State("gate", "gate", Human("gate", "g", "t", ())),
        "done": State("done", "done", End("complete")),
    }
    edges = (
        Edge("draft", "READY", (Target("gate"),)),
        Edge("draft", "again", (Target("draft"),), charges="tries", spent=(Target("gate"),)),
        Edge("gate", "approved", (Target("done"),)),
        Edge("gate", "rejected", (Target("draft"),)),
    )
    made = Protocol(
        "note", Target("draft"), states, edges, "1", "Small", budgets={"tries": Budget("tries", 2)}
    )
    assert render_graph_text(make_protocol_picture(made)) == (
        "note 1\n"
        "Small\n"
        "\n"
        "3 states; the first way through:\n"
        "  1 > 2 > 3\n"
        "\n"
        ">  1 draft (agent: writer)\n"
        "       READY -> 2 gate\n"
        "       again -tries -> 1 draft (itself)\n"
        "       again after 2 tries ..> 2 gate\n"
        "   2 gate (human: gate)\n"
        "       approved -> 3 done\n"
        "       rejected -> 1 draft (back)\n"
        "   3 done (end: complete)\n"
    )


def test_text_has_every_state_once_and_groups_under_their_titles() -> None:
    lines = render_graph_text(spider()).splitlines()
    for name in named(spider()).values():
        assert (
            len([line for line in lines if re.match(rf"[> ] *\d+ {re.escape(name)} \(", line)]) == 1
        )
    heads = [line for line in lines if re.match(r"[A-Z]\w+( \(for each.*\))?$", line)]
    assert heads[:3] == ["Specify", "Plan", "Implement (for each item of plan.md)"]


@given(st.lists(ANY, min_size=1, max_size=4, unique=True))
def test_text_fits_eighty_columns_and_has_nothing_that_moves_a_cursor(names: list[str]) -> None:
    for line in render_graph_text(small(*names)).split("\n"):
        assert text_width(line) <= 80
        assert not re.search(r"[\x00-\x1f\x7f-\x9f]", line)


def shapes(document: str) -> ET.Element:
    return ET.fromstring(document)


def titled(document: str, kind: str) -> Iterator[str]:
    for group in shapes(document).iter(f"{SVG}g"):
        if kind in group.get("class", "").split() and group.get("role") == "img":
            yield group[0].text or ""
            assert group[0].tag == f"{SVG}title"


@settings(max_examples=60, deadline=None)
@given(st.lists(ANY, min_size=1, max_size=4, unique=True))
def test_svg_is_well_formed_and_made_of_drawing_only(names: list[str]) -> None:
    root = shapes(render_svg(small(*names)))
    allowed = {
        "svg",
        "title",
        "desc",
        "style",
        "defs",
        "marker",
        "path",
        "rect",
        "g",
        "text",
        "circle",
    }
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= allowed
    for each in root.iter():
        assert not [key for key in each.attrib if key.startswith("on") or "href" in key]


def test_svg_has_the_hostile_names_as_text() -> None:
    told = list(titled(render_svg(small(*HOSTILE[:3])), "node"))
    assert told[0].startswith("<script>alert(1)</script>, agent")
    assert told[1].startswith("\"quoted\" & 'single', agent")
    assert told[2].startswith("two lines and a tab, agent")


def test_svg_needs_nothing_from_outside() -> None:
    document = render_svg(spider())
    assert re.findall(r"https?:[^\"']*", document) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"@import|javascript:|<script|<image|<use|<foreignObject", document)
    assert set(re.findall(r"url\(([^)]*)\)", document)) == {"#porch-head"}


def test_svg_scales_and_knows_light_and_dark() -> None:
    root = shapes(render_svg(spider()))
    left, top, wide, high = root.get("viewBox", "").split()
    assert (left, top) == ("0", "0")
    assert (wide, high) == (root.get("width"), root.get("height"))
    style = root.find(f"{SVG}style")
    assert style is not None
    assert "@media(prefers-color-scheme:dark)" in (style.text or "")


def test_every_node_arrow_and_band_of_the_svg_says_what_it_is() -> None:
    shown = spider()
    document = render_svg(shown)
    names = [node.name for node in shown.nodes]
    assert [title.split(",")[0] for title in titled(document, "node")] == names
    assert [t for t in titled(document, "node") if t.endswith(", the first")] == [
        "specify:draft, agent, the first"
    ]
    arrows = list(titled(document, "arrow"))
    assert "specify:gate to specify:revise: rejected" in arrows
    assert "Specify" in list(titled(document, "band"))


def test_kinds_differ_in_shape_and_not_only_in_colour() -> None:
    from porch.show.graph.layout import NodeBox
    from porch.show.graph.outlines import draw_outline

    box = NodeBox("s0", 0, 0, 100, 40, ())
    kinds = ("agent", "check", "panel", "human", "git", "children", "join", "end", "other")
    assert len({draw_outline(kind, box) for kind in kinds}) == len(kinds)


def test_svg_marks_arrows_that_go_back_that_are_spent_and_the_first_way() -> None:
    shown = make_protocol_picture(
        Protocol(
            "p",
            Target("a"),
            {n: State(n, n, Agent("w")) for n in "abc"},
            (
                Edge("a", "x", (Target("b"),)),
                Edge("b", "y", (Target("a"),), charges="t", spent=(Target("c"),)),
            ),
        )
    )
    classes = {
        (group[0].text or ""): group.get("class", "")
        for group in shapes(render_svg(shown)).iter(f"{SVG}g")
        if "arrow" in group.get("class", "") and group.get("role")
    }
    assert classes == {
        "a to b: x": "arrow main",
        "b to a: y -t": "arrow back",
        "b to c: y after t": "arrow spent",
    }


SHAPES = ((r"\(", r"\)"), (r"\{\{", r"\}\}"), (r"\[/", r"\\\]"), (r"\(\[", r"\]\)"), (r"\[", r"\]"))
NODE = re.compile("|".join(rf'  +s\d+{before}"[^"]*"{after}' for before, after in SHAPES))
ARROW = re.compile(r'  s\d+ (?:-->|==>|-\.->)\|"[^"]*"\| s\d+')
LABEL = re.compile(r'"([^"]*)"')


@given(st.lists(ANY, min_size=1, max_size=4, unique=True))
def test_no_name_breaks_out_of_a_label_of_mermaid(names: list[str]) -> None:
    first, second, *rest = render_mermaid(small(*names)).splitlines()
    assert first.startswith("%% ")
    assert second == "flowchart TD"
    for line in rest:
        frame = re.fullmatch(r'  +subgraph g\d+\["[^"]*"\]', line)
        known = frame or NODE.fullmatch(line) or ARROW.fullmatch(line)
        assert known or line.strip() in ("end", "start(( )) --> s0"), line
        for label in LABEL.findall(line):
            assert not re.search(r"[<>&;`%|\\{}]", re.sub(r"<br/>|#\d+;", "", label))


@pytest.mark.parametrize(
    "name, safe",
    [
        ("a:b (c) [d] -e_f", "a:b (c) [d] -e_f"),
        ('say "no"', "say #34;no#34;"),
        ("#35;", "#35;35#59;"),
        ("1. first", "1#46; first"),
        ("- first", "#45; first"),
        ("\u00fcber", "\u00fcber"),
    ],
)
def test_mermaid_gets_numbers_for_what_it_could_take_for_its_own(name: str, safe: str) -> None:
    assert as_mermaid.quote_label(name) == safe


def test_mermaid_and_dot_nest_groups_in_their_loop() -> None:
    lines = [line for line in render_mermaid(spider()).splitlines() if "subgraph" in line]
    assert [line.count(" ", 0, len(line) - len(line.lstrip())) for line in lines] == [
        2,
        2,
        2,
        2,
        2,
        4,
        4,
        4,
    ]
    assert 'subgraph g4["for each item of plan.md"]' in lines[4]
    clusters = [line for line in render_dot(spider()).splitlines() if "subgraph" in line]
    assert clusters[5] == '    subgraph cluster_5 { label="Implement";'


STRING = r'"(?:[^"\\]|\\.)*"'
DOT_LINES = (
    rf"digraph {STRING} {{",
    r"  newrank=true;",
    r"  (?:node|edge) \[fontname=\"monospace\" fontsize=\d+\];",
    r"  start \[shape=point width=0.15\];",
    r"  start -> s0;",
    rf" +subgraph cluster_\d+ {{ label={STRING};",
    r" *}",
    rf" +s\d+ \[label={STRING} shape=\w+(?: style=\"\w+\"| peripheries=2)?\];",
    rf"  s\d+ -> s\d+ \[label={STRING}(?: style=dashed| penwidth=2| color=blue fontcolor=blue)*\];",
)


@given(st.lists(ANY, min_size=1, max_size=4, unique=True))
def test_no_name_breaks_out_of_a_label_of_dot(names: list[str]) -> None:
    lines = render_dot(small(*names)).split("\n")
    assert lines.pop() == ""
    for line in lines:
        assert any(re.fullmatch(each, line) for each in DOT_LINES), line
    assert (
        sum(line.count("{") - line.count("}") for line in [re.sub(STRING, "", x) for x in lines])
        == 0
    )


def test_dot_keeps_backslashes_quotes_and_entities_as_they_were_written() -> None:
    assert as_dot.quote_label('a\\N "b" &lt;', "c") == '"a\\\\N \\"b\\" &amp;lt;\\nc"'


@pytest.mark.parametrize("form", [render_mermaid, render_dot])
def test_every_arrow_is_in_every_format(form: Callable[[ProtocolPicture], str]) -> None:
    shown = spider()
    found = re.findall(
        r"^  (s\d+) (?:-->|==>|-\.->|->)(?:\|.*\|)? (s\d+)", form(shown), re.MULTILINE
    )
    assert found == [(arrow.source, arrow.target) for arrow in shown.arrows]


def test_the_same_protocol_gives_the_same_bytes_in_every_process() -> None:
    program = (
        "import sys; from porch.run.definitions import library;"
        "from porch.run.definitions.protocol_graph import FORMATS;"
        "from porch.show.graph.picture import make_protocol_picture;"
        "found = library.load_protocol(library.PACKAGED + '/spider/protocol.json');"
        "p = make_protocol_picture(found.demand().protocol);"
        "sys.stdout.write(''.join(draw(p) for draw in FORMATS.values()))"
    )
    seen = set()
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
            capture_output=True,
            check=True,
        )
        seen.add(done.stdout)
    assert seen == {"".join(draw(spider()) for draw in FORMATS).encode()}
