"""Which files are documents, wherever the directories of the settings point."""

import subprocess
from pathlib import Path

import pytest

from porch.errors import UsageError
from porch.knowledge import document_files
from porch.knowledge.index_update import normalize_document_paths
from porch.store import where


@pytest.fixture
def project(tmp_path: Path) -> where.ProjectPaths:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for name in ("README.md", "docs/a.md", "docs/b.MD", "docs/c.py", "notes/deep/d.txt", ".git.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    return where.find_project(str(tmp_path))


def documents(project: where.ProjectPaths, *paths: str) -> list[str]:
    seen = document_files.scan_documents(project, list(paths), set())
    known, _ = document_files.list_project_files(project, list(paths))
    assert known is not None
    return sorted(path for path in seen.stamps if path in known)


@pytest.mark.parametrize(
    "paths, found",
    [
        (["docs"], ["docs/a.md", "docs/b.MD"]),
        (["notes", "docs"], ["docs/a.md", "docs/b.MD", "notes/deep/d.txt"]),
        (["README.md"], ["README.md"]),
        (["."], [".git.md", "README.md", "docs/a.md", "docs/b.MD", "notes/deep/d.txt"]),
        (["nowhere"], []),
    ],
)
def test_documents_are_found_by_their_ending_below_each_path(
    project: where.ProjectPaths, paths: list[str], found: list[str]
) -> None:
    assert documents(project, *paths) == found


def test_the_same_look_gives_the_same_picture_and_any_change_another(
    project: where.ProjectPaths,
) -> None:
    def picture() -> str:
        return document_files.scan_documents(project, ["docs"], set()).picture()

    first = picture()
    assert picture() == first
    (Path(project.root) / "docs/a.md").write_text("xy")
    second = picture()
    assert second != first
    (Path(project.root) / "docs/new").mkdir()
    assert picture() != second


def test_a_stamp_that_is_too_fresh_is_not_trusted() -> None:
    told = document_files.distrust_fresh_stamps(
        {"old": "3 100 100", "new": "3 100 99999999999999999999"}
    )
    assert told == {"old": "3 100 100", "new": document_files.UNSURE_STAMP}


def test_an_ignored_directory_is_not_walked(project: where.ProjectPaths) -> None:
    (Path(project.root) / ".gitignore").write_text("notes/deep/\n")
    known, ignored = document_files.list_project_files(project, ["notes"])
    assert (known, ignored) == ({""}, {"notes/deep"})
    assert document_files.scan_documents(project, ["notes"], ignored).names == []


@pytest.mark.parametrize(
    "chosen, paths",
    [
        (["docs"], ["docs"]),
        (["docs/", "./docs", "wiki"], ["docs", "wiki"]),
        (["docs/a", "docs", "docs2"], ["docs", "docs2"]),
        (["docs", "."], ["."]),
    ],
)
def test_paths_of_the_settings_are_made_plain(chosen: list[str], paths: list[str]) -> None:
    assert normalize_document_paths(chosen) == paths


@pytest.mark.parametrize("path", ["..", "../x", "a/../../x", "/etc"])
def test_a_path_that_leads_out_is_refused(path: str) -> None:
    with pytest.raises(UsageError) as caught:
        normalize_document_paths(["docs", path])
    assert caught.value.findings[0].code == "knowledge-path"
