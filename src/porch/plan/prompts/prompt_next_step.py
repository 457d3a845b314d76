"""What comes next for a prompt, in the words of the command to type: for whoever takes it up."""

from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import Prompt, Prompts, unmet_conditions


def start_command(id_: PromptId, prompt: Prompt, *, take_over: bool = False) -> str:
    """How work on a prompt is begun, or gone on with."""
    name = prompt.delegated_to or "NAME"
    return f"envoy plan start-prompt {id_} --specialist {name}{' --take-over' * take_over}"


def describe_next_step(prompts: Prompts, id_: PromptId) -> str:
    """The first step that is not done yet, as the rules of a prompt's life have it."""
    prompt = prompts[id_]
    if prompt.status == "merged":
        return f"finish it: envoy plan complete-prompt {id_}"
    if prompt.kind == "debug" and not prompt.completed_debug_logging:
        return f"add the logs, then: envoy plan block-debugging-logging-gate {id_}"
    if not prompt.is_written or "failed" in (prompt.review, prompt.testing):
        return _describe_recording(id_, prompt)
    if prompt.review != "passed":
        return f"have it reviewed: envoy review {id_}"
    unmet = [each.code for each in unmet_conditions("merge-worktree", prompts, id_)]
    gates = {"testing-not-passed": "prompt-testing", "variant-not-resolved": "prompt-variants"}
    for code in unmet:
        if code in gates:
            return f"ask a person: envoy plan block-{gates[code]}-gate {id_}"
    return f"commit what is left, then: envoy git merge-worktree {id_}"


def _describe_recording(id_: PromptId, prompt: Prompt) -> str:
    number = prompt.current_iteration + prompt.is_written
    what = "make the changes that were asked for" if prompt.is_written else "do the work"
    reason = ' --refinement-reason "..."' if number > 1 else ""
    command = f"envoy plan record-implementation {id_} --iteration {number}{reason}"
    return f'{what}, commit, then: {command} --walkthrough "..."'
