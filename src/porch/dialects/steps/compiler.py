"""Steps as a protocol that porch can run: one agent follows them, and ends with a declared output.

People are asked where the agent cannot go on. An output that names a check is a claim until the
check has passed; an agent that claims what is not so hears why, a few times.
"""

import re
from collections.abc import Sequence

from porch.dialects.steps.giving import Hole, parts
from porch.dialects.steps.records import Output, Steps
from porch.dialects.steps.references import rewritten
from porch.model.parameters import Parameter
from porch.model.protocol import (
    BLOCKED,
    EXHAUSTED,
    SILENT,
    Agent,
    Budget,
    Check,
    Command,
    Edge,
    End,
    Exit,
    Human,
    Input,
    Option,
    Protocol,
    State,
    Target,
)

WORK, COMPLETE, FAILED, ABANDONED = "work", "complete", "failed", "abandoned"
ASKED, STUCK = f"blocked:{WORK}", f"failed:{WORK}"
_FAILURE = re.compile(r"""\bsuccess["']?\s*:\s*false\b""")
_HOLE = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"[A-Za-z0-9]+")
_MOST = 60
CLAIMS, _CLAIMS = "claims", 3


def compiled(steps: Steps) -> Protocol:
    outputs = steps.outputs or (Output("DONE", "all steps are done"),)
    exits = tuple(zip(_names(outputs), outputs, strict=True))
    failures = tuple(f"{WORK}.{name}" for name, output in exits if _is_failure(output))
    actor = Agent(WORK, "", tuple(_exit(name, output) for name, output in exits))
    claims = [_claim(name) for name, output in exits if output.check]
    heard = (*_HEARD, *(Input("What you claimed is not so", f"{c}.failed") for c in claims))
    states = [
        State(WORK, WORK, actor, steps.name, steps.description, inputs=heard),
        *(_check(name, output) for name, output in exits if output.check),
        State(ASKED, WORK, _QUESTION),
        State(STUCK, WORK, _trouble(claims)),
        *([State(FAILED, FAILED, End("failed", failures), "Failed")] if failures else []),
        State(ABANDONED, ABANDONED, End("abandoned"), "Abandoned"),
        State(COMPLETE, COMPLETE, End("complete"), "Complete"),
    ]
    ways = [(name, _claim(name) if output.check else _end(output)) for name, output in exits]
    ways += [(BLOCKED, ASKED), (SILENT, STUCK), (EXHAUSTED, STUCK)]
    edges = [_edge(WORK, exit_, to) for exit_, to in ways]
    for name, output in exits:
        edges += _checked(name, output) if output.check else []
    edges += [_edge(ASKED, "answered", WORK), _edge(ASKED, "stopped", ABANDONED)]
    resets = (CLAIMS,) if claims else ()
    edges += [Edge(STUCK, "retry", (Target(WORK),), resets=resets)]
    edges += [_edge(STUCK, "stopped", ABANDONED)]
    return Protocol(
        steps.name,
        Target(WORK),
        {state.name: state for state in states},
        tuple(edges),
        description=steps.description,
        subject="inputs",
        budgets={CLAIMS: Budget(CLAIMS, _CLAIMS)} if claims else {},
    )


def _end(output: Output) -> str:
    return FAILED if _is_failure(output) else COMPLETE


def _claim(name: str) -> str:
    return f"{WORK}:{name.lower()}"


def _check(name: str, output: Output) -> State:
    command = Command("claim", shell=output.check, description=output.value)
    return State(_claim(name), WORK, Check((command,)), f"Is it so: {output.value}")


def _checked(name: str, output: Output) -> list[Edge]:
    """A claim that cannot be measured is a person's matter; a wrong one goes back to the agent."""
    again = Edge(_claim(name), "failed", (Target(WORK),), charges=CLAIMS, spent=(Target(STUCK),))
    return [
        _edge(_claim(name), "passed", _end(output)),
        again,
        _edge(_claim(name), "unmeasured", STUCK),
    ]


_HEARD = (
    Input("Answer to your question", f"{ASKED}.answered"),
    Input("A person asked for another try", f"{STUCK}.retry"),
)
_QUESTION = Human(
    "question",
    ASKED,
    "The agent needs an answer",
    (
        Option("answered", "go on with the steps", needs_text=True),
        Option("stopped", "end the run"),
    ),
    shows=(f"{WORK}.{BLOCKED}",),
)


def _trouble(claims: Sequence[str]) -> Human:
    seen = [f"{claim}.{exit_}" for claim in claims for exit_ in ("failed", "unmeasured")]
    return Human(
        "failure",
        STUCK,
        "The agent did not come to an end of the steps",
        (Option("retry", "begin the steps again"), Option("stopped", "end the run")),
        shows=(f"{WORK}.{EXHAUSTED}", f"{WORK}.{SILENT}", *seen),
    )


def _edge(state: str, exit_: str, to: str) -> Edge:
    return Edge(state, exit_, (Target(to),))


def _exit(name: str, output: Output) -> Exit:
    told = f"{output.value}: {output.description}" if output.description else output.value
    return Exit(name, (name,), bool(_HOLE.search(output.value)), told)


def _is_failure(output: Output) -> bool:
    return bool(_FAILURE.search(output.value))


def _names(outputs: Sequence[Output]) -> list[str]:
    """A word for each output that an agent can say and a person recognises."""
    names: list[str] = []
    for number, output in enumerate(outputs, 1):
        words = "_".join(_WORD.findall(_HOLE.sub("", output.value))).upper()[:_MOST].rstrip("_")
        is_free = words and words[0].isalpha() and words not in (*names, BLOCKED)
        names.append(words if is_free else f"OUTPUT_{number}")
    return names


def prompt(steps: Steps) -> str:
    """The template of the one turn: the numbered steps, with the inputs of the run in them."""
    head = f"# {steps.name}\n\n{steps.description}\n\nFollow these steps in order.\n\n"
    told = [f"{step.number}: {rewritten(step.text, steps)}" for step in steps.steps]
    return _template(head + "\n\n".join(told) + "\n", steps.inputs)


def _template(text: str, declared: Sequence[Parameter]) -> str:
    optional = {each.name for each in declared if each.optional}
    return "".join(
        _plain(part) if isinstance(part, str) else _value(part, optional)
        for part in parts(text, declared)
    )


def _value(hole: Hole, optional: set[str]) -> str:
    path = f"inputs['{hole.name}']"
    said = f"{_plain(hole.before)}{{{{ {path} }}}}{_plain(hole.after)}"
    return f"{{% if {path} is defined %}}{said}{{% endif %}}" if hole.name in optional else said


def _plain(text: str) -> str:
    """Whatever would be a tag of the template language is text here."""
    return text.replace("{", "{{ '{' }}")
