"""Real processes: what was started can be followed, limited and ended whole."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.system import process, process_marks, processes
from porch.system.process import CommandResult, OutsideCommand

ENV = {"PATH": os.environ["PATH"]}


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[str]:
    name = f"porch-test-{os.getpid()}-{tmp_path.name}/effect"
    yield name
    process.reap_processes(name)


@pytest.fixture(params=["proc", "psutil"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In /proc, and as on a system that has none."""
    if request.param == "psutil":
        monkeypatch.setattr(processes, "_PROC", "/there-is-no-such-directory")


def command(
    tmp_path: Path, mark: str, what: str | tuple[str, ...], **changes: object
) -> OutsideCommand:
    given: dict[str, object] = {
        "argv": what if isinstance(what, tuple) else None,
        "shell": what if isinstance(what, str) else None,
        "cwd": str(tmp_path),
        "env": ENV,
        "stdin_file": None,
        "output": str(tmp_path / "out"),
        "errors": str(tmp_path / "err"),
        "mark": mark,
    }
    return OutsideCommand(**(given | changes))  # type: ignore[arg-type]


def ended(what: OutsideCommand, **limits: object) -> CommandResult:
    async def whole() -> CommandResult:
        running = await process.start_command(what)
        return await running.wait(**limits)  # type: ignore[arg-type]

    return asyncio.run(whole())


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def talking(tmp_path: Path, mark: str, seconds: float) -> OutsideCommand:
    """Says a word every hundredth of a second, or as often as a busy machine lets it."""
    end = time.monotonic() + seconds
    code = "import time\nwhile time.monotonic() < {}: print('x', flush=True); time.sleep(0.01)"
    return command(tmp_path, mark, python(code.format(end)))


async def told(path: Path, word: str) -> None:
    end = time.monotonic() + 90
    while word not in path.read_text():  # noqa: ASYNC240  (a test of one loop with nothing else in it)
        assert time.monotonic() < end, f"{word} was never said"
        await asyncio.sleep(0.005)


# A child of a child in a session of its own, whose parents are gone: no group leads to it.
DOUBLE_FORK = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
os.wait()
"""


def test_output_and_errors_go_to_their_files(tmp_path: Path, mark: str) -> None:
    end = ended(command(tmp_path, mark, "echo told; echo wrong >&2; exit 3"))
    assert (end.code, end.signal, end.why) == (3, None, "exited")
    assert (tmp_path / "out").read_text() == "told\n"
    assert (tmp_path / "err").read_text() == "wrong\n"


def test_output_is_appended_and_may_share_one_file_with_the_errors(
    tmp_path: Path, mark: str
) -> None:
    (tmp_path / "out").write_text("before\n")
    ended(command(tmp_path, mark, "echo a; echo b >&2; echo c", errors=str(tmp_path / "out")))
    assert (tmp_path / "out").read_text() == "before\na\nb\nc\n"


@pytest.mark.req("F-045")
def test_shell_text_reaches_the_shell_whole(tmp_path: Path, mark: str) -> None:
    text = 'printf \'%s\\n\' "a  b" | tr a-z A-Z\nfor x in 1 2; do echo "$(echo $x)"; done\n'
    ended(command(tmp_path, mark, text))
    assert (tmp_path / "out").read_text() == "A  B\n1\n2\n"


@pytest.mark.req("F-025")
def test_values_are_variables_and_never_part_of_the_command(tmp_path: Path, mark: str) -> None:
    title = 'it\'s "$(touch pwned)"; touch pwned #'
    env = {**ENV, "PROJECT_TITLE": title}
    ended(command(tmp_path, mark, 'echo "${PROJECT_TITLE}"', env=env))
    assert (tmp_path / "out").read_text() == title + "\n"
    assert not (tmp_path / "pwned").exists()


def test_environment_is_exactly_what_was_given_and_the_mark(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "x")
    code = "import os; print(sorted(set(os.environ) - {'LC_CTYPE'}), os.environ['PORCH_MARK'])"
    ended(command(tmp_path, mark, python(code), env={"ONE": "1"}))
    names, _, found = (tmp_path / "out").read_text().partition("] ")
    assert names == "['ONE', 'PORCH_MARK'"
    # Each process has its own, behind the one that was given.
    assert found.startswith(f"{mark}~")


@pytest.mark.req("P-165")
def test_command_runs_in_its_directory_with_nothing_to_read(tmp_path: Path, mark: str) -> None:
    ended(command(tmp_path, mark, "pwd -P; cat; echo end"), wall_s=2)
    assert (tmp_path / "out").read_text() == f"{tmp_path.resolve()}\nend\n"


def test_standard_input_can_be_a_file(tmp_path: Path, mark: str) -> None:
    (tmp_path / "in").write_text("asked")
    ended(command(tmp_path, mark, "cat", stdin_file=str(tmp_path / "in")))
    assert (tmp_path / "out").read_text() == "asked"


def test_output_files_are_for_the_owner_only(tmp_path: Path, mark: str) -> None:
    ended(command(tmp_path, mark, "true"))
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600


def test_death_by_a_signal_is_told_as_such(tmp_path: Path, mark: str) -> None:
    end = ended(command(tmp_path, mark, "kill -TERM $$"))
    assert (end.code, end.signal, end.why) == (None, signal.SIGTERM, "exited")


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"shell": None, "argv": ("no-such-program-here",)}, "no-such-program-here"),
        ({"cwd": "/no/such/place"}, "/no/such/place"),
        ({"stdin_file": "/no/such/input"}, "/no/such/input"),
    ],
)
def test_what_cannot_start_says_why(
    tmp_path: Path, mark: str, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(OutsideError, match=said):
        ended(command(tmp_path, mark, "true", **changes))


@pytest.mark.parametrize("wrong", ["", "two words", "new\nline"])
def test_mark_is_one_word(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(ValueError, match="mark"):
        command(tmp_path, wrong, "true")


def test_command_is_words_or_shell_not_both(tmp_path: Path, mark: str) -> None:
    with pytest.raises(ValueError, match="either"):
        command(tmp_path, mark, "true", argv=("true",))


def test_wall_limit_ends_a_command_that_keeps_talking(tmp_path: Path, mark: str) -> None:
    end = ended(command(tmp_path, mark, "while :; do echo x; sleep 0.05; done"), wall_s=0.4)
    assert (end.why, end.code, end.signal) == ("wall", None, None)
    assert 0.4 <= end.seconds < 30
    assert process.list_marked_processes(mark) == []


def test_idle_limit_ends_a_silent_command_but_not_a_talking_one(tmp_path: Path, mark: str) -> None:
    assert ended(talking(tmp_path, mark, 1.5), idle_s=1).why == "exited"
    assert ended(command(tmp_path, mark, "sleep 300"), idle_s=0.3).why == "idle"


WORKING = """
import os, time
if os.fork():
    os.wait()
else:
    os.setsid()
    while time.monotonic() < {}: pass
"""


def test_idle_limit_spares_whoever_works_without_a_word(tmp_path: Path, mark: str) -> None:
    """E2: processor time is a sign of life, also that of a child in another session."""
    working = command(tmp_path, mark, python(WORKING.format(time.monotonic() + 3)))
    assert ended(working, idle_s=1).why == "exited"


def test_idle_limit_spares_whoever_only_complains(tmp_path: Path, mark: str) -> None:
    """E2: error output is output."""
    complaining = command(tmp_path, mark, "for n in 1 2 3 4 5 6; do echo x >&2; sleep 0.3; done")
    assert ended(complaining, idle_s=1).why == "exited"


def test_who_has_said_the_last_word_and_stays_is_ended_after_a_little_silence(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "LINGER_S", 1)
    assert ended(talking(tmp_path, mark, 1.5), is_over=lambda: True).why == "exited"
    monkeypatch.setattr(process, "LINGER_S", 0.4)
    stays = command(tmp_path, mark, "echo x; sleep 300")
    # What seems to be at work after the last word does not keep it.
    assert ended(stays, is_over=lambda: True, is_busy=lambda: True).why == "over"
    assert ended(stays, is_over=lambda: False, wall_s=0.8).why == "wall"


def test_silence_does_not_count_while_somebody_is_busy(tmp_path: Path, mark: str) -> None:
    quiet = command(tmp_path, mark, "sleep 0.8")
    assert ended(quiet, idle_s=0.3, is_busy=lambda: True).why == "exited"


def test_on_output_sees_what_arrives_while_it_arrives(tmp_path: Path, mark: str) -> None:
    sizes: list[int] = []

    def look() -> bool:
        sizes.append((tmp_path / "out").stat().st_size)
        if sizes[-1] == 2:
            (tmp_path / "seen").touch()
        return False

    async def whole() -> None:
        shell = "echo a; until test -e seen; do sleep 0.01; done; echo b"
        running = await process.start_command(command(tmp_path, mark, shell))
        await running.wait(on_output=look, wall_s=90)

    asyncio.run(whole())
    assert 2 in sizes, "the first line was seen before the second was written"
    assert sizes[-1] == 4


def test_stop_asks_first_so_that_an_agent_can_say_its_last_words(tmp_path: Path, mark: str) -> None:
    code = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGINT, lambda *_: (os.write(1, b'last words\\n'), sys.exit(7)))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )

    async def whole() -> CommandResult:
        running = await process.start_command(command(tmp_path, mark, python(code)))
        waiting = asyncio.ensure_future(running.wait())
        await told(tmp_path / "out", "ready")
        await running.stop()
        return await waiting

    end = asyncio.run(whole())
    assert (tmp_path / "out").read_text() == "ready\nlast words\n"
    assert end.code == 7


def test_stop_kills_what_ignores_being_asked(tmp_path: Path, mark: str) -> None:
    async def whole() -> tuple[CommandResult, float]:
        shell = "trap '' INT TERM; echo ready; while :; do sleep 1; done"
        running = await process.start_command(command(tmp_path, mark, shell))
        await told(tmp_path / "out", "ready")
        before = time.monotonic()
        await running.stop(grace_s=0.3)
        return await running.wait(), time.monotonic() - before

    end, seconds = asyncio.run(whole())
    assert end.signal == signal.SIGKILL
    assert 0.3 <= seconds < 30
    assert process.list_marked_processes(mark) == []


@pytest.mark.parametrize("limit", [{"wall_s": 0.5}, {}])
def test_children_in_other_sessions_end_with_the_command(
    tmp_path: Path, mark: str, limit: dict[str, float]
) -> None:
    code = DOUBLE_FORK + ("time.sleep(60)" if limit else "")
    ended(command(tmp_path, mark, python(code)), grace_s=0.2, **limit)
    assert process.list_marked_processes(mark) == []


def test_stop_ends_a_process_that_forks_all_the_time(tmp_path: Path, mark: str) -> None:
    code = (
        "import os, time\n"
        "os.setsid() if os.fork() == 0 else time.sleep(60)\n"
        # Bounded, so that no failure of this test can leave a machine busy for ever.
        "for _ in range(5000):\n"
        "    time.sleep(0.005)\n"
        "    if os.fork(): os._exit(0)\n"
    )
    ended(command(tmp_path, mark, python(code)), wall_s=0.5, grace_s=0.1)
    assert process.list_marked_processes(mark) == []


@pytest.mark.usefixtures("way")
def test_a_stop_while_a_command_is_being_started_leaves_nobody(tmp_path: Path, mark: str) -> None:
    """It is at work already, while asyncio has not yet said that it has started."""
    sign = tmp_path / "sign"

    async def stopped() -> None:
        work = f"sleep 600 & touch {sign}; wait"
        starting = asyncio.create_task(process.start_command(command(tmp_path, mark, work)))
        await asyncio.sleep(0)
        end = time.monotonic() + 90
        while not sign.exists():  # nothing else may run meanwhile
            assert time.monotonic() < end, "it never started"
        starting.cancel()
        await starting

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stopped())
    assert process.list_marked_processes(mark) == []


@pytest.mark.usefixtures("way")
def test_child_that_cleared_its_environment_goes_with_its_parent(tmp_path: Path, mark: str) -> None:
    shell = "setsid sh -c 'env -i /bin/sh -c \"echo \\$\\$; exec sleep 60\" & wait' & wait"

    async def whole() -> int:
        running = await process.start_command(command(tmp_path, mark, shell))
        await told(tmp_path / "out", "\n")
        child = int((tmp_path / "out").read_text())
        assert child in process_marks.read_process_table()
        await running.stop(grace_s=0.1)
        return child

    assert asyncio.run(whole()) not in process_marks.read_process_table()


@pytest.mark.usefixtures("way")
def test_a_child_that_left_session_and_environment_ends_although_its_parent_leaves_first(
    tmp_path: Path, mark: str
) -> None:
    """R8: the parent ends when it is asked to, and then nothing leads to the child any more."""
    shell = "env -i setsid sh -c 'echo $$; exec sleep 6133' & wait"

    async def whole() -> int:
        running = await process.start_command(command(tmp_path, mark, shell))
        await told(tmp_path / "out", "\n")
        child = int((tmp_path / "out").read_text())
        assert child in process_marks.read_process_table()
        await running.stop(grace_s=5)
        return child

    child = asyncio.run(whole())
    try:
        assert child not in process_marks.read_process_table()
    finally:
        process_marks.kill_processes({child: process_marks._read_begin(child)})


@pytest.mark.usefixtures("way")
def test_reap_finds_all_of_a_dead_runner_and_nothing_else(tmp_path: Path, mark: str) -> None:
    prefix = mark.removesuffix("/effect")
    code = DOUBLE_FORK.encode()
    others = {"mine-1": f"{prefix}/a", "mine-2": f"{prefix}/b", "foreign": f"other-{prefix}"}
    for name in others.values():
        subprocess.run([sys.executable, "-c", code], env={**ENV, "PORCH_MARK": name}, check=True)
    try:
        found = process.list_marked_processes(prefix)
        assert sorted(each.mark for each in found) == [f"{prefix}/a", f"{prefix}/b"]
        assert process.reap_processes(prefix) == sorted(each.pid for each in found)
        assert process.list_marked_processes(prefix) == []
        assert [each.mark for each in process.list_marked_processes(f"other-{prefix}")] == [
            f"other-{prefix}"
        ]
    finally:
        process.reap_processes(f"other-{prefix}")


def test_reap_spares_itself_and_its_ancestors(tmp_path: Path, mark: str) -> None:
    inner = f"from porch.system import process; print(process.reap_processes({mark!r}))"
    shell = f'{sys.executable} -c "{inner}"; echo parent lives'
    end = ended(command(tmp_path, mark, shell))
    assert end.code == 0
    assert (tmp_path / "out").read_text() == "[]\nparent lives\n"


@pytest.mark.usefixtures("way")
def test_whoever_dies_while_one_looks_is_found_in_the_child_it_left(
    mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chain that forks and exits moves on between the list of processes and the reading."""
    environ = {**ENV, "PORCH_MARK": mark}
    links = [subprocess.Popen(["sleep", "60"], env=environ)]
    list_pids = processes.list_pids

    def list_and_move_on() -> set[int]:
        names = list_pids()
        if len(links) == 1:
            links.append(subprocess.Popen(["sleep", "60"], env=environ))
            while not Path(f"/proc/{links[1].pid}/environ").read_bytes():
                time.sleep(0.001)
            links[0].kill()
            links[0].wait()
        return names

    monkeypatch.setattr(process_marks, "list_pids", list_and_move_on)
    try:
        assert [found.pid for found in process.list_marked_processes(mark)] == [links[1].pid]
    finally:
        links[1].kill()
        links[1].wait()


@pytest.mark.usefixtures("way")
def test_zombies_do_not_count(mark: str) -> None:
    with subprocess.Popen(["true"], env={**ENV, "PORCH_MARK": mark}) as zombie:
        while Path(f"/proc/{zombie.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.01)
        assert process.list_marked_processes(mark) == []


def test_stop_never_turns_on_our_own_group(mark: str) -> None:
    with pytest.raises(ValueError, match="our own"):
        asyncio.run(process.stop_processes(mark, os.getpgrp()))
