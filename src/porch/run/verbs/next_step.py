"""What to type to move a run on: for commands that come before the run is ready for them."""

from porch.machine.budgets import DRIVERLESS
from porch.machine.state import RunState
from porch.model.protocol import Protocol
from porch.show.decision import format_answer
from porch.store.run_drivers import describe_driver, find_driver
from porch.store.run_names import unique_word
from porch.store.where import ProjectPaths


def describe_next_step(where: ProjectPaths, state: RunState, protocol: Protocol) -> str:
    """The decision that it waits for with the command that takes it, or the command to go on."""
    if state.outcome:
        return f"the run is already {state.outcome}"
    word = unique_word(where.names(), state.run.name, state.run.id)
    decisions = list(state.decisions.values())
    if decisions:
        names = ", ".join(each.name for each in decisions)
        answers = [format_answer(protocol, state, each, "approved") for each in decisions]
        commands = "; ".join(f"`{each}`" for each in answers if each)
        read = f"read it with `porch pending {word}`"
        return f"waiting now: {names}; {f'approve it: {commands}, or {read}' if commands else read}"
    if protocol.subject in DRIVERLESS:
        return f"`porch status {word}` shows where it is"
    driver = find_driver(where.run_dir(state.run.name))
    if driver.holder is not None:
        return f"it is running; `porch wait {word}` returns at the next decision"
    return describe_driver(driver, word)
