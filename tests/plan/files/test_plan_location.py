"""Which plan a command means: by the branch, wherever in the repository one stands."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.plan.files import plan_location
from porch.plan.prompts import plan_document, prompt_edits, prompt_queue
from porch.plan.session import plan_session
from porch.run.definitions.subject_names import RunSubject
from porch.run.worktrees.make import hold_run_worktree
from porch.store import where as places
from porch.store.where import ProjectPaths
from tests.plan.yards import Branch, git, ids, refused, tree, write

PARTS = st.from_regex(r"\A[a-z0-9_][a-z0-9_.@{-]{0,8}[a-z0-9_]\Z")


@given(st.lists(PARTS, min_size=1, max_size=4), st.lists(PARTS, min_size=1, max_size=4))
def test_no_two_branches_have_one_plan(one: list[str], other: list[str]) -> None:
    names = {plan_location.branch_file_name("/".join(parts)) for parts in (one, other)}
    assert len(names) == len({"/".join(one), "/".join(other)})
    assert all("/" not in name and name not in (".", "..") for name in names)


def test_branches_that_differ_in_a_slash_or_a_dash_have_two_plans(shop: Path) -> None:
    for branch in ("feat/a", "feat-a"):
        git(shop, "switch", "-qc", branch)
        plan_document.write_plan(places.find_project(str(shop)), branch, "o", "c")
    assert plan_document.read_full_plan(places.find_project(str(shop))).plan.content.startswith(
        "# feat-a"
    )
    git(shop, "switch", "-q", "feat/a")
    assert plan_document.read_full_plan(places.find_project(str(shop))).plan.content.startswith(
        "# feat/a"
    )
    homes = {path.name for path in (shop / ".claude/plans").iterdir()}
    assert homes == {"feat~a", "feat-a"}


@pytest.mark.parametrize(
    "branch",
    [
        "f\u00fcnf/\u00f6l",
        "\u529f\u80fd/\u4e00",
        "we\"ird'$(x)&;",
        "a@b",
        "feat.x",
        "UPPER/lower",
        "plan_feat~x".replace("~", "-"),
        "x" * 240,
        "feat/" + "y" * 120 + "/" + "z" * 180,
    ],
)
def test_a_branch_of_any_name_has_a_plan(shop: Path, branch: str) -> None:
    git(shop, "switch", "-qc", branch)
    where = places.find_project(str(shop))
    told = plan_document.init_plan(where)
    assert told.branch == branch
    write(where, "1")
    plan_document.append_user_input(where, "hello")
    plan_document.write_plan(where, "T", "o", "c")
    assert plan_document.read_full_plan(where).plan.front_matter["branch_name"] == branch
    assert plan_document.read_plan_status(where).exists is True
    assert git(shop, "status", "--porcelain") == ""


def test_two_long_branches_that_begin_alike_have_two_plans() -> None:
    one, other = ("feat/" + "x" * 300 + end for end in ("1", "2"))
    names = {plan_location.branch_file_name(one), plan_location.branch_file_name(other)}
    assert len(names) == 2
    assert max(len(name.encode()) for name in names) < 240
    assert len(plan_location.branch_file_name("\u529f" * 200).encode()) < 240


def test_a_branch_whose_name_is_no_text_is_refused_and_not_a_fault(shop: Path) -> None:
    (shop / ".git/HEAD").write_bytes(b"ref: refs/heads/caf\xe9\n")
    where = places.find_project(str(shop))
    with refused("no-branch"):
        plan_document.init_plan(where)
    assert not (shop / ".claude").exists()


def test_without_a_branch_there_is_no_plan(shop: Path, where: ProjectPaths) -> None:
    plan_document.init_plan(where)
    git(shop, "switch", "-q", "--detach")
    for act in (
        plan_document.init_plan,
        plan_document.read_plan_status,
        plan_document.check_plan,
        plan_document.read_full_plan,
    ):
        with refused("no-branch"):
            act(where)


def test_outside_of_a_repository_there_is_no_plan(tmp_path: Path) -> None:
    where = places.find_project(str(tmp_path))
    for act in (plan_document.init_plan, plan_document.read_plan_status, plan_document.check_plan):
        with refused("no-repository"):
            act(where)
    assert os.listdir(tmp_path) == []


def test_a_branch_without_a_plan_is_told_how_to_get_one(where: ProjectPaths) -> None:
    for act in (plan_document.read_full_plan, prompt_queue.validate_dependencies):
        with refused("no-plan"):
            act(where)
    with refused("no-plan"), plan_session.hold_plan(where):
        pass
    assert not Path(where.root, ".claude").exists()


@pytest.mark.req("E-023")
def test_in_the_worktree_of_a_prompt_the_plan_is_that_of_its_feature(
    shop: Path, where: ProjectPaths
) -> None:
    write(where, "1", context="All of it", description="one")
    write(where, "2_A", 1, description="two")
    before = tree(shop / ".claude")
    for id_ in ("1", "2_A"):
        deep = Branch(where, id_).path / "src" / "deep"
        deep.mkdir(parents=True)
        inside = places.find_project(str(deep))
        told = prompt_edits.read_prompt(inside, *ids("1"))
        assert (told.content, told.front_matter["description"]) == ("All of it", "one")
        assert plan_document.read_plan_status(inside).branch == "feat/x"
        assert not (deep.parents[1] / ".claude").exists()
    assert tree(shop / ".claude") == before


def test_in_the_worktree_of_a_run_the_plan_is_that_of_the_branch_it_started_from(
    shop: Path, where: ProjectPaths
) -> None:
    run = RunSubject("0001-x", "0001", "x", "codev/projects/0001-x", "")
    with hold_run_worktree(where, "p", run, lambda _note: None) as made:
        pass
    assert plan_location.find_current_plan(made).branch == "p_0001_x", "there is none yet"
    plan_document.write_plan(where, "Shop", "o", "c")
    assert plan_location.find_current_plan(made).branch == "feat/x"
    assert [path.name for path in (shop / ".claude/plans").iterdir()] == ["feat~x"]
    plan_document.init_plan(made)
    assert plan_document.read_plan_status(made).branch == "feat/x"


@pytest.mark.req("E-023")
def test_what_is_written_from_a_worktree_is_in_the_plan_of_the_feature(where: ProjectPaths) -> None:
    inside = places.find_project(str(Branch(where, "1").path))
    write(inside, "1", files=["src/a.py", f"{inside.workspace}/b.py"], description="from inside")
    told = prompt_edits.read_prompt(where, *ids("1"))
    assert told.front_matter["relevant_files"] == ["src/a.py", "b.py"]


@pytest.mark.req("E-022")
def test_a_checkout_of_an_implementation_branch_makes_no_plan(
    shop: Path, where: ProjectPaths
) -> None:
    plan_document.init_plan(where)
    git(shop, "switch", "-qc", "feat/x--implementation-1")
    git(shop, "switch", "-q", "feat/x")
    Branch(where, "2")
    assert [path.name for path in (shop / ".claude/plans").iterdir()] == ["feat~x"]
    git(shop, "switch", "-q", "feat/x--implementation-1")
    told = plan_document.init_plan(places.find_project(str(shop)))
    assert told.branch == "feat/x"
    assert [path.name for path in (shop / ".claude/plans").iterdir()] == ["feat~x"]
    assert [path.name for path in (shop / ".git/porch/runs").iterdir()] == ["plan_feat~x"]


def test_a_bare_repository_with_worktrees_has_one_plan_for_all_of_them(
    shop: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "shop.git"
    git(tmp_path, "clone", "-q", "--bare", str(shop), str(bare))
    git(bare, "worktree", "add", "-q", str(tmp_path / "feature"), "feat/x")
    words = ("-b", "feat/x--implementation-1", str(tmp_path / "one"), "feat/x")
    git(bare, "worktree", "add", "-q", *words)
    feature, one = (places.find_project(str(tmp_path / name)) for name in ("feature", "one"))
    write(feature, "1", context="All")
    assert prompt_edits.read_prompt(one, *ids("1")).content == "All"
    write(one, "2")
    assert list(map(str, ids("1", "2"))) == [
        each.id for each in plan_document.read_full_plan(feature).prompts
    ]
    with refused("no-branch"):
        plan_document.init_plan(places.find_project(str(bare)))
    assert git(tmp_path / "feature", "status", "--porcelain") == ""


def test_a_repository_without_any_commit_has_a_plan(tmp_path: Path, shop: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "feat/new", str(tmp_path / "new"))
    where = places.find_project(str(tmp_path / "new"))
    assert plan_document.init_plan(where).branch == "feat/new"
    write(where, "1")
    assert plan_document.check_plan(where).exists is True


def test_wrong_words_make_no_plan(where: ProjectPaths) -> None:
    with refused("bad-path"):
        write(where, "1", files=["../../etc/passwd"])
    assert not plan_location.find_current_plan(where).exists
