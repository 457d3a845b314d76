"""A feedback file that a person has finished becomes an answer, by the rules of every channel."""

import os
from collections.abc import Sequence
from typing import Any

from porch.adapters import feedback_files, inbox
from porch.adapters.journal import scan
from porch.adapters.knowledge.indexing import tokens
from porch.dialects import feedback
from porch.errors import Finding, Place, PorchError
from porch.machine import plans
from porch.machine.state import Standing
from porch.operations.plans import findings, settling
from porch.operations.plans.desk import Desk
from porch.operations.plans.feedback_forms import (
    WITH_LOGS,
    file_of,
    form_of,
    logs_file_of,
)

LOGS_TOKENS = 10_000


def taken(held: Desk, gate: str, item: str) -> bool:
    """Whether the file held an answer that was taken; what is wrong with it is said inside it."""
    standing = plans.standing_of(held.state, gate, item)
    path = file_of(held.plan, gate, item)
    if standing is None or not os.path.lexists(path):
        return False
    feedback_files.settle(path)
    content = feedback_files.content(path)
    if content is None:
        return False
    text, stamp = content
    posed = held.recalled(plans.posed_path(gate), item)
    reading = feedback.read(text, form_of(held.plan, held.prompts, gate, item, posed), path)
    match reading:
        case feedback.Waiting():
            return False
        case feedback.Wrong(found):
            problems: Sequence[Finding] = found
        case feedback.Filled(values):
            problems = _offered(held, gate, standing, dict(values))
    if problems:
        feedback_files.replace_if_unchanged(path, stamp, feedback.explained(text, problems))
        return False
    settling.settle(held)
    return True


def _offered(held: Desk, gate: str, standing: Standing, form: dict[str, Any]) -> Sequence[Finding]:
    """What keeps this form from being the answer; nothing once it is taken."""
    if gate == "findings" and (wrong := findings.complaints(held.plan, form)):
        return wrong
    if gate in WITH_LOGS:
        logs, wrong_logs = _logs(held, gate, standing.item)
        form["logs"] = logs
        if wrong_logs:
            return wrong_logs
    wish = {
        "kind": "decide",
        "position": standing.position,
        "exit": "answered",
        "who": "unknown",
        "channel": "file",
        "data": {"name": standing.label, "form": form},
    }
    try:
        id_ = inbox.leave(os.path.join(held.found.directory, "inbox"), wish)
    except PorchError as error:
        return error.findings
    held.found.drain()
    reason = _refused(held, id_)
    return [Finding("not-taken", reason, None, "mend it and set done to true again")] * bool(reason)


def _refused(held: Desk, id_: str) -> str:
    records = scan(os.path.join(held.found.directory, "journal.jsonl")).records
    for raw in reversed(records):
        fact = raw["fact"]
        if fact.get("is") in ("WishTaken", "WishRefused") and fact["wish"]["id"] == id_:
            return str(fact.get("reason", ""))
    return "it was not taken"


def _logs(held: Desk, gate: str, item: str) -> tuple[str, Sequence[Finding]]:
    path = logs_file_of(held.plan, gate, item)
    content = feedback_files.content(path) if os.path.lexists(path) else None
    logs = feedback.logs_of(content[0]) if content else ""
    most = _most()
    if tokens(logs.encode()) <= most:
        return logs, ()
    message = f"the logs in {os.path.basename(path)} have more than {most} tokens, by estimate"
    fix = "leave what matters, or raise MAX_LOGS_TOKENS"
    return logs, [Finding("logs-too-large", message, Place(path), fix)]


def _most() -> int:
    text = os.environ.get("MAX_LOGS_TOKENS", "")
    return int(text) if text.isdecimal() and int(text) else LOGS_TOKENS
