"""What governs a run is pinned; what does not counts as it is now."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from porch.run import pinned_settings
from porch.run.setting_keys import KEYS
from porch.run.settings import Settings
from porch.store.where import ProjectPaths

THEN = Settings(
    commands={"test": "make test"}, check=5, max_running=1, agents={"a": {"model": "m"}}
)


@pytest.fixture
def where(tmp_path: Path) -> ProjectPaths:
    return ProjectPaths(str(tmp_path), str(tmp_path), "", str(tmp_path))


def test_v2_pinned_settings_come_back_whatever_the_files_say_now(where: ProjectPaths) -> None:
    digest = pinned_settings.pin_settings(where, "r", THEN)
    new = {"test": "true", "lint": "x"}
    now = replace(THEN, commands=new, check=9, max_running=7, agents={"b": {"kind": "claude"}})
    found = pinned_settings.read_pinned_settings(where, "r", digest, now)
    assert found == replace(THEN, max_running=7)
    assert pinned_settings.list_changed_keys(where, "r", digest, now) == [
        "agents.a.model",
        "agents.b.kind",
        "commands.lint",
        "commands.test",
        "timeouts.check",
    ]


def test_v2_the_same_settings_are_the_same_pin(where: ProjectPaths) -> None:
    digest = pinned_settings.pin_settings(where, "r", THEN)
    assert pinned_settings.pin_settings(where, "r", replace(THEN, max_running=9)) == digest
    assert pinned_settings.list_changed_keys(where, "r", digest, THEN) == []


def test_v2_a_run_without_a_pin_has_the_settings_as_they_are(where: ProjectPaths) -> None:
    assert pinned_settings.read_pinned_settings(where, "r", "", THEN) is THEN
    assert pinned_settings.list_changed_keys(where, "r", "", THEN) == []


def test_v2_every_key_that_does_not_govern_is_a_key_and_has_its_reason() -> None:
    keys = {key for key in pinned_settings.FREE_KEYS if "*" not in key}
    assert keys <= set(KEYS)
    assert all(pinned_settings.FREE_KEYS.values())
    assert not pinned_settings.is_governing("agents.mine.env")
    assert pinned_settings.is_governing("agents.mine.command")
