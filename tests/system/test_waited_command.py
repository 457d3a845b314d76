"""Commands for which everything waits: how they end, and that nobody of theirs is left."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.system.process import OutsideCommand
from porch.system.process_marks import list_marked_processes
from porch.system.waited_command import AskedToLeaveError, run_to_end

# As somebody who starts a service does it: in a session of its own, and without a terminal.
LEFT = "setsid sh -c 'trap \"\" INT TERM; sleep 600' >/dev/null 2>&1 &"


def make_command(place: Path, text: str) -> OutsideCommand:
    log = str(place / "log")
    return OutsideCommand(
        argv=None,
        shell=text,
        cwd=str(place),
        env={"PATH": os.defpath, "SEEN": "1"},
        stdin_file=None,
        output=log,
        errors=log,
        mark=f"test-{place.name}-{os.getpid()}",
    )


def list_left(place: Path) -> list[int]:
    mark = f"test-{place.name}-{os.getpid()}"
    return [each.pid for each in list_marked_processes(mark)]


@pytest.mark.parametrize(
    "text, code, number",
    [("exit 0", 0, None), ("exit 3", 3, None), ("kill -9 $$", None, signal.SIGKILL)],
)
def test_the_end_of_a_command_is_told(
    tmp_path: Path, text: str, code: int | None, number: int | None
) -> None:
    ended = run_to_end(make_command(tmp_path, text), 60)
    assert (ended.code, ended.signal, ended.why) == (code, number, "exited")


def test_it_runs_in_its_directory_with_its_variables_and_a_session_of_its_own(
    tmp_path: Path,
) -> None:
    text = "pwd; echo $SEEN $HOME.; cat; ps -o sid= -p $$ | tr -d ' '; echo $$; echo no >&2"
    run_to_end(make_command(tmp_path, text), 60)
    place, seen, sid, pid, error = (tmp_path / "log").read_text().split("\n")[:5]
    assert (place, seen, error) == (str(tmp_path), "1 .", "no")
    assert sid == pid


def test_whoever_is_left_behind_is_ended(tmp_path: Path) -> None:
    assert run_to_end(make_command(tmp_path, f"{LEFT} exit 0"), 60).code == 0
    assert list_left(tmp_path) == []


def test_one_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    ended = run_to_end(make_command(tmp_path, f"{LEFT} trap '' INT; sleep 600; sleep 600"), 0.2)
    assert (ended.code, ended.why) == (None, "wall")
    assert list_left(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whoever_is_asked_to_leave_ends_the_command_first(tmp_path: Path, number: int) -> None:
    before, here = signal.getsignal(number), threading.get_ident()

    def ask() -> None:
        while not (tmp_path / "there").exists():
            time.sleep(0.01)
        signal.pthread_kill(here, number)

    asking = threading.Thread(target=ask)
    asking.start()
    with pytest.raises(AskedToLeaveError):
        run_to_end(make_command(tmp_path, f"{LEFT} touch there; sleep 600"), 60)
    asking.join()
    assert list_left(tmp_path) == []
    assert signal.getsignal(number) is before


def test_one_that_cannot_be_started_says_so(tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match="could not be started in"):
        run_to_end(make_command(tmp_path / "nowhere", "true"), 60)
