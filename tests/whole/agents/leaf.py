"""What models answer who build one small function under v3: first badly, then well."""

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.real_agents import MODELS, Room
from tests.standin.request import Request
from tests.standin.steps import Step, answer, edit_file, run_command, say
from tests.standin.vendors import Vendors
from tests.whole.agents.shop import Shop, opened
from tests.whole.v3.conftest import ADD, SUITE, merged

HEADS = {
    "# Scaffold: ": "scaffold",
    "# TDD: tests for ": "write_tests",
    "# Impl: ": "impl",
    "# TDD: review of ": "review",
    "# Merge: ": "merger",
}
PROSE = "The tests are written, and they fail."
COMMIT = "git add -A && git commit -qm mine"
_HEAD = re.compile("^(" + "|".join(HEADS) + ")", re.MULTILINE)


def leaf_shop(place: Path, room: Room, vendor: Vendors, suite: str = SUITE) -> Shop:
    """A project with real tests; its suite is quick."""
    shop = opened(place, room, vendor)
    models = "".join(f'[agents.{name}]\nmodel = "{model}"\n' for name, model in MODELS.items())
    test = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 " + suite.format(python=f"{sys.executable} -B")
    shop.write(
        "codev/config.toml",
        f"[agent]\nback_off = 0.01\n[commands]\ntest = '{test}'\n{models}",
    )
    shop.write("calc/__init__.py", "")
    # Without a test the suite fails before the work, and a person would be asked.
    shop.write("tests/test_start.py", "def test_start():\n    import calc  # noqa: F401\n")
    shop.write("spec.yaml", json.dumps(ADD.spec()))
    shop.git("add", "-A")
    shop.git("commit", "-q", "-m", "a calculator")
    return shop


def state_of(text: str) -> str:
    found = _HEAD.findall(text)
    return HEADS[found[-1]] if found else ""


class Leaf:
    """A diligent model that needs telling: it plans badly, forgets to answer, wants to write."""

    def __init__(self, bad_plans: int = 1):
        self.asked: list[tuple[str, str, Request]] = []
        self.bad_plans = bad_plans
        self.changed: list[str] = []
        self._given: Counter[str] = Counter()

    def __call__(self, request: Request) -> Step:
        first = next(text for text in reversed(request.users) if state_of(text))
        state, last = state_of(first), request.prompt
        kind = "refused" if "not accepted" in last else "reminder" if "REMINDER" in last else ""
        self.asked.append((state, kind or ("" if last == first else "program"), request))
        place = re.search(r"You work in `([^`]+)`", first)
        assert place is not None
        return {
            "scaffold": self._scaffold,
            "write_tests": self._write_tests,
            "impl": self._impl,
            "review": self._review,
            "merger": lambda *_: reply(request, merged()),
        }[state](request, Path(place[1]), kind)

    def kinds(self, state: str) -> list[str]:
        """How each turn of a state was begun."""
        mine = [kind for each, kind, r in self.asked if each == state and not r.results]
        return [kind for kind in mine if kind != "program"]

    def heard(self, state: str) -> list[str]:
        """The states of which the conversation told, in which the first turn of one was asked."""
        first = self.requests(state)[0]
        return [known for text in first.users if (known := state_of(text))]

    def requests(self, state: str) -> list[Request]:
        return [request for each, _, request in self.asked if each == state]

    def _scaffold(self, request: Request, place: Path, _: str) -> Step:
        plan = ADD.scaffold()
        edits = [edit_file(place / name, text) for name, text in plan["write"].items()]
        done = len(request.results)
        if not (place / ADD.contract).exists() and done < len(edits):
            return edits[done]
        self._given["plan"] += 1
        is_bad = self._given["plan"] <= self.bad_plans
        return reply(request, ADD.scaffold(testPlan=[]) if is_bad else plan)

    def _write_tests(self, request: Request, place: Path, kind: str) -> Step:
        wanted = ADD.write_tests()
        if not (place / ADD.tests).exists():
            return edit_file(place / ADD.tests, wanted["write"][ADD.tests])
        if kind:
            return reply(request, wanted)
        if request.schema is None:
            # One of these blocks is quoted, and nobody but its author knows which.
            return say("\n".join([PROSE, "", *block(wanted), "", *block(wanted)]))
        return say(PROSE)

    def _impl(self, request: Request, place: Path, _: str) -> Step:
        steps = [edit_file(place / ADD.target, ADD.code)]
        # The others' commands are not confined; they are told not to, and these obey.
        steps += [run_command(COMMIT)] if request.vendor == "openai" else []
        done = len(request.results)
        return steps[done] if done < len(steps) else reply(request, ADD.impl())

    def _review(self, request: Request, place: Path, _: str) -> Step:
        mine, theirs = place / "seen.txt", place / "said.txt"
        steps = [edit_file(mine, "x\n"), run_command(f"echo x > {theirs}")]
        self.changed += [path.name for path in (mine, theirs) if path.exists()]
        done = len(request.results)
        return steps[done] if done < len(steps) else reply(request, ADD.review())


def reply(request: Request, entry: dict[str, Any]) -> Step:
    """In the form that was asked for, or else as the block that ends the message."""
    if request.schema is None:
        return say("\n".join(["This is my answer.", "", *block(entry)]))
    names = request.schema["properties"]
    return answer({name: entry["payload"].get(name) for name in names} | {"exit": entry["exit"]})


def block(entry: dict[str, Any]) -> list[str]:
    said = {"exit": entry["exit"], "payload": entry["payload"]}
    return ["```json", *json.dumps(said, indent=1).splitlines(), "```"]
