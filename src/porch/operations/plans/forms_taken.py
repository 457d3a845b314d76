"""A feedback file that a person has finished becomes an answer, by the rules of every channel."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from porch.adapters import feedback_files, inbox
from porch.adapters.journal import scan
from porch.dialects import feedback
from porch.errors import DefinitionError, Finding, Place, PorchError
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
from porch.operations.plans.place import Plan
from porch.operations.session import payload_directory
from porch.runtime.payloading import aside

LOGS_TOKENS = 10_000


def offer(held: Desk, gate: str, item: str) -> None:
    """The file to answer in, wherever there is none: who removed it has not answered."""
    path = file_of(held.plan, gate, item)
    if not os.path.lexists(path):
        posed = held.recalled(plans.posed_path(gate), item)
        form = form_of(held.plan, held.prompts, gate, item, posed)
        feedback_files.ensure(path, feedback.template(form, _head(held.plan, gate, item, posed)))
    if gate in WITH_LOGS:
        feedback_files.ensure(logs_file_of(held.plan, gate, item), feedback.logs_template())


def _head(plan: Plan, gate: str, item: str, posed: Mapping[str, Any]) -> list[str]:
    head = [f"{plan.branch}: {gate} {item}".strip(), *str(posed.get("about", "")).split("\n")]
    if gate in WITH_LOGS:
        logs = os.path.basename(logs_file_of(plan, gate, item))
        head.append(f"logs, if there are any, go into {logs}")
    return head


def put_finished_away(held: Desk, gate: str, item: str, payload: Mapping[str, Any]) -> None:
    """A file that was finished before a question is asked answers another one; it is kept."""
    path = file_of(held.plan, gate, item)
    try:
        content = feedback_files.content(path)
    except DefinitionError:
        return
    form = form_of(held.plan, held.prompts, gate, item, payload)
    if content is None or isinstance(feedback.read(content.text, form, path), feedback.Waiting):
        return
    settling.file_away(held, gate, item, "earlier")
    held.notes.append(
        f"{os.path.basename(path)} was finished before this was asked; it is kept in "
        f"{settling.ARCHIVE}, and a person is asked again"
    )


def taken(held: Desk, gate: str, item: str) -> bool:
    """Whether the file held an answer that was taken; what is wrong with it is said inside it."""
    standing = plans.standing_of(held.state, gate, item)
    if standing is None:
        return False
    offer(held, gate, item)
    path = file_of(held.plan, gate, item)
    if _reading(held, gate, item) is None:
        _note_encoding(held, path)
        return False
    # Editors save in several steps, and a file may say that it is finished before it is whole.
    feedback_files.settle(path)
    found = _reading(held, gate, item)
    if found is None:
        return False
    (text, stamp), reading = found
    match reading:
        case feedback.Wrong(wrong):
            problems: Sequence[Finding] = wrong
        case feedback.Filled(values):
            problems = _offered(held, gate, standing, dict(values))
    if problems:
        feedback_files.replace_if_unchanged(path, stamp, feedback.explained(text, problems))
        return False
    settling.settle(held)
    return True


def _reading(
    held: Desk, gate: str, item: str
) -> tuple[feedback_files.Content, feedback.Filled | feedback.Wrong] | None:
    """The file and what it says; nothing as long as nobody has finished it."""
    path = file_of(held.plan, gate, item)
    content = feedback_files.content(path)
    if content is None:
        return None
    posed = held.recalled(plans.posed_path(gate), item)
    form = form_of(held.plan, held.prompts, gate, item, posed)
    reading = feedback.read(content.text, form, path)
    return None if isinstance(reading, feedback.Waiting) else (content, reading)


def _note_encoding(held: Desk, path: str) -> None:
    """In another encoding nobody sees whether it is finished; writing into it would spoil it."""
    content = feedback_files.content(path)
    if content and ("\0" in content.text or not _is_utf8(content.text)):
        held.notes.append(
            f"{os.path.basename(path)} is not UTF-8, so nobody can read whether it is finished; "
            "save it as UTF-8"
        )


def _is_utf8(text: str) -> bool:
    """What was no UTF-8 is in a text as half characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _offered(held: Desk, gate: str, standing: Standing, form: dict[str, Any]) -> Sequence[Finding]:
    """What keeps this form from being the answer; nothing once it is taken."""
    if gate == "findings" and (wrong := findings.complaints(held.plan, form)):
        return wrong
    if gate in WITH_LOGS:
        logs, wrong_logs = logs_beside(held.plan, gate, standing.item)
        form["logs"] = aside(payload_directory(held.plan.where, held.plan.run), logs)
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


def logs_beside(plan: Plan, gate: str, item: str) -> tuple[str, Sequence[Finding]]:
    """What was pasted into the file for logs, and what keeps it from being taken."""
    path = logs_file_of(plan, gate, item)
    try:
        content = feedback_files.content(path)
    except DefinitionError as error:
        return "", error.findings
    logs = feedback.logs_of(content.text) if content else ""
    most = _most()
    if feedback_files.estimated_tokens(logs) <= most:
        return logs, ()
    message = f"the logs in {os.path.basename(path)} have more than {most} tokens, by estimate"
    fix = "leave what matters, or raise MAX_LOGS_TOKENS"
    return logs, [Finding("logs-too-large", message, Place(path), fix)]


def _most() -> int:
    text = os.environ.get("MAX_LOGS_TOKENS", "")
    return int(text) if text.isdecimal() and int(text) else LOGS_TOKENS
