"""Numbers and texts of differences against what was really done to the files."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import to_builtins

from porch.errors import FailedError, UsageError
from porch.plan.branches import branch_diff
from porch.plan.branches.branch_diff import BranchDiff, FileChange
from tests.repositories import sh

ODD = ("plain", "with space", 'quo"te', "new\nline", "ta\tb", "ümlaut", "-dash", ":(top)x", "[a]*?")


@pytest.fixture
def branch(repo: Path) -> Path:
    sh(repo, "switch", "-qc", "feat/x")
    return repo


def numbers(found: BranchDiff) -> dict[str, tuple[int | None, int | None]]:
    return {each.path: (each.added, each.deleted) for each in found.files}


def against(repo: Path, base: str = "main", **options: object) -> BranchDiff:
    return branch_diff.read_branch_diff(str(repo), base, **options)  # type: ignore[arg-type]


def state(repo: Path) -> tuple[object, ...]:
    """All of a repository that a look at it could change."""
    place = repo / ".git"
    objects = sorted(str(p) for p in (place / "objects").rglob("*"))
    return (place / "index").read_bytes(), objects, sh(repo, "status", "--porcelain"), os.listdir()


def test_committed_staged_changed_and_untracked_files_all_count(branch: Path) -> None:
    (branch / "committed.txt").write_text("1\n2\n")
    sh(branch, "add", "-A")
    sh(branch, "commit", "-qm", "work")
    (branch / "staged.txt").write_text("1\n")
    sh(branch, "add", "-A")
    (branch / "a.txt").write_text("one\ntwo\nthree\n")
    (branch / "untracked.txt").write_text("1\n2\n3\n")
    (branch / "ignored.log").write_text("no\n")
    before = state(branch)
    found = against(branch)
    assert numbers(found) == {
        "a.txt": (2, 0),
        "committed.txt": (2, 0),
        "staged.txt": (1, 0),
        "untracked.txt": (3, 0),
    }
    assert found.text.count("\n+") == 8 + 4  # the lines, and the names of the new sides
    assert state(branch) == before


def test_it_begins_where_the_branches_parted(branch: Path) -> None:
    (branch / "mine.txt").write_text("mine\n")
    sh(branch, "add", "-A")
    sh(branch, "commit", "-qm", "mine")
    parted = sh(branch, "rev-parse", "main")
    sh(branch, "switch", "-q", "main")
    (branch / "theirs.txt").write_text("theirs\n")
    sh(branch, "add", "-A")
    sh(branch, "commit", "-qm", "theirs")
    sh(branch, "switch", "-q", "feat/x")
    found = against(branch)
    assert (found.merge_base, numbers(found)) == (parted, {"mine.txt": (1, 0)})


def test_new_deleted_renamed_and_changed_files_are_told_apart(branch: Path) -> None:
    (branch / "long.txt").write_text("".join(f"line {n}\n" for n in range(20)))
    (branch / "gone.txt").write_text("bye\n")
    sh(branch, "add", "-A")
    sh(branch, "commit", "-qm", "more")
    sh(branch, "switch", "-qc", "feat/y")
    (branch / "long.txt").rename(branch / "moved to.txt")
    with (branch / "moved to.txt").open("a") as file:
        file.write("one more\n")
    (branch / "gone.txt").unlink()
    (branch / "new.txt").write_text("hello\n")
    (branch / "a.txt").write_text("other\n")
    found = against(branch, "feat/x")
    assert found.files == (
        FileChange("a.txt", 1, 1, "M"),
        FileChange("gone.txt", 0, 1, "D"),
        FileChange("moved to.txt", 1, 0, "R", "long.txt"),
        FileChange("new.txt", 1, 0, "A"),
    )
    told = {each.path: to_builtins(each.row()) for each in found.files}
    flags = ("is_new", "is_deleted", "modified", "renamed")
    assert {path: tuple(row[f] for f in flags) for path, row in told.items()} == {
        "a.txt": (False, False, True, None),
        "gone.txt": (False, True, False, None),
        "moved to.txt": (False, False, True, "long.txt"),
        "new.txt": (True, False, False, None),
    }


def test_binary_files_have_no_numbers(branch: Path) -> None:
    (branch / "image.bin").write_bytes(b"\0\1\2\n" * 5)
    (branch / "text.txt").write_text("1\n")
    found = against(branch)
    assert numbers(found) == {"image.bin": (None, None), "text.txt": (1, 0)}
    assert [each.row().binary for each in found.files] == [True, False]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_names(branch: Path, name: str) -> None:
    (branch / name).write_text("1\n2\n")
    (branch / "another").write_text("1\n")
    assert numbers(against(branch, path=name)) == {name: (2, 0)}
    assert numbers(against(branch)) == {name: (2, 0), "another": (1, 0)}


def test_an_odd_name_survives_a_rename(branch: Path) -> None:
    text = "".join(f"line {n}\n" for n in range(9))
    (branch / "old\nname").write_text(text)
    sh(branch, "add", "-A")
    sh(branch, "commit", "-qm", "odd")
    sh(branch, "switch", "-qc", "feat/y")
    (branch / "old\nname").rename(branch / 'new "name"')
    assert against(branch, "feat/x").files == (FileChange('new "name"', 0, 0, "R", "old\nname"),)


def test_a_name_that_is_no_text_is_spelled_out(branch: Path) -> None:
    (Path(os.fsdecode(os.fsencode(branch) + b"/caf\xe9"))).write_bytes(b"caf\xe9\n")
    found = against(branch)
    assert numbers(found) == {"caf\\xe9": (1, 0)}
    assert "+caf\ufffd\n" in found.text


def test_a_path_holds_a_directory_with_all_in_it(branch: Path) -> None:
    for name in ("src/a.py", "src/deep/b.py", "srcs.py"):
        (branch / name).parent.mkdir(parents=True, exist_ok=True)
        (branch / name).write_text("1\n")
    for path in ("src", "src/", "./src"):
        assert list(numbers(against(branch, path=path))) == ["src/a.py", "src/deep/b.py"]
    assert against(branch, path="nowhere").files == ()


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", "a\0b", ".."])
def test_a_path_stays_in_the_repository(branch: Path, path: str) -> None:
    with pytest.raises(UsageError) as caught:
        against(branch, path=path)
    assert caught.value.findings[0].code == "outside-path"


def test_a_path_is_seen_from_where_it_was_given(branch: Path, tmp_path: Path) -> None:
    (branch / "src").mkdir()
    (branch / "link").symlink_to("nowhere")
    (tmp_path / "beside").symlink_to(branch)
    top, src = str(branch), str(branch / "src")
    assert branch_diff.path_from_top(top, src, "a.py") == "src/a.py"
    assert branch_diff.path_from_top(top, src, "../b.py") == "b.py"
    assert branch_diff.path_from_top(top, src, str(branch / "c.py")) == "c.py"
    assert branch_diff.path_from_top(top, str(tmp_path / "beside/src"), "a.py") == "src/a.py"
    assert branch_diff.path_from_top(top, top, "link") == "link"
    assert (
        branch_diff.path_from_top(top, src, "..") == branch_diff.path_from_top(top, src, "") == ""
    )
    for outside in ("../..", "../../x", "/etc/passwd"):
        with pytest.raises(UsageError):
            branch_diff.path_from_top(top, src, outside)


def test_a_summary_has_the_numbers_and_no_text(branch: Path) -> None:
    (branch / "new.txt").write_text("hello\n")
    told = against(branch, summary=True)
    assert (told.text, told.truncated, told.cut_files) == ("", False, ())
    assert (told.files[0].added, told.bytes_total, told.bytes_shown) == (1, None, 0)


def test_without_a_change_everything_is_empty(branch: Path) -> None:
    told = against(branch)
    assert (told.files, told.text, told.bytes_total) == ((), "", 0)
    assert told.truncated is False


def test_a_named_branch_is_compared_by_its_commits(branch: Path) -> None:
    (branch / "work.txt").write_text("1\n2\n")
    sh(branch, "add", "-A")
    sh(branch, "commit", "-qm", "work")
    sh(branch, "switch", "-q", "main")
    (branch / "here.txt").write_text("not there\n")
    found = against(branch, branch="feat/x")
    assert numbers(found) == {"work.txt": (2, 0)}
    with pytest.raises(FailedError) as caught:
        against(branch, branch="feat/none")
    assert caught.value.findings[0].code == "branch-not-found"


def test_settings_of_a_person_bend_nothing(branch: Path) -> None:
    (branch / "a.txt").write_text("one\n\n\ttwo\n")
    (branch / "b.txt").write_text("b\n")
    plain = against(branch)
    for key, value in {
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.renames": "copies",
        "diff.context": "0",
        "diff.algorithm": "patience",
        "diff.external": "false",
        "color.ui": "always",
        "diff.orderFile": "order",
    }.items():
        sh(branch, "config", key, value)
    (branch / ".git/info/attributes").write_text("a.txt diff=mine\n")
    sh(branch, "config", "diff.mine.textconv", "false")
    (branch.parent / "order").write_text("b.txt\n")
    assert against(branch) == plain


@pytest.mark.parametrize("place", ["worktrees/one", "in [side]*", "ignored.log"])
def test_a_worktree_inside_is_no_file_of_this_one(branch: Path, place: str) -> None:
    sh(branch, "worktree", "add", "-q", "-b", "other", place)
    (branch / place / "x.txt").write_text("theirs\n")
    (branch / "mine.txt").write_text("mine\n")
    assert numbers(against(branch)) == {"mine.txt": (1, 0)}
    assert numbers(against(branch / place)) == {"x.txt": (1, 0)}


@pytest.mark.parametrize("base", ["nowhere", "apart"])
def test_a_base_that_is_none_is_said(branch: Path, base: str) -> None:
    sh(branch, "switch", "-q", "--orphan", "apart")
    sh(branch, "commit", "-q", "--allow-empty", "-m", "apart")
    sh(branch, "switch", "-q", "feat/x")
    with pytest.raises(FailedError) as caught:
        against(branch, base)
    assert caught.value.findings[0].code == "no-base-branch"


def test_before_the_first_commit_there_is_nothing_to_compare(empty: Path) -> None:
    with pytest.raises(FailedError) as caught:
        against(empty)
    assert caught.value.findings[0].code == "no-commit"


@pytest.fixture
def varied(branch: Path) -> Path:
    """A text, a binary, a rename, a file that becomes a link, and lines that look like headers."""
    lines = "".join(f"line {n}\n" for n in range(12))
    (branch / "old.txt").write_text(lines)
    (branch / "turns.txt").write_text("a file\nof text\n")
    sh(branch, "add", "-A")
    sh(branch, "commit", "-qm", "base")
    sh(branch, "switch", "-qc", "feat/y")
    (branch / "b.bin").write_bytes(b"\0\0\n")
    (branch / "forged.txt").write_text("diff --git a/x b/x\ndiff --git a/y b/y\n")
    (branch / "old.txt").rename(branch / "renamed.txt")
    (branch / "turns.txt").unlink()
    (branch / "turns.txt").symlink_to("a.txt")
    (branch / "z.txt").write_text("last\n")
    sh(branch, "add", "-A")
    sh(branch, "commit", "-qm", "work")
    return branch


def sections(found: BranchDiff) -> dict[str, tuple[int, int]]:
    """From where to where each file is told in a whole text."""
    names = [each.path for each in found.files for _ in range(2 if each.status == "T" else 1)]
    places: dict[str, tuple[int, int]] = {}
    data, at = found.text.encode(), 0
    parts = ("\n" + found.text).split("\ndiff --git ")[1:]
    for name, part in zip(names, parts, strict=True):
        end = min(at + len("diff --git " + part + "\n"), len(data))
        places[name] = (places.get(name, (at, 0))[0], end)
        at = end
    assert at == len(data)
    return places


def caps(total: int) -> Iterator[int]:
    yield from (0, 1, total - 1, total, total + 1)
    yield from range(5, total, 41)


def test_a_cut_text_says_what_is_missing_wherever_it_is_cut(varied: Path) -> None:
    whole = against(varied, "feat/x", branch="feat/y")
    assert [each.status for each in whole.files] == ["A", "A", "R", "T", "A"]
    total = len(whole.text.encode())
    ends = sections(whole)
    assert (whole.truncated, whole.bytes_total, whole.bytes_shown) == (False, total, total)
    for cap in {*caps(total), *(end for _, end in ends.values())}:
        found = against(varied, "feat/x", branch="feat/y", cap=cap)
        shown = len(found.text.encode())
        assert shown <= cap
        assert whole.text.startswith(found.text)
        assert found.text == "" or found.text.endswith("\n")
        after = whole.text.encode()[shown : cap + 1]
        assert b"\n" not in after[:-1], "a whole line more had room"
        assert (found.bytes_shown, found.bytes_total) == (shown, total)
        assert found.truncated is (shown < total)
        assert list(found.cut_files) == [name for name, (_, end) in ends.items() if end > shown]
        assert found.files == whole.files


@dataclass(frozen=True)
class Edit:
    """What becomes of a file: lines that go, lines that come, and how far git has heard of it."""

    kept: tuple[bool, ...]
    places: tuple[int, ...]
    is_gone: bool
    told: str


STAGES = st.sampled_from(["commit", "stage", "leave"])
EDITS = st.builds(
    Edit,
    st.lists(st.booleans(), max_size=8).map(tuple),
    st.lists(st.integers(0, 8), max_size=6).map(tuple),
    st.booleans(),
    STAGES,
)


def after(name: str, edit: Edit) -> list[str]:
    """The lines of a file after its edit; no two lines of any files are the same."""
    lines = [f"{name!r} {n}\n" for n, is_kept in enumerate(edit.kept) if is_kept]
    for n, place in enumerate(edit.places):
        lines.insert(min(place, len(lines)), f"{name!r} new {n}\n")
    return lines


def expected(edit: Edit, is_new: bool) -> tuple[int, int] | None:
    deleted = 0 if is_new else sum(not is_kept for is_kept in edit.kept)
    if is_new:
        return None if edit.is_gone else (len(edit.places), 0)
    if edit.is_gone:
        return 0, len(edit.kept)
    return (len(edit.places), deleted) if edit.places or deleted else None


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edits=st.dictionaries(st.sampled_from(ODD), EDITS, max_size=5),
    made=st.dictionaries(st.sampled_from(ODD).map(lambda n: f"{n}.new"), EDITS, max_size=3),
)
def test_the_numbers_are_what_was_really_changed(
    repo: Path, edits: dict[str, Edit], made: dict[str, Edit]
) -> None:
    sh(repo, "reset", "-q", "--hard")
    sh(repo, "clean", "-qfd")
    sh(repo, "switch", "-q", "--detach", "main")
    for name, edit in edits.items():
        (repo / name).write_text("".join(f"{name!r} {n}\n" for n in range(len(edit.kept))))
    sh(repo, "add", "-A")
    sh(repo, "commit", "-q", "--allow-empty", "-m", "base")
    base = sh(repo, "rev-parse", "HEAD")
    made = {name: Edit((), e.places, e.is_gone, e.told) for name, e in made.items()}
    for stage in ("commit", "stage", "leave"):
        for name, edit in (edits | made).items():
            if edit.told == stage and not edit.is_gone:
                (repo / name).write_text("".join(after(name, edit)))
            elif edit.told == stage:
                (repo / name).unlink(missing_ok=True)
        if stage != "leave":
            sh(repo, "add", "-A")
        if stage == "commit":
            sh(repo, "commit", "-q", "--allow-empty", "-m", "work")
    found = numbers(against(repo, base))
    wanted = {name: expected(edit, name in made) for name, edit in (edits | made).items()}
    assert found == {name: pair for name, pair in wanted.items() if pair is not None}


def test_nothing_is_left_in_the_place_for_temporary_files(
    branch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))
    (branch / "new.txt").write_text("hello\n")
    against(branch)
    assert list(room.iterdir()) == []
    shutil.rmtree(room)
