"""Steps as a protocol that porch can run: one agent follows them, and ends with a declared output.

People are asked where the agent cannot go on. An output that names a check is a claim until the
check has passed; an agent that claims what is not so hears why, a few times.
"""

from collections.abc import Sequence

from porch.dialects.steps.file_records import DeclaredOutput, StepProtocol
from porch.dialects.steps.placeholders import Placeholder, split_placeholders
from porch.dialects.steps.references import rewrite_references
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
from porch.text.late_pattern import late_pattern

WORK, COMPLETE, FAILED, ABANDONED = "work", "complete", "failed", "abandoned"
QUESTION_STATE, FAILURE_STATE = f"blocked:{WORK}", f"failed:{WORK}"
_FAILURE = late_pattern(r"""\bsuccess["']?\s*:\s*false\b""")
_HOLE = late_pattern(r"<[^<>]*>")
_WORD = late_pattern(r"[A-Za-z0-9]+")
_MOST_CHARACTERS = 60
CLAIMS_BUDGET, _CLAIM_LIMIT = "claims", 3


def compile_steps(steps: StepProtocol) -> Protocol:
    outputs = steps.outputs or (DeclaredOutput("DONE", "all steps are done"),)
    exits = tuple(zip(_output_names(outputs), outputs, strict=True))
    failures = tuple(f"{WORK}.{name}" for name, output in exits if _is_failure(output))
    actor = Agent(WORK, "", tuple(_make_exit(name, output) for name, output in exits))
    claims = [_claim_state_name(name) for name, output in exits if output.check]
    heard = (
        *_ANSWER_INPUTS,
        *(Input("What you claimed is not true", f"{c}.failed") for c in claims),
    )
    states = [
        State(WORK, WORK, actor, steps.name, steps.description, inputs=heard),
        *(_claim_check_state(name, output) for name, output in exits if output.check),
        State(QUESTION_STATE, WORK, _QUESTION),
        State(FAILURE_STATE, WORK, _trouble_question(claims)),
        *([State(FAILED, FAILED, End("failed", failures), "Failed")] if failures else []),
        State(ABANDONED, ABANDONED, End("abandoned"), "Abandoned"),
        State(COMPLETE, COMPLETE, End("complete"), "Complete"),
    ]
    ways = [
        (name, _claim_state_name(name) if output.check else _end_state(output))
        for name, output in exits
    ]
    ways += [(BLOCKED, QUESTION_STATE), (SILENT, FAILURE_STATE), (EXHAUSTED, FAILURE_STATE)]
    edges = [_make_edge(WORK, exit_, to) for exit_, to in ways]
    for name, output in exits:
        edges += _claim_edges(name, output) if output.check else []
    edges += [
        _make_edge(QUESTION_STATE, "answered", WORK),
        _make_edge(QUESTION_STATE, "stopped", ABANDONED),
    ]
    resets = (CLAIMS_BUDGET,) if claims else ()
    edges += [Edge(FAILURE_STATE, "retry", (Target(WORK),), resets=resets)]
    edges += [_make_edge(FAILURE_STATE, "stopped", ABANDONED)]
    return Protocol(
        steps.name,
        Target(WORK),
        {state.name: state for state in states},
        tuple(edges),
        description=steps.description,
        subject="inputs",
        budgets={CLAIMS_BUDGET: Budget(CLAIMS_BUDGET, _CLAIM_LIMIT)} if claims else {},
    )


def _end_state(output: DeclaredOutput) -> str:
    return FAILED if _is_failure(output) else COMPLETE


def _claim_state_name(name: str) -> str:
    return f"{WORK}:{name.lower()}"


def _claim_check_state(name: str, output: DeclaredOutput) -> State:
    command = Command("claim", output.check, description=output.value, about=output.about)
    return State(_claim_state_name(name), WORK, Check((command,)), f"Is it true: {output.value}")


def _claim_edges(name: str, output: DeclaredOutput) -> list[Edge]:
    """A claim that cannot be measured is a person's matter; a wrong one goes back to the agent."""
    again = Edge(
        _claim_state_name(name),
        "failed",
        (Target(WORK),),
        charges=CLAIMS_BUDGET,
        spent=(Target(FAILURE_STATE),),
    )
    return [
        _make_edge(_claim_state_name(name), "passed", _end_state(output)),
        again,
        _make_edge(_claim_state_name(name), "unmeasured", FAILURE_STATE),
    ]


_ANSWER_INPUTS = (
    Input("Answer to your question", f"{QUESTION_STATE}.answered"),
    Input("A person asked for another try", f"{FAILURE_STATE}.retry"),
)
_QUESTION = Human(
    "question",
    QUESTION_STATE,
    "The agent needs an answer",
    (
        Option("answered", "continue with the steps", needs_text=True),
        Option("stopped", "end the run"),
    ),
    shows=(f"{WORK}.{BLOCKED}",),
)


def _trouble_question(claims: Sequence[str]) -> Human:
    seen = [f"{claim}.{exit_}" for claim in claims for exit_ in ("failed", "unmeasured")]
    return Human(
        "failure",
        FAILURE_STATE,
        "The agent did not finish the steps",
        (Option("retry", "start the steps again"), Option("stopped", "end the run")),
        shows=(f"{WORK}.{EXHAUSTED}", f"{WORK}.{SILENT}", *seen),
    )


def _make_edge(state: str, exit_: str, to: str) -> Edge:
    return Edge(state, exit_, (Target(to),))


def _make_exit(name: str, output: DeclaredOutput) -> Exit:
    told = f"{output.value}: {output.description}" if output.description else output.value
    return Exit(name, (name,), bool(_HOLE.search(output.value)), told)


def _is_failure(output: DeclaredOutput) -> bool:
    return bool(_FAILURE.search(output.value))


def _output_names(outputs: Sequence[DeclaredOutput]) -> list[str]:
    """A word for each output that an agent can say and a person recognises."""
    names: list[str] = []
    for number, output in enumerate(outputs, 1):
        words = (
            "_".join(_WORD.findall(_HOLE.sub("", output.value)))
            .upper()[:_MOST_CHARACTERS]
            .rstrip("_")
        )
        is_free = words and words[0].isalpha() and words not in (*names, BLOCKED)
        names.append(words if is_free else f"OUTPUT_{number}")
    return names


def render_steps_template(steps: StepProtocol) -> str:
    """The template of the one turn: the numbered steps, with the inputs of the run in them."""
    head = f"# {steps.name}\n\n{steps.description}\n\nFollow these steps in order.\n\n"
    told = [f"{step.number}: {rewrite_references(step.text, steps)}" for step in steps.steps]
    return _render_template(head + "\n\n".join(told) + "\n", steps.inputs)


def _render_template(text: str, declared: Sequence[Parameter]) -> str:
    optional = {each.name for each in declared if each.optional}
    return "".join(
        _escape_braces(part) if isinstance(part, str) else _render_placeholder(part, optional)
        for part in split_placeholders(text, declared)
    )


def _render_placeholder(hole: Placeholder, optional: set[str]) -> str:
    path = f"inputs['{hole.name}']"
    said = f"{_escape_braces(hole.before)}{{{{ {path} }}}}{_escape_braces(hole.after)}"
    return f"{{% if {path} is defined %}}{said}{{% endif %}}" if hole.name in optional else said


def _escape_braces(text: str) -> str:
    """Whatever would be a tag of the template language is text here."""
    return text.replace("{", "{{ '{' }}")
