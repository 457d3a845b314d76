"""Bringing the files of a plan to what its journal says: after a crash, an edit, or an answer."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from porch.errors import PorchError
from porch.machine import facts as f
from porch.machine.plan import run_rules
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import PLAN_PATH, Prompt, as_fields
from porch.plan.files import front_matter, plan_files, prompt_files, prompt_pictures, user_input_log
from porch.plan.files.drawn_files import digest_fields, look_at
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.files.plan_snapshot import PLAN_FILE
from porch.run.engine.run_places import payload_directory
from porch.store.large_payloads import expand_payloads
from porch.system.clock import Clock

INPUT = user_input_log.FILE
ARCHIVE = "_archive"


def sync_files(desk: LockedPlan) -> None:
    """Everything that is due; done again, it finds nothing to do."""
    known = desk.prompts
    for id_ in prompt_files.list_prompt_files(desk.plan, frozenset(map(str, known))):
        _adopt_prompt(desk, id_)
    prompt_pictures.refresh_files(desk, desk.prompts)
    keep_answers(desk)
    _show_stage(desk)
    for id_, prompt in desk.prompts.items():
        if prompt.variant_solution == "discard" and prompt.worktree_branch_name:
            _archive_branch(desk, id_, prompt)


def _adopt_prompt(desk: LockedPlan, id_: PromptId) -> None:
    """A prompt that no command wrote is planned like any other."""
    try:
        file = prompt_files.read_prompt_file(desk.plan, id_)
        prompt = prompt_files.planned_prompt(file)
        prompt_pictures.stamp_found_file(desk, id_, file)
    except PorchError as error:
        desk.notes.append(str(error))
        return
    desk.move("adopt-prompt", {id_: as_fields(prompt)})
    prompt_pictures.draw_file(desk, id_, file)
    desk.notes.append(f"prompt {id_} was written by hand; it starts as unimplemented")


class _KeptAnswer(Struct, frozen=True):
    """What a person said, by the record of the journal that has it."""

    seq: int
    at: str
    position: str
    gate: str
    item: str
    form: Mapping[str, Any]


def keep_answers(desk: LockedPlan) -> None:
    """Each answer of a person changes what it was about and goes into the log of their input, once.

    An answer that cannot be kept yet keeps those behind it, so that they stay in their order.
    """
    last = int(desk.recalled(PLAN_PATH).get("kept_answers", 0))
    for answer in _read_answers(desk, last):
        try:
            _keep_answer(desk, answer)
        except (PorchError, OSError) as error:
            desk.notes.append(f"the answer {answer.position} is not saved in files yet: {error}")
            return


def _keep_answer(desk: LockedPlan, answer: _KeptAnswer) -> None:
    if answer.gate == "findings":
        from porch.plan.findings import findings_files

        findings_files.apply_answers(desk.plan, answer.form)
    if answer.gate == "plan" and not run_rules.has_changes(answer.form):
        _archive_findings(desk)
    # Before it is told: a finished file that stays would answer the next question, too.
    archive_form_files(desk, answer.gate, answer.item, answer.position)
    path = desk.plan.file(INPUT)
    said = user_input_log.render_answer(answer.gate, answer.item, answer.form)
    if user_input_log.render_kept_part(answer.position, said) not in (
        plan_files.read_file_text(path) or ""
    ):
        entry = user_input_log.render_entry(answer.at, said, answer.position)
        plan_files.append_to_file(path, entry, user_input_log.HEADING)
    news = {"kept_answers": answer.seq}
    desk.record(f.PlanMoved(action="keep-answer", plan=news, payload={"subject": answer.position}))


def _archive_findings(desk: LockedPlan) -> None:
    """Told before it is done: once they are moved nobody could say any more which these were."""
    from porch.plan.findings import findings_files

    known = desk.recalled(PLAN_PATH).get("archived_findings", [])
    names = list(dict.fromkeys([*known, *findings_files.list_archive_names(desk.plan)]))
    if names != known:
        desk.record(f.PlanMoved(action="archive-findings", plan={"archived_findings": names}))
    findings_files.archive_findings(desk.plan)


def _read_answers(desk: LockedPlan, after: int) -> Iterator[_KeptAnswer]:
    """Every answer in the journal behind this record."""
    store = payload_directory(desk.plan.where, desk.plan.run)
    waiting = [seq for seq in desk.state.wishes.values() if seq > after]
    for raw in desk.found.records_after(min(waiting) - 1) if waiting else ():
        if raw["fact"].get("is") != "WishTaken":
            continue
        for move in raw["moves"]:
            gate, _, last = str(move.get("path", "")).rpartition(".")
            if move.get("is") == "Remembered" and last == "answer":
                position = raw["fact"]["wish"]["position"]
                form = expand_payloads(store, move["payload"])["form"]
                item = str(move.get("item", ""))
                yield _KeptAnswer(raw["seq"], raw["at"], position, gate, item, form)


def archive_form_files(desk: LockedPlan, gate: str, item: str, position: str) -> None:
    """Whatever lies where a gate is answered is kept under a name of its own."""
    from porch.plan.gate_files import feedback_files
    from porch.plan.gate_files.gate_forms import form_files

    files = [path for path in form_files(desk.plan, gate, item) if os.path.lexists(path)]
    name = position.replace(":", "-").replace("#", "-")
    try:
        if files:
            feedback_files.archive_files(files, os.path.join(desk.plan.feedback_dir, ARCHIVE), name)
    except PorchError as error:
        desk.notes.append(str(error))


def _show_stage(desk: LockedPlan) -> None:
    """An answer may have changed it; a file that cannot be read keeps nobody from the rest."""
    try:
        draw_stage(desk)
    except PorchError as error:
        desk.notes.append(str(error))


def draw_stage(desk: LockedPlan) -> None:
    """The stage in the file of the plan, as the journal has it."""
    path, stage = desk.plan.file(PLAN_FILE), {"stage": desk.stage}
    look = look_at(path, Clock().wall(), stage)
    if not desk.drawn.touched({PLAN_FILE: look}):
        return
    text = plan_files.read_file_text(path)
    if text is None:
        return
    page = front_matter.read_page(text, path)
    if page.fields.get("stage") != desk.stage:
        plan_files.write_file(path, front_matter.render_changed_page(text, path, stage, page))
        look = []
    desk.drawn.stamp(PLAN_FILE, digest_fields(stage), look)
    desk.drawn.save()


def _archive_branch(desk: LockedPlan, id_: PromptId, prompt: Prompt) -> None:
    """A discarded variant keeps every commit under another name; its worktree goes."""
    branch = prompt.worktree_branch_name
    if branch.startswith("archive/"):
        return
    from porch.git.moves.checkout_repair import SALVAGE
    from porch.git.repository import resolve_commit
    from porch.plan.branches import implementation_branches

    where = desk.plan.where
    path = implementation_branches.find_worktree_path(where, branch) or ""
    ref = SALVAGE + os.path.basename(path)
    before = resolve_commit(where.base, ref) if path else None
    try:
        kept = implementation_branches.archive_branch(where, branch)
    except PorchError as error:
        desk.notes.append(f"the branch of prompt {id_} is not archived yet: {error}")
        return
    if path and resolve_commit(where.base, ref) != before:
        desk.notes.append(f"uncommitted work of prompt {id_} is kept: git show {ref}")
    if kept:
        desk.move("archive-branch", {id_: {"worktree_branch_name": kept}}, branch=branch)
        prompt_pictures.refresh_files(desk, [id_])
