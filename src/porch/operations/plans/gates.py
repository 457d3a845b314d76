"""Gates: a question of a plan's run, asked once, answered by a person, however often one waits.

The waiter is nobody important. It poses the question, waits for an answer in the journal or in the
feedback file, and may die at any time; whoever waits next finds the question or the answer.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from porch.adapters.where import Where
from porch.errors import EXIT_WAITING, FailedError
from porch.machine import facts as f
from porch.machine import plans
from porch.machine.prompts import unmet, variants_of
from porch.model.prompt_ids import PromptId
from porch.operations.plans import findings, forms_taken, gate_results, opening, pages, place
from porch.operations.plans.contents import tree_of
from porch.operations.plans.desk import Desk
from porch.operations.plans.feedback_forms import file_of, files_of
from porch.operations.plans.patience import awaited
from porch.operations.plans.place import Plan
from porch.operations.plans.prompting import allowed
from porch.runtime.artifacts import digest_of, sums

# What a gate is called by the command that waits for it.
COMMANDS: Mapping[str, str] = {
    "findings": "block-findings-gate",
    "plan": "block-plan-gate",
    "testing": "block-prompt-testing-gate",
    "variants": "block-prompt-variants-gate",
    "logging": "block-debugging-logging-gate",
}
LONGEST_S = 43_200.0


@dataclass(frozen=True, slots=True)
class Came:
    """What came of waiting: data for the caller, and whether it is an answer."""

    data: dict[str, Any]
    is_pending: bool = False

    @property
    def code(self) -> int:
        return EXIT_WAITING if self.is_pending else 0


@dataclass(frozen=True, slots=True)
class Gate:
    """Which gate of which prompt, and who waits at it."""

    where: Where
    name: str
    id: PromptId | None = None
    force: bool = False
    caller: str = ""

    @property
    def item(self) -> str:
        """Variants are chosen among for a number; everything else is asked of one prompt."""
        if self.id is None:
            return ""
        return str(self.id.number) if self.name == "variants" else str(self.id)


def longest_s(environ: Mapping[str, str]) -> float:
    """How long one waits who names no time; what is no positive number counts as not set."""
    text = environ.get("BLOCKING_GATE_TIMEOUT_MS", "")
    return int(text) / 1000 if text.isdecimal() and int(text) else LONGEST_S


def block(gate: Gate, wait_s: float) -> Came:
    """Ask, if it is not being asked, and wait so long for the answer."""
    began = time.monotonic()
    plan = place.demand(place.current(gate.where))
    last: list[Came] = []

    def look() -> Came | None:
        last[:] = [_look(gate, plan)]
        return None if last[0].is_pending else last[0]

    awaited(plan, files_of(plan, gate.name, gate.item), wait_s, look)
    duration = round((time.monotonic() - began) * 1000)
    return Came({**last[0].data, "duration_ms": duration}, last[0].is_pending)


def _look(gate: Gate, plan: Plan) -> Came:
    """One look: an answer that is there, a file that is finished, or the question as it stands."""
    with opening.held(gate.where, gate.caller, plan=plan) as held:
        if _is_needless(held, gate):
            return Came(gate_results.skipped(held, gate.name, gate.id))
        _forget_other_files(held, gate)
        if answer := _answer(held, gate):
            return Came(gate_results.answered(held, gate.name, gate.id, answer))
        opening.demand_open(held)
        waiting = _unready(held, gate)
        if waiting:
            return _pending(held, gate, waiting)
        _pose(held, gate)
        if forms_taken.taken(held, gate.name, gate.item):
            answer = _answer(held, gate)
            return Came(gate_results.answered(held, gate.name, gate.id, answer))
        return _pending(held, gate, [])


def _forget_other_files(held: Desk, gate: Gate) -> None:
    """Who was content with other files is asked again; what somebody wants changed is told."""
    if gate.name != "testing" or gate.id is None:
        return
    answer, prompt = _answer(held, gate), held.demand(gate.id)
    if not answer or not answer["form"]["test_passed"] or prompt.status == "merged":
        return
    if prompt.tested_tree != tree_of(held.plan, prompt.worktree_branch_name):
        held.move("files-changed", {gate.id: {}})


def _is_needless(held: Desk, gate: Gate) -> bool:
    """Where there is nothing to ask."""
    if gate.name == "findings":
        return not findings.read_all(held.plan) and not _answer(held, gate)
    if gate.name == "plan" and not held.prompts:
        raise FailedError(
            "the plan has no prompts",
            fix="write them first: `envoy plan write-prompt`",
            code="no-prompts",
        )
    if gate.id is None:
        return False
    held.demand(gate.id)
    return gate.name == "variants" and len(variants_of(held.prompts, gate.id.number)) < 2


def _answer(held: Desk, gate: Gate) -> Mapping[str, Any]:
    """What was said to this, and still holds; a variant that came later was not chosen among."""
    answer = held.recalled(plans.answer_path(gate.name), gate.item)
    if gate.name == "variants" and gate.id and answer:
        return answer if gate.id.variant in answer["form"]["variants"] else {}
    return answer


def _unready(held: Desk, gate: Gate) -> list[str]:
    """Nobody is asked to choose while a variant is not ready to be looked at."""
    if gate.id is None:
        return []
    action = COMMANDS[gate.name]
    is_posed = plans.standing_of(held.state, gate.name, gate.item) is not None
    if not is_posed:
        allowed(action, held, gate.id, gate.force)
    if gate.name != "variants" or gate.force or is_posed:
        return []
    others = variants_of(held.prompts, gate.id.number)
    return [str(each) for each in others if unmet(action, held.prompts, each)]


def _pose(held: Desk, gate: Gate) -> None:
    if plans.standing_of(held.state, gate.name, gate.item) is not None:
        return
    payload: dict[str, Any] = {"reason": _reason(held, gate)}
    if gate.name == "testing" and gate.id is not None:
        payload["tree"] = tree_of(held.plan, held.prompts[gate.id].worktree_branch_name)
    if gate.force and gate.id is not None:
        payload["forced"] = [c.code for c in unmet(COMMANDS[gate.name], held.prompts, gate.id)]
    pose(held, gate.name, gate.item, payload, _artifacts(held, gate))


def pose(
    held: Desk, gate: str, item: str, payload: dict[str, Any], artifacts: tuple[str, ...] = ()
) -> None:
    """The question in the journal, then its file; a file that is there already is somebody's."""
    base = held.plan.where.base
    known = sums(base, "", artifacts)
    about = str(payload.get("reason", ""))
    where_to = os.path.relpath(file_of(held.plan, gate, item), base)
    said = "\n".join(part for part in (about, f"answer in {where_to}") if part)
    told = {**payload, "about": about, "reason": said}
    forms_taken.put_finished_away(held, gate, item, payload)
    held.found.book.record(f.QuestionPosed(gate, item, told, digest_of(known), known, held.caller))
    forms_taken.offer(held, gate, item)


def _reason(held: Desk, gate: Gate) -> str:
    if gate.id is None:
        return f"{len(held.prompts)} prompts" if gate.name == "plan" else ""
    if gate.name == "variants":
        return "\n".join(_variant(held, id_) for id_ in variants_of(held.prompts, gate.id.number))
    fields = pages.fields_of(held.plan, gate.id, held.demand(gate.id))
    branch = fields["worktree_branch_name"] or ""
    criteria = str(fields["success_criteria"]).strip()
    told = [str(fields["description"]).strip(), f"branch {branch}" if branch else "", criteria]
    return "\n".join(line for line in told if line)


def _variant(held: Desk, id_: PromptId) -> str:
    """Whoever chooses must see what there is to choose from, not only whose agent asked first."""
    fields = pages.fields_of(held.plan, id_, held.demand(id_))
    branch = fields["worktree_branch_name"]
    told = [str(fields["description"]).strip(), f"(branch {branch})" if branch else ""]
    return f"{id_}: {' '.join(part for part in told if part)}"


def _artifacts(held: Desk, gate: Gate) -> tuple[str, ...]:
    """What is decided about, by content: of a plan its files, of a prompt its text."""
    plan = held.plan
    match gate.name:
        case "findings":
            known = [f"findings/{each.specialist}.yaml" for each in findings.read_all(plan)]
        case "plan":
            known = ["plan.md", *(f"prompts/{id_}.md" for id_ in held.prompts)]
        case _:
            known = []
    return tuple(os.path.join(plan.relative, name) for name in known)


def _pending(held: Desk, gate: Gate, waiting_on: list[str]) -> Came:
    standing = plans.standing_of(held.state, gate.name, gate.item)
    told = {
        "state": "pending",
        "file": file_of(held.plan, gate.name, gate.item) if standing else None,
        "decision": standing.position if standing else None,
        "waiting_on": waiting_on,
        "message": f"prompts {', '.join(waiting_on)} are not ready to be chosen among"
        if waiting_on
        else "nobody has answered yet; run the same command again to wait on",
        "notes": held.notes,
    }
    return Came(told, is_pending=True)
