"""The questions of the inbox as cards: what is asked, since when, and what is known of the work."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from porch.model.protocol import TRACK
from porch.run.decisions.decision_facts import WorkMeasure
from porch.show.board import name_answer
from porch.web.pages.answers import KINDS, answer_id
from porch.web.pages.chips import describe_cost, list_chips
from porch.web.pages.page_words import decision_address, describe_time_since, run_address

Row = Mapping[str, Any]


class ShownProject(Struct, frozen=True):
    """What is known of one project; `label` is empty where there is only one."""

    key: str
    label: str
    rows: Sequence[Row]
    decisions: Sequence[Row]
    notes: Sequence[str] = ()
    numbers: Sequence[str] = ()  # of each run, how many records it has and whether it is driven


class AskedQuestion(Struct, frozen=True):
    """Which question of which run."""

    project: str
    run: str
    position: str


class KnownWork(Struct, frozen=True):
    """What was measured of the work behind a question, and what it has cost."""

    work: WorkMeasure | None = None
    cost: Mapping[str, Any] = {}


FindWork = Callable[[Sequence[AskedQuestion]], Mapping[AskedQuestion, KnownWork]]


def know_nothing(_: Sequence[AskedQuestion]) -> Mapping[AskedQuestion, KnownWork]:
    """For a list whose work nobody has measured."""
    return {}


def make_cards(
    projects: Sequence[ShownProject], cut: dict[str, Any], now: datetime, find_work: FindWork
) -> dict[str, Any]:
    """The questions of a part of the list, with what is known of their work."""
    states = {(p.key, row["run"]): row["state"] for p in projects for row in p.rows}
    named = [
        (project, each, AskedQuestion(project.key, str(each["run"]), str(each["position"])))
        for _, project, each in cut["rows"]
    ]
    known = find_work([asked for _, _, asked in named])
    cards = []
    for project, decision, asked in named:
        card = _make_card(project, decision, now, known.get(asked) or KnownWork())
        cards.append({**card, "state": states.get((project.key, asked.run), "")})
    return {**cut, "rows": cards}


def _make_card(
    project: ShownProject, decision: Row, now: datetime, known: KnownWork
) -> dict[str, Any]:
    run, position = str(decision["run"]), str(decision["position"])
    address = decision_address(project.key, run, position)
    return {
        "key": make_key("decision", project.key, run, position),
        "project": project.label,
        "id": decision["id"],
        "title": decision.get("heading") or decision["title"],
        "kind": KINDS.get(str(decision["kind"]), "Decision"),
        "name": decision["name"],
        "message": describe_message(decision),
        "asked_at": decision["asked_at"],
        "waited": describe_time_since(str(decision["asked_at"]), now),
        "chips": list(list_chips(decision, known.work)),
        "cost": describe_cost(known.cost) if known.cost.get("turns") else "",
        "nobody": "driver" in decision and decision["driver"] is None,
        "stopped": bool(decision.get("stopped")),
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
    """What is asked, in one sentence: the words of whoever asks, else which file is ready."""
    asked = str(decision.get("question") or "")
    if decision.get("subject") == TRACK and decision["kind"] == "gate":
        # The message of a confirmation says by itself what it is about.
        return asked
    if missing := [str(path).rpartition("/")[2] for path in decision.get("missing") or ()]:
        return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    if decision["kind"] == "question" and (reason := str(decision.get("reason") or "").strip()):
        return reason.split("\n")[0]
    told = str(decision.get("description") or "").strip().split("\n")[0]
    files = [str(path).rpartition("/")[2] for path in decision.get("artifacts") or ()]
    if told:
        return told
    if decision["kind"] == "gate" and files:
        return f"{' and '.join(files)} {'is' if len(files) == 1 else 'are'} ready"
    return str(decision.get("question") or decision["name"])


def make_key(*parts: str) -> str:
    """What names a part of the page, also after it was drawn again."""
    return "-".join("".join(c if c.isalnum() else "_" for c in part) for part in parts)
