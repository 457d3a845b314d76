"""Whatever lies where a snapshot should: commands answer and record what the whole journal says."""

import hashlib
import hmac
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.run.engine import folded_journal, pictures
from porch.store.snapshots import snapshot, user_key

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

WRITE: dict[str, Any] = {
    "id": "write",
    "name": "Write it down",
    "artifact": "text.md",
    "gate": {"name": "ready", "next": "publish"},
}
PUBLISH: dict[str, Any] = {"id": "publish", "gate": {"name": "out", "next": None}}
COMMANDS = (
    ("next", "1", "--json"),
    ("explain", "1", "--json"),
    ("status", "1", "--json"),
    ("status", "--json"),
    ("pending", "--json"),
    ("answer", "1", "ready", "what?"),
    ("approve", "1", "ready"),
    ("next", "1", "--json"),
    ("retry", "1"),
    ("reject", "1", "out", "--reason", "no"),
    ("stop", "1"),
)
# A day and a time, or only a time: a minute may begin between two looks.
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?|(?<=since )\d\d:\d\d"
)
_ID = re.compile(r"[0-9a-f]{16,64}|[0-9a-f-]{36}|[0-9TZ]{10,}-[0-9a-f-]+")


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "porch" / user_key.FILE


@pytest.fixture
def asked(desk: "Desk", key: Path) -> "Desk":
    """Two runs, each at its first gate; the second has come further already."""
    desk.begin(WRITE, PUBLISH, code=3)
    desk.porch("run", "p", "0002", "--title", "x", "--no-claude", code=3)
    desk.porch("approve", "2", "ready")
    assert (desk.run_dir() / snapshot.FILE).exists()
    return desk


def file(desk: "Desk") -> Path:
    return desk.run_dir() / snapshot.FILE


def parts(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    head, _, body = path.read_bytes().partition(b"\n")
    return json.loads(head), json.loads(body)


def put(path: Path, head: dict[str, Any], state: dict[str, Any], key: bytes = b"") -> None:
    """As its writer would, but for the key: a plain hash, or the mark of somebody else."""
    told = {name: value for name, value in head.items() if name != "mac"}
    dumped = [json.dumps(each, separators=(",", ":")).encode() for each in (told, state)]
    whole = b"\n".join(dumped)
    mark = hmac.new(key, whole, "sha256") if key else hashlib.sha256(whole)
    told["mac"] = mark.hexdigest()
    path.write_bytes(json.dumps(told, separators=(",", ":")).encode() + b"\n" + dumped[1])


def _edited(desk: "Desk", key: bytes = b"", **other: Any) -> None:
    """A state in which nobody is asked anything any more."""
    head, state = parts(file(desk))
    assert state["decisions"]
    state.pop("decisions")
    put(file(desk), head, {**state, "outcome": "complete", **other}, key)


def _of_another_run(desk: "Desk", is_renamed: bool) -> None:
    head, state = parts(desk.run_dir("0002-x") / snapshot.FILE)
    shutil.copyfile(desk.run_dir("0002-x") / snapshot.FILE, file(desk))
    if is_renamed:
        put(file(desk), {**head, "run": "0001-x"}, {**state, "run": parts(file(desk))[1]["run"]})


def _of_another_length(desk: "Desk", records: int) -> None:
    lines = (desk.run_dir() / "journal.jsonl").read_bytes().splitlines(keepends=True)[:records]
    head, state = parts(file(desk))
    place = {"seq": records, "length": sum(map(len, lines)), "sum": json.loads(lines[-1])["sum"]}
    put(file(desk), {**head, **place}, {**state, "seq": records})


def _replaced(desk: "Desk", make: Callable[[Path], object]) -> None:
    file(desk).unlink()
    make(file(desk))


def _newer(desk: "Desk") -> None:
    """Of the same run, from a time that its journal has not come to."""
    journal = desk.run_dir() / "journal.jsonl"
    before = journal.read_bytes()
    desk.porch("approve", "1", "ready")
    journal.write_bytes(before)


def _flip(desk: "Desk", at: float) -> None:
    data = bytearray(file(desk).read_bytes())
    data[int(at * (len(data) - 1))] ^= 4
    file(desk).write_bytes(data)


FORGED: dict[str, Callable[["Desk"], object]] = {
    "edited, plain hash": _edited,
    "edited, another key": lambda desk: _edited(desk, b"k" * 32),
    "another run": lambda desk: _of_another_run(desk, is_renamed=False),
    "another run, renamed": lambda desk: _of_another_run(desk, is_renamed=True),
    "shorter": lambda desk: _of_another_length(desk, 1),
    "one shorter": lambda desk: _of_another_length(desk, len(desk.records()) - 1),
    "newer": _newer,
    "first bit": lambda desk: _flip(desk, 0),
    "middle bit": lambda desk: _flip(desk, 0.5),
    "last bit": lambda desk: _flip(desk, 1),
    "format": lambda desk: put(file(desk), {**parts(file(desk))[0], "v": 2}, parts(file(desk))[1]),
    "empty": lambda desk: file(desk).write_bytes(b""),
    "no JSON": lambda desk: file(desk).write_bytes(b"{\n{"),
    "a list": lambda desk: file(desk).write_bytes(b"[]\n[]"),
    "deep": lambda desk: file(desk).write_bytes(b"[" * 100_000),
    "a pipe": lambda desk: _replaced(desk, os.mkfifo),
    "a directory": lambda desk: _replaced(desk, os.mkdir),
    "a link": lambda desk: _replaced(desk, lambda path: os.symlink("/dev/zero", path)),
    "key missing": lambda _desk: Path(user_key._key_path()).unlink(),
    "key changed": lambda _desk: Path(user_key._key_path()).write_bytes(b"k" * 32),
    "key for all": lambda _desk: Path(user_key._key_path()).chmod(0o644),
    "nothing": lambda _desk: None,
}


def _plain(text: str) -> str:
    return _ID.sub("ID", _MOMENT.sub("MOMENT", text))


def told(desk: "Desk") -> list[Any]:
    """What the commands answer, and the journal that they leave, but for moments and ids."""
    said = [desk.porch(*words, code=None) for words in COMMANDS]
    records = [{k: v for k, v in each.items() if k != "sum"} for each in desk.records()]
    assert [each["seq"] for each in records] == list(range(1, len(records) + 1))
    return [*((s.code, _plain(s.all)) for s in said), *(_plain(json.dumps(r)) for r in records)]


def without(desk: "Desk") -> None:
    for name in (snapshot.FILE, "row.json", "coming_row", "picture.json"):
        (desk.run_dir() / name).unlink(missing_ok=True)


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_snapshot_changes_no_answer_and_no_record(asked: "Desk", how: str) -> None:
    kept = asked.root.parent / "kept"
    shutil.copytree(asked.root, kept, symlinks=True)
    without(asked)
    wanted = told(asked)
    assert any(said.startswith("ready: approved\n") for _, said in wanted), "nothing is compared"
    shutil.rmtree(asked.root)
    shutil.copytree(kept, asked.root, symlinks=True)
    os.chdir(asked.root)
    for name in ("row.json", "coming_row", "picture.json"):
        (asked.run_dir() / name).unlink()
    FORGED[how](asked)
    assert told(asked) == wanted


def test_commands_do_read_from_the_snapshot_on(
    asked: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise all that is tried above would be about files that nobody reads."""
    began = []
    real = folded_journal.FoldedJournal.__init__

    def seen(self: Any, path: str, start: Any, found: Any, state: Any) -> None:
        began.append((start.seq, len(found.records)))
        real(self, path, start, found, state)

    monkeypatch.setattr(folded_journal.FoldedJournal, "__init__", seen)
    last = asked.records()[-1]["seq"]
    asked.porch("next", "1")
    asked.porch("explain", "1")
    asked.porch("approve", "1", "ready")
    assert began == [(last, 0)] * 4
    began.clear()
    asked.porch("resume", "1", code=3)
    assert began[0][0] == 0
    assert began[0][1] > last


def test_a_run_that_works_keeps_a_snapshot_now_and_then(
    asked: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not with every drawing, and not none: behind a long journal that would cost everybody."""
    kept: list[int] = []
    monkeypatch.setattr(snapshot, "keep_snapshot", lambda _place, state, *_: kept.append(state.seq))
    drawn = pictures.RunPictures("", str(asked.run_dir()), _Journal(), None)  # type: ignore[arg-type]
    from porch.machine.state import RunState

    for seq in range(1, 100):
        drawn.keep_snapshot(RunState(seq=seq))
    assert kept == [32, 64, 96]
    drawn.keep_snapshot(RunState(seq=100, paused=True))
    drawn.keep_snapshot(RunState(seq=100, paused=True))
    assert kept == [32, 64, 96, 100]
    drawn.keep_snapshot(RunState(seq=101))
    drawn.keep_snapshot(RunState(seq=101), is_left=True)
    assert kept == [32, 64, 96, 100, 101]


def test_t7_a_large_tree_keeps_a_snapshot_for_as_many_records_as_it_has_members(
    asked: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[int] = []
    monkeypatch.setattr(snapshot, "keep_snapshot", lambda _place, state, *_: kept.append(state.seq))
    drawn = pictures.RunPictures("", str(asked.run_dir()), _Journal(), None)  # type: ignore[arg-type]
    from porch.machine.state import Instance, RunState

    members = {f"n{number}": Instance("", "n", {}, "", "", "") for number in range(80)}
    for seq in range(1, 200):
        drawn.keep_snapshot(RunState(seq=seq, instances=members))
    assert kept == [80, 160]


class _Journal:
    length = 0
    sum = ""


def test_without_a_home_every_command_works(asked: "Desk", monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    before = file(asked).read_bytes()
    assert "ready" in asked.porch("next", "1").out
    asked.porch("approve", "1", "ready")
    assert file(asked).read_bytes() == before


def test_a_repaired_journal_is_not_read_from_an_old_snapshot(asked: "Desk") -> None:
    journal = asked.run_dir() / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[2] = b"damage\n"
    journal.write_bytes(b"".join(lines))
    asked.porch("resume", "1", code=5)
    asked.porch("repair", "1")
    answer = asked.porch("next", "1", "--json").json
    without(asked)
    assert asked.porch("next", "1", "--json").json == answer
    assert answer["decisions"] == []
