"""The page of one decision: what is read, what is known about it, and what each answer does."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from porch.run.verbs.asked_files import AskedFile, AskedFiles
from porch.show.evidence_notes import TITLE
from porch.web.pages.answers import KINDS, list_answers
from porch.web.pages.chips import list_chips
from porch.web.pages.documents import cut_document, draw_document, list_difference_lines
from porch.web.pages.inbox_groups import describe_message
from porch.web.pages.wording import decision_address, describe_time_since, run_address

Difference = list[tuple[str, str]]


def make_decision(
    project: str,
    decision: Mapping[str, Any],
    shown: AskedFiles,
    effects: Mapping[str, str],
    now: datetime,
) -> dict[str, Any]:
    """`effects` says what follows from each answer, as far as the protocol tells."""
    run, position = str(decision["run"]), str(decision["position"])
    answers = [
        {**answer, "effect": effects.get(answer["answer"]) or answer["effect"]}
        for answer in list_answers(decision)
    ]
    reports = decision.get("reports") or {}
    return {
        "id": decision["id"],
        "heading": decision.get("heading") or decision["title"],
        "name": decision["name"],
        "kind": KINDS.get(str(decision["kind"]), "Decision"),
        "message": describe_message(decision),
        "question": decision.get("question") or "",
        "description": decision.get("description") or "",
        "asked_at": decision["asked_at"],
        "waited": describe_time_since(str(decision["asked_at"]), now),
        "request": decision.get("request") or (),
        "reasons": [line for line in str(decision.get("reason") or "").split("\n") if line],
        "problems": decision.get("problems") or (),
        "evidence": decision.get("evidence") or (),
        "reviews": decision.get("reviews") or (),
        "evidence_chips": list(list_chips(decision)),
        "touched": reports.get(TITLE, ""),
        "reports": [(name, text) for name, text in reports.items() if name != TITLE],
        "findings": list(_group_findings(decision.get("findings") or ())),
        "needs_override": bool(decision.get("needs_override")),
        "asked_difference": [
            {"path": path, "lines": list(list_difference_lines(text))}
            for path, text in (decision.get("difference") or {}).items()
        ],
        "files": [_make_file(each) for each in shown.files],
        "worktree": decision.get("worktree") or "",
        "digest": shown.digest,
        "at": position,
        "address": decision_address(project, run, position),
        "action": run_address(project, run, "decision"),
        "run_address": run_address(project, run),
        "answers": answers,
        "is_gate": decision["kind"] == "gate",
    }


def _group_findings(findings: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, list[str]]]:
    for who in dict.fromkeys(each["by"] for each in findings):
        yield who, [each["finding"] for each in findings if each["by"] == who]


def _make_file(file: AskedFile) -> dict[str, Any]:
    text, left_out = cut_document(file.text)
    return {
        "path": file.path,
        "trouble": file.trouble,
        "drawn": draw_document(file.path, text),
        "text": text,
        "left_out": left_out,
        "gate": file.gate if file.difference else "",
        "difference": list(list_difference_lines(file.difference)) if file.difference else [],
    }
