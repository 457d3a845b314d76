"""What a decision is about is read once: the text that is shown has the digest that is sent."""

from pathlib import Path

import pytest

from porch.machine.state import Approval, Decision, Run, RunState
from porch.run.decisions.asked_files import digest_asked_files, read_asked_files
from porch.run.engine import approved_artifacts
from porch.run.engine.artifacts import digest_hashes, hash_artifacts
from porch.store.where import find_project
from porch.text.sha256 import sha256


def asked(*paths: str) -> Decision:
    return Decision("one:gate#1", "gate", "go", "", artifacts=dict.fromkeys(paths, ""))


def test_text_and_digest_are_those_of_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "spec.md").write_bytes(b"words \xff")
    state, where = RunState(run=Run(name="0001-x")), find_project(str(tmp_path))
    shown = read_asked_files(where, state, asked("spec.md", "none.md"))
    assert [(each.path, each.text, each.trouble) for each in shown.files] == [
        ("spec.md", "words \ufffd", ""),
        ("none.md", "", "missing"),
    ]
    now = hash_artifacts(str(tmp_path), "", ["spec.md", "none.md"])
    assert shown.digest == digest_hashes(now)
    assert shown.digest == digest_asked_files(where, state, asked("spec.md", "none.md"))


def test_a_file_that_is_written_all_the_time_has_no_digest_that_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spec.md").write_text("one")
    monkeypatch.setattr(approved_artifacts, "read_regular_file", lambda _: b"two")
    state, where = RunState(run=Run(name="0001-x")), find_project(str(tmp_path))
    shown = read_asked_files(where, state, asked("spec.md"))
    assert shown.files[0].trouble == "being written just now"
    assert shown.digest != digest_asked_files(where, state, asked("spec.md"))


def test_a_file_that_is_too_large_is_not_shown_and_still_has_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spec.md").write_text("one")
    monkeypatch.setattr(approved_artifacts, "LARGEST_KEPT", 2)
    state, where = RunState(run=Run(name="0001-x")), find_project(str(tmp_path))
    shown = read_asked_files(where, state, asked("spec.md"))
    assert shown.files[0].trouble == "too large to be shown"
    assert shown.digest == digest_asked_files(where, state, asked("spec.md"))


def test_what_is_different_since_an_approval_is_told(tmp_path: Path) -> None:
    (tmp_path / "spec.md").write_text("one\ntwo\n")
    where = find_project(str(tmp_path))
    store = Path(where.run_dir("0001-x")) / "payloads"
    old = sha256(b"one\n").hexdigest()
    (tmp_path / "old.md").write_text("one\n")
    store.mkdir(parents=True)
    assert approved_artifacts.keep_artifacts(str(tmp_path), str(store), {"old.md": old})
    state = RunState(run=Run(name="0001-x"), approvals={"ready": Approval("x#1", {"spec.md": old})})
    shown = read_asked_files(where, state, asked("spec.md"))
    assert shown.files[0].since == "ready was approved"
    assert "+two" in shown.files[0].difference
