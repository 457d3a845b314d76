"""Bringing the files of a plan to what its journal says: after a crash, an edit, or an answer."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from porch.adapters import feedback_files, implementation_branches, plan_files
from porch.adapters.journal import scan
from porch.dialects import front_matter
from porch.errors import PorchError
from porch.machine import facts as f
from porch.machine import plans
from porch.machine.prompts import IS, PLAN, Prompt, as_fields
from porch.model.prompt_ids import PromptId
from porch.operations.plans import findings, pages, papers
from porch.operations.plans.desk import Desk
from porch.operations.plans.feedback_forms import files_of
from porch.operations.plans.shelf import PLAN_FILE
from porch.operations.session import payload_directory
from porch.runtime.payloading import expand
from porch.views import user_input

INPUT = "user_input.md"
ARCHIVE = "_archive"


def settle(desk: Desk) -> None:
    """Everything that is due; done again, it finds nothing to do."""
    for id_ in pages.listed(desk.plan):
        if IS not in desk.state.memory.get(("", str(id_)), {}):
            _adopt(desk, id_)
    papers.draw_all(desk, desk.prompts)
    keep_answers(desk)
    _show_stage(desk)
    for id_, prompt in desk.prompts.items():
        if prompt.variant_solution == "discard" and prompt.worktree_branch_name:
            _put_away(desk, id_, prompt)


def _adopt(desk: Desk, id_: PromptId) -> None:
    """A prompt that no command wrote is planned like any other."""
    try:
        prompt = pages.planned(desk.plan, id_)
        papers.stamp_found(desk, id_)
    except PorchError as error:
        desk.notes.append(str(error))
        return
    desk.move("adopt-prompt", {id_: as_fields(prompt)})
    papers.put(desk, id_, {})
    desk.notes.append(f"prompt {id_} was written by hand; it begins as unimplemented")


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a person said, by the record of the journal that has it."""

    seq: int
    at: str
    position: str
    gate: str
    item: str
    form: dict[str, Any]


def keep_answers(desk: Desk) -> None:
    """Each answer of a person changes what it was about and goes into the log of their input, once.

    An answer that cannot be kept yet keeps those behind it, so that they stay in their order.
    """
    last = int(desk.recalled(PLAN).get("kept_answers", 0))
    for answer in _answers(desk, last):
        try:
            _keep(desk, answer)
        except (PorchError, OSError) as error:
            desk.notes.append(f"the answer {answer.position} is not kept in files yet: {error}")
            return


def _keep(desk: Desk, answer: _Answer) -> None:
    if answer.gate == "findings":
        findings.settle(desk.plan, answer.form)
    if answer.gate == "plan" and not plans.has_changes(answer.form):
        _archive_findings(desk)
    # Before it is told: a finished file that stays would answer the next question, too.
    file_away(desk, answer.gate, answer.item, answer.position)
    path = desk.plan.file(INPUT)
    said = user_input.answer(answer.gate, answer.item, answer.form)
    if user_input.kept(answer.position, said) not in (plan_files.text(path) or ""):
        entry = user_input.entry(answer.at, said, answer.position)
        plan_files.append(path, entry, user_input.HEADING)
    news = {"kept_answers": answer.seq}
    desk.record(f.PlanMoved("keep-answer", plan=news, payload={"subject": answer.position}))


def _archive_findings(desk: Desk) -> None:
    """Told before it is done: once they are moved nobody could say any more which these were."""
    known = desk.recalled(PLAN).get("archived_findings", [])
    names = list(dict.fromkeys([*known, *findings.archive_names(desk.plan)]))
    if names != known:
        desk.record(f.PlanMoved("archive-findings", plan={"archived_findings": names}))
    findings.archive(desk.plan)


def _answers(desk: Desk, after: int) -> Iterator[_Answer]:
    """Every answer in the journal behind this record."""
    store = payload_directory(desk.plan.where, desk.plan.run)
    for raw in scan(os.path.join(desk.found.directory, "journal.jsonl")).records[after:]:
        if raw["fact"].get("is") != "WishTaken":
            continue
        for move in raw["moves"]:
            gate, _, last = str(move.get("path", "")).rpartition(".")
            if move.get("is") == "Remembered" and last == "answer":
                position = raw["fact"]["wish"]["position"]
                form = expand(store, move["payload"])["form"]
                item = str(move.get("item", ""))
                yield _Answer(raw["seq"], raw["at"], position, gate, item, form)


def file_away(desk: Desk, gate: str, item: str, position: str) -> None:
    """Whatever lies where a gate is answered is kept under a name of its own."""
    files = [path for path in files_of(desk.plan, gate, item) if os.path.lexists(path)]
    name = position.replace(":", "-").replace("#", "-")
    try:
        if files:
            feedback_files.archive(files, os.path.join(desk.plan.feedback_dir, ARCHIVE), name)
    except PorchError as error:
        desk.notes.append(str(error))


def _show_stage(desk: Desk) -> None:
    """An answer may have changed it; a file that cannot be read keeps nobody from the rest."""
    try:
        draw_stage(desk)
    except PorchError as error:
        desk.notes.append(str(error))


def draw_stage(desk: Desk) -> None:
    """The stage in the file of the plan, as the journal has it."""
    path = desk.plan.file(PLAN_FILE)
    text = plan_files.text(path)
    if text is None or front_matter.read(text, path).fields.get("stage") == desk.stage:
        return
    plan_files.write(path, front_matter.changed(text, path, {"stage": desk.stage}))


def _put_away(desk: Desk, id_: PromptId, prompt: Prompt) -> None:
    """A discarded variant keeps every commit under another name; its worktree goes."""
    branch = prompt.worktree_branch_name
    if branch.startswith("archive/"):
        return
    try:
        kept = implementation_branches.archive(desk.plan.where, branch)
    except PorchError as error:
        desk.notes.append(f"the branch of prompt {id_} is not archived yet: {error}")
        return
    if kept:
        desk.move("archive-branch", {id_: {"worktree_branch_name": kept}}, branch=branch)
        papers.draw(desk, id_)
