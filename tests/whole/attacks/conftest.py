"""A site for each attempt: a copy of a prepared one, which is cheaper than a run of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.repositories import at_home
from tests.whole.attacks.attack import Attack
from tests.whole.attacks.hidden_attacks import BUILD as CHECKED
from tests.whole.attacks.hidden_attacks import CHECK, REVIEW
from tests.whole.attacks.site import Site

SPECIFY = {"id": "specify", "artifact": "spec.md", "gate": {"name": "spec-ok", "next": "build"}}
BUILD = {"id": "build"}
END = {"id": "end"}
WRITTEN = {"specify": [{"write": {"{project_dir}/spec.md": "Build the thing.\n"}}]}


@pytest.fixture(scope="session")
def at_gate(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The run 0001-x waits for the approval of its specification."""
    base = tmp_path_factory.mktemp("prepared")
    with pytest.MonkeyPatch.context() as patch:
        at_home(base / "home", patch)
        made = Site.make(base / "site")
        assert made.begin(SPECIFY, BUILD, END, agents=WRITTEN).code == 3
    return made


@pytest.fixture(scope="session")
def at_review(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return _before_review(tmp_path_factory, CHECKED)


@pytest.fixture(scope="session")
def at_review_of_files(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The same, and the check says that it is about files alone."""
    files = {"right": {**CHECKED["checks"]["right"], "about": "files"}}
    return _before_review(tmp_path_factory, {**CHECKED, "checks": files})


def _before_review(tmp_path_factory: pytest.TempPathFactory, build: dict[str, Any]) -> Site:
    """The check of the first phase has passed; a person is asked before the last one begins."""
    base = tmp_path_factory.mktemp("prepared")
    with pytest.MonkeyPatch.context() as patch:
        at_home(base / "home", patch)
        made = Site.make(base / "site")
        made.write("check.sh", CHECK)
        made.git("commit", "-qam", "check")
        looked = {**build, "gate": {"name": "look", "next": "review"}}
        assert made.begin(looked, REVIEW, agents={}).code == 3
    return made


@pytest.fixture(scope="session")
def at_plan(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A plan of three phases was approved; the second phase waits for an answer."""
    phases = (
        {"id": "plan", "artifact": "plan.md", "gate": {"name": "plan-ok", "next": "implement"}},
        {"id": "implement", "phased": True, "phases_from": "plan"},
        {"id": "review", "gate": {"name": "done-ok", "next": None}},
    )
    titles = enumerate(("one", "two", "three"), 1)
    text = "\n".join(f"### Phase {number}: {title}\n- do it\n" for number, title in titles)
    agents = {
        "plan": [{"write": {"{project_dir}/plan.md": text}}],
        "implement:phase_2": [{"signal": "BLOCKED", "reason": "what now"}, {}],
    }
    base = tmp_path_factory.mktemp("prepared")
    with pytest.MonkeyPatch.context() as patch:
        at_home(base / "home", patch)
        made = Site.make(base / "site")
        decided = {"plan-ok": [{"approve": True}]}
        assert made.begin(*phases, agents=agents, decisions=decided).code == 3
    return made


@pytest.fixture
def site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Site]:
    """Empty, or a copy of what the attempt or the test says that it begins with."""
    at_home(tmp_path / "home", monkeypatch)
    prepared = _prepared_name(request)
    place = tmp_path / "site"
    made = request.getfixturevalue(prepared).copy(place) if prepared else Site.make(place)
    yield made
    made.clear()


def _prepared_name(request: pytest.FixtureRequest) -> str:
    callspec = getattr(request.node, "callspec", None)
    given = callspec.params if callspec else {}
    attack = given.get("attack")
    return attack.prepared if isinstance(attack, Attack) else str(given.get("prepared", ""))
