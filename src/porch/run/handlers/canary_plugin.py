"""A plugin of pytest that porch copies beside a test run, under a name of its own.

It is no part of porch when it runs: another interpreter loads it, so it imports nothing but pytest.
It adds two tests to the last ones that were collected: one that passes and one that must fail. A
run in which the second one does not fail cannot be believed. What became of each test is written
to a new file at the end; a process that leaves early leaves none. A test that was skipped while it
ran says which files of the workspace stood between it and the skip.
"""

import json
import os
import sys
import unittest
from collections.abc import Iterator
from typing import Any

import pytest

_HERE = os.path.dirname(os.path.abspath(__file__))
_FILE = os.path.join(_HERE, "canary.json")
_KNOWN: dict[str, Any] = {}
if os.path.exists(_FILE):
    with open(_FILE, encoding="utf-8") as _file:
        _KNOWN = json.load(_file)
_RESULTS: dict[str, str] = {}
_SKIPPED: dict[str, list[str]] = {}
_SKIPS = (pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest)
_WORST = ("passed", "skipped", "failed")


def _forget_environment() -> None:
    """Programs that tests start get the environment that they would have without us."""
    for name in ("PYTHONSAFEPATH", "PYTHONNOUSERSITE"):
        os.environ.pop(name, None)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    left = os.pathsep.join(path for path in paths if path and os.path.abspath(path) != _HERE)
    os.environ.pop("PYTHONPATH", None)
    if left:
        os.environ["PYTHONPATH"] = left


if _KNOWN:
    _forget_environment()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Modules at the top can be imported as always, but take the place of no other module."""
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def _pass() -> None:
    assert _KNOWN["passes"]  # noqa: S101 - it is a test


def _fail() -> None:
    assert not _KNOWN["fails"], "this one must fail"  # noqa: S101 - it is a test


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: "list[pytest.Item]") -> None:
    modules = [item.getparent(pytest.Module) for item in items]
    home = next((module for module in reversed(modules) if module is not None), None)
    if home is not None:
        # The one that fails comes last: a run that stops at the first failure has done its work.
        for key, function in (("passes", _pass), ("fails", _fail)):
            name = _KNOWN[key]
            items.append(pytest.Function.from_parent(home, name=name, callobj=function))


def pytest_runtest_logreport(report: "pytest.TestReport") -> None:
    known = _RESULTS.get(report.nodeid, "passed")
    if _WORST.index(report.outcome) >= _WORST.index(known):
        _RESULTS[report.nodeid] = report.outcome


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Iterator[None]:
    # Before the others: for one kind of skip they put another in its place.
    _note_skip(item.nodeid, call.excinfo)
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    done = yield
    call = getattr(done.get_result(), "call", None)
    _note_skip(collector.nodeid, getattr(call, "excinfo", None))


def _note_skip(name: str, raised: "pytest.ExceptionInfo[BaseException] | None") -> None:
    if raised is not None and isinstance(raised.value, _SKIPS):
        _SKIPPED[name] = sorted(set(_list_workspace_files(raised)))


def _list_workspace_files(raised: "pytest.ExceptionInfo[BaseException]") -> Iterator[str]:
    top = os.path.realpath(_KNOWN["root"])
    for entry in raised.traceback:
        path = os.path.realpath(str(entry.path))
        if path.startswith(top + os.sep):
            yield os.path.relpath(path, top)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: "pytest.Session", exitstatus: int) -> None:
    """A failure that had to be is none; whatever the command does next goes on as without it."""
    failed = [name for name, outcome in _RESULTS.items() if outcome == "failed"]
    is_only_ours = len(failed) == 1 and failed[0].endswith("::" + _KNOWN["fails"])
    if is_only_ours and session.testsfailed == 1 and int(exitstatus) == 1:
        session.exitstatus = 0
    if _SKIPPED:
        # Each process its own: of several that share the work only one hears of all results.
        with open(f"{_KNOWN['results']}.{os.getpid()}.skips", "x", encoding="utf-8") as file:
            json.dump(_SKIPPED, file)
    if not hasattr(session.config, "workerinput"):
        told = {"results": _RESULTS, "code": int(exitstatus), "read": _list_read_places(session)}
        with open(_KNOWN["results"], "x", encoding="utf-8") as file:
            json.dump(told, file)


def _list_read_places(session: "pytest.Session") -> list[str]:
    """The file of its settings and the top of its files: pytest may find both further up."""
    found = (session.config.inipath, session.config.rootpath)
    return [str(path) for path in found if path is not None]
