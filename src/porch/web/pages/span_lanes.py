"""The timeline of a run: a lane for each who works, drawn to scale, and the same as a list.

A wait of a night would leave no room for the minutes of work. So time in which nobody works is
drawn short, and the page says so.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from msgspec import Struct

from porch.show.board import format_moment
from porch.show.place_words import PlaceWords
from porch.show.records.work_spans import LANES, WorkSpan
from porch.web.pages.page_words import count_of, describe_seconds, parse_moment

_LANE_WORDS: Mapping[str, str] = {
    "agent": "Agent",
    "check": "Checks",
    "panel": "Reviews",
    "person": "You",
    "git": "Git",
}
# Of all that is drawn, at most so much for one time in which nobody works.
_IDLE_SHARE = 0.12
_LEAST_IDLE_S = 1.0
# Percent of the width: what takes no time can be seen all the same.
_LEAST_WIDE = 0.4
_OPEN = "still going on"


class _DrawnSpan(Struct, frozen=True):
    span: WorkSpan
    begin: datetime
    end: datetime


def make_lanes(
    spans: Sequence[WorkSpan], begin: str, end: str, words: PlaceWords
) -> dict[str, Any]:
    """`begin` and `end` are the edges: what began before or goes on behind them is cut there."""
    first, last = _parse_instant(begin), _parse_instant(end)
    if first is None or last is None or not spans:
        return {"lanes": [], "spans": [], "axis": (), "is_shortened": False}
    drawn = [_place_span(span, first, max(first, last)) for span in spans]
    scale = _Scale(drawn, first, max(first, last))
    return {
        "lanes": [
            _make_lane(lane, [each for each in drawn if each.span.lane == lane], scale, words)
            for lane in LANES
            if any(each.span.lane == lane for each in drawn)
        ],
        "spans": [_describe_span(each, words) for each in drawn],
        "axis": (format_moment(begin), format_moment(end)),
        "is_shortened": scale.is_shortened,
    }


def _place_span(span: WorkSpan, first: datetime, last: datetime) -> _DrawnSpan:
    begin = _parse_instant(span.began) or first
    end = _parse_instant(span.ended) or last
    begin = min(max(begin, first), last)
    return _DrawnSpan(span, begin, min(max(end, begin), last))


def _parse_instant(text: str) -> datetime | None:
    """One that can be compared with others: without a zone it is none of ours."""
    found = parse_moment(text)
    return found if found and found.tzinfo else None


class _Scale:
    """Where an instant is drawn, in percent of the width."""

    def __init__(self, drawn: Sequence[_DrawnSpan], first: datetime, last: datetime) -> None:
        edges = {first, last, *(each.begin for each in drawn), *(each.end for each in drawn)}
        self._edges = sorted(edges)
        pieces = [*pairwise(self._edges)]
        busy = [_is_busy(drawn, begin, end) for begin, end in pieces]
        lengths = [(end - begin).total_seconds() for begin, end in pieces]
        worked = sum(length for length, is_busy in zip(lengths, busy, strict=True) if is_busy)
        most = max(worked * _IDLE_SHARE, _LEAST_IDLE_S) if worked else max([*lengths, 1.0])
        kept = [n if is_busy else min(n, most) for n, is_busy in zip(lengths, busy, strict=True)]
        self.is_shortened = kept != lengths
        total = sum(kept) or 1.0
        self._at = [0.0]
        for length in kept:
            self._at.append(self._at[-1] + 100.0 * length / total)

    def find(self, moment: datetime) -> float:
        return self._at[min(bisect_right(self._edges, moment) - 1, len(self._at) - 1)]


def _is_busy(drawn: Sequence[_DrawnSpan], begin: datetime, end: datetime) -> bool:
    return any(each.begin <= begin and each.end >= end for each in drawn if not each.span.is_wait)


def _make_lane(
    lane: str, drawn: Sequence[_DrawnSpan], scale: _Scale, words: PlaceWords
) -> dict[str, Any]:
    spent = sum(((each.end - each.begin) for each in drawn), timedelta()).total_seconds()
    bars = list(_list_bars(drawn, scale, words))
    number = count_of(len(drawn), "wait" if lane == "person" else "piece of work")
    number = number.replace("piece of works", "pieces of work")
    return {
        "lane": lane,
        "title": _LANE_WORDS[lane],
        "told": f"{number}, {describe_seconds(spent)}",
        "bars": bars,
        "rows": max((bar["row"] for bar in bars), default=0) + 1,
    }


def _list_bars(
    drawn: Sequence[_DrawnSpan], scale: _Scale, words: PlaceWords
) -> Iterator[dict[str, Any]]:
    """Each in the first row that is free where it begins, for what runs at the same time."""
    free: list[float] = []
    for each in sorted(drawn, key=lambda one: one.begin):
        x = min(scale.find(each.begin), 100.0 - _LEAST_WIDE)
        wide = max(scale.find(each.end) - x, _LEAST_WIDE)
        row = next((n for n, end in enumerate(free) if end <= x + 1e-9), len(free))
        free[row : row + 1] = [x + wide]
        told = _describe_span(each, words)
        yield {
            "x": f"{x:.2f}",
            "wide": f"{min(wide, 100.0 - x):.2f}",
            "row": row,
            "look": told["look"],
            "is_wait": each.span.is_wait,
            "title": f"{told['name']}, {told['place']}: {told['result']}, {told['took']}",
        }


def _describe_span(drawn: _DrawnSpan, words: PlaceWords) -> dict[str, Any]:
    span = drawn.span
    is_open = not span.ended
    took = describe_seconds((drawn.end - drawn.begin).total_seconds())
    return {
        "seq": span.seq,
        "lane": span.lane,
        "who": _LANE_WORDS[span.lane],
        "name": span.name,
        "place": words.place(span.position) if span.position else "the whole run",
        "at": span.began or span.ended,
        "moment": format_moment(span.began)[11:] if span.began else "before this page",
        "took": took,
        "result": _OPEN if is_open else span.result or "ended",
        "look": "waiting" if span.is_wait else "now" if is_open else span.look or "plain",
        "is_wait": span.is_wait,
        "is_open": is_open,
    }
