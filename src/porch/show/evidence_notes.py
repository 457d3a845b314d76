"""What people must know of the evidence behind a decision, so that nobody takes it for more.

Reviewers that gave no verdict, checks that proved nothing, and files that decide a measurement and
that an agent changed.
"""

from collections.abc import Iterator, Mapping

from porch.machine.base_commands import EXPECTED, find_base_failure
from porch.machine.exits.touched_files import list_touched_files, list_uncompared
from porch.machine.facts import Payload
from porch.machine.state import MemoryReader, RunState, Standing
from porch.model.protocol import Check, Protocol
from porch.text.printable import make_printable

TITLE = "what measured this was changed by the agent"
BASE = "before the work began"
UNCOMPARED = "what measures this could not be compared"
MOST_SHOWN = 20
_EVIDENCE = "evidence."
_COMPARED = "the files were only compared: the checks ran with these changes"
_LOOKED_AFTER = "checks with a runner ran without these changes, others with them"
_MEANING: Mapping[str, str] = {
    "skipped": "there is no command to run",
    "flaky": "failed and then passed on the same files",
}


def list_abstentions(state: RunState, standing: Standing | None = None) -> list[str]:
    """One sentence for each panel whose last round somebody was missing from.

    With a position only those of its phase and item, else of the whole run.
    """
    rounds: dict[tuple[str, str, str], Payload] = {}
    for (instance, item), found in _ROUNDS.list_found(state):
        if standing is None or (instance == standing.instance and item in ("", standing.item)):
            rounds |= {(instance, item, name): last for name, last in found}
    group = standing.state.partition(":")[0] if standing else ""
    return [
        f"{name}{f' of {item}' if item else ''}: {payload['coverage']}"
        for (_, item, name), payload in rounds.items()
        if payload.get("abstained") and group in ("", name.partition(":")[0])
    ]


def list_good_evidence(state: RunState, standing: Standing) -> list[str]:
    """What was measured in the phase of a question and found good: checks, then reviews."""
    group = standing.state.partition(":")[0]
    front = f"{_EVIDENCE}{group}:"
    passed: dict[str, None] = {}
    reviews: dict[str, str] = {}
    for item in dict.fromkeys(("", standing.item)):
        memory = state.memory.get((standing.instance, item), {})
        passed |= {path.removeprefix(front): None for path in memory if path.startswith(front)}
        for name, last in _read_rounds(memory):
            if name.partition(":")[0] == group and not last.get("abstained"):
                reviews[name] = str(last["coverage"])
    checks = [f"passed: {', '.join(passed)}"] if passed else []
    return [*checks, *(f"reviews: {told}" for told in reviews.values())]


def _read_rounds(memory: Mapping[str, Payload]) -> tuple[tuple[str, Payload], ...]:
    """Memory is in the order in which it was made, so the last of a panel's exits is its newest."""
    found = ((path, payload) for path, payload in memory.items() if "coverage" in payload)
    return tuple((path.rpartition(".")[0], payload) for path, payload in found)


_ROUNDS = MemoryReader(_read_rounds)


def _read_passed(memory: Mapping[str, Payload]) -> tuple[Payload, ...]:
    return tuple(payload for path, payload in memory.items() if path.endswith(".passed"))


_PASSED = MemoryReader(_read_passed)


def list_check_notes(state: RunState) -> Iterator[str]:
    """One line for all that were skipped last time, one for all that were flaky."""
    passed = [payload for _, found in _PASSED.list_found(state) for payload in found]
    for word, meaning in _MEANING.items():
        names = dict.fromkeys(str(name) for each in passed for name in each.get(word) or ())
        if names:
            yield f"{word}: {', '.join(names)} ({meaning})"


def describe_measurement(protocol: Protocol, state: RunState) -> dict[str, str]:
    """Reports for whoever decides; none where everything was compared and is as it was found."""
    names = list_touched_files(state)
    more = f", and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    told = make_printable(", ".join(names[:MOST_SHOWN])) + more
    how = _LOOKED_AFTER if _has_runner(protocol) else _COMPARED
    base = describe_base_failure(state)
    before = {BASE: base} if base else {}
    changed = {TITLE: f"{told} ({how})"} if names else {}
    reasons = make_printable("; ".join(list_uncompared(state)))
    return {**before, **changed, **({UNCOMPARED: reasons} if reasons else {})}


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
