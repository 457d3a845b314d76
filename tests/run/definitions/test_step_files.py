"""Files of steps by name: which of several is meant, and what is no name."""

import os
from pathlib import Path

import pytest

from porch.errors import DefinitionError, UsageError
from porch.run.definitions import library, step_files
from porch.show.steps import StepFormsShape
from porch.store import compiled_steps
from porch.store import where as places
from porch.store.where import ProjectPaths

TEXT = "name: {}\nsteps: {{1: mine}}\n"

FORMS: StepFormsShape = {
    "text": "1",
    "raw": "2",
    "explain": "3",
    "json": {
        "name": "x",
        "description": "",
        "chain": [],
        "inputs": [],
        "outputs": [],
        "step_count": 0,
        "steps": [],
    },
}


@pytest.fixture
def where(tmp_path: Path) -> ProjectPaths:
    (tmp_path / ".git").mkdir()
    return places.find_project(str(tmp_path))


def write(where: ProjectPaths, name: str, text: str = "") -> str:
    path = Path(where.root) / ".claude" / "protocols" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or TEXT.format(name), encoding="utf-8")
    return str(path)


def test_the_projects_own_file_wins_over_the_packaged_one(where: ProjectPaths) -> None:
    assert step_files.require_step_file(where, "debugging").startswith(step_files.PACKAGED)
    own = write(where, "debugging")
    assert step_files.require_step_file(where, "debugging") == own
    assert [s for n, _, s in step_files.list_step_files(where) if n == "debugging"] == ["project"]


def test_a_linked_worktree_uses_the_files_of_the_main_checkout(tmp_path: Path) -> None:
    main = tmp_path / "main"
    (main / ".git" / "worktrees" / "w").mkdir(parents=True)
    (main / ".git" / "worktrees" / "w" / "commondir").write_text("../..\n")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {main}/.git/worktrees/w\n")
    own = write(places.find_project(str(main)), "x")
    assert step_files.require_step_file(places.find_project(str(tree)), "x") == own


@pytest.mark.parametrize(
    "name", ["../protocols/base", "", ".", "..", "A", "-x", "_x", "a/b", "a.b", "a\n", "\u00e9"]
)
def test_a_name_never_leaves_the_directory(where: ProjectPaths, name: str) -> None:
    with pytest.raises(UsageError) as refused:
        step_files.require_step_file(where, name)
    assert refused.value.findings[0].code == "invalid-name"


def test_an_unknown_name_is_told_the_known_ones(where: ProjectPaths) -> None:
    write(where, "mine")
    with pytest.raises(UsageError) as refused:
        step_files.require_step_file(where, "other")
    (finding,) = refused.value.findings
    assert finding.code == "unknown-protocol"
    for name in ("bug-discovery", "debugging", "discovery", "implementation", "mine"):
        assert name in finding.fix


def test_files_that_no_name_means_are_not_listed(where: ProjectPaths) -> None:
    write(where, "Upper")
    write(where, "fine")
    (Path(where.root) / ".claude" / "protocols" / "notes.md").write_text("x")
    names = [name for name, _, source in step_files.list_step_files(where) if source == "project"]
    assert names == ["fine"]


def test_a_link_that_leads_nowhere_is_complained_about(where: ProjectPaths) -> None:
    own = write(where, "discovery")
    os.remove(own)
    os.symlink("nowhere", own)
    with pytest.raises(DefinitionError) as refused:
        step_files.read_step_file(step_files.require_step_file(where, "discovery"))
    assert refused.value.findings[0].code == "unreadable"


def test_bytes_that_are_no_text_are_complained_about(where: ProjectPaths) -> None:
    own = write(where, "x")
    Path(own).write_bytes(b"name: \xff\n")
    with pytest.raises(DefinitionError) as refused:
        step_files.read_step_file(own)
    assert refused.value.findings[0].code == "not-utf8"


def test_the_library_runs_protocols_of_steps_too(where: ProjectPaths) -> None:
    own = write(where, "mine", "name: mine\nextends: implementation\nsteps: {6.1: new}\n")
    found = library.find_protocol(where, "mine")
    assert (found.file, found.source) == (own, "project")
    loaded = library.load_protocol(found.file, where)
    assert "7: new" in loaded.demand().prompts["work"]
    packaged = os.path.join(step_files.PACKAGED, "implementation.yaml")
    assert {own, packaged} <= set(loaded.files)
    assert library.find_protocol(where, "debugging").source == "packaged"


def test_a_packaged_protocol_builds_on_the_projects_own_base(where: ProjectPaths) -> None:
    write(where, "discovery", "name: discovery\nsteps: {3: ours, 4: x}\n")
    file = library.find_protocol(where, "bug-discovery").file
    assert "3: ours" in library.load_protocol(file, where).demand().prompts["work"]
    assert "3: ours" not in library.load_protocol(file).demand().prompts["work"]


def test_a_file_by_its_path_finds_its_neighbours(where: ProjectPaths) -> None:
    write(where, "low", "name: low\nsteps: {1: neighbour}\n")
    high = write(where, "high", "name: high\nextends: low\n")
    assert "1: neighbour" in library.load_protocol(high).demand().prompts["work"]


def test_what_was_kept_is_given_back_until_a_file_changes(where: ProjectPaths) -> None:
    own = write(where, "x")
    from porch.store import compiled_protocols

    stamps = compiled_protocols.stamp_files(step_files.list_candidates(where, "x"))
    compiled_steps.write_cached_forms(where, "x", stamps, FORMS)
    assert compiled_steps.read_cached_forms(where, "x") == FORMS
    os.utime(own, ns=(1, 1))
    assert compiled_steps.read_cached_forms(where, "x") is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 1, "files": []}', "\x00"])
def test_a_damaged_cache_is_no_cache(where: ProjectPaths, text: str) -> None:
    compiled_steps.write_cached_forms(where, "x", [], FORMS)
    path = Path(where.state_dir) / "cache" / "steps-x.json"
    path.write_text(text)
    assert compiled_steps.read_cached_forms(where, "x") is None


def test_another_release_makes_the_cache_anew(
    where: ProjectPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled_steps.write_cached_forms(where, "x", [], FORMS)
    monkeypatch.setattr(compiled_steps, "__version__", "0.0.0")
    assert compiled_steps.read_cached_forms(where, "x") is None


def test_a_cache_that_cannot_be_written_is_nobodys_problem(where: ProjectPaths) -> None:
    Path(where.state_dir).write_text("in the way")
    compiled_steps.write_cached_forms(where, "x", [], FORMS)
    assert compiled_steps.read_cached_forms(where, "x") is None


def test_outside_a_repository_reading_leaves_nothing_behind(tmp_path: Path) -> None:
    where = places.find_project(str(tmp_path))
    compiled_steps.write_cached_forms(where, "x", [], FORMS)
    assert list(tmp_path.iterdir()) == []
