"""Who works on something: the process that stays, and whether it is still there."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from porch.plan.prompts import claim_owner
from porch.store.lock import host_name, read_boot_id


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def instant(**offset: float) -> str:
    then = datetime.now(UTC) + timedelta(**offset)
    return then.isoformat(timespec="seconds").replace("+00:00", "Z")


def test_a_process_is_present_until_it_ends(worker: subprocess.Popen[bytes]) -> None:
    owner = claim_owner.describe_caller(worker.pid)
    assert (owner["pid"], owner["host"], owner["boot"]) == (worker.pid, host_name(), read_boot_id())
    assert claim_owner.is_owner_present(owner)
    worker.kill()
    # Nobody has waited for it: it is dead, and still has its pid.
    os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)
    assert not claim_owner.is_owner_present(owner)
    worker.wait()
    assert not claim_owner.is_owner_present(owner)


def test_a_pid_that_was_given_again_is_somebody_else(worker: subprocess.Popen[bytes]) -> None:
    owner = {**claim_owner.describe_caller(worker.pid), "born": "1"}
    assert not claim_owner.is_owner_present(owner)


@pytest.mark.parametrize("until, expected", [({"hours": 1}, True), ({"seconds": -2}, False)])
def test_on_another_machine_only_the_time_tells(until: dict[str, float], expected: bool) -> None:
    owner = {**claim_owner.describe_caller(), "host": "attic", "until": instant(**until)}
    assert claim_owner.is_owner_present(owner) is expected


@pytest.mark.parametrize("until, expected", [({"hours": 1}, True), ({"seconds": -2}, False)])
def test_without_a_process_only_the_time_tells(until: dict[str, float], expected: bool) -> None:
    owner = {**claim_owner.describe_caller(), "pid": 0, "born": "", "until": instant(**until)}
    assert claim_owner.is_owner_present(owner) is expected


def test_a_machine_that_was_restarted_has_nobody_left() -> None:
    assert not claim_owner.is_owner_present({**claim_owner.describe_caller(), "boot": "before"})


@pytest.mark.parametrize("owner", [None, {}, {"host": "attic"}, {"until": ""}])
def test_nobody_is_not_present(owner: dict[str, Any] | None) -> None:
    assert not claim_owner.is_owner_present(owner)


def test_a_claim_without_a_process_lasts_its_time_and_no_longer() -> None:
    until = claim_owner.describe_caller()["until"]
    assert instant(hours=11.9) < until <= instant(hours=12.1)


_ASK = (
    "import os; from porch.plan.prompts import claim_owner; "
    "print(claim_owner.describe_caller(os.getppid())['pid'])"
)


@pytest.mark.parametrize("around", [["sh", "-c", '"$@"; true', "sh"], ["env"], ["timeout", "50"]])
def test_what_only_passes_a_command_on_is_not_the_one_who_works(around: list[str]) -> None:
    command = [*around, sys.executable, "-c", _ASK]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert int(done.stdout) == claim_owner.describe_caller(os.getpid())["pid"] == os.getpid()


def test_an_orphan_has_nobody_above_it() -> None:
    assert claim_owner.describe_caller(1)["pid"] == 0
    assert list(claim_owner._list_ancestors(0)) == []


def test_a_name_with_brackets_and_blanks_is_read(worker: subprocess.Popen[bytes]) -> None:
    script = "import ctypes,time; ctypes.CDLL(None).prctl(15, b'a) S 1 (b'); print(1, flush=True);"
    strange = subprocess.Popen(
        [sys.executable, "-c", f"{script} time.sleep(60)"], stdout=subprocess.PIPE
    )
    try:
        assert strange.stdout is not None
        strange.stdout.readline()
        owner = claim_owner.describe_caller(strange.pid)
        assert owner["pid"] == strange.pid
        assert claim_owner.is_owner_present(owner)
    finally:
        strange.kill()
        strange.communicate()
    assert not claim_owner.is_owner_present(owner)


CLAUDE, CODEX = "CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID"


@pytest.mark.parametrize(
    "environ, expected",
    [
        ({}, ""),
        ({CLAUDE: "a-1"}, "claude:a-1"),
        ({CODEX: "b", "CODEX_THREAD_ID": "t"}, "codex:b"),
        ({"CODEX_THREAD_ID": "t"}, "codex:t"),
        ({CLAUDE: "a-1", CODEX: "b"}, "claude:a-1 codex:b"),
        ({CLAUDE: ""}, ""),
        # One that names no session was started by one that does.
        ({CLAUDE: "a-1", "GEMINI_CLI": "1"}, ""),
    ],
)
def test_n1_the_session_is_what_the_agent_calls_it(environ: dict[str, str], expected: str) -> None:
    assert claim_owner.find_session(environ) == expected


def test_n1_a_session_is_the_same_in_another_process_and_after_a_restart() -> None:
    one = {**claim_owner.describe_caller(), "session": "claude:a"}
    later = {**one, "pid": 1, "born": "x", "boot": "later", "host": "attic"}
    assert claim_owner.is_same_owner(one, later)
    assert not claim_owner.is_same_owner(one, {**one, "session": "claude:b"})
    assert claim_owner.is_same_owner({**one, "session": ""}, one), "by their process"


_TYPED = "import pty; pty.spawn(['sh', '-c', 'echo $$; read line'])"


def test_n1_a_terminal_is_somebody_where_nobody_else_is() -> None:
    command = [sys.executable, "-c", _TYPED]
    typed = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert typed.stdin is not None
    assert typed.stdout is not None
    shell = int(typed.stdout.readline())
    assert claim_owner._has_terminal(shell)
    assert not claim_owner._has_terminal(typed.pid)
    assert not claim_owner._has_terminal(1 << 22)
    typed.communicate("\n", timeout=60)
