"""Bringing the files of a plan to what its journal says: after a crash, an edit, or an answer."""

import os
from collections.abc import Iterator
from typing import Any

from porch.adapters import feedback_files, implementation_branches, plan_files
from porch.adapters.journal import scan
from porch.errors import PorchError
from porch.machine import plans
from porch.machine.prompts import IS, Prompt, as_fields, made
from porch.model.prompt_ids import PromptId, parse
from porch.operations.plans import findings, papers
from porch.operations.plans.desk import Desk
from porch.operations.plans.feedback_forms import files_of
from porch.operations.session import payload_directory
from porch.runtime.payloading import expand
from porch.views import user_input

INPUT = "user_input.md"
ARCHIVE = "_archive"


def settle(desk: Desk) -> None:
    """Everything that is due; done again, it finds nothing to do."""
    for name in plan_files.names(desk.plan.prompts_dir, ".md"):
        _adopt(desk, name)
    for id_ in desk.prompts:
        try:
            papers.draw(desk, id_)
        except PorchError as error:
            # One broken file keeps nobody from the others; who needs it hears all of it.
            desk.notes.append(str(error))
    keep_answers(desk)
    for id_, prompt in desk.prompts.items():
        if prompt.variant_solution == "discard" and prompt.worktree_branch_name:
            _put_away(desk, id_, prompt)


def _adopt(desk: Desk, name: str) -> None:
    """A prompt that no command wrote is planned like any other; what it says was done is not."""
    try:
        id_ = parse([name])
    except PorchError:
        return
    if str(id_) != name or IS in desk.state.memory.get(("", name), {}):
        return
    try:
        found = papers.page_of(desk.plan, id_).fields
    except PorchError as error:
        desk.notes.append(str(error))
        return
    prompt = _planned(found)
    desk.move("adopt-prompt", {id_: as_fields(prompt)})
    papers.put(desk, id_, {})
    desk.notes.append(f"prompt {id_} was written by hand; it begins as unimplemented")


def _planned(found: Any) -> Prompt:
    try:
        numbers = tuple(int(each) for each in found.get("depends_on") or ())
    except (TypeError, ValueError):
        numbers = ()
    return made(
        {
            "kind": "debug" if found.get("kind") == "debug" else "feature",
            "depends_on": numbers,
            "requires_manual_testing": found.get("requires_manual_testing") is True,
            "planned_at": str(found.get("planned_at") or ""),
        }
    )


def keep_answers(desk: Desk) -> None:
    """Each answer of a person goes into the log of their input once, then its file is put away."""
    path = desk.plan.file(INPUT)
    known = plan_files.text(path) or ""
    for at, position, gate, item, form in _answers(desk):
        if user_input.marked(position) in known:
            continue
        if gate == "findings":
            findings.settle(desk.plan, form)
        if gate == "plan" and not plans.has_changes(form):
            findings.archive(desk.plan)
        text = user_input.entry(at, user_input.answer(gate, item, form), position)
        plan_files.append(path, text, user_input.HEADING)
        _file_away(desk, gate, item, position)


def _answers(desk: Desk) -> Iterator[tuple[str, str, str, str, dict[str, Any]]]:
    """When, which position, gate, prompt, and the form, of every answer in the journal."""
    store = payload_directory(desk.plan.where, desk.plan.run)
    for raw in scan(os.path.join(desk.found.directory, "journal.jsonl")).records:
        if raw["fact"].get("is") != "WishTaken":
            continue
        for move in raw["moves"]:
            gate, _, last = str(move.get("path", "")).rpartition(".")
            if move.get("is") == "Remembered" and last == "answer":
                position = raw["fact"]["wish"]["position"]
                form = expand(store, move["payload"])["form"]
                yield raw["at"], position, gate, str(move.get("item", "")), form


def _file_away(desk: Desk, gate: str, item: str, position: str) -> None:
    files = [path for path in files_of(desk.plan, gate, item) if os.path.lexists(path)]
    if files:
        name = position.replace(":", "-").replace("#", "-")
        feedback_files.archive(files, os.path.join(desk.plan.feedback_dir, ARCHIVE), name)


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
