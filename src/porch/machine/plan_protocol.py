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
_FORM = "the form is filled in; in the feedback file, or as YAML"

# Each gate with what a person is asked and the answers there are; a form has a feedback file.
GATES: Mapping[str, tuple[AskKind, str, tuple[Option, ...]]] = {
    "findings": (
        "question",
        "Are these approaches what you want?",
        (Option("approved", "they are planned as they stand"), Option("answered", _FORM, True)),
    ),
    "plan": (
        "question",
        "Is this plan ready to be carried out?",
        (
            Option("approved", "the plan is in progress, its findings are archived"),
            Option("rejected", "the plan is changed as you say, and you are asked again", True),
            Option("answered", _FORM, True),
        ),
    ),
    "testing": (
        "question",
        "Does it work?",
        (
            Option("approved", "it is tested and can be merged"),
            Option("rejected", "it is changed as you say, and you are asked again", True),
            Option("answered", _FORM, True),
        ),
    ),
    "variants": (
        "question",
        "Which variant is merged?",
        (Option("answered", "exactly one is main; " + _FORM, True),),
    ),
    "logging": (
        "question",
        "What do the logs say when the fault happens?",
        (Option("answered", "the agent reads your logs and thoughts; " + _FORM, True),),
    ),
    "clarifying": (
        "question",
        "A reviewer has questions",
        (Option("answered", "the reviewer is asked again with your answers; " + _FORM, True),),
    ),
    "rounds": (
        "undecided",
        "The reviews found no end",
        (
            Option("retry", "as many rounds again are allowed"),
            Option(_STOPPED, "no further review is allowed for this prompt"),
        ),
    ),
}
FORMS = tuple(name for name, gate in GATES.items() if gate[2][-1].exit == "answered")


def protocol() -> Protocol:
    """Its gates stand only while somebody is asked; nothing leads to them but a command."""
    gates = {
        name: Kind(name, name, Human(kind, name, title, options, shows=(posed_path(name),)))
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


def posed_path(gate: str) -> str:
    return f"{gate}.posed"


def answer_path(gate: str) -> str:
    return f"{gate}.answer"
