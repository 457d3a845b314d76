"""A run that the first release began goes on: its base is its commit, its settings are pinned."""

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from porch.machine.facts import WishTaken
from tests.corpus.run_dump import PAYLOADS, Kept
from tests.earlier_releases import WITH_COMMITS, rewrite_journal

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

LATER = ("base_tree", "settings", *WITH_COMMITS)


def make_old(desk: "Desk") -> None:
    """The journal as the first release would have written it."""
    rewrite_journal(desk.run_dir(), LATER, 1)


def test_a_run_of_release_1_goes_on_with_its_commit_and_with_settings_pinned_now(
    desk: "Desk",
) -> None:
    (desk.root / "codev/config.toml").write_text('[commands]\ntest = "true"\n')
    check = {"tests": {"setting": "test"}, "fix": {"changed": True}}
    first = {"id": "one", "gate": {"name": "look"}}
    desk.begin(first, {"id": "two", "checks": check}, agents={"two": [{}]}, code=3)
    make_old(desk)
    assert [record["v"] for record in desk.records()] == [1] * len(desk.records())
    desk.porch("approve", "1", "look", code=None)
    said = desk.porch("resume", "1", code=0)
    assert "keeps the settings as they are now" in said.out
    (pinned,) = desk.facts("SettingsPinned")
    kept = json.loads((desk.run_dir() / "payloads" / pinned["digest"]).read_text())
    assert kept["commands.test"] == "true"
    # The files of this test were never committed: against a commit all of them are new.
    assert "changed: codev/config.toml" in {f["report"][:26] for f in desk.facts("CheckEnded")}


def test_k2_an_agent_that_may_not_continue_a_run_pins_nothing(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it wrote into the settings before would govern the run, and nobody would be told."""
    desk.begin({"id": "one", "gate": {"name": "look"}}, code=3)
    desk.porch("stop", "1")
    make_old(desk)
    monkeypatch.setenv("CLAUDECODE", "1")
    desk.porch("resume", "1", code=2)
    assert desk.facts("SettingsPinned") == []
    monkeypatch.delenv("CLAUDECODE")
    assert "keeps the settings as they are now" in desk.porch("resume", "1", code=3).out


# Runs that wait for one answer, and how they are left after it: over, or waiting for another.
WAITING = {
    "repaired": 3,
    "replanned": 0,
    "review-round": 0,
    "rolled-back": 3,
    "rolled-back-into-the-plan": 0,
}


def lay_down(desk: "Desk", kept: Kept, records: int) -> str:
    """The first records of a kept run, as its own release left them."""
    name = kept.state.run.name
    directory = desk.run_dir(name)
    directory.mkdir(parents=True)
    (directory / "journal.jsonl").write_bytes(b"".join(kept.lines[:records]))
    shutil.copytree(PAYLOADS, directory / "payloads")
    return name


def go_on(desk: "Desk", run: str, code: int) -> str:
    # The scripts of the kept runs were not kept.
    script = desk.script()
    words = ("resume", run, "--no-claude", "--script", script, "--take-over")
    return desk.porch(*words, code=code).out


@pytest.mark.parametrize("kind", WAITING)
def test_a_kept_run_that_waits_goes_on_with_its_settings_pinned_and_said(
    desk: "Desk", kind: str
) -> None:
    run = lay_down(desk, Kept(kind), len(Kept(kind).lines))
    assert "keeps the settings as they are now" in go_on(desk, run, 3)
    assert len(desk.facts("SettingsPinned", run)) == 1
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    for path in asked["artifacts"]:
        # The files of the kept runs were not kept.
        desk.write(path, "By somebody else.\n")
    desk.porch("approve", run, asked["name"], code=1)
    desk.porch("approve", run, asked["name"], "--accept-changes")
    assert desk.facts("WishTaken", run)[-1]["settings"]
    assert "keeps the settings" not in go_on(desk, run, WAITING[kind])


def test_k1_an_approval_in_a_kept_run_holds_for_the_digest_it_carries(desk: "Desk") -> None:
    kept = Kept("spider")
    taken = next(r.seq for r in kept.records if isinstance(r.fact, WishTaken))
    run = lay_down(desk, kept, taken)
    file = f"codev/projects/{run}/spec.md"
    desk.write(file, "Delete the billing tables.\n")
    assert f"changed since specify_approval was approved: {file}" in go_on(desk, run, 3)
    assert desk.started("commit", run)[1:] == []
