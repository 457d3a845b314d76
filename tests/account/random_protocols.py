"""Random protocols as people write them: phases with everything that phases have, and steps."""

import json
from typing import Any

from hypothesis import strategies as st

from porch.dialects.registry import parse_definition
from porch.machine import facts as f
from porch.machine.approvals import add_engine_states
from porch.model import protocol as p
from tests.machine.test_properties import Fate, protocols

NAMES = ("one", "two", "three", "four")
STEPS = """name: p
description: Do it
outputs:
  - {value: "{ success: true }", description: done}
  - {value: "{ success: false }", description: failed}
steps: {1: "Do it"}
"""


@st.composite
def phases(draw: st.DrawFn) -> p.Protocol:
    """Checks that bind or do not, retries, gates, reviews with rounds, and a loop over a plan."""
    count = draw(st.integers(1, 4))
    looped = draw(st.sampled_from([0, 0, *range(1, count)])) if count > 1 else 0
    found = [
        _draw_phase(draw, place, count, place > 0 and place == looped) for place in range(count)
    ]
    text = json.dumps({"name": "any", "phases": found})
    reading = parse_definition(text, "protocol.json")
    assert reading.protocol is not None, reading.findings
    return add_engine_states(reading.protocol)


def _draw_phase(draw: st.DrawFn, place: int, count: int, is_looped: bool) -> dict[str, Any]:
    following = NAMES[place + 1] if place + 1 < count else None
    phase: dict[str, Any] = {"id": NAMES[place]}
    if draw(st.booleans()):
        phase["checks"] = {
            name: {
                "command": "true",
                "max_retries": draw(st.integers(0, 2)),
                "optional": draw(st.sampled_from([False, False, True])),
            }
            for name in draw(st.sampled_from([["unit"], ["unit", "lint"]]))
        }
    if is_looped:
        phase |= {"type": "per_plan_phase", "phases_from": "plan.md"}
        return phase | ({"transition": {"on_complete": following}} if following else {})
    if draw(st.booleans()):
        phase["gate"] = {"name": f"gate-{NAMES[place]}", "next": following}
    elif following:
        phase["transition"] = {"on_complete": following}
    if "checks" not in phase and draw(st.booleans()):
        phase |= {
            "substates": ["draft", "consult", "revise"],
            "initial_substate": "draft",
            "signals": {"DRAFTED": f"{NAMES[place]}:consult", "REVISED": f"{NAMES[place]}:consult"},
            "consultation": {
                "on": "consult",
                "models": ["claude", "codex"],
                "max_rounds": draw(st.integers(1, 3)),
            },
        }
    return phase


def steps() -> st.SearchStrategy[p.Protocol]:
    reading = parse_definition(STEPS, "p.yaml")
    assert reading.protocol is not None, reading.findings
    return st.just(add_engine_states(reading.protocol))


def any_protocols() -> st.SearchStrategy[p.Protocol]:
    """Mostly of phases; some are graphs with forks and joins, a few have steps."""
    return st.one_of(phases(), phases(), protocols(), protocols(), protocols(), steps())


class TruthfulFate(Fate):
    """Nearer to life: agents give exits that their protocol knows, most of them the first one."""

    def ended(self, effect: str, kind: str) -> f.EffectFact:
        fact = super().ended(effect, kind)
        if isinstance(fact, f.CheckEnded) and fact.result == "unmeasured":
            # What cannot be measured is rare.
            rare = self.dice.random() < 0.2
            return fact if rare else f.CheckEnded(effect=effect, result="passed", tree=fact.tree)
        state = self.rig.state.in_hand[effect].state
        if not isinstance(fact, f.ExitAccepted) or state not in self.rig.protocol.states:
            return fact
        actor = self.rig.protocol.states[state].actor
        exits = [each.name for each in actor.exits] if isinstance(actor, p.Agent) else []
        if not exits:
            return fact
        exit_ = exits[0] if self.dice.random() < 0.7 else self.dice.choice(exits)
        return f.ExitAccepted(effect=effect, exit=exit_, payload={"is": "mine"}, usd=1)
