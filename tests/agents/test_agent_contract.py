"""Every row of AGENTS keeps the contract, and the contract notices an adapter that does not."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from porch.agents import AGENTS, AgentTable
from porch.agents.events import Answered, Done, Event, Final, Session, Used
from porch.agents.port import AgentPort, PreparedTurn, Probe, Turn
from porch.model.permissions import INSIDE
from porch.system import process
from tests.agents import contract
from tests.agents.contract import CHECKS, Check, Stage, set_stage
from tests.agents.samples import SAMPLES


@pytest.fixture
def stage_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Stage]]:
    """The stage of a kind, in the real table or in a scratch one."""
    stages: list[Stage] = []

    def stage(kind: str, table: AgentTable = AGENTS) -> Stage:
        samples = SAMPLES.get(kind)
        assert samples is not None, f"agent kind {kind} has no samples in samples.py"
        stages.append(set_stage(kind, table, samples, tmp_path, monkeypatch))
        return stages[-1]

    yield stage
    for each in stages:
        process.reap_processes(each.mark)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", AGENTS)
def test_every_kind_of_agent_keeps_the_contract(
    stage_of: Callable[..., Stage], kind: str, check: Check
) -> None:
    check(stage_of(kind))


def test_there_are_samples_for_the_rows_of_the_table_and_for_nobody_else() -> None:
    assert list(SAMPLES) == list(AGENTS)


class Spoilt:
    """An adapter that is another one but for what is given."""

    def __init__(self, agent: AgentPort, **instead: Any) -> None:
        self._agent, self._instead = agent, instead

    def __getattr__(self, name: str) -> Any:
        return self._instead.get(name) or getattr(self._agent, name)


def _without(agent: AgentPort, *kinds: type[Event]) -> Spoilt:
    def feed(line: str) -> tuple[Event, ...]:
        return tuple(event for event in agent.feed(line) if not isinstance(event, kinds))

    return Spoilt(agent, feed=feed)


def _asking(agent: AgentPort, **changes: Any) -> Spoilt:
    def prepare(turn: Turn) -> PreparedTurn:
        return agent.prepare(replace(turn, **changes))

    return Spoilt(agent, prepare=prepare)


def _letting_all_pass(agent: AgentPort) -> Spoilt:
    def prepare(turn: Turn) -> PreparedTurn:
        ready = agent.prepare(turn)
        return replace(ready, env={**ready.env, "SOME_TOKEN": contract.SECRET})

    return Spoilt(agent, prepare=prepare)


def _raising(agent: AgentPort) -> Spoilt:
    def feed(line: str) -> tuple[Event, ...]:
        assert line.startswith("{"), "it cannot read this"
        return agent.feed(line)

    return Spoilt(agent, feed=feed)


Spoil = Callable[[AgentPort], Spoilt]
# What an adapter does wrong, and the check that notices it, for whatever kind.
FAULTS: dict[str, tuple[Spoil, Check]] = {
    "never ends": (lambda agent: _without(agent, Final, Done), contract.a_signal_arrives),
    "never succeeds": (
        lambda agent: Spoilt(agent, judge=lambda _: ("crashed", "no")),
        contract.a_signal_arrives,
    ),
    "always succeeds, silence": (
        lambda agent: Spoilt(agent, judge=lambda _: ("ok", "")),
        contract.a_silent_end_is_no_success,
    ),
    "always succeeds, refusal": (
        lambda agent: Spoilt(agent, judge=lambda _: ("ok", "")),
        contract.a_refusal_is_told_apart,
    ),
    "swallows usage": (lambda agent: _without(agent, Used), contract.usage_is_told),
    "loses conversations": (
        lambda agent: _without(agent, Session),
        contract.a_conversation_goes_on_by_its_name,
    ),
    "begins anew instead of going on": (
        lambda agent: _asking(agent, resume=None),
        contract.a_conversation_goes_on_by_its_name,
    ),
    "reads no garbage": (_raising, contract.garbage_means_nothing),
    "lets the environment pass": (
        _letting_all_pass,
        contract.of_the_environment_only_its_own_passes,
    ),
}
# The same for faults that only some kinds can have.
SPECIAL: dict[str, tuple[str, Spoil, Check]] = {
    "loses answers": (
        "claude",
        lambda agent: _without(agent, Answered),
        contract.a_typed_answer_arrives_by_each_of_its_ways,
    ),
    "is always there": (
        "claude",
        lambda agent: Spoilt(agent, probe=lambda: Probe(True)),
        contract.its_probe_tells_whether_it_is_there,
    ),
    "permits the same to everybody": (
        "codex",
        lambda agent: _asking(agent, permissions=INSIDE),
        contract.permissions_change_how_it_is_started_or_it_says_that_nothing_holds_it,
    ),
    "claims that nothing is unheld": (
        "command",
        lambda agent: Spoilt(agent, unenforced=lambda _: ()),
        contract.permissions_change_how_it_is_started_or_it_says_that_nothing_holds_it,
    ),
}
CASES = [pytest.param(k, *FAULTS[f], id=f"{f}-{k}") for f in FAULTS for k in AGENTS]
CASES += [pytest.param(*case, id=fault) for fault, case in SPECIAL.items()]


@pytest.mark.parametrize("kind,spoil,check", CASES)
def test_an_adapter_with_a_fault_does_not_pass(
    stage_of: Callable[..., Stage], kind: str, spoil: Spoil, check: Check
) -> None:
    broken = cast(AgentPort, spoil(AGENTS[kind]))
    scratch = AgentTable({kind: lambda: broken})
    with pytest.raises(AssertionError):
        check(stage_of(kind, scratch))
