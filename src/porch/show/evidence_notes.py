"""What people must know of the evidence behind a decision, so that nobody takes it for more.

Reviewers that gave no verdict, checks that proved nothing, files that decide a measurement and that
were changed during a phase, and what changed outside the worktree during a turn.
"""

from collections.abc import Iterator, Mapping, Sequence

from porch.machine.base_commands import EXPECTED, find_base_failure
from porch.machine.exits.touched_files import list_touched_files, list_uncompared
from porch.machine.facts import Payload
from porch.machine.outside import UNPERMITTED, list_outside_changes
from porch.machine.state import MemoryReader, RunState, Standing
from porch.model.protocol import Check, Protocol
from porch.text.printable import make_printable

TITLE = "what measured this was changed during this phase"
BASE = "before the work began"
UNCOMPARED = "what measures this could not be compared"
OUTSIDE = "changed outside the worktree during a turn"
BEYOND = "changed during a turn without permission to write it"
MOST_SHOWN = 20
_COMPARED = "the files were only compared: the checks ran with these changes"
_BY_NOBODY = "you, another run or the agent may have done it"
_LOOKED_AFTER = "checks with a runner ran without these changes, others with them"
_MEANING: Mapping[str, str] = {
    "skipped": "there is nothing to run",
    "flaky": "failed and then passed on the same files",
}


def list_abstentions(state: RunState) -> list[str]:
    """One sentence for each panel of a run whose last round somebody was missing from."""
    return [told for _, _, _, told in _list_missing(state)]


def list_phase_abstentions(protocol: Protocol, state: RunState, standing: Standing) -> list[str]:
    """Only those of the phase and the item of a position; a graph has no panels."""
    group = protocol.group_of(standing.state)
    missing = () if protocol.spec else _list_missing(state)
    return [
        told
        for instance, item, name, told in missing
        if instance == standing.instance
        and item in ("", standing.item)
        and protocol.group_of(name) == group
    ]


def _list_missing(state: RunState) -> Iterator[tuple[str, str, str, str]]:
    rounds: dict[tuple[str, str, str], Payload] = {}
    for (instance, item), found in _ROUNDS.list_found(state):
        rounds |= {(instance, item, name): last for name, last in found}
    for (instance, item, name), payload in rounds.items():
        if payload.get("abstained"):
            place = f" of {item}" if item else ""
            yield instance, item, name, f"{name}{place}: {payload['coverage']}"


def list_full_rounds(protocol: Protocol, state: RunState, standing: Standing) -> list[str]:
    """Of each panel in the phase of a question, its last round if nobody was missing from it."""
    group, reviews = protocol.group_of(standing.state), {}
    for item in () if protocol.spec else dict.fromkeys(("", standing.item)):
        for name, last in _read_rounds(state.memory.get((standing.instance, item), {})):
            if protocol.group_of(name) == group and not last.get("abstained"):
                reviews[name] = str(last["coverage"])
    return list(reviews.values())


def _read_rounds(memory: Mapping[str, Payload]) -> tuple[tuple[str, Payload], ...]:
    """Memory is in the order in which it was made, so the last of a panel's exits is its newest."""
    found = ((path, payload) for path, payload in memory.items() if "coverage" in payload)
    return tuple((path.rpartition(".")[0], payload) for path, payload in found)


_ROUNDS = MemoryReader(_read_rounds)


def find_check_notes(state: RunState) -> dict[str, list[str]]:
    """The checks that were skipped last time, and those that were flaky."""
    found = [(key[-1], past) for key, past in state.past_checks.items()]
    notes = {
        "skipped": [name for name, past in found if past.result == "skipped"],
        "flaky": [name for name, past in found if past.flaky],
    }
    return {word: list(dict.fromkeys(names)) for word, names in notes.items() if names}


def list_check_notes(state: RunState) -> Iterator[str]:
    """One line for all that were skipped last time, one for all that were flaky."""
    for word, names in find_check_notes(state).items():
        yield f"{word}: {', '.join(names)} ({_MEANING[word]})"


def describe_measurement(protocol: Protocol, state: RunState) -> dict[str, str]:
    """Reports for whoever decides; none where everything was compared and is as it was found."""
    names = list_touched_files(state)
    told = _join_names(names)
    how = _LOOKED_AFTER if _has_runner(protocol) else _COMPARED
    base = describe_base_failure(state)
    before = {BASE: base} if base else {}
    changed = {TITLE: f"{told} ({how})"} if names else {}
    reasons = make_printable("; ".join(list_uncompared(state)))
    outside = _join_names(list_outside_changes(state))
    beyond = _join_names(list_outside_changes(state, UNPERMITTED))
    more = {UNCOMPARED: reasons, OUTSIDE: f"{outside} ({_BY_NOBODY})" if outside else ""}
    more[BEYOND] = beyond
    return {**before, **changed, **{title: text for title, text in more.items() if text}}


def _join_names(names: Sequence[str]) -> str:
    more = f", and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return make_printable(", ".join(names[:MOST_SHOWN])) + more


def describe_base_failure(state: RunState) -> str:
    """What did not pass before anybody worked, and what a person said to it."""
    failure = find_base_failure(state)
    if failure is None or not failure.answer:
        return ""
    names = ", ".join((*failure.failed, *failure.unmeasured))
    by = failure.by or "somebody"
    said = f"expected, says {by}" if failure.answer == EXPECTED else f"{by} went on all the same"
    return make_printable(f"{names} did not pass ({said})")


def _has_runner(protocol: Protocol) -> bool:
    checks = [each.actor for each in protocol.states.values() if isinstance(each.actor, Check)]
    return any(command.runner for check in checks for command in check.commands)
