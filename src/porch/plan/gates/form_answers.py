"""A question is posed with its feedback file, and the finished file becomes an answer.

With the question stands where a person finds what it is about: paths, and commands that show it.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.errors import DefinitionError, Finding, Place, PorchError
from porch.machine import facts as f
from porch.machine.facts import Payload
from porch.machine.plan import run_rules
from porch.machine.plan.prompt_ids import PromptId, parse_prompt_id
from porch.machine.plan.prompt_lifecycle import Prompts, compared_variants
from porch.machine.state import Standing
from porch.plan import forms
from porch.plan.branches.implementation_branches import find_worktree_path
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.files.plan_location import Plan
from porch.plan.files.prompt_files import prompt_path
from porch.plan.findings import findings_files
from porch.plan.gate_files import feedback_files
from porch.plan.gate_files.form_notice import EMPTY
from porch.plan.gate_files.gate_forms import WITH_LOGS, build_form, form_file, logs_file
from porch.plan.prompts.plan_audit import describe_audit
from porch.plan.session import file_sync
from porch.run.engine.approved_artifacts import keep_artifacts
from porch.run.engine.artifacts import digest_hashes, hash_artifacts
from porch.run.engine.fact_redaction import redact_text, redact_wish
from porch.run.engine.run_places import payload_directory
from porch.store import inbox
from porch.store.large_payloads import slim_wish_text

LOGS_TOKENS = 10_000


def offer_form(held: LockedPlan, gate: str, item: str) -> None:
    """The file to answer in, wherever there is none: who removed it has not answered."""
    path = form_file(held.plan, gate, item)
    if not os.path.lexists(path):
        feedback_files.ensure_feedback_file(path, _render_question_form(held, gate, item))
    if gate in WITH_LOGS:
        feedback_files.ensure_feedback_file(
            logs_file(held.plan, gate, item), forms.render_logs_file()
        )


def _render_question_form(held: LockedPlan, gate: str, item: str) -> str:
    posed = held.recalled(run_rules.question_path(gate), item)
    form = build_form(held.plan, held.prompts, gate, item, posed)
    head = _form_head(held.plan, gate, item, posed)
    places = list_places(held.plan, held.prompts, gate, item)
    audit = describe_audit(held.plan, held.prompts) if gate == "plan" else []
    return forms.render_form(form, [*head, *places, *audit])


def _form_head(plan: Plan, gate: str, item: str, posed: Mapping[str, Any]) -> list[str]:
    head = [f"{plan.branch}: {gate} {item}".strip(), *str(posed.get("about", "")).split("\n")]
    if gate in WITH_LOGS:
        logs = os.path.basename(logs_file(plan, gate, item))
        head.append(f"put logs, if any, into {logs}")
    return head


def set_finished_form_aside(
    held: LockedPlan, gate: str, item: str, payload: Mapping[str, Any]
) -> None:
    """A file that was finished before a question is asked answers another one; it is kept."""
    path = form_file(held.plan, gate, item)
    try:
        content = feedback_files.read_feedback_file(path)
    except DefinitionError:
        return
    form = build_form(held.plan, held.prompts, gate, item, payload)
    if content is None or not _is_finished(forms.read_form(content.text, form, path)):
        return
    file_sync.archive_form_files(held, gate, item, "earlier")
    held.notes.append(
        f"{os.path.basename(path)} was finished before this question was asked; it is kept in "
        f"{file_sync.ARCHIVE}, and the question is asked again"
    )


def _is_finished(reading: forms.FormReading) -> bool:
    is_wrong = isinstance(reading, forms.WrongForm) and reading.is_finished
    return is_wrong or isinstance(reading, forms.FilledForm)


def take_form(held: LockedPlan, gate: str, item: str) -> bool:
    """Whether the file held an answer that was taken; what is wrong with it is said inside it."""
    standing = run_rules.gate_position(held.state, gate, item)
    if standing is None:
        return False
    offer_form(held, gate, item)
    path = form_file(held.plan, gate, item)
    if _read_finished_form(held, gate, item) is None:
        _note_encoding(held, path)
        return False
    # Editors save in several steps, and a file may say that it is finished before it is whole.
    feedback_files.wait_until_settled(path)
    found = _read_finished_form(held, gate, item)
    if found is None:
        return False
    (text, stamp), reading = found
    match reading:
        case forms.EmptiedForm():
            text = _render_question_form(held, gate, item)
            problems: Sequence[Finding] = [_EMPTIED]
        case forms.WrongForm(wrong):
            problems = wrong
        case forms.FilledForm(values):
            problems = _offer_answer(held, gate, standing, dict(values))
    if problems:
        feedback_files.replace_if_unchanged(
            path, stamp, forms.render_with_complaints(text, problems)
        )
        return False
    file_sync.sync_files(held)
    return True


_EMPTIED = Finding(
    "emptied-form", EMPTY, None, "this is the form again; what was in it before is not kept"
)


def _read_finished_form(
    held: LockedPlan, gate: str, item: str
) -> (
    tuple[feedback_files.FileContent, forms.EmptiedForm | forms.FilledForm | forms.WrongForm] | None
):
    """The file and what it says; nothing as long as somebody may still be at it."""
    path = form_file(held.plan, gate, item)
    content = feedback_files.read_feedback_file(path)
    if content is None:
        return None
    posed = held.recalled(run_rules.question_path(gate), item)
    form = build_form(held.plan, held.prompts, gate, item, posed)
    reading = forms.read_form(content.text, form, path)
    return None if isinstance(reading, forms.UnfinishedForm) else (content, reading)


def _note_encoding(held: LockedPlan, path: str) -> None:
    """In another encoding nobody sees whether it is finished; writing into it would spoil it."""
    content = feedback_files.read_feedback_file(path)
    if content and ("\0" in content.text or not _is_utf8(content.text)):
        held.notes.append(
            f"{os.path.basename(path)} is not UTF-8, so envoy cannot see whether it is finished; "
            "save it as UTF-8"
        )


def _is_utf8(text: str) -> bool:
    """What was no UTF-8 is in a text as half characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _offer_answer(
    held: LockedPlan, gate: str, standing: Standing, form: dict[str, Any]
) -> Sequence[Finding]:
    """What keeps this form from being the answer; nothing once it is taken."""
    if gate == "findings" and (wrong := findings_files.list_answer_problems(held.plan, form)):
        return wrong
    if gate in WITH_LOGS:
        logs, wrong_logs = read_logs_file(held.plan, gate, standing.item)
        place = payload_directory(held.plan.where, held.plan.run)
        form["logs"] = slim_wish_text(place, redact_text(logs))
        if wrong_logs:
            return wrong_logs
    wish = {
        "kind": "decide",
        "position": standing.position,
        "exit": "answered",
        "channel": "file",
        "data": {"name": standing.label, "form": form},
    }
    try:
        id_ = inbox.leave_wish(os.path.join(held.found.directory, "inbox"), redact_wish(wish))
    except PorchError as error:
        return error.findings
    held.found.drain()
    reason = _find_refusal(held, id_)
    return [Finding("not-taken", reason, None, _advise(held, standing))] * bool(reason)


def _advise(held: LockedPlan, standing: Standing) -> str:
    decision = held.state.decisions.get(standing.position)
    asked = decision.artifacts if decision else {}
    if hash_artifacts(held.plan.where.base, "", asked) == asked:
        return "fix it and set done to true again"
    return f"read what changed: porch pending {held.plan.run}; approve it with --accept-changes"


def _find_refusal(held: LockedPlan, id_: str) -> str:
    answered = held.state.wishes.get(id_, 0)
    for raw in held.found.records_after(answered - 1) if answered else ():
        fact = raw["fact"]
        if fact.get("is") in ("WishTaken", "WishRefused") and fact["wish"]["id"] == id_:
            return str(fact.get("reason", ""))
    return "it was not accepted"


def read_logs_file(plan: Plan, gate: str, item: str) -> tuple[str, Sequence[Finding]]:
    """What was pasted into the file for logs, and what keeps it from being taken."""
    path = logs_file(plan, gate, item)
    try:
        content = feedback_files.read_feedback_file(path)
    except DefinitionError as error:
        return "", error.findings
    return check_logs(forms.extract_logs(content.text) if content else "", path)


def check_logs(logs: str, came_from: str) -> tuple[str, Sequence[Finding]]:
    """Whatever is too long for an agent to read is refused."""
    most = _most_log_tokens()
    if feedback_files.estimate_tokens(logs) <= most:
        return logs, ()
    name = os.path.basename(came_from)
    message = f"the logs in {name} have more than about {most} tokens"
    fix = "keep only the important part, or raise MAX_LOGS_TOKENS"
    return logs, [Finding("logs-too-large", message, Place(came_from), fix)]


def _most_log_tokens() -> int:
    text = os.environ.get("MAX_LOGS_TOKENS", "")
    return int(text) if text.isdecimal() and int(text) else LOGS_TOKENS


def pose_question(
    held: LockedPlan, gate: str, item: str, payload: Payload, *, artifacts: tuple[str, ...] = ()
) -> None:
    """The question in the journal, then its file; a file that is there already is somebody's."""
    base = held.plan.where.base
    known = hash_artifacts(base, "", artifacts)
    keep_artifacts(base, payload_directory(held.plan.where, held.plan.run), known)
    about = str(payload.get("reason", ""))
    where_to = os.path.relpath(form_file(held.plan, gate, item), base)
    said = "\n".join(part for part in (about, f"answer in {where_to}") if part)
    told = {**payload, "about": about, "reason": said}
    set_finished_form_aside(held, gate, item, payload)
    held.found.book.record(
        f.QuestionPosed(
            state=gate,
            item=item,
            payload=told,
            digest=digest_hashes(known),
            artifacts=known,
            agent=held.caller,
        )
    )
    offer_form(held, gate, item)


def list_places(plan: Plan, prompts: Prompts, gate: str, item: str) -> list[str]:
    """One line for each; nothing for a gate that is about no file."""
    match gate:
        case "findings":
            return [f"findings: {_show_path(plan, plan.findings_dir)}"]
        case "plan":
            return [
                f"plan: {_show_path(plan, plan.directory)}",
                "the whole of it: envoy plan get-full-plan",
            ]
        case "variants" | "unfinished":
            ids = list(compared_variants(prompts, int(item)))
        case _:
            ids = [parse_prompt_id([item])] if item else []
    return [line for id_ in ids if id_ in prompts for line in _describe_work(plan, prompts, id_)]


def _describe_work(plan: Plan, prompts: Prompts, id_: PromptId) -> Iterator[str]:
    yield f"prompt {id_}: {_show_path(plan, prompt_path(plan, id_))}"
    branch = prompts[id_].worktree_branch_name
    place = find_worktree_path(plan.where, branch) if branch else None
    if place:
        yield f"worktree: {_show_path(plan, place)}"
    if branch:
        yield f"changes: git diff {plan.branch}...{branch}"


def _show_path(plan: Plan, path: str) -> str:
    """From the main checkout, unless it lies elsewhere."""
    short = os.path.relpath(path, plan.where.base)
    return path if short.startswith("..") else short
