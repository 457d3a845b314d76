"""Wishes: whole or not there, and nothing that lies in the inbox can stop a runner."""

import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.errors import OutsideError, UsageError
from porch.store import inbox
from porch.system import crash_points
from porch.testing import kill_python_at

WISH: dict[str, Any] = {"type": "Approve", "position": "specify:gate#1", "who": "ada"}

Reports = list[tuple[str, str]]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "0073" / "inbox"


def drained(directory: Path) -> tuple[list[dict[str, Any]], Reports]:
    reports: Reports = []
    found = inbox.collect_wishes(str(directory), lambda path, why: reports.append((path, why)))
    return [wish.raw for wish in found], reports


def plant(directory: Path, name: str, content: bytes) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_bytes(content)
    return directory / name


def test_a_wish_that_was_left_is_waiting_under_its_id_until_it_is_removed(directory: Path) -> None:
    name = inbox.leave_wish(str(directory), WISH)
    (found,) = inbox.collect_wishes(str(directory))
    path = found.path
    assert found.raw == {**WISH, "id": name}
    assert found.owner == os.getuid()
    assert path == str(directory / f"{name}.json")
    assert len(bytes.fromhex(name)) == 16
    inbox.remove_wish(path)
    inbox.remove_wish(path)
    assert inbox.collect_wishes(str(directory)) == []


def test_k8_a_wish_belongs_to_whoever_may_want_something_here(directory: Path) -> None:
    name = inbox.leave_wish(str(directory), WISH)
    path = str(directory / f"{name}.json")
    assert inbox._trusted_owners(str(directory)) == {0, os.getuid()}
    assert inbox._read_wish(path, frozenset({os.getuid()})).owner == os.getuid()
    with pytest.raises(inbox._NotAWish, match="belongs to another user"):
        inbox._read_wish(path, frozenset({os.getuid() + 1}))


def test_wishes_come_by_name_and_each_has_its_own(directory: Path) -> None:
    names = [inbox.leave_wish(str(directory), WISH) for _ in range(20)]
    assert len(set(names)) == 20
    assert [wish["id"] for wish in drained(directory)[0]] == sorted(names)


def test_an_inbox_that_is_not_there_is_empty_and_stays_away(directory: Path) -> None:
    assert inbox.collect_wishes(str(directory)) == []
    assert not directory.exists()


def test_the_id_of_a_wish_is_not_for_the_caller_to_choose(directory: Path) -> None:
    with pytest.raises(ValueError, match="drawn"):
        inbox.leave_wish(str(directory), {"id": "mine"})


def test_what_others_are_still_writing_is_not_a_wish_yet(directory: Path) -> None:
    plant(directory, ".tmp-0123", b'{"id":')
    assert drained(directory) == ([], [])
    assert (directory / ".tmp-0123").exists()


def test_a_wish_too_large_is_refused_to_the_one_who_leaves_it(directory: Path) -> None:
    for wish in ({"note": "x" * inbox.MAX_BYTES}, {"note": nested(inbox.MAX_DEPTH)}):
        with pytest.raises(UsageError, match="too long") as caught:
            inbox.leave_wish(str(directory), wish)
        assert caught.value.exit_code == 2
    assert not directory.exists()


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "name, content, why",
    [
        ("a.json", b"", "not JSON"),
        ("a.json", b'{"id":', "not JSON"),
        ("a.json", b"\xff\xfe", "not JSON"),
        ("a.json", b'["a"]', "not a JSON object"),
        ("a.json", b'{"id":"b"}', "its id and its file name differ"),
        ("a.json", b"{}", "its id and its file name differ"),
        ("a.json", b'{"id":"a","money":NaN}', "not JSON"),
        ("a.json", b'{"id":"a","money":1e999}', "not JSON"),
        ("a.json", b'{"id":"a","x":' + b"9" * 5000 + b"}", "not JSON"),
        ("a.json", b'{"id":"a","x":' + b"[" * 30_000 + b"]" * 30_000 + b"}", "not JSON"),
        ("a.json", b'{"id":"a","x":' + b"[" * 120 + b"]" * 120 + b"}", "nested deeper"),
        ("a.json", b'{"id":"a","x":"' + b"y" * 65536 + b'"}', "larger than"),
        ("a.txt", b'{"id":"a"}', "does not end in .json"),
    ],
    ids=range(13),
)
def test_what_is_not_a_wish_is_put_away_and_reported_and_the_others_are_read(
    directory: Path, name: str, content: bytes, why: str
) -> None:
    good = inbox.leave_wish(str(directory), WISH)
    plant(directory, name, content)
    wishes, reports = drained(directory)
    assert [wish["id"] for wish in wishes] == [good]
    ((path, reason),) = reports
    assert why in reason
    assert path == str(directory / "refused" / name)
    assert Path(path).read_bytes() == content
    assert drained(directory)[1] == []


def test_nothing_that_was_put_away_is_overwritten(directory: Path) -> None:
    for content in (b"1", b"2", b"3"):
        plant(directory, "a.json", content)
        drained(directory)
    kept = {path.name: path.read_bytes() for path in (directory / "refused").iterdir()}
    assert kept == {"a.json": b"1", "a.json.2": b"2", "a.json.3": b"3"}


def test_what_is_no_file_at_all_is_put_away(directory: Path, tmp_path: Path) -> None:
    directory.mkdir(parents=True)
    os.mkfifo(directory / "pipe.json")
    (directory / "directory.json").mkdir()
    (tmp_path / "secret.json").write_text('{"id":"link"}')
    (directory / "link.json").symlink_to(tmp_path / "secret.json")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(directory)
        try:
            listener.bind("socket.json")
        finally:
            os.chdir(here)
        wishes, reports = drained(directory)
    assert wishes == []
    assert len(reports) == 4
    assert sorted(os.listdir(directory)) == ["refused"]


def test_what_cannot_be_put_away_is_reported_where_it_lies(directory: Path) -> None:
    planted = plant(directory, "a.json", b"{")
    plant(directory, "refused", b"a file where the directory should be")
    assert drained(directory) == ([], [(str(planted), "it is not JSON")])
    assert planted.exists()


def test_a_wish_is_not_put_away_for_a_failure_that_is_not_its_own(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = inbox.leave_wish(str(directory), WISH)
    real = os.open

    def refuse(path: str, *arguments: int) -> int:
        if path.endswith(".json"):
            raise OSError(24, "Too many open files")
        return real(path, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        wishes, reports = drained(directory)
    assert wishes == []
    assert "Too many open files" in reports[0][1]
    assert [wish["id"] for wish in drained(directory)[0]] == [name]


def test_a_wish_that_vanishes_while_the_inbox_is_read_is_skipped(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox.leave_wish(str(directory), WISH)
    names = os.listdir(directory)
    monkeypatch.setattr(os, "listdir", lambda _: ["gone.json", *names])
    wishes, reports = drained(directory)
    assert (len(wishes), reports) == (1, [])


def test_refusals_are_told_on_stderr_where_nobody_else_listens(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(directory, "a\x1b[2J.json", b"{")
    assert inbox.collect_wishes(str(directory)) == []
    told = capsys.readouterr().err
    assert "warning[wish-refused]" in told
    assert "\x1b" not in told


def test_an_inbox_below_a_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "0073").write_text("a file")
    directory = str(tmp_path / "0073" / "inbox")
    with pytest.raises(OutsideError, match="0073/inbox"):
        inbox.leave_wish(directory, WISH)
    with pytest.raises(OutsideError, match="0073/inbox"):
        inbox.collect_wishes(directory)
    with pytest.raises(OutsideError, match="0073/inbox"):
        inbox.remove_wish(directory + "/a.json")


LEAVE = f"""
import sys
from porch.store import inbox
print(inbox.leave_wish(sys.argv[1], {WISH!r}), flush=True)
"""


@pytest.mark.parametrize(
    "point",
    [p for p in crash_points.POINTS if p.startswith("atomic.")]
    + ["wish.before-write", "wish.after-rename"],
)
def test_a_command_killed_at_any_point_left_a_whole_wish_or_none(
    directory: Path, point: str
) -> None:
    assert kill_python_at(point, LEAVE, str(directory)).returncode == -signal.SIGKILL
    wishes, reports = drained(directory)
    there = point in ("atomic.after-rename", "atomic.after-directory-sync", "wish.after-rename")
    assert [{**WISH, "id": wish["id"]} for wish in wishes] == wishes
    assert len(wishes) == there
    assert reports == []


REMOVE = """
import sys
from porch.store import inbox
for path in [found.path for found in inbox.collect_wishes(sys.argv[1])]:
    inbox.remove_wish(path)
"""


@pytest.mark.parametrize(
    "point, left",
    [
        ("wish.before-unlink", 1),
        ("wish.after-unlink", 0),
        ("wish.before-refuse", 1),
        ("wish.after-refuse", 1),
    ],
)
def test_a_holder_killed_while_it_tidies_up_loses_no_wish(
    directory: Path, point: str, left: int
) -> None:
    inbox.leave_wish(str(directory), WISH)
    if "refuse" in point:
        plant(directory, "0.json", b"{")
    assert kill_python_at(point, REMOVE, str(directory)).returncode == -signal.SIGKILL
    assert len(drained(directory)[0]) == left


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.text().filter(lambda key: key != "id"), st.text() | st.floats(0, 1)))
def test_any_wish_arrives_as_it_was_left(
    tmp_path_factory: pytest.TempPathFactory, wish: dict[str, Any]
) -> None:
    directory = tmp_path_factory.mktemp("inbox")
    name = inbox.leave_wish(str(directory), wish)
    assert drained(directory) == ([{**wish, "id": name}], [])
    assert json.loads((directory / f"{name}.json").read_bytes())["id"] == name
