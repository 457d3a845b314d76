"""Which files decide a measurement, by what the checks of a run call."""

import pytest

from porch.model.measuring_parts import has_measuring_part, is_same_measuring_part
from porch.model.path_globs import find_glob_problem, matches_any
from porch.model.protection import (
    WORDS,
    find_runners,
    list_check_programs,
    make_protected_paths,
)


@pytest.mark.parametrize(
    "glob, path, fits",
    [
        ("tests/**", "tests/a/b.py", True),
        ("tests/**", "src/tests/a.py", False),
        ("/tests/**", "tests/a.py", True),
        ("test_*.py", "src/deep/test_a.py", True),
        ("test_*.py", "src/atest_a.py", False),
        ("conftest.py", "conftest.py", True),
        ("/setup.cfg", "sub/setup.cfg", False),
        ("src/*.py", "src/a/b.py", False),
        ("src/**/b.py", "src/b.py", True),
        ("src/**/b.py", "src/x/y/b.py", True),
        ("testdata", "pkg/testdata/one.txt", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("./docs/", "docs/a.md", True),
        ("a.b", "aXb", False),
        ("**", "anything/at/all", True),
    ],
)
def test_a_glob_means_a_name_anywhere_or_a_path_from_the_top(
    glob: str, path: str, fits: bool
) -> None:
    assert matches_any(path, (glob,)) is fits


@pytest.mark.parametrize("glob", ["", " ", "../a", "~/a", "a[bc]", "{a,b}", "!a", "a\\b"])
def test_a_glob_that_means_nothing_says_why(glob: str) -> None:
    assert find_glob_problem(glob)


@pytest.mark.parametrize(
    "command, names",
    [
        ("pytest -q", ["pytest"]),
        (".venv/bin/python -m pytest tests", ["pytest"]),
        ("cd sub && py.test", ["pytest"]),
        ("python -m unittest discover", ["unittest"]),
        ("npx jest", ["jest"]),
        ("npm run test:unit", ["jest"]),
        ("go test ./...", ["go"]),
        ("cargo nextest run", ["cargo"]),
        ("make test", []),
        ("echo pytest-like", []),
        ("pytest && go test ./...", ["pytest", "go"]),
    ],
)
def test_a_runner_is_known_by_its_command(command: str, names: list[str]) -> None:
    assert [runner.name for runner in find_runners([command])] == names


@pytest.mark.parametrize(
    "command, programs",
    [
        ("sh tools/check.sh --all", ["/tools/check.sh"]),
        ("./run.sh && X=1 scripts/more.py", ["/run.sh", "/scripts/more.py"]),
        ("env A=1 ./run.sh", ["/run.sh"]),
        (". ./.env; source lib/more.sh && go", ["/.env", "/lib/more.sh"]),
        ("python -m tool", []),
        ("python3.12 tools/x.py", ["/tools/x.py"]),
        ("ruff check src/main.py", []),
        ("/usr/bin/true", []),
        ("make -j2 lint", ["/Makefile", "/makefile", "/GNUmakefile"]),
        ('"$PROJECT_DIR/check.sh"', []),
        ("git diff -- . ':(exclude)codev/notes.d'", []),
        ("pytest > report.txt 2>&1; sh a.sh", ["/a.sh"]),
        ("if ./ready.sh; then sh b.sh\nelse exec ./c.sh; fi", ["/ready.sh", "/b.sh", "/c.sh"]),
        ("echo 'never closed; sh a.sh", []),
        ("sh a.sh & (./b.sh) | ./c.sh", ["/a.sh", "/b.sh", "/c.sh"]),
        ("test -s spec.md", []),
    ],
)
def test_the_program_of_a_check_is_the_file_that_it_runs(command: str, programs: list[str]) -> None:
    assert list(list_check_programs([command])) == programs


def test_who_may_write_tests_may_not_write_their_configuration() -> None:
    rules = make_protected_paths(WORDS, ("@tests",), ["pytest", "sh check.sh"])
    refused = ["conftest.py", "tests/conftest.py", "check.sh", "codev/config.toml", "pytest.ini"]
    assert [path for path in refused if not rules.is_refused(path)] == []
    assert not rules.is_refused("tests/test_a.py")
    assert not rules.is_refused("src/a.py")
    assert not make_protected_paths(WORDS, (), ["pytest"]).is_refused("tests/__pycache__/a.pyc")
    both = make_protected_paths(WORDS, WORDS, ["pytest"])
    assert not both.is_refused("tests/conftest.py")


def test_what_is_named_itself_may_be_written_but_never_the_settings() -> None:
    rules = make_protected_paths(("@tests", "data/**"), ("**",), ["pytest", "sh check.sh"])
    assert rules.is_protected("data/a.csv")
    assert not rules.is_refused("check.sh")
    assert not rules.is_protected("conftest.py")
    assert rules.is_refused("codev/protocols/p/protocol.json")
    assert rules.is_refused(".claude/protocols/p.yaml")


@pytest.mark.parametrize(
    "path, old, new, is_same",
    [
        ("pyproject.toml", "[project]\na = 1\n", "[project]\na = 2\n", True),
        ("a/pyproject.toml", "", "[tool.ruff]\nx = 1\n", True),
        ("pyproject.toml", "", "[tool.pytest.ini_options]\naddopts = 'x'\n", False),
        ("pyproject.toml", "[project]\n", "[project\n", False),
        ("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n", True),
        ("setup.cfg", "", "[tool:pytest]\naddopts = x\n", False),
        ("setup.cfg", "", "no section\n", False),
        ("package.json", '{"dependencies": {}}', '{"dependencies": {"a": "1"}}', True),
        ("package.json", '{"scripts": {"test": "a"}}', '{"scripts": {"test": "b"}}', False),
        ("package.json", "{}", "[]", False),
        ("package.json", "", "{}", True),
    ],
)
def test_of_a_shared_file_only_the_part_of_the_runner_counts(
    path: str, old: str, new: str, is_same: bool
) -> None:
    assert has_measuring_part(path)
    assert is_same_measuring_part(path, old, new) is is_same
