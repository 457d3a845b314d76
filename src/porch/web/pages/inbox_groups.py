"""The first page: what waits for a person, what does not move, what works, what is over."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.text.sha256 import sha256
from porch.web.pages.answers import KINDS, answer_id, name_answer
from porch.web.pages.chips import list_chips
from porch.web.pages.wording import (
    count_of,
    decision_address,
    describe_time_since,
    run_address,
)

Row = Mapping[str, Any]
Phases = Sequence[tuple[str, str]]
# Title, what is said of a run in it, sign; in the order in which people want to see them.
GROUPS = {
    "alone": ("Not moving", "nobody drives it", "!"),
    "stopped": ("Stopped", "stopped", "-"),
    "queued": ("Queued", "queued", "."),
    "running": ("Running", "running", ">"),
    "over": ("Over", "", "x"),
}
_GOOD_ENDS = ("complete", "merged", "squashed", "committed", "proposed", "pushed", "kept")
_FIRST = 25
_FIRST_OVER = 10
_ON_ONE_PAGE = 100


class ShownProject(Struct, frozen=True):
    """What is known of one project; `label` is empty where there is only one."""

    key: str
    label: str
    rows: Sequence[Row]
    decisions: Sequence[Row]
    notes: Sequence[str] = ()
    numbers: Sequence[str] = ()  # of each run, how many records it has and whether it is driven


def make_inbox(
    projects: Sequence[ShownProject],
    now: datetime,
    group: str = "",
    start: int = 0,
    query: str = "",
) -> dict[str, Any]:
    """All of it, each group by its beginning; or one group, a hundred rows of it.

    With a query only runs that have its words in their id, title, protocol, state or project.
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
    states = {(p.key, row["run"]): row["state"] for p in projects for row in p.rows}
    waiting = [_make_card(p, each, now, states) for _, p, each in asked]
    rows = {name: list(_list_rows(projects, name)) for name in GROUPS}
    shown = [name for name in GROUPS if rows[name] and group in ("", name)]
    return {
        "sentence": _describe_waiting(len(waiting)),
        "waiting": _cut(waiting, group == "waiting", start, _FIRST)
        if group in ("", "waiting")
        else None,
        "sections": [_make_section(name, rows[name], bool(group), start) for name in shown],
        "notes": [note for project in projects for note in project.notes],
        "is_empty": not waiting and not any(rows.values()),
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


def _make_card(
    project: ShownProject, decision: Row, now: datetime, states: Mapping[tuple[str, Any], Any]
) -> dict[str, Any]:
    run, position = str(decision["run"]), str(decision["position"])
    address = decision_address(project.key, run, position)
    return {
        "key": _make_key("decision", project.key, run, position),
        "project": project.label,
        "id": decision["id"],
        "title": decision.get("heading") or decision["title"],
        "kind": KINDS.get(str(decision["kind"]), "Decision"),
        "name": decision["name"],
        "state": states.get((project.key, run), ""),
        "message": describe_message(decision),
        "asked_at": decision["asked_at"],
        "waited": describe_time_since(str(decision["asked_at"]), now),
        "chips": list(list_chips(decision)),
        "nobody": "nobody drives" in str(decision.get("driven", "")),
        "address": address,
        "run_address": run_address(project.key, run),
        "answers": [
            {
                "verb": name_answer(str(option["answer"])),
                "address": f"{address}#{answer_id(str(option['answer']))}",
            }
            for option in decision.get("options") or ()
        ],
    }


def describe_message(decision: Row) -> str:
    """What is asked, in one sentence: the words of the protocol, else which file is ready."""
    told = str(decision.get("description") or "").strip().split("\n")[0]
    files = [str(path).rpartition("/")[2] for path in decision.get("artifacts") or ()]
    if told:
        return told
    if decision["kind"] == "gate" and files:
        return f"{' and '.join(files)} {'is' if len(files) == 1 else 'are'} ready"
    return str(decision.get("question") or decision["name"])


def _list_rows(projects: Sequence[ShownProject], group: str) -> Iterator[dict[str, Any]]:
    for project in projects:
        for row in project.rows:
            if row["group"] == group:
                yield _make_row(project, row)


def _make_row(project: ShownProject, row: Row) -> dict[str, Any]:
    group, run = str(row["group"]), str(row["run"])
    is_over = group == "over"
    return {
        "key": _make_key("run", project.key, run),
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
    name: str, rows: Sequence[dict[str, Any]], is_alone: bool, start: int
) -> dict[str, Any]:
    title, _, sign = GROUPS[name]
    first = _FIRST_OVER if name == "over" else _FIRST
    return {"name": name, "title": title, "sign": sign, **_cut(rows, is_alone, start, first)}


def _cut(rows: Sequence[dict[str, Any]], is_alone: bool, start: int, first: int) -> dict[str, Any]:
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


def _make_key(*parts: str) -> str:
    """What names a part of the page, also after it was drawn again."""
    return "-".join("".join(c if c.isalnum() else "_" for c in part) for part in parts)
