"""Gates: a question of a plan's run, asked once, answered by a person, however often one waits.

The waiter is nobody important. It poses the question, waits for an answer in the journal or in the
feedback file, and may die at any time; whoever waits next finds the question or the answer.
"""

import os
import time
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import EXIT_WAITING, FailedError
from porch.machine.facts import Payload
from porch.machine.plan import run_rules
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import (
    compared_variants,
    unmet_conditions,
    unready_variants,
    variants_of,
)
from porch.plan.files import locked_plan, plan_location, prompt_files
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.files.plan_location import Plan
from porch.plan.findings import findings_files
from porch.plan.gate_files.form_notice import list_form_problems
from porch.plan.gate_files.gate_forms import form_file, form_files
from porch.plan.gates import form_answers, gate_results
from porch.plan.gates.form_answers import pose_question
from porch.plan.gates.gate_results import GateAnswer, GatePending
from porch.plan.gates.gate_wait import wait_for_answer
from porch.plan.gates.unfinished_variants import UNFINISHED, ask_about_unfinished
from porch.plan.prompts.branch_contents import hash_branch_files
from porch.plan.prompts.prompt_rules import check_prompt_rules
from porch.plan.session import plan_session
from porch.store.where import ProjectPaths

# What a gate is called by the command that waits for it.
COMMANDS: Mapping[str, str] = {
    "findings": "block-findings-gate",
    "plan": "block-plan-gate",
    "testing": "block-prompt-testing-gate",
    "variants": "block-prompt-variants-gate",
    "logging": "block-debugging-logging-gate",
}
LONGEST_S = 43_200.0
_OTHER_FILES = (
    "ASKED AGAIN: files of the branch changed after this was asked the last time.\n"
    "Files that a test run leaves behind count too (for example __pycache__), unless git ignores"
    " them."
)


class GateOutcome(Struct, frozen=True):
    """What came of waiting: data for the caller, and whether it is an answer."""

    data: GateAnswer | GatePending
    is_pending: bool = False

    @property
    def code(self) -> int:
        return EXIT_WAITING if self.is_pending else 0


class WaitedGate(Struct, frozen=True):
    """Which gate of which prompt, and who waits at it."""

    where: ProjectPaths
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


def default_wait_s(environ: Mapping[str, str]) -> float:
    """How long one waits who names no time; what is no positive number counts as not set."""
    text = environ.get("BLOCKING_GATE_TIMEOUT_MS", "")
    return int(text) / 1000 if text.isdecimal() and int(text) else LONGEST_S


def wait_at_gate(gate: WaitedGate, wait_s: float) -> GateOutcome:
    """Ask, if it is not being asked, and wait so long for the answer."""
    began = time.monotonic()
    plan = plan_location.require_plan(plan_location.find_current_plan(gate.where))
    last: list[GateOutcome] = []

    def look() -> GateOutcome | None:
        last[:] = [_look_at_gate(gate, plan)]
        return None if last[0].is_pending else last[0]

    names = (gate.name, UNFINISHED) if gate.name == "variants" else (gate.name,)
    files = [file for name in names for file in form_files(plan, name, gate.item)]
    wait_for_answer(plan, files, wait_s, look)
    duration = round((time.monotonic() - began) * 1000)
    return GateOutcome(replace(last[0].data, duration_ms=duration), last[0].is_pending)


def _look_at_gate(gate: WaitedGate, plan: Plan) -> GateOutcome:
    """One look: an answer that is there, a file that is finished, or the question as it stands."""
    with plan_session.hold_plan(gate.where, gate.caller, plan=plan) as held:
        if _is_needless(held, gate):
            return GateOutcome(gate_results.skipped_result(held, gate.name, gate.id))
        why_again = _forget_other_files(held, gate)
        if answer := _find_answer(held, gate):
            return GateOutcome(gate_results.answered_result(held, gate.name, gate.id, answer))
        locked_plan.require_open_plan(held)
        if waiting := _list_unready_variants(held, gate):
            ask_about_unfinished(held, int(gate.item))
            name = UNFINISHED
        else:
            _pose_if_unasked(held, gate, why_again)
            name = gate.name
        if not form_answers.take_form(held, name, gate.item):
            return _pending_outcome(held, gate, name, waiting)
        answer = _find_answer(held, gate)
        if not answer:
            return _pending_outcome(held, gate, gate.name, _list_unready_variants(held, gate))
        return GateOutcome(gate_results.answered_result(held, gate.name, gate.id, answer))


def _forget_other_files(held: LockedPlan, gate: WaitedGate) -> str:
    """Who was content with other files is asked again, and told why; nothing if they are the same.

    What somebody wants changed is told, whatever has changed.
    """
    if gate.name != "testing" or gate.id is None:
        return ""
    answer, prompt = _find_answer(held, gate), held.demand(gate.id)
    if not answer or not answer["form"]["test_passed"] or prompt.status == "merged":
        return ""
    if prompt.tested_tree == hash_branch_files(held.plan, prompt.worktree_branch_name):
        return ""
    held.move("files-changed", {gate.id: {}})
    return _OTHER_FILES


def _is_needless(held: LockedPlan, gate: WaitedGate) -> bool:
    """Where there is nothing to ask."""
    if gate.name == "findings":
        return not findings_files.read_all_findings(held.plan) and not _find_answer(held, gate)
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


def _find_answer(held: LockedPlan, gate: WaitedGate) -> Mapping[str, Any]:
    """What was said to this, and still holds; a variant that came later was not chosen among."""
    answer = held.recalled(run_rules.answer_path(gate.name), gate.item)
    if gate.name == "variants" and gate.id and answer:
        return answer if gate.id.variant in answer["form"]["variants"] else {}
    return answer


def _list_unready_variants(held: LockedPlan, gate: WaitedGate) -> list[str]:
    """Nobody is asked to choose while a variant is not ready to be looked at."""
    if gate.id is None:
        return []
    action = COMMANDS[gate.name]
    is_posed = run_rules.gate_position(held.state, gate.name, gate.item) is not None
    if not is_posed:
        check_prompt_rules(action, held, gate.id, gate.force)
    if gate.name != "variants" or gate.force or is_posed:
        return []
    return [str(each) for each in unready_variants(held.prompts, gate.id.number)]


def _pose_if_unasked(held: LockedPlan, gate: WaitedGate, why_again: str) -> None:
    if run_rules.gate_position(held.state, gate.name, gate.item) is not None:
        return
    lines = (why_again, _describe_reason(held, gate))
    payload: Payload = {"reason": "\n".join(line for line in lines if line)}
    if gate.name == "testing" and gate.id is not None:
        tree = hash_branch_files(held.plan, held.prompts[gate.id].worktree_branch_name)
        payload = {**payload, "tree": tree}
    if gate.force and gate.id is not None:
        broken = unmet_conditions(COMMANDS[gate.name], held.prompts, gate.id)
        payload = {**payload, "forced": [each.code for each in broken]}
    pose_question(held, gate.name, gate.item, payload, artifacts=_list_artifacts(held, gate))


def _describe_reason(held: LockedPlan, gate: WaitedGate) -> str:
    if gate.id is None:
        return f"{len(held.prompts)} prompts" if gate.name == "plan" else ""
    if gate.name == "variants":
        return "\n".join(
            _describe_variant(held, id_) for id_ in compared_variants(held.prompts, gate.id.number)
        )
    prompt = held.demand(gate.id)
    fields = prompt_files.prompt_fields(
        prompt_files.read_prompt_file(held.plan, gate.id), gate.id, prompt
    )
    branch = fields["worktree_branch_name"] or ""
    criteria = str(fields["success_criteria"]).strip()
    told = [str(fields["description"]).strip(), f"branch {branch}" if branch else "", criteria]
    return "\n".join(line for line in told if line)


def _describe_variant(held: LockedPlan, id_: PromptId) -> str:
    """Whoever chooses must see what there is to choose from, not only whose agent asked first."""
    fields = prompt_files.prompt_fields(
        prompt_files.read_prompt_file(held.plan, id_), id_, held.demand(id_)
    )
    branch = fields["worktree_branch_name"]
    told = [str(fields["description"]).strip(), f"(branch {branch})" if branch else ""]
    return f"{id_}: {' '.join(part for part in told if part)}"


def _list_artifacts(held: LockedPlan, gate: WaitedGate) -> tuple[str, ...]:
    """What is decided about, by content: of a plan its files, of a prompt its text."""
    plan = held.plan
    match gate.name:
        case "findings":
            known = [
                f"findings/{each.specialist}.yaml"
                for each in findings_files.read_all_findings(plan)
            ]
        case "plan":
            known = ["plan.md", *(f"prompts/{id_}.md" for id_ in held.prompts)]
        case _:
            known = []
    return tuple(os.path.join(plan.relative, name) for name in known)


def _pending_outcome(
    held: LockedPlan, gate: WaitedGate, name: str, waiting_on: list[str]
) -> GateOutcome:
    standing = run_rules.gate_position(held.state, name, gate.item)
    file = form_file(held.plan, name, gate.item) if standing else None
    problems = list_form_problems(file) if file else []
    told = GatePending(
        file=file,
        decision=standing.position if standing else None,
        waiting_on=waiting_on,
        message=_describe_pending(waiting_on, problems, is_asked=file is not None),
        notes=held.notes,
        problems=problems,
    )
    return GateOutcome(told, is_pending=True)


def _describe_pending(waiting_on: list[str], problems: list[str], *, is_asked: bool) -> str:
    if waiting_on and is_asked and not problems:
        return (
            f"nobody works on {', '.join(waiting_on)} any more; a person decides whether to go on "
            "without it; run the same command again to wait longer"
        )
    if waiting_on and not problems:
        return f"prompts {', '.join(waiting_on)} are not ready to be compared"
    if problems:
        return (
            f"the answer in the file cannot be used yet: {'; '.join(problems)}; tell the person, "
            "and run the same command again to wait longer"
        )
    return "nobody has answered yet; run the same command again to wait longer"
