"""The page of one decision: what is read, what is known about it, and what each answer does."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from porch.model.artifact_names import find_changes_base
from porch.run.decisions.asked_files import AskedFile, AskedFiles
from porch.run.decisions.decision_facts import LastRound, ReviewerWords, WorkMeasure
from porch.show.board import name_answer
from porch.show.difference_lines import list_difference_lines
from porch.show.evidence_notes import TITLE
from porch.text.telling_line import find_telling_line
from porch.web.pages.answers import KINDS, list_answers
from porch.web.pages.chips import describe_cost, describe_lines, list_chips
from porch.web.pages.decision_cards import describe_message
from porch.web.pages.documents import cut_document, draw_document
from porch.web.pages.page_words import decision_address, describe_time_since, run_address

MOST_FILES = 40
REPORT_LINES = 30  # the end of a report that is open on the page of a failure
Difference = list[tuple[str, str]]
_VERDICTS = {
    "APPROVE": ("good", "approves"),
    "REQUEST_CHANGES": ("bad", "asks for changes"),
    "ABSTAIN": ("warn", "gave no verdict"),
}


class DecisionFacts(Struct, frozen=True, kw_only=True):
    """What is known of a decision besides its question."""

    shown: AskedFiles
    last_round: LastRound | None = None
    reviewers: Sequence[ReviewerWords] = ()
    work: WorkMeasure | None = None
    cost: Mapping[str, Any] = {}


def make_decision(
    project: str, decision: Mapping[str, Any], facts: DecisionFacts, now: datetime
) -> dict[str, Any]:
    run, position = str(decision["run"]), str(decision["position"])
    reports = decision.get("reports") or {}
    return {
        "id": decision["id"],
        "heading": decision.get("heading") or decision["title"],
        "name": decision["name"],
        "kind": KINDS.get(str(decision["kind"]), "Decision"),
        "message": describe_message(decision),
        "question": decision.get("question") or "",
        "failure": _make_failure(decision, project),
        "description": decision.get("description") or "",
        "asked_at": decision["asked_at"],
        "waited": describe_time_since(str(decision["asked_at"]), now),
        "request": decision.get("request") or (),
        "reasons": [
            line
            for line in str(decision.get("reason") or "").split("\n")
            if line not in ("", decision.get("question"))
        ],
        "problems": decision.get("problems") or (),
        "settings": decision.get("settings") or (),
        "evidence": decision.get("evidence") or (),
        "reviews": decision.get("reviews") or (),
        "evidence_chips": list(list_chips(decision, facts.work)),
        "work_lines": describe_lines(facts.work) if facts.work else "",
        "changed_files": facts.work.paths[:MOST_FILES] if facts.work else (),
        "cost": describe_cost(facts.cost) if facts.cost.get("turns") else "",
        "last_round": _make_last_round(facts.last_round, now),
        "touched": reports.get(TITLE, ""),
        "reports": [(name, text) for name, text in reports.items() if name != TITLE],
        "reviewers": [_make_reviewer(each) for each in facts.reviewers],
        "findings": list(_group_findings(decision.get("findings") or (), facts.reviewers)),
        "needs_override": bool(decision.get("needs_override")),
        "asked_difference": [
            {"path": path, "lines": list(list_difference_lines(text))}
            for path, text in (decision.get("difference") or {}).items()
        ],
        "files": [_make_file(each) for each in facts.shown.files[:MOST_FILES]],
        "more_files": [each.path for each in facts.shown.files[MOST_FILES:]],
        "worktree": decision.get("worktree") or "",
        "digest": facts.shown.digest,
        "changed": [each.path for each in facts.shown.files if each.change],
        "at": position,
        "address": decision_address(project, run, position),
        "action": run_address(project, run, "decision"),
        "run_address": run_address(project, run),
        "answers": list(list_answers(decision)),
        "is_gate": decision["kind"] == "gate",
    }


def _make_failure(decision: Mapping[str, Any], project: str) -> dict[str, Any] | None:
    """Why a phase failed, with the end of each report that says so."""
    failure = decision.get("failure")
    if not failure:
        return None
    reports = [
        {"name": name, "line": find_telling_line(text), "end": _cut_report(text)}
        for name, text in (decision.get("reports") or {}).items()
        if name != TITLE
    ]
    changes = run_address(project, str(decision["run"]), "diff")
    return {**failure, "reports": reports, "changes": changes}


def _cut_report(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-REPORT_LINES:])


def _make_last_round(last: LastRound | None, now: datetime) -> str:
    """Only of a question that was answered with something else than yes."""
    if last is None or last.answer in ("approved", "waived"):
        return ""
    since = describe_time_since(last.at, now)
    return f"Asked before: {name_answer(last.answer).lower()}, {since} ago, event {last.seq}."


def _make_reviewer(said: ReviewerWords) -> dict[str, Any]:
    look, word = _VERDICTS.get(said.verdict, ("warn", said.verdict))
    return {
        "name": said.name,
        "look": look,
        "verdict": word,
        "why": said.why,
        "summary": said.summary,
        "findings": said.findings,
        "reply": said.reply if said.reply.strip() != said.summary.strip() else "",
    }


def _group_findings(
    findings: Sequence[Mapping[str, str]], reviewers: Sequence[ReviewerWords]
) -> Iterator[tuple[str, list[str]]]:
    """Those of others than the reviewers, whose own words are shown whole."""
    shown = {each.name for each in reviewers}
    for who in dict.fromkeys(each["by"] for each in findings if each["by"] not in shown):
        yield who, [each["finding"] for each in findings if each["by"] == who]


def _make_file(file: AskedFile) -> dict[str, Any]:
    text, left_out = cut_document(file.text)
    return {
        "path": file.path,
        # Each line has a sign of its own, as that of any other difference.
        "patch": list(list_difference_lines(text)) if find_changes_base(file.path) else [],
        "trouble": file.trouble,
        "drawn": draw_document(file.path, text),
        "text": text,
        "left_out": left_out,
        "since": file.since,
        "change": list(list_difference_lines(file.change)) if file.change else [],
        "difference": list(list_difference_lines(file.difference)) if file.difference else [],
    }
