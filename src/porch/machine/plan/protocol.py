"""The protocol of a plan's implicit run: gates that stand only while somebody is asked."""

from collections.abc import Mapping

from porch.machine.budgets import PLAN
from porch.model.protocol import AskKind, Edge, End, Human, Join, Option, Protocol, Target
from porch.model.protocol import State as Kind

NAME = PLAN
OPEN = "open"
DONE = "done"
REVIEW = "review"
_STOPPED = "stopped"
_FORM = "fill in the form: in the feedback file, or as YAML"

# Each gate with what a person is asked and the answers there are; a form has a feedback file.
GATES: Mapping[str, tuple[AskKind, str, tuple[Option, ...]]] = {
    "findings": (
        "question",
        "Are these approaches what you want?",
        (Option("approved", "plan them as they are"), Option("answered", _FORM, True)),
    ),
    "plan": (
        "question",
        "Is this plan ready to start?",
        (
            Option("approved", "start the plan; its findings are archived"),
            Option(
                "rejected",
                "say what must change; the plan is changed and you are asked again",
                True,
            ),
            Option("answered", _FORM, True),
        ),
    ),
    "testing": (
        "question",
        "Does it work?",
        (
            Option("approved", "mark it as tested; it can be merged"),
            Option("rejected", "say what must change; it is changed and you are asked again", True),
            Option("answered", _FORM, True),
        ),
    ),
    "variants": (
        "question",
        "Which variant do you want to merge?",
        (Option("answered", "choose exactly one as main; " + _FORM, True),),
    ),
    "unfinished": (
        "question",
        "Nobody works on a variant any more: go on without it?",
        (
            Option("alone", "go on without it; its branch stays as it is"),
            Option("wait", "wait until somebody works on it again"),
            Option("discard", "go on without it; its branch is put away under archive/"),
            Option("answered", _FORM, True),
        ),
    ),
    "logging": (
        "question",
        "What do the logs show when the bug happens?",
        (Option("answered", "give your logs and notes to the agent; " + _FORM, True),),
    ),
    "clarifying": (
        "question",
        "A reviewer has questions",
        (Option("answered", "answer the reviewer, who then reviews again; " + _FORM, True),),
    ),
    "rounds": (
        "undecided",
        "No review has passed: ask the reviewers again or stop?",
        (
            Option("retry", "ask the reviewers again; as many rounds as before are allowed"),
            Option(_STOPPED, "stop; no more reviews for this prompt"),
        ),
    ),
}
FORMS = tuple(name for name, gate in GATES.items() if gate[2][-1].exit == "answered")


def build_plan_protocol() -> Protocol:
    """Its gates stand only while somebody is asked; nothing leads to them but a command."""
    gates = {
        name: Kind(name, name, Human(kind, name, title, options, shows=(question_path(name),)))
        for name, (kind, title, options) in GATES.items()
    }
    states = {
        OPEN: Kind(OPEN, OPEN, Join(), "Plan"),
        **gates,
        REVIEW: Kind(REVIEW, REVIEW, Join(), "Reviews"),
        DONE: Kind(DONE, DONE, End("complete")),
    }
    edges = [
        Edge(name, option.exit, ()) for name, (_, _, options) in GATES.items() for option in options
    ]
    return Protocol(
        name=NAME,
        initial=Target(OPEN),
        states=states,
        edges=tuple(edges),
        description="The decisions of a plan",
        subject=NAME,
    )


def question_path(gate: str) -> str:
    return f"{gate}.posed"


def answer_path(gate: str) -> str:
    return f"{gate}.answer"
