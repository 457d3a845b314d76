"""The timeline drawn to scale: lanes, rows, waits, and what is shortened."""

from typing import Any

from porch.show.place_words import PlaceWords
from porch.show.records.work_spans import WorkSpan
from porch.web.pages.span_lanes import make_lanes

DAY = "2026-01-01T"


def span(lane: str, began: str, ended: str, **more: Any) -> WorkSpan:
    told = {"name": "n", "position": "a#1", **more}
    began, ended = (f"{DAY}{each}Z" if each else "" for each in (began, ended))
    return WorkSpan(key=began + lane, lane=lane, began=began, ended=ended, **told)


def lanes(*spans: WorkSpan, begin: str = "00:00:00", end: str = "00:01:40") -> dict[str, Any]:
    return make_lanes(spans, f"{DAY}{begin}Z", f"{DAY}{end}Z", PlaceWords())


def bars(told: dict[str, Any]) -> list[tuple[float, float, int]]:
    return [
        (float(bar["x"]), float(bar["wide"]), bar["row"])
        for lane in told["lanes"]
        for bar in lane["bars"]
    ]


def test_work_is_drawn_to_scale_and_side_by_side_in_rows() -> None:
    told = lanes(
        span("agent", "00:00:00", "00:00:50"),
        span("panel", "00:00:50", "00:01:40"),
        span("panel", "00:00:50", "00:01:15"),
    )
    assert [lane["lane"] for lane in told["lanes"]] == ["agent", "panel"]
    assert bars(told) == [(0, 50, 0), (50, 50, 0), (50, 25, 1)]
    assert not told["is_shortened"]


def test_a_night_of_waiting_leaves_room_for_the_work() -> None:
    told = lanes(
        span("agent", "00:00:00", "00:00:50"),
        span("person", "00:00:50", "08:00:00", is_wait=True),
        span("agent", "08:00:00", "08:00:50"),
        end="08:00:50",
    )
    assert told["is_shortened"]
    (_, first, _), (_, second, _), (_, wait, _) = bars(told)
    assert first == second > 3 * wait > 0
    assert told["spans"][1]["took"] == "7 h 59 min"


def test_what_only_waits_is_not_shortened_to_nothing() -> None:
    told = lanes(span("person", "00:00:00", "", is_wait=True))
    assert bars(told) == [(0, 100, 0)]
    assert (told["spans"][0]["result"], told["spans"][0]["look"]) == ("still going on", "waiting")


def test_what_takes_no_time_can_be_seen_and_stays_inside() -> None:
    told = lanes(
        span("check", "00:01:40", "00:01:40", result="passed", look="good"),
        span("agent", "00:00:00", "00:01:40"),
    )
    (_, _, _), (x, wide, _) = bars(told)
    assert wide > 0
    assert x + wide <= 100


def test_an_edge_cuts_and_clocks_that_went_backwards_break_nothing() -> None:
    told = lanes(
        span("agent", "", "00:00:10"),
        span("agent", "00:05:00", "00:04:00"),
        WorkSpan(key="x", lane="git", name="n", position="", began="nonsense", ended="2026-01-01"),
    )
    assert all(0 <= x <= 100 and 0 < wide <= 100 for x, wide, _ in bars(told))
    assert told["spans"][0]["moment"] == "before this page"
    assert told["spans"][2]["place"] == "the whole run"


def test_without_records_there_is_nothing_to_draw() -> None:
    assert make_lanes([], "", "", PlaceWords())["lanes"] == []
    assert make_lanes([span("agent", "", "")], "x", "y", PlaceWords())["lanes"] == []
