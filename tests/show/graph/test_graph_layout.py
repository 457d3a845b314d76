"""The layout: nothing lies on top of anything else, whatever is drawn."""

import random
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.model.protocol import (
    Agent,
    Budget,
    Check,
    Command,
    Edge,
    End,
    Human,
    Protocol,
    State,
    Target,
)
from porch.run.definitions import library
from porch.show import board
from porch.show.graph import columns, crossings, text_width
from porch.show.graph.layout import ArrowLabel, ArrowRoute, Drawing, NodeBox, lay_out_picture
from porch.show.graph.picture import Arrow, ProtocolPicture, make_protocol_picture
from porch.show.graph.vertices import RoomSize, VertexNet, build_net

PACKAGED = sorted(
    str(file.relative_to(library.PACKAGED))
    for pattern in ("*/protocol.json", "*/*.graph.yaml")
    for file in Path(library.PACKAGED).glob(pattern)
)
ACTORS = (Agent("worker"), Check((Command("build"),)), Human("gate", "g", "t", ()))


def packaged(file: str) -> ProtocolPicture:
    return make_protocol_picture(
        library.load_protocol(f"{library.PACKAGED}/{file}").demand().protocol
    )


def chance(seed: int, states: int, words: int = 3) -> ProtocolPicture:
    """A protocol in which everything happens that can: loops, forks, far ways, long names."""
    dice = random.Random(seed)
    names = [
        "_".join("state" for _ in range(dice.randint(1, words))) + str(i) for i in range(states)
    ]
    ends = {
        "good": State("good", "good", End("complete")),
        "bad": State("bad", "bad", End("failed")),
    }
    made = {n: State(n, f"group {i // 5}", dice.choice(ACTORS)) for i, n in enumerate(names)}
    edges = [
        Edge(
            name,
            f"exit_{number}" * dice.randint(1, words),
            tuple(Target(dice.choice([*names, *ends])) for _ in range(dice.choice((1, 1, 1, 2)))),
            charges=charged,
            spent=(Target(dice.choice([*names, *ends])),) if charged else (),
        )
        for name in names
        for number in range(dice.randint(1, 4))
        for charged in [dice.choice(("", "rounds"))]
    ]
    budgets = {"rounds": Budget("rounds", 3)}
    return make_protocol_picture(
        Protocol("p", Target(names[0]), {**made, **ends}, tuple(edges), budgets=budgets)
    )


def thirty() -> ProtocolPicture:
    """A long way with steps back and ways around, as people write them."""
    names = [f"phase_{number}" for number in range(29)]
    edges = []
    for number, name in enumerate(names):
        on = names[number + 1] if number < 28 else "done"
        edges += [
            Edge(name, "passed", (Target(on),)),
            Edge(name, "failed", (Target(names[max(0, number - 1 - number % 4)]),)),
        ]
        if number % 7 == 0 and number < 24:
            edges.append(Edge(name, "skip", (Target(names[number + 4]),)))
    states = {n: State(n, f"part {i // 6}", ACTORS[i % 3]) for i, n in enumerate(names)}
    done = {"done": State("done", "done", End("complete"))}
    return make_protocol_picture(
        Protocol("thirty", Target(names[0]), {**states, **done}, tuple(edges))
    )


def overlap(a: NodeBox | ArrowLabel, b: NodeBox | ArrowLabel) -> bool:
    beside = a.x + a.width <= b.x or b.x + b.width <= a.x
    return not (beside or a.y + a.height <= b.y or b.y + b.height <= a.y)


def labels(drawn: Drawing) -> list[ArrowLabel]:
    return [route.label for route in (*drawn.routes, *drawn.loops)]


def stretches(route: ArrowRoute) -> Iterator[tuple[float, float, float, float]]:
    """The room in which each stretch of an arrow lies; curves stay between their ends."""
    for (x, y), (nx, ny) in pairwise(route.points):
        yield (min(x, nx), min(y, ny), max(x, nx), max(y, ny))


def touches(route: ArrowRoute, thing: NodeBox | ArrowLabel) -> bool:
    return any(
        left < thing.x + thing.width
        and thing.x < right + 0.01
        and top < thing.y + thing.height - 0.01
        and thing.y + 0.01 < bottom
        for left, top, right, bottom in stretches(route)
    )


def assert_readable(drawn: Drawing) -> None:
    things: list[NodeBox | ArrowLabel] = [*drawn.boxes.values(), *labels(drawn)]
    assert not [pair for pair in combinations(things, 2) if overlap(*pair)]
    for route in drawn.routes:
        assert not [each for each in things if each is not route.label and touches(route, each)]
    for each in things:
        assert each.x >= 0
        assert each.y >= 0
        assert each.x + each.width <= drawn.width
        assert each.y + each.height <= drawn.height


@pytest.mark.parametrize("file", PACKAGED)
def test_no_box_lies_on_a_box_or_on_words_and_no_arrow_passes_through_one(file: str) -> None:
    assert_readable(lay_out_picture(packaged(file)))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), states=st.integers(1, 14), words=st.integers(1, 9))
def test_nor_in_any_protocol_of_chance(seed: int, states: int, words: int) -> None:
    assert_readable(lay_out_picture(chance(seed, states, words)))


def test_thirty_states_stay_a_column_that_fits_a_screen() -> None:
    drawn = lay_out_picture(thirty())
    assert_readable(drawn)
    assert drawn.width < 1000
    tops = {node.name: drawn.boxes[node.id].y for node in thirty().nodes}
    assert [tops[f"phase_{number}"] for number in range(29)] == sorted(
        tops[f"phase_{number}"] for number in range(29)
    )


def test_the_first_way_through_is_nearly_straight() -> None:
    shown = thirty()
    drawn = lay_out_picture(shown)
    main = [route for route in drawn.routes if shown.arrows[route.arrow].main]
    assert len(main) == 29
    assert max(abs(route.points[0][0] - route.points[-1][0]) for route in main) < 100


def test_a_long_arrow_bends_no_more_often_than_it_must() -> None:
    drawn = lay_out_picture(thirty())
    places = [[x for x, _ in route.points] for route in drawn.routes if len(route.points) > 8]
    assert len(places) > 10
    turns = [sum(a != b for a, b in pairwise(each[2:-2])) for each in places]
    assert sum(turns) / len(turns) < 2


def test_arrows_lead_from_the_edge_of_their_source_to_the_edge_of_their_target() -> None:
    shown = chance(7, 12)
    drawn = lay_out_picture(shown)
    assert drawn.routes
    for route in drawn.routes:
        arrow = shown.arrows[route.arrow]
        source, target = drawn.boxes[arrow.source], drawn.boxes[arrow.target]
        (x, y), (nx, ny) = route.points[0], route.points[-1]
        assert y == (source.y if arrow.back else source.y + source.height)
        assert ny == (target.y + target.height if arrow.back else target.y)
        assert source.x < x < source.x + source.width
        assert target.x < nx < target.x + target.width


def test_the_words_of_an_arrow_stand_beside_the_state_whose_exit_they_are() -> None:
    shown = thirty()
    drawn = lay_out_picture(shown)
    skip = next(r for r in drawn.routes if shown.arrows[r.arrow].lines == ("skip",))
    source = drawn.boxes[shown.arrows[skip.arrow].source]
    assert 0 < skip.label.y - (source.y + source.height) < 100


def test_an_end_that_many_lead_to_is_named_in_their_boxes_instead() -> None:
    names = [f"n{number}" for number in range(6)]
    edges = [Edge(n, "on", (Target(m),)) for n, m in pairwise(names)]
    edges += [Edge(n, "stopped", (Target("bad"),)) for n in names]
    states = {n: State(n, n, ACTORS[0]) for n in names} | {
        "bad": State("bad", "bad", End("failed"))
    }
    drawn = lay_out_picture(
        make_protocol_picture(Protocol("p", Target("n0"), states, tuple(edges)))
    )
    told = [line.text for line in drawn.boxes["s1"].lines]
    assert told == ["n1", "agent: worker", "stopped -> bad"]
    assert drawn.boxes["s6"].lines[-1].text == "from 6 states"
    assert drawn.boxes["s6"].y >= max(drawn.boxes[f"s{n}"].y for n in range(6))
    assert len(drawn.routes) == 6  # the last one stays: it lies on the first way through


def test_groups_that_have_their_rows_for_themselves_are_bands_in_their_order() -> None:
    drawn = lay_out_picture(packaged("spider/protocol.json"))
    groups = [band for band in drawn.bands if band.depth == 1]
    assert [band.title for band in groups] == [
        "Specify", "Plan", "Implement", "Defend", "Evaluate", "Review", "Complete",
    ]  # fmt: skip
    assert all(above.bottom < below.top for above, below in pairwise(groups))
    [loop] = [band for band in drawn.bands if band.depth == 0]
    assert (loop.top, loop.bottom) == (groups[2].top, groups[4].bottom)


def test_groups_that_share_rows_are_no_bands() -> None:
    states = {n: State(n, f"group {i % 2}", ACTORS[0]) for i, n in enumerate("abcd")}
    edges = tuple(Edge(n, "x", (Target(m),)) for n, m in pairwise("abcd"))
    assert (
        lay_out_picture(make_protocol_picture(Protocol("p", Target("a"), states, edges))).bands
        == ()
    )


def test_a_state_alone_and_one_that_only_leads_to_itself_can_be_drawn() -> None:
    states = {"a": State("a", "a", ACTORS[0])}
    drawn = lay_out_picture(
        make_protocol_picture(Protocol("p", Target("a"), states, (Edge("a", "x", (Target("a"),)),)))
    )
    assert_readable(drawn)
    assert len(drawn.loops) == 1


def test_a_protocol_that_is_longer_than_the_stack_is_deep_can_be_drawn() -> None:
    names = [f"n{number}" for number in range(1200)]
    states = {n: State(n, n, ACTORS[0]) for n in names}
    edges = tuple(Edge(n, "x", (Target(m),)) for n, m in pairwise(names))
    assert (
        len(
            lay_out_picture(make_protocol_picture(Protocol("p", Target("n0"), states, edges))).boxes
        )
        == 1200
    )


def crossed(made: VertexNet, rows: list[list[int]]) -> int:
    """Counted the slow way."""
    place = {vertex: number for row in rows for number, vertex in enumerate(row)}
    row_of = {vertex: number for number, row in enumerate(rows) for vertex in row}
    return sum(
        row_of[a.upper] == row_of[b.upper]
        and (place[a.upper] - place[b.upper]) * (place[a.lower] - place[b.lower]) < 0
        for a, b in combinations(made.links, 2)
    )


def tangled(pairs: list[tuple[str, str]]) -> VertexNet:
    names = dict.fromkeys(name for pair in pairs for name in pair)
    rank = {name: int(name[1:]) for name in names}
    arrows = [Arrow(source, target, ()) for source, target in pairs]
    size = RoomSize(5, 5, 5)
    return build_net(
        rank, dict.fromkeys(names, size), arrows, dict.fromkeys(range(len(pairs)), size)
    )


def test_arrows_that_need_not_cross_do_not() -> None:
    made = tangled([("a0", "x1"), ("b0", "y1"), ("c0", "z1"), ("x1", "r2"), ("z1", "p2")])
    made.rows[2].reverse()
    assert crossed(made, made.rows) > 0
    assert crossed(made, crossings.untangle_rows(made)) == 0


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"), st.integers(0, 2))))
def test_rows_are_only_put_in_order_and_never_cross_more_than_before(
    pairs: list[tuple[str, str, int]],
) -> None:
    made = tangled([(f"{a}{row}", f"{b}{row + 1}") for a, b, row in pairs] or [("a0", "b1")])
    rows = crossings.untangle_rows(made)
    assert [sorted(row) for row in rows] == [sorted(row) for row in made.rows]
    assert crossed(made, rows) <= crossed(made, made.rows)


SPOTS = st.lists(
    st.tuples(st.floats(-500, 500), st.floats(0, 50), st.floats(0.1, 10)), min_size=1, max_size=12
)


@given(SPOTS)
def test_places_keep_their_order_and_distance(spots: list[tuple[float, float, float]]) -> None:
    wanted, gaps, weights = zip(*spots, strict=True)
    found = columns.settle_places(wanted, gaps[:-1], weights)
    assert all(b - a >= gap - 1e-6 for (a, b), gap in zip(pairwise(found), gaps, strict=False))


@given(SPOTS, st.integers(0, 11), st.floats(-5, 5))
def test_no_other_allowed_places_are_nearer_to_the_wanted_ones(
    spots: list[tuple[float, float, float]], which: int, step: float
) -> None:
    wanted, gaps, weights = zip(*spots, strict=True)
    found = columns.settle_places(wanted, gaps[:-1], weights)

    def cost(places: list[float]) -> float:
        far = [a - b for a, b in zip(places, wanted, strict=True)]
        total: float = sum(w * x * x for w, x in zip(weights, far, strict=True))
        return total

    for other in ([*found[:which], *(x + step for x in found[which:])], [x + step for x in found]):
        far = zip(pairwise(other), gaps, strict=False)
        if all(b - a >= gap for (a, b), gap in far):
            assert cost(other) >= cost(found) - 1e-3


def test_what_does_not_collide_stays_where_it_wants_to_be() -> None:
    assert columns.settle_places([0.0, 100.0, 200.0], [50.0, 50.0], [1.0, 1.0, 1.0]) == [
        0,
        100,
        200,
    ]
    assert columns.settle_places([0.0, 0.0], [10.0], [1.0, 1.0]) == [-5, 5]
    assert columns.settle_places([], [], []) == []


@given(st.text(max_size=80), st.integers(2, 30))
def test_wrapping_loses_nothing_and_keeps_to_its_room(text: str, room: int) -> None:
    cleaned = text_width.clean_line(text)
    lines = text_width.wrap_cells(cleaned, room)
    assert "".join(lines).replace(" ", "") == cleaned.replace(" ", "")
    assert all(line and board.text_width(line) <= room for line in lines)


@pytest.mark.parametrize(
    "text, room, lines",
    [
        ("specify:draft:checks", 14, ["specify:draft:", "checks"]),
        ("to spec_filled_in", 14, ["to", "spec_filled_in"]),
        ("failed -rounds", 8, ["failed", "-rounds"]),
        ("aaaaaaaaaa", 4, ["aaaa", "aaaa", "aa"]),
        ("\u72b6\u614b\u540d", 4, ["\u72b6\u614b", "\u540d"]),
        ("", 4, []),
    ],
)
def test_words_stay_whole_where_they_can_and_break_where_names_do(
    text: str, room: int, lines: list[str]
) -> None:
    assert text_width.wrap_cells(text, room) == lines


def test_what_is_clipped_says_how_much() -> None:
    assert text_width.clip_lines(["a", "b", "c"], 3) == ["a", "b", "c"]
    assert text_width.clip_lines(["a", "b", "c", "d"], 3) == ["a", "b", "(2 more lines)"]
