"""Names from outside: what becomes of ids, titles and files, and what never reaches a path."""

from pathlib import Path

import pytest

from porch.errors import UsageError
from porch.run.definitions.subject_names import check_id, check_title, find_subject
from porch.store import where as places
from porch.store.run_names import match_run_names

BAD_IDS = ["..", "a/b", "../x", "", ".git", "a b", "a\x00b", "-x", "x" * 65, "a..b", "é", "a\n"]
BAD_TITLES = ["", "  ", "../x", "/a/b", "a\\..\\b", "a\nb", "a\x1b[31m", "..", "...", ".git"]


@pytest.mark.parametrize("text", BAD_IDS)
def test_an_id_that_could_leave_its_directory_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_id(text)
    assert caught.value.findings[0].code == "bad-id"


@pytest.mark.parametrize("id_", ["uv.lock", "a."])
def test_d47_a_spec_is_not_called_as_no_branch_can_be(tmp_path: Path, id_: str) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(f"id: {id_}\n")
    with pytest.raises(UsageError) as caught:
        find_subject(places.find_project(str(tmp_path)), "v3", "spec", str(spec), title="")
    assert caught.value.findings[0].code == "bad-id"


def test_of_two_projects_with_one_id_none_is_taken_until_a_title_says_which(
    tmp_path: Path,
) -> None:
    for name in ("0074-cart", "0074-search"):
        (tmp_path / "codev" / "projects" / name).mkdir(parents=True)
    where = places.find_project(str(tmp_path))
    with pytest.raises(UsageError) as caught:
        find_subject(where, "spider", "project", "0074", title="")
    (found,) = caught.value.findings
    assert "0074-cart, 0074-search" in found.message
    assert "0074 --title cart" in found.fix
    assert find_subject(where, "spider", "project", "0074", title="search").run == "0074-search"


@pytest.mark.parametrize("text", ["0073", "142", "A-1", "v1.2", "x_y"])
def test_an_ordinary_id_stays_as_it_is(text: str) -> None:
    assert check_id(text) == text


@pytest.mark.parametrize("text", BAD_TITLES)
def test_a_title_that_could_leave_its_directory_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_title(text)
    assert caught.value.findings[0].code == "bad-title"


def test_a_title_becomes_a_name() -> None:
    assert check_title("User Auth: the 2nd (try)!") == "user-auth-the-2nd-try"


@pytest.mark.parametrize(
    "title, slug",
    [
        ("TCP/IP support", "tcp-ip-support"),
        ("a\\b", "a-b"),
        ("What now...?!", "what-now"),
        ("Fix the import of ../lib/x.py", "fix-the-import-of-.-lib-x.py"),
        ("!!!", "untitled"),
        ("word " * 100, "-".join(["word"] * 16)),
        ("\u4e2d" * 80, "\u4e2d" * 66),
    ],
)
def test_r1_a_title_has_any_characters_and_only_its_slug_is_cut(title: str, slug: str) -> None:
    assert check_title(title) == slug
    assert ".." not in slug
    assert len(slug.encode()) <= 200


def test_r1_the_title_is_kept_as_it_was_typed(tmp_path: Path) -> None:
    where = places.find_project(str(tmp_path))
    about = find_subject(where, "spider", "project", "0073", title="TCP/IP  support")
    assert (about.run, about.heading) == ("0073-tcp-ip-support", "TCP/IP support")


def test_r1_without_a_title_the_first_line_of_the_request_is_it(tmp_path: Path) -> None:
    where = places.find_project(str(tmp_path))
    asked = "\n## Add a --json flag: **soon**\n\nAll of it.\n"
    about = find_subject(where, "spider", "project", "7", title="", request=asked)
    assert (about.title, about.heading) == ("add-a-json-flag-soon", "Add a --json flag: **soon**")
    assert about.text == asked
    long = find_subject(where, "spider", "project", "7", title="", request="word " * 100)
    assert (len(long.title), len(long.heading)) == (48, 200)


@pytest.mark.req("P-023")
def test_a_project_lives_under_its_id_and_title(tmp_path: Path) -> None:
    about = find_subject(
        places.find_project(str(tmp_path)), "spider", "project", "0073", title="User auth"
    )
    assert about.run == "0073-user-auth"
    assert about.project_dir == "codev/projects/0073-user-auth"
    assert about.status_file == "codev/projects/0073-user-auth/status.yaml"


def test_an_existing_directory_gives_the_title(tmp_path: Path) -> None:
    (tmp_path / "codev" / "projects" / "0073-user-auth").mkdir(parents=True)
    about = find_subject(places.find_project(str(tmp_path)), "spider", "project", "0073", title="")
    assert (about.id, about.title) == ("0073", "user-auth")


def test_an_old_specification_gives_the_title(tmp_path: Path) -> None:
    specs = tmp_path / "codev" / "specs"
    specs.mkdir(parents=True)
    (specs / "0073-auth.md").write_text("# Specification: User auth\n")
    about = find_subject(places.find_project(str(tmp_path)), "spider", "project", "0073", title="")
    assert about.title == "user-auth"


def test_a_specification_file_may_be_the_subject(tmp_path: Path) -> None:
    file = tmp_path / "0081-search.md"
    file.write_text("# Search\n")
    about = find_subject(
        places.find_project(str(tmp_path)), "spider", "project", str(file), title=""
    )
    assert (about.id, about.title, about.text) == ("0081", "search", "# Search\n")


def test_without_any_title_a_project_is_untitled(tmp_path: Path) -> None:
    about = find_subject(places.find_project(str(tmp_path)), "spider", "project", "7", title="")
    assert about.run == "7-untitled"


def test_an_amendment_is_an_execution_of_its_own(tmp_path: Path) -> None:
    about = find_subject(
        places.find_project(str(tmp_path)), "tick", "amendment", "0073", title="Add feature"
    )
    assert about.run == "tick_0073_add-feature"
    assert about.status_file == "codev/executions/tick_0073_add-feature/status.yaml"


def test_an_issue_is_named_by_its_number_or_read_from_a_file(tmp_path: Path) -> None:
    where = places.find_project(str(tmp_path))
    assert find_subject(where, "bugfix", "issue", "#142", title="").run == "bugfix_142"
    file = tmp_path / "142.md"
    file.write_text("It crashes.")
    about = find_subject(where, "bugfix", "issue", str(file), title="")
    assert (about.run, about.text) == ("bugfix_142", "It crashes.")


RUNS = ["0073-user-auth", "0074-billing", "tick_0073_add-feature", "bugfix_142"]


@pytest.mark.parametrize(
    "word, found",
    [
        ("0073-user-auth", ["0073-user-auth"]),
        ("0074", ["0074-billing"]),
        ("74", ["0074-billing"]),
        ("142", ["bugfix_142"]),
        ("73", ["0073-user-auth", "tick_0073_add-feature"]),
        ("9", []),
        ("billing", []),
    ],
)
def test_a_run_is_found_by_id_unpadded_id_or_name(word: str, found: list[str]) -> None:
    assert match_run_names(RUNS, word) == found
