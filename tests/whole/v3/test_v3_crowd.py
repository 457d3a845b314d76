"""Five siblings write into one file and are approved before the first of them merges."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.whole.v3.conftest import Home, Part, a_home, family, family_spec, merged

NAMES = ("one", "two", "three", "four", "five")
PARTS = [Part(name, "a", f"a + {n}", f"{name}(1) == {n + 1}") for n, name in enumerate(NAMES)]
SHARED = "calc/names.py"
# Both sides stay: theirs, and ours beside it.
UNITE = ["sed", "-i", "-e", "/^<<<<<<< /d", "-e", "/^=======$/d", "-e", "/^>>>>>>> /d", SHARED]

# One run for all tests of this file, so they stay together.
pytestmark = pytest.mark.xdist_group("v3-crowd")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    script = family(*PARTS)
    (scaffold,) = script.agents["./scaffold"]
    script.say("./scaffold", {**scaffold, "write": {**scaffold["write"], SHARED: "ALL = []\n"}})
    with a_home(tmp_path_factory.mktemp("crowd")) as home:
        journal = home.root / ".git/porch/runs/v3_calc/journal.jsonl"
        approved = f'[ "$(grep -c \'"exit":"Approved"\' {journal})" -ge {len(PARTS)} ]'
        wait = ["sh", "-c", f"until {approved}; do sleep 0.05; done"]
        script.say("merger", {**merged(), "run": wait})
        for part in PARTS:
            line = f"ALL.append('{part.name}')\n"
            made = {**part.impl()["write"], SHARED: f"ALL = []\n{line}"}
            # Whoever is asked again has nothing to do.
            again = {**part.impl(), "write": {}}
            script.say(f"{part.name}/impl", {**part.impl(), "write": made}, again)
            script.say(f"{part.name}/rebase", {"run": UNITE, "exit": "RebaseClean", "payload": {}})
        home.run({**family_spec(*PARTS), "alsoWrites": [SHARED]}, script, "--into", "main")
        yield home


def _calls(home: Home, *instances: str) -> Counter[str]:
    """Turns of agents, by what they were asked for."""
    said = [each for name in instances for each in home.exits(name)]
    return Counter(each.partition(".")[0] for each in said)


def test_e7_all_five_are_merged(built: Home) -> None:
    """E7"""
    assert set(built.outcomes().values()) == {"complete"}
    assert built.file("main", SHARED).count("append") == len(PARTS)


def test_e7_a_conflict_at_the_candidate_costs_a_rebase_and_a_review_and_no_implementation(
    built: Home,
) -> None:
    """E7: it goes on where the work does, and what needed no work charges no merges."""
    calls = _calls(built, *NAMES)
    assert calls["impl"] == len(PARTS)
    spent = {m["budget"]: m["spent"] for m in built.moves("Charged")}
    assert not [budget for budget in spent if budget.endswith("/merges")]
    assert all(spent[f"{name}/rebuilds"] <= 4 for name in NAMES if f"{name}/rebuilds" in spent)
    assert calls["review"] == len(PARTS) + calls["rebase"]
