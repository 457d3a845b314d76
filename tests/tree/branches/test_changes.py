"""Real differences: whatever an agent did to a tree, it is named."""

from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.git import measured_tree, tree_changes
from porch.git.changed_paths import ChangedPath
from porch.tree.branches import changes, raw_commits
from tests.git_calls import GIT
from tests.repositories import sh

pytestmark = pytest.mark.usefixtures("git_home")


def compare_worktree(worktree: str, base: str) -> list[ChangedPath]:
    tree = measured_tree.measure_tree(worktree)
    return raw_commits.compare_measured_tree(worktree, base, tree)


def save(repo: Path, message: str = "m", **files: str) -> str:
    for name, text in files.items():
        (repo / name.replace("_", ".")).write_text(text)
    sh(repo, "add", "-A")
    sh(repo, "commit", "-q", "--allow-empty", "-m", message)
    return sh(repo, "rev-parse", "HEAD")


def test_every_kind_of_change_has_its_letter(repo: Path) -> None:
    save(repo, b_txt="b\n" * 30, c_txt="c")
    (repo / "b.txt").rename(repo / "ü d.txt")
    (repo / "c.txt").unlink()
    (repo / "c.txt").symlink_to("a.txt")
    (repo / "a.txt").write_text("two\n")
    save(repo)
    assert changes.compare_commits(str(repo), "HEAD~1", "HEAD") == [
        ChangedPath("M", "a.txt"),
        ChangedPath("D", "b.txt"),
        ChangedPath("T", "c.txt", is_link=True),
        ChangedPath("A", "ü d.txt"),
    ]


@pytest.mark.parametrize(
    "path, target, escapes",
    [
        ("l", "a.txt", False),
        ("l", "./sub/../a.txt", True),
        ("sub/l", "../a.txt", False),
        ("sub/l", "../../a.txt", True),
        ("l", "..", True),
        ("l", "/etc/passwd", True),
        ("l", ".git/config", True),
        ("sub/l", "../.GIT/hooks", True),
        ("l", "sub", False),
        ("sub/l", "..", False),
    ],
)
def test_a_link_is_flagged_and_one_that_leads_out_doubly(
    repo: Path, path: str, target: str, escapes: bool
) -> None:
    (repo / "sub").mkdir()
    (repo / path).symlink_to(target)
    assert compare_worktree(str(repo), "HEAD") == [ChangedPath("A", path, True, escapes)]
    save(repo)
    assert changes.compare_commits(str(repo), "HEAD~1", "HEAD") == [
        ChangedPath("A", path, True, escapes)
    ]


def test_touched_sums_what_is_committed_uncommitted_and_untracked(repo: Path) -> None:
    base = save(repo, gone_txt="x", back_txt="x")
    save(repo, done_txt="committed", back_txt="y")
    (repo / "a.txt").write_text("uncommitted\n")
    (repo / "new.txt").write_text("untracked")
    (repo / "back.txt").write_text("x")
    (repo / "gone.txt").unlink()
    (repo / "x.log").write_text("ignored")
    before = sh(repo, "status", "--porcelain")
    assert [(each.status, each.path) for each in compare_worktree(str(repo), base)] == [
        ("M", "a.txt"),
        ("A", "done.txt"),
        ("D", "gone.txt"),
        ("A", "new.txt"),
    ]
    assert sh(repo, "status", "--porcelain") == before


def test_lines_are_counted_of_what_is_committed_uncommitted_and_untracked(repo: Path) -> None:
    base = save(repo, gone_txt="x\ny\n", kept_txt="x\n", own_txt="x\n")
    save(repo, done_txt="1\n2\n")
    (repo / "a.txt").write_text("two\nthree\n")
    (repo / "gone.txt").unlink()
    (repo / "new\tü\n.txt").write_text("1\n")
    (repo / "picture.png").write_bytes(b"\0\1")
    (repo / "own.txt").write_text("y\n")
    (repo / "x.log").write_text("ignored")
    before = sh(repo, "status", "--porcelain")
    now = measured_tree.measure_tree(str(repo), ("own.*",))
    assert tree_changes.count_changed_lines(str(repo), base, now, ("own.*",)) == [
        ("2", "1", "a.txt"),
        ("2", "0", "done.txt"),
        ("0", "2", "gone.txt"),
        ("1", "0", "new\tü\n.txt"),
        ("-", "-", "picture.png"),
    ]
    assert sh(repo, "status", "--porcelain") == before


def test_an_unknown_base_is_an_error(repo: Path) -> None:
    with pytest.raises(OutsideError):
        compare_worktree(str(repo), "nowhere")


def test_the_text_of_a_difference_ignores_a_persons_settings(repo: Path) -> None:
    save(repo, a_txt="two\n")
    plain = changes.render_diff(str(repo), "HEAD~1", "HEAD")
    for name, value in [("diff.noprefix", "true"), ("color.ui", "always"), ("diff.context", "0")]:
        sh(repo, "config", name, value)
    assert changes.render_diff(str(repo), "HEAD~1", "HEAD") == plain
    assert plain[0].endswith("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n")
    assert plain[1] is False


def test_a_long_difference_is_cut_at_a_line(repo: Path) -> None:
    save(repo, a_txt="line\n" * 1000)
    whole, _ = changes.render_diff(str(repo), "HEAD~1", "HEAD")
    text, cut = changes.render_diff(str(repo), "HEAD~1", "HEAD", limit=1003)
    assert cut
    assert whole.startswith(text)
    assert 990 < len(text) <= 1003
    assert text.endswith("\n")
    assert changes.render_diff(str(repo), "HEAD~1", "HEAD", limit=len(whole)) == (whole, False)


CHILD = "feat(a): implement\n\nPorch-Child: a"


def own(repo: Path, base: str) -> str:
    return changes.render_diff(
        str(repo), base, "HEAD", first_parent_only=True, skip_trailer="Porch-Child:"
    )[0]


def test_own_commits_are_summed_without_what_children_brought(repo: Path) -> None:
    base = sh(repo, "rev-parse", "HEAD")
    save(repo, own_txt="first\n")
    save(repo, CHILD, child_txt="of the child\n")
    save(repo, own_txt="second\n")
    text = own(repo, base)
    assert "+second" in text
    assert "first" not in text, "the sum, not the steps"
    assert "child" not in text
    assert "of the child" in changes.render_diff(str(repo), base, "HEAD", first_parent_only=True)[0]


def test_own_commits_that_build_on_a_child_are_shown_one_by_one(repo: Path) -> None:
    base = sh(repo, "rev-parse", "HEAD")
    save(repo, CHILD, child_txt="of the child\n")
    save(repo, child_txt="mended\n")
    assert "-of the child\n+mended" in own(repo, base)


def test_of_a_merge_only_what_its_maker_changed_is_shown(repo: Path) -> None:
    base = sh(repo, "rev-parse", "HEAD")
    sh(repo, "switch", "-qc", "side")
    save(repo, side_txt="from the side\n")
    sh(repo, "switch", "-q", "main")
    save(repo, own_txt="own\n")
    sh(repo, "merge", "-q", "--no-commit", "--no-ff", "side")
    save(repo, a_txt="slipped in\n")
    text = own(repo, base)
    assert "+own" in text
    assert "+slipped in" in text
    assert "from the side" not in text


def test_a_forged_trailer_is_found(repo: Path) -> None:
    base = sh(repo, "rev-parse", "HEAD")
    forged = [save(repo, CHILD, x_txt="x"), save(repo, "m\n\nPorch-Effect: y\n\nmore")]
    save(repo, "says Porch-Effect: in a line\n\nand Porch-Child: too")
    found = changes.list_commits(str(repo), base, "HEAD")
    assert [each.id for each in reversed(found) if each.has_line("Porch-")] == forged
    assert [each.parents[0] for each in reversed(found)][:2] == [base, forged[0]]
    assert changes.list_commits(str(repo), "HEAD", "HEAD") == []


def test_commits_of_the_branch_itself_are_told_by_one_command(repo: Path) -> None:
    base = sh(repo, "rev-parse", "HEAD")
    save(repo, own_txt="first\n")
    with GIT.heard() as commands:
        assert "+first" in own(repo, base)
    assert commands == ["log", "diff"]


def test_a_patch_keeps_its_name_on_another_base_and_loses_it_with_its_content(repo: Path) -> None:
    save(repo, a_txt="".join(f"{n}\n" for n in range(30)))
    sh(repo, "switch", "-qc", "side")
    save(repo, a_txt="".join(f"{n}\n" for n in range(30)).replace("20\n", "twenty\n"))
    first = changes.hash_patch(str(repo), "HEAD~1", "HEAD")
    sh(repo, "switch", "-q", "main")
    save(repo, a_txt="new\n" + "".join(f"{n}\n" for n in range(30)))
    sh(repo, "cherry-pick", "side")
    assert changes.hash_patch(str(repo), "HEAD~1", "HEAD") == first
    text = (repo / "a.txt").read_text()
    save(repo, a_txt=text.replace("twenty\n", "  twenty\n"))
    assert changes.hash_patch(str(repo), "HEAD~2", "HEAD") not in (first, "")
    assert changes.hash_patch(str(repo), "HEAD", "HEAD") == ""


def test_patches_of_binary_files_differ_by_their_bytes(repo: Path) -> None:
    names = set()
    for content in (b"\0\1", b"\0\2"):
        (repo / "b.bin").write_bytes(content)
        sh(repo, "add", "-A")
        tree = sh(repo, "write-tree")
        names.add(changes.hash_patch(str(repo), "HEAD", tree))
    assert len(names) == 2


def test_descent_is_by_ancestry(repo: Path) -> None:
    base, head = sh(repo, "rev-parse", "HEAD"), save(repo)
    assert changes.is_ancestor(str(repo), base, head)
    assert not changes.is_ancestor(str(repo), head, base)
    assert changes.is_ancestor(str(repo), head, head)


PYTHON = """LIMIT = 3
async def get():
    def inner(): ...

class Box:
    x = 1
def _own(): ...
"""


@pytest.mark.parametrize(
    "name, before, after, gone",
    [
        ("m.py", PYTHON, "def other(): ...\n", "LIMIT get Box"),
        ("m.py", "def a(): ...\n", "def a(x): ...\n", ""),
        (
            "m.ts",
            "export const a = 1\nexport default function b() {}\nexport type C = 1\n",
            "",
            "a b C",
        ),
        ("m.js", "export class A {}\nif (x) {\n}\nelse if (y) {\n}\n", "", "A"),
        (
            "m.go",
            "func Add(a int) int {\n}\nfunc (s *S) Sub() {\n}\ntype T struct {\n",
            "",
            "Add Sub T",
        ),
        ("m.rs", "pub fn a() {}\npub(crate) struct B;\n", "pub fn a(x: u8) {}\n", "B"),
        ("M.java", "public class M {\n    public int add(int a) {\n", "public class M {\n", "add"),
        ("M.hs", "add :: Int -> Int\nadd x = x\ndata Box = Box\n", "", "add Box"),
        ("m.c", "static int add(int a, int b) {\n}\n#define MAX 3\n", "", "add MAX"),
        ("m.txt", "def a(): ...\n", "", ""),
    ],
)
def test_exports_that_vanished_are_named(
    repo: Path, name: str, before: str, after: str, gone: str
) -> None:
    (repo / name).write_text(before)
    save(repo)
    (repo / name).write_text(after)
    save(repo)
    named = [f"{name}: {each}" for each in gone.split()]
    assert changes.find_removed_exports(str(repo), "HEAD~1", "HEAD") == named


def test_exports_of_a_deleted_file_are_gone_and_a_new_file_takes_none_away(repo: Path) -> None:
    (repo / "m.py").write_text("def a(): ...\n")
    save(repo)
    (repo / "m.py").rename(repo / "n.py")
    save(repo)
    assert changes.find_removed_exports(str(repo), "HEAD~1", "HEAD") == ["m.py: a"]


def test_what_is_staged_makes_no_difference_to_a_comparison(repo: Path) -> None:
    head = save(repo, b_txt="b", c_txt="c", d_txt="d")
    (repo / "a.txt").write_text("two\n")
    (repo / "b.txt").unlink()
    (repo / "c.txt").unlink()
    (repo / "c.txt").symlink_to("/etc")
    (repo / "d.txt").chmod(0o755)
    (repo / "sub").mkdir()
    (repo / "sub" / "ü new.txt").write_text("new")
    (repo / "link").symlink_to("a.txt")
    found = compare_worktree(str(repo), head)
    assert [each.status for each in found] == ["M", "D", "T", "M", "A", "A"]
    assert found == compare_worktree(str(repo), "HEAD")
    sh(repo, "rm", "-q", "--cached", "d.txt")
    sh(repo, "add", "a.txt")
    assert compare_worktree(str(repo), head) == found
