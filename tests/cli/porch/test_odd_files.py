"""V15, V16: what is no regular file of the project is refused at once, what is too large, too."""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.errors import DefinitionError
from porch.system import document_file
from tests import commands

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

DRAFT = {"id": "one", "artifact": "spec.md", "gate": {"name": "g", "next": None}}
GATED = {"id": "one", "gate": {"name": "g", "next": None}}
PLANNED = {"id": "one", "phased": True, "phases_from": "plan.md"}
Plant = Callable[[Path], None]


def plant_pipe(path: Path) -> None:
    os.mkfifo(path)


def plant_link(path: Path) -> None:
    path.symlink_to(path.parent / "elsewhere")


def plant_directory(path: Path) -> None:
    path.mkdir()


def plant_socket(path: Path) -> None:
    """By a short name: a socket takes no long one."""
    here = os.getcwd()
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(here)


PLANTS: dict[str, Plant] = {
    "pipe": plant_pipe,
    "link": plant_link,
    "directory": plant_directory,
    "socket": plant_socket,
}


def swap(path: Path, plant: Plant) -> None:
    path.unlink(missing_ok=True)
    plant(path)


def find_one_failure(desk: "Desk") -> dict[str, Any]:
    """The failure to read the plan: each state that needs it has tried once."""
    failed = desk.facts("EffectFailed")
    assert {(fact["effect"][-2:], fact["hopeless"]) for fact in failed} == {("/0", True)}
    return failed[0]


@pytest.mark.parametrize("kind", PLANTS)
@pytest.mark.parametrize("name", ["lock", "journal.jsonl"])
def test_v15_state_that_is_no_regular_file_is_refused_at_once(
    desk: "Desk", name: str, kind: str
) -> None:
    desk.begin(GATED, code=3)
    swap(desk.run_dir() / name, PLANTS[kind])
    for words in (("approve", "1"), ("stop", "1"), ("resume", "1"), ("rollback", "1", "one")):
        assert "not-a-regular-file" in desk.porch(*words, code=5).err


@pytest.mark.parametrize("kind", ["pipe", "link", "socket"])
@pytest.mark.parametrize("name", ["journal.jsonl", "picture.json", "row.json"])
def test_v15_nobody_waits_for_a_pipe_where_a_file_should_be(
    desk: "Desk", name: str, kind: str
) -> None:
    desk.begin(GATED, code=3)
    swap(desk.run_dir() / name, PLANTS[kind])
    code = 5 if name == "journal.jsonl" else 0
    for words in (("status", "1"), ("status",), ("pending",), ("log", "1"), ("explain", "1")):
        desk.porch(*words, code=code)


@pytest.mark.parametrize("name", ["snapshot.json", "files.json", "picture.json", "row.json"])
def test_v15_what_is_only_kept_is_made_anew(desk: "Desk", name: str) -> None:
    desk.begin(GATED, code=3)
    swap(desk.run_dir() / name, plant_pipe)
    desk.porch("approve", "1")
    desk.porch("resume", "1")


def test_v15_a_planted_lock_does_not_lead_to_another_file(desk: "Desk", tmp_path: Path) -> None:
    desk.begin(GATED, code=3)
    victim = tmp_path / "precious"
    victim.write_text("all of this stays\n")
    lock = desk.run_dir() / "lock"
    lock.unlink()
    lock.symlink_to(victim)
    for words in (("stop", "1"), ("resume", "1"), ("approve", "1"), ("repair", "1")):
        desk.porch(*words, code=5)
    assert victim.read_text() == "all of this stays\n"


@pytest.mark.parametrize("name", ["", "inbox", "payloads", "turns"])
def test_v15_the_directory_of_a_run_is_no_link(desk: "Desk", tmp_path: Path, name: str) -> None:
    desk.begin(GATED, code=3)
    there = desk.run_dir() / name if name else desk.run_dir()
    there.mkdir(exist_ok=True)
    shutil.move(there, tmp_path / "outside")
    there.symlink_to(tmp_path / "outside")
    assert "not-a-regular-file" in desk.porch("resume", "1", code=5).err


@pytest.mark.parametrize("linked", ["codev/projects", "codev/projects/0001-x"])
def test_v15_a_linked_project_directory_makes_nobody_write_outside(
    desk: "Desk", tmp_path: Path, linked: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (desk.root / linked).parent.mkdir(parents=True, exist_ok=True)
    (desk.root / linked).symlink_to(outside)
    said = desk.begin(DRAFT, code=5)
    assert "outside-the-project" in said.err
    assert list(outside.iterdir()) == []


def test_v15_a_project_directory_that_was_linked_later_stops_the_run(
    desk: "Desk", tmp_path: Path
) -> None:
    desk.begin(DRAFT, code=3)
    there, outside = desk.root / "codev/projects/0001-x", tmp_path / "outside"
    shutil.move(there, outside)
    there.symlink_to(outside)
    before = {file.name: file.read_bytes() for file in outside.iterdir()}
    for words in (("approve", "1"), ("reject", "1", "--reason", "r"), ("resume", "1")):
        assert "outside-the-project" in desk.porch(*words, code=5).err
    assert {file.name: file.read_bytes() for file in outside.iterdir()} == before


@pytest.mark.parametrize("kind", PLANTS)
def test_v15_a_status_file_that_is_none_stops_whoever_would_draw_it(
    desk: "Desk", kind: str
) -> None:
    desk.begin(GATED, code=3)
    swap(desk.root / "codev/projects/0001-x/status.yaml", PLANTS[kind])
    assert "not-a-regular-file" in desk.porch("approve", "1", code=5).err
    desk.porch("status", "1")


@pytest.mark.parametrize("kind", ["pipe", "link", "directory", "socket", "device", "outside"])
def test_v15_an_artifact_that_is_no_file_of_the_repository_cannot_be_approved(
    desk: "Desk", tmp_path: Path, kind: str
) -> None:
    desk.begin(DRAFT, code=3)
    spec = desk.root / "codev/projects/0001-x/spec.md"
    (tmp_path / "secret").write_text("elsewhere\n")
    targets = {"device": Path("/dev/zero"), "outside": tmp_path / "secret"}
    if kind in targets:
        swap(spec, lambda path: path.symlink_to(targets[kind]))
    elif kind != "link":
        swap(spec, PLANTS[kind])
    else:
        swap(spec, lambda path: path.symlink_to("/etc/passwd"))
    for words in (("approve", "1"), ("answer", "1", "g", "approved")):
        said = desk.porch(*words, code=1)
        assert "spec.md is not a regular file" in said.err
    assert desk.facts("WishTaken") == []
    desk.porch("reject", "1", "--reason", "what is this?")


def test_v15_a_link_to_a_file_of_the_repository_is_read_as_that_file(desk: "Desk") -> None:
    desk.begin(DRAFT, code=3)
    spec = desk.root / "codev/projects/0001-x/spec.md"
    text = spec.read_text()
    other = desk.write("docs/spec.md", text)
    swap(spec, lambda path: path.symlink_to(other))
    desk.porch("approve", "1")


def test_v15_a_pipe_in_the_place_of_gits_exclude_file_holds_nobody_up(desk: "Desk") -> None:
    exclude = desk.root / ".git/info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    swap(exclude, plant_pipe)
    assert "not-a-regular-file" in desk.begin(GATED, code=5).err


def test_v15_a_linked_plan_directory_makes_nobody_write_outside(
    desk: "Desk", tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (desk.root / ".claude").mkdir()
    (desk.root / ".claude/plans").symlink_to(outside)
    desk.git("checkout", "-q", "-b", "feature/x")
    done = commands.run("envoy", ("plan", "init"), desk.root, dict(os.environ))
    assert done.returncode == 5, done.stdout + done.stderr
    assert list(outside.iterdir()) == []


def test_v15_a_plan_that_is_no_file_is_not_worked_by(desk: "Desk", tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("## Phase 1: elsewhere\n\nText.\n")
    desk.protocol("p", PLANNED)
    plan = desk.root / "codev/projects/0001-x/plan.md"
    plan.parent.mkdir(parents=True)
    plan.symlink_to(tmp_path / "plan.md")
    desk.porch("run", "p", "0001", "--title", "x", "--no-claude", "--here", code=3)
    failed = find_one_failure(desk)
    assert "plan.md is not a regular file of this repository" in failed["detail"]


def test_v16_a_plan_that_is_too_large_is_said_once_and_a_person_is_asked(desk: "Desk") -> None:
    desk.protocol("p", PLANNED)
    big = "## Phase 1: all of it\n\n" + "word " * 500_000
    plan = desk.write("codev/projects/0001-x/plan.md", big)
    desk.porch("run", "p", "0001", "--title", "x", "--no-claude", "--here", code=3)
    failed = find_one_failure(desk)
    assert "at most 2000000 are read" in failed["detail"]
    said = desk.porch("plan", "phases", str(plan), code=2)
    assert "document-too-large" in said.err


def test_v16_a_prompt_that_is_too_large_is_a_finding_with_its_place(desk: "Desk") -> None:
    file = desk.protocol("p", {**GATED, "prompt": "one.md"})
    (file.parent / "prompts" / "one.md").write_text("word " * 500_000)
    said = desk.porch("run", "p", "0001", "--title", "x", "--no-claude", "--here", code=2)
    assert "document-too-large" in said.err
    assert "one.md" in said.err


def test_v16_a_document_up_to_the_limit_is_read(tmp_path: Path) -> None:
    file = tmp_path / "plan.md"
    file.write_bytes(b"a\r\nb\rc\n" + b"x" * (document_file.MOST_BYTES - 7))
    assert document_file.read_document(str(file)).startswith("a\nb\nc\nx")
    file.write_bytes(b"x" * (document_file.MOST_BYTES + 1))
    with pytest.raises(DefinitionError, match="at most 2000000"):
        document_file.read_document(str(file))
    swap(file, plant_pipe)
    with pytest.raises(DefinitionError, match="not a regular file"):
        document_file.read_document(str(file))


NO_INODES = """
if [ -e {flag} ]; then
  for word in "$@"; do
    if [ "$word" = add ]; then
      echo "error: unable to create temporary file: No space left on device" >&2
      echo "error: b.txt: failed to insert into database" >&2
      echo "error: unable to index file 'b.txt'" >&2
      echo "fatal: adding files failed" >&2
      exit 128
    fi
  done
fi
exec {git} "$@"
"""


def test_a_disk_without_room_is_no_changed_file_and_a_retry_pays_no_second_turn(
    desk: "Desk", command: Callable[[str, str], Path]
) -> None:
    """T9: git says these lines where no inode is left."""
    flag = desk.root.parent / "full"
    command("git", NO_INODES.format(flag=flag, git=shutil.which("git")))
    fills = {"write": {"b.txt": "b"}, "run": ["touch", str(flag)]}
    phase = {"id": "work", "checks": {"tests": {"command": "true"}}}
    desk.begin(phase, agents={"work": [fills]}, code=3)
    [turn] = desk.facts("ExitAccepted")
    assert "touched" not in turn
    assert "No space left on device" in turn["uncompared"]
    [decision] = desk.porch("pending", "--json").json["decisions"]
    assert "No space left" in decision["reports"]["what measures this could not be compared"]
    told = " ".join(desk.porch("pending").out.split())
    assert "was changed during this phase" not in told
    assert "make it readable" not in told
    assert "No space left on device" in " ".join(desk.porch("status", "1").out.split())
    flag.unlink()
    desk.porch("retry", "1")
    desk.porch("resume", "1", code=0)
    assert len(desk.started()) == 1
