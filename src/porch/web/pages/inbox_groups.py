"""The first page: what waits for a person, what does not move, what works, what is over."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from porch.text.sha256 import sha256
from porch.web.pages.decision_cards import (
    FindWork,
    Row,
    ShownProject,
    know_nothing,
    make_cards,
    make_key,
)
from porch.web.pages.page_words import count_of, run_address

Phases = Sequence[tuple[str, str]]
# Title, what is said of a run in it, sign; in the order in which people want to see them.
GROUPS = {
    "alone": ("Not moving", "not running", "!"),
    "stopped": ("Stopped", "stopped", "-"),
    "queued": ("Queued", "queued", "."),
    "running": ("Running", "running", ">"),
    "over": ("Over", "", "x"),
}
_GOOD_ENDS = ("complete", "merged", "squashed", "committed", "proposed", "pushed", "kept")
_FIRST = 25
_FIRST_OVER = 10
_ON_ONE_PAGE = 100


def make_inbox(
    projects: Sequence[ShownProject],
    now: datetime,
    *,
    group: str = "",
    start: int = 0,
    query: str = "",
    find_work: FindWork = know_nothing,
) -> dict[str, Any]:
    """All of it, each group by its beginning; or one group, a hundred rows of it.

    With a query only runs that have its words in their id, title, protocol, state or project.
    `find_work` is asked about the questions that are shown.
    """
    since, projects = number_inbox(projects), [_filter(each, query) for each in projects]
    asked = sorted(
        (
            (str(each["asked_at"]), project, each)
            for project in projects
            for each in project.decisions
        ),
        key=lambda found: found[0],
    )
    cut = _cut(asked, group == "waiting", start, _FIRST)
    rows = {name: list(_list_rows(projects, name)) for name in GROUPS}
    shown = [name for name in GROUPS if rows[name] and group in ("", name)]
    return {
        "sentence": _describe_waiting(len(asked)),
        "waiting": make_cards(projects, cut, now, find_work) if group in ("", "waiting") else None,
        "sections": [_make_section(name, rows[name], bool(group), start) for name in shown],
        "notes": [note for project in projects for note in project.notes],
        "is_empty": not asked and not any(rows.values()),
        "group": group,
        "since": since,
        "query": query,
        "has_several": any(project.label for project in projects),
    }


def _filter(project: ShownProject, query: str) -> ShownProject:
    words = query.lower().split()
    if not words:
        return project

    def fits(row: Row) -> bool:
        keys = ("id", "title", "heading", "protocol", "state", "name", "run")
        told = " ".join([project.label, *(str(row.get(key) or "") for key in keys)]).lower()
        return all(word in told for word in words)

    return replace(
        project,
        rows=[row for row in project.rows if fits(row)],
        decisions=[each for each in project.decisions if fits(each)],
    )


def number_inbox(projects: Sequence[ShownProject]) -> str:
    """One short text that is another whenever anything on the page can be."""
    lines = [f"{project.key}/{each}" for project in projects for each in project.numbers]
    return sha256("\n".join(lines).encode()).hexdigest()[:20]


def _describe_waiting(number: int) -> str:
    if not number:
        return "Nothing waits for you."
    return f"{count_of(number, 'decision')} {'waits' if number == 1 else 'wait'} for you."


def _list_rows(projects: Sequence[ShownProject], group: str) -> Iterator[tuple[ShownProject, Row]]:
    for project in projects:
        for row in project.rows:
            if row["group"] == group:
                yield project, row


def _make_row(project: ShownProject, row: Row) -> dict[str, Any]:
    group, run = str(row["group"]), str(row["run"])
    is_over = group == "over"
    return {
        "key": make_key("run", project.key, run),
        "project": project.label,
        "run": run,
        "id": row["id"],
        "title": row.get("heading") or row["title"],
        "protocol": row["protocol"],
        "state": row["state"],
        "mark": GROUPS[group][1],
        "look": ("good" if row["state"] in _GOOD_ENDS else "bad") if is_over else group,
        "told": row["told"],
        "address": run_address(project.key, run),
        "phases": row.get("phases") or (),
        "can_resume": group in ("alone", "stopped"),
        "resume": run_address(project.key, run, "resume"),
    }


def _make_section(
    name: str, rows: Sequence[tuple[ShownProject, Row]], is_alone: bool, start: int
) -> dict[str, Any]:
    title, _, sign = GROUPS[name]
    cut = _cut(rows, is_alone, start, _FIRST_OVER if name == "over" else _FIRST)
    drawn = [_make_row(project, row) for project, row in cut["rows"]]
    return {"name": name, "title": title, "sign": sign, **cut, "rows": drawn}


def _cut(rows: Sequence[Any], is_alone: bool, start: int, first: int) -> dict[str, Any]:
    """A part of a long list, and where the rest is."""
    begin = min(max(start, 0), max(len(rows) - 1, 0)) if is_alone else 0
    size = _ON_ONE_PAGE if is_alone else first
    end = min(begin + size, len(rows))
    return {
        "rows": rows[begin:end],
        "total": len(rows),
        "begin": begin,
        "end": end,
        "earlier": max(begin - size, 0) if begin else None,
        "later": end if is_alone and end < len(rows) else None,
        "has_more": not is_alone and end < len(rows),
    }
