"""The end of a journal, read backwards, and all of it in pieces: the same as reading it whole."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.store import chain, journal_tail


def lines(sizes: list[int]) -> list[bytes]:
    """A journal whose records are about so long."""
    found, total = [], chain.START
    for seq, size in enumerate(sizes, 1):
        line, total = chain.render_record_line(seq, total, {"fact": {"text": "x" * size}})
        found.append(line)
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def numbers(tail: journal_tail.Tail | None) -> list[int]:
    assert tail is not None
    assert tail.earlier == tail.records[0]["seq"] - 1 if tail.records else tail.earlier == 0
    return [record["seq"] for record in tail.records]


@given(st.lists(st.sampled_from([0, 10, 3_000, 70_000]), max_size=12), st.integers(1, 8))
def test_the_tail_is_the_end_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], count: int
) -> None:
    path = tmp_path_factory.mktemp("tail") / "journal.jsonl"
    path.write_bytes(b"".join(lines(sizes)))
    whole = list(range(1, len(sizes) + 1))
    assert numbers(journal_tail.read_tail(str(path), count)) == whole[-count:]
    pieces = journal_tail.read_pieces(str(path))
    assert pieces is not None
    assert [record["seq"] for piece in pieces for record in piece] == whole


def test_what_stands_far_before_the_tail_is_not_even_read(path: Path) -> None:
    told = lines([3_000] * 100)
    path.write_bytes(b"\0" * sum(map(len, told[:50])) + b"".join(told[50:]))
    assert numbers(journal_tail.read_tail(str(path), 20)) == list(range(81, 101))
    assert journal_tail.read_pieces(str(path)) is None


@pytest.mark.parametrize("at", range(5))
def test_damage_in_what_would_be_shown_is_noticed(path: Path, at: int) -> None:
    told = lines([30] * 9)
    told[-1 - at] = told[-1 - at].replace(b"xxx", b"xyx", 1)
    path.write_bytes(b"".join(told))
    assert journal_tail.read_tail(str(path), 5) is None


def test_a_lost_line_among_those_shown_is_noticed(path: Path) -> None:
    told = lines([30] * 9)
    path.write_bytes(b"".join([*told[:6], *told[7:]]))
    assert journal_tail.read_tail(str(path), 5) is None
    assert journal_tail.read_pieces(str(path)) is None


def test_a_record_that_a_crash_cut_short_never_happened(path: Path) -> None:
    told = lines([30] * 4)
    path.write_bytes(b"".join(told)[:-5])
    assert numbers(journal_tail.read_tail(str(path), 2)) == [2, 3]
    pieces = journal_tail.read_pieces(str(path))
    assert pieces is not None
    assert sum(map(len, pieces)) == 3


def test_a_record_that_lost_its_end_of_line_is_damage(path: Path) -> None:
    path.write_bytes(b"".join(lines([30] * 4))[:-1] + b"more")
    assert journal_tail.read_tail(str(path), 2) is None
    assert journal_tail.read_pieces(str(path)) is None


def test_the_tail_is_checked_against_what_a_picture_knew(path: Path) -> None:
    told = lines([30] * 9)
    path.write_bytes(b"".join(told))
    length, total = sum(map(len, told[:3])), told[2][-67:-3].decode()
    assert numbers(journal_tail.read_tail(str(path), 2, (length, total))) == [8, 9]
    for wrong in ((length, "0" * 64), (length + 1, total), (10**9, total), (3, total)):
        assert journal_tail.read_tail(str(path), 2, wrong) is None


def test_pieces_are_those_that_were_checked_whatever_happens_meanwhile(path: Path) -> None:
    told = lines([3_000] * 200)
    path.write_bytes(b"".join(told[:150]))
    pieces = journal_tail.read_pieces(str(path))
    assert pieces is not None
    with open(path, "ab") as file:
        file.write(b"".join(told[150:]) + b"damage\n")
    os.rename(path, path.with_name("elsewhere"))
    assert [record["seq"] for piece in pieces for record in piece] == list(range(1, 151))


def test_a_journal_that_cannot_be_read_has_no_tail(path: Path) -> None:
    assert journal_tail.read_tail(str(path), 5) is None
    assert journal_tail.read_pieces(str(path)) is None
    path.mkdir()
    assert journal_tail.read_tail(str(path), 5) is None
    assert journal_tail.read_pieces(str(path)) is None


def test_lines_that_are_no_records_have_no_tail(path: Path) -> None:
    path.write_bytes(b"nonsense\n" * 300)
    assert journal_tail.read_tail(str(path), 5) is None
