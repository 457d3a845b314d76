"""Fixtures that tests of several rooms want: repositories, real agents, the vendors' stand-in."""

import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import measured
from tests.commands import load_all_modules
from tests.real_agents import clean_room, cli, vendor
from tests.repositories import at_home, make_repository, sh

__all__ = ["clean_room", "cli", "vendor"]

# How long an example takes says more about the machine than about the code.
settings.register_profile("porch", deadline=None)
settings.load_profile("porch")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of one group run in one process, and so share what one of them set up.

    xdist writes the group where pytest 9.2 no longer looks for the name of a test. Long tests
    begin first, so that no worker is left alone with one at the end; those that ask the type
    checker wait until `make check` has asked it, and use what it then knows.
    """
    items.sort(key=lambda item: "whole" not in item.path.parts)
    checking = [item for item in items if _asks_type_checker(item)]
    items[:] = [item for item in items if not _asks_type_checker(item)]
    half = len(items) // 2
    items[half:half] = checking
    if not hasattr(config, "workerinput"):
        return
    for item in items:
        mark = item.get_closest_marker("xdist_group")
        if mark is not None and not item.nodeid.endswith(f"@{mark.args[0]}"):
            named = f"{item.nodeid}@{mark.args[0]}"
            known = getattr(item, "_id", None)
            if known is not None:
                setattr(item, "_id", type(known).parse(named))  # noqa: B010 - no name of the API


def _asks_type_checker(item: pytest.Item) -> bool:
    return any(mark.args == ("mypy",) for mark in item.iter_markers("xdist_group"))


def pytest_collection() -> None:
    """With the lines of all modules measured, collecting runs nothing of ours that counts."""
    if sys.gettrace() is not None:
        load_all_modules()
    measured.stop_measuring()


def pytest_sessionfinish() -> None:
    measured.go_on_measuring()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    measured.set_tracer(measured.find_tracer(item))
    try:
        return (yield)
    finally:
        measured.set_tracer(None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    measured.set_tracer(measured.measure_first_examples(item, measured.find_tracer(item)))
    try:
        return (yield)
    finally:
        measured.set_tracer(None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    measured.set_tracer(measured.find_tracer(item))
    try:
        return (yield)
    finally:
        measured.set_tracer(None)


@pytest.fixture(scope="session", autouse=True)
def the_key_of_the_user_is_left_alone(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Commands that tests start make their own key, and find it again."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session", autouse=True)
def started_commands_are_not_measured() -> None:
    """Coverage is that of the processes in which tests run: others would pay for it twice over."""
    for name in [name for name in os.environ if name.startswith("COVERAGE_")]:
        del os.environ[name]


@pytest.fixture
def git_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a person whom git knows by name."""
    return at_home(tmp_path / "home", monkeypatch, '[protocol "file"]\n\tallow = always\n')


@pytest.fixture
def empty(tmp_path: Path, git_home: Path) -> Path:
    """A repository without a commit."""
    place = tmp_path / "repo"
    sh(tmp_path, "init", "-q", str(place))
    return place


@pytest.fixture
def repo(tmp_path: Path, git_home: Path) -> Path:
    """A repository with one commit, on `main`."""
    return make_repository(tmp_path / "repo", {"a.txt": "one\n", ".gitignore": "*.log\n"})
