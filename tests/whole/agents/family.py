"""What a model answers who builds a calculator under v3 with one child: well, but late at times."""

import json
import re
from collections import defaultdict
from pathlib import Path

from tests.real_agents import Room
from tests.standin.request import Request
from tests.standin.steps import Step, edit_file
from tests.standin.vendors import Vendors
from tests.whole.agents.leaf import HEADS, leaf_shop, reply
from tests.whole.agents.shop import Shop
from tests.whole.v3.conftest import ADD, QUICK_SUITE, accepted, family, family_spec, merged

_STATES = {**HEADS, "# Judge: ": "judge"}
_HEAD = re.compile("^(" + "|".join(_STATES) + ")`([a-z]+)`", re.MULTILINE)
SILENCE_S = 2
# Before the first turn it is tried without a place for its report.
_SUITE = 'PORCH_REPORT="${{PORCH_REPORT:-/dev/null}}" ' + QUICK_SUITE


def family_shop(place: Path, room: Room, vendor: Vendors) -> Shop:
    """A project in which an agent may be silent for two seconds."""
    shop = leaf_shop(place, room, vendor, _SUITE)
    settings = (shop.root / "codev/config.toml").read_text()
    shop.write("codev/config.toml", f"{settings}[timeouts]\nidle = {SILENCE_S}\n")
    shop.write("spec.yaml", json.dumps(family_spec(ADD)))
    shop.git("commit", "-qam", "a family")
    return shop


class Family:
    """It writes what the script of the scripted agents has, and answers as that does."""

    def __init__(self, late_s: float):
        self.late_s = late_s
        self.reminded: list[str] = []
        self._asked: dict[tuple[str, str], list[Request]] = defaultdict(list)
        # The form asks for every field.
        self._script = family(ADD, childSpecs=[ADD.spec(after=None)]).agents

    def __call__(self, request: Request) -> Step:
        first = next(text for text in reversed(request.users) if _HEAD.search(text))
        state, instance = _place_of(first)
        if "REMINDER" in request.prompt:
            self.reminded.append(request.prompt)
        is_first = not self._asked[state, instance]
        self._asked[state, instance].append(request)
        step = self._answer(request, first, state, instance)
        is_late = is_first and state in ("scaffold", "judge")
        return step.late(self.late_s) if is_late else step

    def heard(self, state: str, instance: str) -> list[str]:
        """The states of which the conversation told, in which this one was asked first."""
        texts = self._asked[state, instance][0].users
        return [_place_of(text)[0] for text in texts if _HEAD.search(text)]

    def _answer(self, request: Request, first: str, state: str, instance: str) -> Step:
        if state in ("merger", "judge"):
            return reply(request, merged() if state == "merger" else accepted())
        (entry,) = self._script[f"{'.' if instance == 'calc' else instance}/{state}"]
        place = re.search(r"You work in `([^`]+)`", first)
        assert place is not None
        files = [(Path(place[1]) / name, text) for name, text in entry.get("write", {}).items()]
        missing = [edit_file(path, text) for path, text in files if not path.exists()]
        return missing[0] if missing else reply(request, dict(entry))


def _place_of(text: str) -> tuple[str, str]:
    head, instance = _HEAD.findall(text)[-1]
    return _STATES[head], instance
