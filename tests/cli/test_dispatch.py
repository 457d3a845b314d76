"""The door of the commands, opened in this process: what it answers itself and what it hands on."""

import gc
import json
import subprocess
import sys
from pathlib import Path

import pytest

from porch.cli import dispatch


@pytest.mark.parametrize(
    "program, words, code, said",
    [
        ("porch", ["status"], 0, "There are no runs here yet"),
        ("porch", ["protocols", "lint", "nowhere"], 2, "nowhere"),
        ("codev", ["nope"], 2, "nope"),
        ("envoy", ["protocol"], 0, "discovery"),
        ("porch", ["help"], 0, "usage: porch [-h]"),
        ("porch", ["help", "wait"], 0, "usage: porch wait"),
        ("porch", ["protocols", "help"], 0, "usage: porch protocols"),
        ("porch", ["log", "help"], 2, "there is no run"),
        ("envoy", ["help", "plan", "next"], 0, "usage: envoy plan next"),
        ("af", ["help", "kickof"], 2, "did you mean `af kickoff --help`?"),
    ],
)
def test_a_command_is_answered_by_the_words_it_was_called_with(
    program: str,
    words: list[str],
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [program, *words])
    left = getattr(dispatch, program)()
    told = "".join(capsys.readouterr())
    assert (left, said in told) == (code, True), told


def test_a_command_does_not_look_for_garbage_that_its_end_will_take(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usual, frozen = gc.get_threshold(), gc.get_freeze_count()
    monkeypatch.setattr(sys, "argv", ["porch", "--version"])
    try:
        assert dispatch.porch() == 0
        assert (gc.isenabled(), gc.get_threshold()[0] > 20_000) == (True, True)
        assert gc.get_freeze_count() > frozen
    finally:
        gc.unfreeze()
        gc.set_threshold(*usual)
    assert capsys.readouterr().out.startswith("porch ")


def test_envoy_answers_wrong_words_in_the_shape_that_programs_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["envoy", "plan", "nope"])
    assert dispatch.envoy() == 2
    assert json.loads(capsys.readouterr().out)["status"] == "error"


def test_a_command_does_not_pay_for_a_library_that_others_have_installed(tmp_path: Path) -> None:
    """Whoever installs the dashboard has typing_extensions, which msgspec would load."""
    program = (
        "import sys\nfrom porch.cli import dispatch\n"
        "dispatch.run_words('porch', ['agents', '--json'])\n"
        "print('\\nLOADED', 'msgspec' in sys.modules, 'typing_extensions' in sys.modules)\n"
        "import typing_extensions\nprint(typing_extensions.__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("LOADED True False\ntyping_extensions\n")


@pytest.mark.parametrize("program, word", [("porch", "status"), ("af", "status")])
def test_ctrl_c_before_a_command_has_begun_is_no_error_of_the_program(
    program: str, word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def press_ctrl_c() -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", [program, word])
    monkeypatch.setattr("os.getcwd", press_ctrl_c)
    assert getattr(dispatch, program)() == 130
    assert "".join(capsys.readouterr()) == ""


@pytest.mark.parametrize(
    "program, word", [("porch", "status"), ("af", "status"), ("codev", "init")]
)
def test_a_directory_that_is_gone_under_the_caller_is_told_as_such(
    program: str,
    word: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setattr(sys, "argv", [program, word])
    assert getattr(dispatch, program)() == 6
    said = capsys.readouterr().err
    assert "error[no-directory]: the directory in which you stand is gone" in said
    assert "fix: change to one that is there" in said


def test_envoy_tells_of_a_directory_that_is_gone_in_its_envelope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setattr(sys, "argv", ["envoy", "plan", "status"])
    assert dispatch.envoy() == 6
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["message"] == "the directory in which you stand is gone, or may not be read"
    assert error["suggestion"] == "change to one that is there: cd DIRECTORY"
