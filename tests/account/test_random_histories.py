"""The account of a run and the oracle agree, for any protocol and any history."""

import json
from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from porch.account.phases import list_phases, list_plan_phases
from porch.machine import facts as f
from porch.machine.records import encode_record
from porch.model import protocol as p
from porch.model.definition import Definition, serialize_definition
from porch.testing import Rig
from tests.account.random_protocols import TruthfulFate, any_protocols
from tests.torture import FULL
from tests.whole.truth import oracle


def plain(outcomes: Mapping[str, str]) -> dict[str, str]:
    """Of branches that one record cuts short together, nobody can say which was left last."""
    return {name: "failed" if each == "stopped" else each for name, each in outcomes.items()}


class History:
    """A run in which anything happens: good and bad ends, answers, rollbacks, stops."""

    def __init__(self, protocol: p.Protocol, seed_: int) -> None:
        self.rig = Rig(protocol, slots=2)
        self.fate = TruthfulFate(seed_, self.rig)
        self.definition = json.loads(serialize_definition(Definition(protocol, {}, {})))
        self.story, self.told = oracle.Story(), 0
        self.rig.tell(f.RunStarted(run="any/1", id="1", title="t", protocol="any", digest="d0"))

    def happen(self) -> None:
        """One thing; people mostly answer what they are asked."""
        state, dice = self.rig.state, self.fate.dice
        if state.decisions and dice.random() < 0.4:
            place = dice.choice(list(state.decisions))
            self.rig.decide(self.fate.answer(place), "because", place)
        elif dice.random() < 0.06:
            self.rig.wish(self.fate.wish())
        elif state.in_hand:
            hand = dice.choice(list(state.in_hand.values()))
            if hand.kind != "stale":
                self.rig.tell(self.fate.ended(hand.effect, hand.kind))
        self.rig.let_go()

    def compare(self) -> Counter[str]:
        """What both say now; the ticks are counted."""
        for record in self.rig.records[self.told :]:
            oracle.add(self.story, json.loads(json.dumps(encode_record(record))))
        self.told = len(self.rig.records)
        protocol, state = self.rig.protocol, self.rig.state
        engine = {name for name in protocol.states if name in ("budget", "changed", "commands")}
        said = {each.name: each.outcome for each in list_phases(protocol, state)}
        truth = {
            name: fate.outcome
            for name, fate in oracle.phases(self.definition, self.story).items()
            if name not in engine
        }
        assert plain(said) == plain(truth), self.tell()
        items = {each.name: each.outcome for each in list_plan_phases(protocol, state)}
        known = oracle.plan_phases(self.definition, self.story)
        truth = {name: fate.outcome for name, fate in known.items()}
        assert plain(items) == plain(truth), self.tell()
        return Counter([*said.values(), *items.values()])

    def tell(self) -> str:
        return "\n".join(
            f"{r.seq} {type(r.fact).__name__} {getattr(r.fact, 'effect', '')} "
            f"{getattr(r.fact, 'exit', '') or getattr(r.fact, 'result', '')} "
            f"{[(type(m).__name__, getattr(m, 'position', '')) for m in r.moves]}"
            for r in self.rig.records[-14:]
        )


@pytest.mark.torture
def test_the_account_says_what_an_oracle_reads_in_the_records() -> None:
    """At every third record of 2,000 runs in full, of a tenth of them otherwise."""
    seen: Counter[str] = Counter()

    @seed(20261118)
    @settings(
        max_examples=2_000 if FULL else 200,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(protocol=any_protocols(), number=st.integers(0, 2**32))
    def play_one(protocol: p.Protocol, number: int) -> None:
        history = History(protocol, number)
        for step in range(45):
            history.happen()
            if step % 3 == 0:
                seen.update(history.compare())

    play_one()
    print(dict(seen))  # noqa: T201
    assert set(seen) >= {"passed", "failed", "skipped", "waived", "stale", "not run"}
