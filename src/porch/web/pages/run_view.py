"""The page of one run: one sentence on top, then what was asked for, its phases and its records."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from porch.machine.budgets import NAMES, RUN
from porch.machine.records import RawRecord
from porch.model.track_names import CODUMENT
from porch.run.agents.budget_limits import BudgetLimit
from porch.show.board import format_moment
from porch.show.cost import describe_turns
from porch.show.fleet.checklist import CheckRow
from porch.show.phase_words import LOOKS
from porch.show.place_words import PlaceWords
from porch.show.records import timeline
from porch.web.pages.answers import KINDS
from porch.web.pages.page_words import (
    decision_address,
    describe_seconds,
    describe_time_since,
    run_address,
)

_TITLES = {
    "max_usd": "Money",
    "max_turns": "Turns and reviews",
    "max_minutes": "Minutes of agents",
    "max_tokens": "Tokens",
}
_ORDER = ("max_usd", "max_turns", "max_minutes", "max_tokens")
_NEARLY = 0.8

TABS = (
    ("", "Overview"),
    ("timeline", "Timeline"),
    ("activity", "Activity"),
    ("diff", "Diff"),
    ("files", "Files"),
    ("graph", "Graph"),
    ("tree", "Tree"),
    ("checks", "Checks"),
    ("reviews", "Reviews"),
    ("cost", "Cost"),
    ("journal", "Journal"),
)
_PLAN_SIGNS = {"complete": "done", "in_progress": "now", "pending": "later"}
Checklist = Sequence[CheckRow]


def make_frame(
    project: str, name: str, picture: Mapping[str, Any], tab: str, *, has_tree: bool = False
) -> dict[str, Any]:
    """What all parts of a run have on top: what it is called, and the way to the other parts."""
    status = picture["status"]
    return {
        "run": name,
        "id": status["id"] or name,
        "heading": status.get("heading") or status["title"],
        "protocol": status["protocol"],
        "run_address": run_address(project, name),
        "tabs": [
            {"title": title, "address": run_address(project, name, part), "is_here": part == tab}
            for part, title in TABS
            if has_tree or part != "tree"
        ],
    }


def make_sentence(
    picture: Mapping[str, Any], is_driven: bool, holder: str, now: datetime, *, notes: str = ""
) -> dict[str, str]:
    """How the run is, in one line, with its look; `notes` says where it works."""
    asked = picture["decisions"]
    status = picture["status"]
    if picture["outcome"]:
        look = "good" if picture["outcome"] in ("complete", "merged") else "bad"
        return {"look": look, "text": f"Over: {status.get('finished') or picture['outcome']}"}
    stopped = "Stopped by a person" if picture["paused"] else ""
    if asked:
        names = " and ".join(name_question(str(each["name"])) for each in asked)
        waited = describe_time_since(str(asked[0]["asked_at"]), now)
        told = f"Waiting for you: {names}, {waited}".rstrip(", ")
        return {"look": "waiting", "text": f"{told}. {stopped}".rstrip(". ")}
    if stopped:
        return {"look": "stopped", "text": stopped}
    if not is_driven:
        return {"look": "alone", "text": f"Not moving: {holder}"}
    place = notes or status["current_phase"] or status["state"]
    until = [each["until"] for each in picture["row"]["waiting"] if "until" in each]
    if until and len(until) == len(picture["row"]["waiting"]):
        where = status["current_phase"] or status["state"]
        return {"look": "queued", "text": f"Waiting until {format_moment(min(until))}: {where}"}
    return {"look": "running", "text": f"Running: {place}"}


def name_question(name: str) -> str:
    """`plan_approval` as people say it."""
    return name.replace("_", " ").replace("-", " ").strip() or name


def make_overview(
    project: str,
    picture: Mapping[str, Any],
    checklist: Checklist,
    sentences: Sequence[str],
    *,
    driven: str,
    now: datetime,
) -> dict[str, Any]:
    status = picture["status"]
    is_track = status["protocol"] == CODUMENT
    return {
        "sentences": sentences,
        "driven": driven,
        "request": (picture.get("request") or {}).get("text", ""),
        "request_from": (picture.get("request") or {}).get("from", ""),
        "checklist": [
            {**row._asdict(), "sign": row.sign, "used": _describe_used(picture, row.phase)}
            for row in checklist
        ],
        "plan": [
            {**item, **_find_plan_look(status["phases"][item["id"]])}
            for item in status["plan_phases"]
            if not is_track
        ],
        "is_track": is_track,
        "gates": [{"name": name, "by": "", **gate} for name, gate in status["gates"].items()],
        "decisions": [_make_question(project, each, now) for each in picture["decisions"]],
        "facts": list(_list_facts(picture, now)),
        "can_stop": not (picture["outcome"] or picture["paused"]),
    }


def _find_plan_look(phase: Mapping[str, str]) -> dict[str, str]:
    """Only what has passed looks done; what did not says what became of it."""
    outcome = phase.get("outcome", "")
    return {"sign": LOOKS.get(outcome, _PLAN_SIGNS[phase["status"]]), "outcome": outcome}


def _describe_used(picture: Mapping[str, Any], phase: str) -> str:
    """How much agents worked in a phase; nothing if none did."""
    used = (picture["cost"].get("phases") or {}).get(phase)
    if not used:
        return ""
    return f"{describe_turns(used)}, {describe_seconds(used['seconds'])}"


def _make_question(project: str, decision: Mapping[str, Any], now: datetime) -> dict[str, str]:
    return {
        "kind": KINDS.get(str(decision["kind"]), "Decision"),
        "name": str(decision["name"]),
        "waited": describe_time_since(str(decision["asked_at"]), now),
        "asked_at": str(decision["asked_at"]),
        "address": decision_address(project, str(decision["run"]), str(decision["position"])),
    }


def _list_facts(picture: Mapping[str, Any], now: datetime) -> list[tuple[str, str]]:
    status = picture["status"]
    ago = describe_time_since(status["last_updated"], now)
    told = [
        ("Protocol", status["protocol"]),
        ("Place", ", ".join(each["position"] for each in picture["positions"])),
        ("Worktree", status["worktree"] if status["worktree"] not in ("", ".") else ""),
        ("Began", f"{describe_time_since(status['started_at'], now)} ago"),
        ("Last event", f"{ago} ago, number {picture['seq']:,}"),
    ]
    return [(name, value) for name, value in told if value]


def make_journal(
    records: Sequence[RawRecord],
    earlier: int,
    address: str,
    *,
    words: PlaceWords,
    later: int | None,
) -> dict[str, Any]:
    """Some records, newest last, and the way to those before and behind them."""
    return {
        "lines": [
            {
                "seq": record.get("seq", 0),
                "at": str(record.get("at", "")),
                "moment": timeline.time_and_number(record).rpartition(" ")[0].strip(),
                "text": timeline.describe_record(record, words),
                "mark": timeline.line_mark(record),
            }
            for record in records
        ],
        "earlier": f"{address}?before={earlier + 1}" if earlier else "",
        "earlier_count": earlier,
        "later": f"{address}?before={later}" if later else "",
        "newest": address if later else "",
    }


def make_budgets(
    cost: Mapping[str, Any], limits: Sequence[BudgetLimit], is_scripted: bool
) -> list[dict[str, Any]]:
    """A row for each amount of the run, and one for each limit of a phase."""
    known = {each.name: each for each in limits if each.budget == f"{RUN}.{each.name}"}
    spent = _list_amounts(cost, is_scripted)
    rows = [_make_row(_TITLES[name], name, spent[name], known.get(name)) for name in _ORDER]
    of_phases = [each for each in limits if each not in known.values()]
    return rows + [
        _make_row(
            f"{_TITLES[each.name]} in {each.budget.rpartition('.')[0]}", each.name, each.spent, each
        )
        for each in of_phases
    ]


def _list_amounts(cost: Mapping[str, Any], is_scripted: bool) -> dict[str, float | None]:
    """An agent that worked and told nothing of its money or tokens did not work for nothing."""
    has_worked = cost["turns"] > 0 and not is_scripted
    told = (cost["usd"], cost["tokens"], cost["turns"], cost["seconds"] / 60)
    amounts: dict[str, float | None] = dict(zip(NAMES, told, strict=True))
    for name in ("max_usd", "max_tokens"):
        amounts[name] = None if has_worked and not amounts[name] else amounts[name]
    return amounts


def _make_row(
    title: str, name: str, spent: float | None, limit: BudgetLimit | None
) -> dict[str, Any]:
    shown = "unknown" if spent is None else _format_amount(name, spent)
    share = spent / limit.allowed if limit and limit.allowed and spent is not None else None
    return {
        "title": title,
        "spent": shown,
        "allowed": _format_amount(name, limit.allowed) if limit else "",
        "percent": None if share is None else min(round(100 * share), 100),
        "look": "now" if share is None or share < _NEARLY else "warn" if share < 1 else "bad",
        "word": "used up" if share is not None and share >= 1 else "",
    }


def _format_amount(name: str, value: float) -> str:
    forms = {"max_usd": "{:,.2f} USD", "max_minutes": "{:,.1f}"}
    return forms.get(name, "{:,.0f}").format(value)
