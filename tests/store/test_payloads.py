"""Payloads: what comes back is what was put, or an error."""

import os
import signal
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.errors import StateError
from porch.store import payloads
from porch.system import crash_points
from porch.testing import kill_python_at

DATA = b"a plan of three phases\n" * 1000
DIGEST = sha256(DATA).hexdigest()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "0073" / "payloads"


@pytest.mark.req("V-103")
def test_a_payload_is_a_file_named_by_the_hash_of_what_it_holds(directory: Path) -> None:
    assert payloads.write_payload(str(directory), DATA) == DIGEST
    assert (directory / DIGEST).read_bytes() == DATA
    assert payloads.read_payload(str(directory), DIGEST) == DATA
    assert os.listdir(directory) == [DIGEST]


def test_putting_the_same_twice_keeps_the_first_file(directory: Path) -> None:
    payloads.write_payload(str(directory), DATA)
    before = (directory / DIGEST).stat()
    assert payloads.write_payload(str(directory), DATA) == DIGEST
    after = (directory / DIGEST).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_payload_that_does_not_hold_what_its_name_says_is_not_given_out(directory: Path) -> None:
    payloads.write_payload(str(directory), DATA)
    (directory / DIGEST).write_bytes(DATA[:-1])
    with pytest.raises(StateError, match=DIGEST) as caught:
        payloads.read_payload(str(directory), DIGEST)
    assert caught.value.findings[0].code == "payload-lost"
    payloads.write_payload(str(directory), DATA)
    assert payloads.read_payload(str(directory), DIGEST) == DATA


def test_a_missing_payload_is_named(directory: Path) -> None:
    with pytest.raises(StateError, match=f"{DIGEST} is missing"):
        payloads.read_payload(str(directory), DIGEST)


@pytest.mark.parametrize("name", ["", "../journal.jsonl", "/etc/passwd", "F" * 64, "a" * 63 + "/"])
def test_a_name_that_is_no_digest_is_never_opened(directory: Path, name: str) -> None:
    with pytest.raises(StateError, match="is not a valid name"):
        payloads.read_payload(str(directory), name)


def test_v15_a_payload_that_is_no_file_is_state_that_cannot_be_trusted(directory: Path) -> None:
    (directory / DIGEST).mkdir(parents=True)
    with pytest.raises(StateError, match=DIGEST):
        payloads.read_payload(str(directory), DIGEST)


PUT = f"""
import sys
from porch.store import payloads
payloads.write_payload(sys.argv[1], {DATA!r})
"""


@pytest.mark.parametrize(
    "point", [p for p in crash_points.POINTS if p.startswith(("atomic.", "payload."))]
)
def test_a_writer_killed_at_any_point_left_a_whole_payload_or_none(
    directory: Path, point: str
) -> None:
    assert kill_python_at(point, PUT, str(directory)).returncode == -signal.SIGKILL
    there = point.endswith(("after-rename", "after-directory-sync"))
    assert (directory / DIGEST).exists() == there
    if there:
        assert payloads.read_payload(str(directory), DIGEST) == DATA
    assert payloads.write_payload(str(directory), DATA) == DIGEST
    assert payloads.read_payload(str(directory), DIGEST) == DATA


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=10_000))
def test_any_bytes_come_back(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    directory = str(tmp_path_factory.getbasetemp() / "any-payloads")
    assert payloads.read_payload(directory, payloads.write_payload(directory, data)) == data
