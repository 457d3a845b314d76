"""A journal cut at any byte is the journal of a moment before, and the run goes on from there."""

import os
import random
import shutil
import signal
from pathlib import Path

import pytest

from porch.machine.evolve import fold_records
from porch.machine.records import decode_records
from porch.machine.state import RunState
from porch.run.engine.session import hold_run
from porch.run.verbs.read_run import read_run
from porch.store import chain, where
from porch.testing import Project, Result, distrust, result

pytestmark = [pytest.mark.torture, pytest.mark.timeout(300)]

RECORDS = 22
FULL = os.environ.get("PORCH_TORTURE") == "full"
# A tenth of what could be asked, always the same tenth.
SAMPLE = (
    range(1, RECORDS + 1) if FULL else sorted(random.Random(6).sample(range(1, RECORDS + 1), 2))
)


def _data(project: Project) -> bytes:
    return Path(project.journal).read_bytes()


def _whole_before(data: bytes, cut: int) -> int:
    return data[:cut].count(b"\n")


def test_the_records_are_as_many_as_this_file_believes(finished: Project) -> None:
    assert len(finished.records()) == RECORDS


def test_cut_at_every_byte_the_whole_records_before_it_are_read(finished: Project) -> None:
    data = _data(finished)
    whole = chain.parse_records(data)[0].records
    for cut in range(len(data)):
        found, trouble = chain.parse_records(data[:cut])
        count = _whole_before(data, cut)
        assert (trouble, found.records, found.seq) == (None, whole[:count], count)
        assert found.length + len(found.torn) == cut


def test_cut_at_a_byte_readers_and_the_holder_come_to_the_state_of_the_record_before(
    finished: Project, tmp_path: Path
) -> None:
    """Positions, budgets, gates, memory: all of the state, not only its records."""
    shutil.copytree(finished.root, tmp_path / "repository")
    copy = Project(str(tmp_path), finished.protocol)
    # A copy takes the worktree along, which still belongs to the original; it is not needed here.
    shutil.rmtree(Path(copy.root) / "worktrees")
    data, name, place = _data(finished), f"{copy.id}-{copy.title}", where.find_project(copy.root)
    states = _states(data)
    first = data.index(b"\n") + 1
    cuts = (
        range(first, len(data)) if FULL else random.Random(7).sample(range(first, len(data)), 300)
    )
    for cut in cuts:
        Path(copy.journal).write_bytes(data[:cut])
        then = states[_whole_before(data, cut)]
        assert read_run(place, name).state == then
        assert Path(copy.journal).stat().st_size == cut, "a reader cut the journal"
        with hold_run(place, name, "test") as found:
            assert found.book.state == then
        assert Path(copy.journal).read_bytes() == data[: data.rfind(b"\n", 0, cut) + 1]


def _states(data: bytes) -> list[RunState]:
    records = list(decode_records(chain.parse_records(data)[0].records))
    return [fold_records(RunState(), records[:count]) for count in range(len(records) + 1)]


@pytest.mark.parametrize("record", SAMPLE)
def test_a_run_whose_last_record_was_torn_ends_like_one_that_was_not(
    project: Project, undisturbed: Result, record: int
) -> None:
    """Killed in the middle of a write: the files are as they were, the record is not whole."""
    killed = project.run(PORCH_CRASH_AT=f"journal.after-write:{record}")
    assert killed.returncode == -signal.SIGKILL, killed.stdout + killed.stderr
    data = _data(project)
    start = data.rfind(b"\n", 0, -1) + 1
    os.truncate(project.journal, random.Random(record).randrange(start, len(data)))
    done = project.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert result(project) == undisturbed
    assert distrust(project) == []
