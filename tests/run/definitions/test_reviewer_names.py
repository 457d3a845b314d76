"""A reviewer that nobody here is, is said before a run is begun."""

from pathlib import Path

import pytest

from porch.errors import Place
from porch.run.definitions.reviewer_names import find_unknown_reviewers
from porch.store.where import ProjectPaths, find_project

HERE = Place("p.json", 4, 7)


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProjectPaths:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "codev").mkdir()
    return find_project(str(tmp_path))


def settings(where: ProjectPaths, text: str) -> None:
    Path(where.root, "codev", "config.toml").write_text(text)


def test_l9_a_reviewer_that_is_no_agent_here_is_a_warning(where: ProjectPaths) -> None:
    (finding,) = find_unknown_reviewers({"claude": HERE, "gemnii": HERE}, where)
    assert (finding.code, finding.severity, finding.place) == ("unknown-agent", "warning", HERE)
    assert finding.message == "the reviewer 'gemnii' is not an agent that this project knows"
    assert finding.fix.startswith("did you mean 'gemini'? known agents: claude, codex, gemini")
    assert "[agents.gemnii]" in finding.fix
    assert find_unknown_reviewers({"claude": HERE, "gemini": HERE}, where) == []


def test_l9_an_agent_of_the_settings_is_known(where: ProjectPaths) -> None:
    assert find_unknown_reviewers({"house": HERE}, where)
    settings(where, '[agents.house]\ncommand = ["true"]\n')
    assert find_unknown_reviewers({"house": HERE}, where) == []


def test_l9_reviewers_that_the_settings_replace_are_not_compared(where: ProjectPaths) -> None:
    settings(where, '[panel]\nmodels = ["claude"]\n')
    assert find_unknown_reviewers({"nobody": HERE}, where) == []


def test_l9_a_kind_that_needs_a_command_is_nobody_by_itself(where: ProjectPaths) -> None:
    assert len(find_unknown_reviewers({"command": HERE}, where)) == 1


def test_l9_settings_that_cannot_be_read_are_said_and_stop_nothing(where: ProjectPaths) -> None:
    settings(where, "[panel\n")
    (finding,) = find_unknown_reviewers({"nobody": HERE}, where)
    assert (finding.code, finding.severity) == ("toml-syntax", "warning")
    assert find_unknown_reviewers({"claude": HERE}, where) == [], "then they are not even read"
