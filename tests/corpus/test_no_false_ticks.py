"""No record of any kept journal is drawn with a tick that the journal itself does not bear out.

The oracle reads the lines as plain JSON. Before there was one account of a run, 641 of 2,726 ticks
were false on runs like these.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from porch.account.phases import list_phases, list_plan_phases
from porch.machine.state import RunState
from porch.model.protocol import Protocol
from porch.show.fleet.checklist import render_checklist
from porch.show.run_picture import make_run_picture
from tests.corpus.run_dump import PAYLOADS, Kept, names
from tests.whole.truth import oracle

Shown = dict[tuple[str, str, str], str]
COUNTS: Counter[str] = Counter()
_TICKED = re.compile(r"^\s*\[x\] ([^\s:]+)", re.MULTILINE)


@cache
def definition(digest: str) -> dict[str, Any]:
    loaded = json.loads((PAYLOADS / digest).read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def accounted(protocol: Protocol, state: RunState, instance: str) -> Shown:
    phases = {
        ("phase", instance, e.name): e.outcome for e in list_phases(protocol, state, instance)
    }
    items = list_plan_phases(protocol, state, instance)
    return {**phases, **{("item", instance, each.name): each.outcome for each in items}}


def known(story: oracle.Story, instance: str) -> Shown:
    pinned = definition(story.digest)
    phases = oracle.phases(pinned, story, instance)
    items = oracle.plan_phases(pinned, story, instance)
    return {
        **{("phase", instance, name): fate.outcome for name, fate in phases.items()},
        **{("item", instance, name): fate.outcome for name, fate in items.items()},
    }


def ticked(protocol: Protocol, state: RunState) -> Iterator[tuple[str, str, str]]:
    """What `af status ID` and `porch status ID` print with a tick."""
    checklist = "\n".join(render_checklist(protocol, state, "", 100))
    yield from (("phase", "", name) for name in _TICKED.findall(checklist))
    picture = "\n".join(make_run_picture(protocol, state, 0, "")["text"])
    yield from (("item", "", name) for name in _TICKED.findall(picture))


@pytest.mark.parametrize("name", names())
def test_at_no_record_anything_is_ticked_that_has_not_passed(name: str) -> None:
    run, story = Kept(name), oracle.Story()
    for raw, step in zip(run.scan.records, run.steps(), strict=True):
        oracle.add(story, raw)
        state = step.after
        if not story.digest:
            continue
        protocol = run.protocol(state.run.digest)
        truth: Shown = {}
        for instance in {"", *(place[0] for place in state.visits)}:
            truth |= (mine := known(story, instance))
            assert accounted(protocol, state, instance) == mine, f"record {raw['seq']}"
        ticks = list(ticked(protocol, state))
        COUNTS.update(points=1, ticks=len(ticks), false=0)
        for place in ticks:
            assert truth[place] == "passed", f"record {raw['seq']}: {place}"


def test_the_oracle_finds_what_was_wrong_before() -> None:
    """It disagrees with whoever ticks all that was left."""
    ticks = wrong = 0
    for name in names():
        story = oracle.Story()
        for raw in Kept(name).scan.records:
            oracle.add(story, raw)
            if not story.digest:
                continue
            entered = {visit.state for visit in story.visits if visit.left and not visit.instance}
            states = definition(story.digest)["protocol"]["states"]
            groups = {states[each]["group"] for each in entered if each in states}
            for group, fate in oracle.phases(definition(story.digest), story).items():
                if group in groups and fate.outcome not in ("working", "waiting"):
                    ticks += 1
                    wrong += fate.outcome != "passed"
    print(f"of {ticks} ticks for what was left, {wrong} are false")  # noqa: T201
    assert wrong > 40
