"""What the states of a walked plan are called: by the node they belong to, and the moment.

Ids of plans have dots, and dots part the paths of a memory; so states have underscores instead.
People see the id itself, in groups, titles and the names of gates.
"""

import re
from typing import Literal

from porch.text.late_pattern import late_pattern

CODUMENT = "codument"  # what people call the protocol of a plan
Moment = Literal["before", "after"]
GateKind = Literal["human", "ai", "gap", "criteria"]
HelperKind = Literal["issues", "fallback", "halted"]

DONE = "done"
LINK = "/@link"  # behind the name of a link: where it leads, not what lies there
FILE = "/@file"  # behind the name of a file that looks like the name of a part of a plan
CONFIRM = "Confirm "  # how the message of every confirmation begins
CONTINUE = "Continue? (Y/N)"  # how it ends where a person confirms
REOPENED = "reopened."  # where it is remembered why something done was taken back
_ENDINGS: dict[GateKind, str] = {"human": "", "ai": "-ai", "gap": "-gap", "criteria": "-criteria"}
_JOINED = "-end"
_ODD = late_pattern(r"[^A-Za-z0-9_-]")
_GATE = late_pattern(r"(.+)-(before|after)(-ai|-gap|-criteria)?", re.DOTALL)


def state_name(node: str) -> str:
    """The state in which the work of a task is done."""
    return _ODD.sub("_", node)


def gate_name(node: str, moment: Moment, kind: GateKind) -> str:
    """What people call a confirmation: T1.1-before, P2-after-ai."""
    return f"{node}-{moment}{_ENDINGS[kind]}"


def gate_state(node: str, moment: Moment, kind: GateKind) -> str:
    return gate_name(state_name(node), moment, kind)


def blocked_state(work: str) -> str:
    """Where a person decides what becomes of work that did not end well."""
    return f"{work}:blocked"


def rework_state(node: str) -> str:
    """Where an agent changes the work of a phase that was not confirmed."""
    return f"{state_name(node)}:rework"


def intent_state(node: str) -> str:
    """Where an agent says anew what it means to do."""
    return f"{state_name(node)}:intent"


def helper_state(gate: str, what: HelperKind) -> str:
    return f"{gate}:{what}"


def fork_state(phase: str, what: str) -> str:
    """Where several go off side by side: the tasks of a wave, or two questions at once."""
    return f"{state_name(phase)}:{what}"


def join_state(fork: str) -> str:
    """Where they wait for each other."""
    return f"{fork}{_JOINED}"


def fork_of_join(state: str) -> str:
    """The fork that belongs to a join; nothing if it is a fork itself."""
    return state.removesuffix(_JOINED) if state.endswith(_JOINED) else ""


def closing_state(phase: str) -> str:
    """Where the last phase closes: what was confirmed in it is compared once more."""
    return f"{state_name(phase)}:close"


def gate_of_state(state: str) -> str:
    """The gate that a state belongs to; nothing for one that works."""
    base = state.partition(":")[0]
    return base if _GATE.fullmatch(base) else ""


def moment_of_gate(gate: str) -> str:
    found = _GATE.fullmatch(gate)
    return found[2] if found else ""
