"""What agents, reviewers and people are told at each stage of a plan; plan prose is only data."""

from collections.abc import Iterable, Iterator

from porch.dialects.plan_xml.track_plan import PlanCriterion, TrackPhase, TrackPlan, TrackTask
from porch.dialects.plan_xml.walk import PlanStage
from porch.model.track_names import CONFIRM

_PLACES = """- workspace_dir: {{ workspace_dir }}
- track_dir: {{ track_dir }}
"""
_RULES = """## Rules

- Do this and nothing else of the plan.
- Do not edit plan.xml or track.xml: porch keeps the statuses, and puts back what you change there.
- Do not confirm anything in a person's name. Where a decision is missing, say BLOCKED and ask.
- End with at most ten lines that say what you did and how you know that it works.
"""


def escape_braces(text: str) -> str:
    """Whatever would be a tag of the template language is text here."""
    return text.replace("{", "{{ '{' }}")


def render_work(plan: TrackPlan, stage: PlanStage) -> str:
    """The prompt of a task."""
    told = [_render_head(plan, stage), *_render_node(stage)]
    return "\n".join((escape_braces("\n".join(told)), "## Where", "", _PLACES, _RULES))


def render_rework(plan: TrackPlan, stage: PlanStage) -> str:
    """The prompt of whoever changes a phase that was not confirmed."""
    about = "Its work is done, and was not confirmed. Change what is asked for below."
    told = [_render_head(plan, stage), about, "", *_render_phase(stage.phase)]
    return "\n".join((escape_braces("\n".join(told)), "## Where", "", _PLACES, _RULES))


def render_intent(plan: TrackPlan, stage: PlanStage) -> str:
    """The prompt of whoever says anew what is meant to be done; nothing is done yet."""
    about = (
        "Nothing of this has been done yet, and a person or a reviewer asked for another intent. "
        "Change no file. Say in at most ten lines what you would do, with what was asked for below."
    )
    told = [_render_head(plan, stage), about, "", *_render_node(stage)]
    return "\n".join((escape_braces("\n".join(told)), "## Where", "", _PLACES))


def render_review(plan: TrackPlan, stage: PlanStage) -> str:
    """The prompt of a reviewer: what to look at, at this moment."""
    told = [_render_head(plan, stage), _REVIEWED[stage.gate, stage.moment], _READER, ""]
    told += _render_node(stage)
    return "\n".join((escape_braces("\n".join(told)), "## Where", "", _PLACES))


_READER = "You have not worked on this. You read, and change nothing."
_BEFORE = """\
Review the intent and the plan before the work begins: is it clear, complete, in the right order,
and safe? Nothing of it has been done yet."""
_AFTER = """\
Review the completed work: does it do what the plan says, do the criteria hold, and what is broken
or missing? Look at the files, not at what is said about them."""
_GAP = """\
Look for gaps between what the plan asks for and what is there. A gap that must be closed before
going on is a blocking issue."""
_CRITERIA = """\
Find out for each criterion below whether it holds now. One that does not hold, or that you cannot
establish, is a blocking issue."""
_REVIEWED = {
    ("ai", "before"): _BEFORE,
    ("ai", "after"): _AFTER,
    ("gap", "before"): _BEFORE,
    ("gap", "after"): _GAP,
    ("criteria", "after"): _CRITERIA,
}


PAIRED = (
    "One of two questions that are put together: the last task of the phase, and the phase itself. "
    "Each needs an answer of its own."
)


def render_message(stage: PlanStage) -> str:
    """The first line of a confirmation, in the words of the protocol."""
    who = "human" if stage.kind == "gate" else f"ai:{stage.agent}"
    return f"{CONFIRM}({who}) {stage.node_words}. When={stage.moment}."


def describe_node(stage: PlanStage) -> str:
    """What a person reads below the message: the node as the plan has it, in one paragraph."""
    told = [stage.task.text if stage.task is not None else stage.phase.goal]
    if stage.task is None:
        names = ", ".join(f"{task.id} {task.name}".strip() for task in stage.phase.tasks)
        told.append(f"Tasks: {names}." if names else "It has no tasks, so nothing was done.")
    criteria = "; ".join(each.text for each in stage.node.criteria)
    told += [f"Criteria: {criteria}"] if criteria else []
    return " ".join(" ".join(text.split()) for text in told if text)


def _render_head(plan: TrackPlan, stage: PlanStage) -> str:
    track = f"Track {plan.id}: {plan.name}" if plan.name else f"Track {plan.id}"
    phase = f"Phase {stage.phase.id}: {stage.phase.name}".rstrip(": ")
    lines = [f"# {stage.node_words[:1].upper()}{stage.node_words[1:]}", "", track]
    lines += [plan.goal] if plan.goal else []
    lines += [phase] if stage.task is not None else []
    return "\n".join((*lines, ""))


def _render_node(stage: PlanStage) -> Iterator[str]:
    if stage.task is not None:
        return _render_task(stage.task)
    return _render_phase(stage.phase)


def _render_task(task: TrackTask) -> Iterator[str]:
    if task.text:
        yield from ("## What to do", "", task.text, "")
    yield from _render_criteria(task.criteria)
    parts = (f"{part.id} {part.name}".strip() for part in task.subtasks)
    yield from _render_list("Subtasks", parts)
    yield from _render_list("Files", task.files)


def _render_phase(phase: TrackPhase) -> Iterator[str]:
    if phase.goal:
        yield from ("## Goal", "", phase.goal, "")
    yield from _render_list("Tasks", (f"{task.id} {task.name}".strip() for task in phase.tasks))
    if not phase.tasks:
        yield from ("This phase has no tasks.", "")
    yield from _render_criteria(phase.criteria)


def _render_criteria(criteria: Iterable[PlanCriterion]) -> Iterator[str]:
    return _render_list("Criteria", (each.text for each in criteria))


def _render_list(title: str, texts: Iterable[str]) -> Iterator[str]:
    lines = [f"- {' '.join(text.split())}" for text in texts]
    if lines:
        yield from (f"## {title}", "", *lines, "")
