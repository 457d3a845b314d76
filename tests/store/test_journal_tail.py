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


@given(
    st.lists(st.sampled_from([0, 10, 3_000, 9_000, 70_000]), min_size=1, max_size=40),
    st.integers(1, 45),
    st.integers(0, 10),
)
def test_a_window_is_the_same_part_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], first: int, more: int
) -> None:
    path = tmp_path_factory.mktemp("window") / "journal.jsonl"
    path.write_bytes(b"".join(lines(sizes)))
    found = journal_tail.read_window(str(path), first, first + more)
    assert found is not None
    whole = range(1, len(sizes) + 1)
    assert [each["seq"] for each in found] == [n for n in whole if first <= n <= first + more]


def test_a_window_reads_little_of_a_long_journal(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b"".join(lines([200] * 20_000)))
    read: list[int] = []
    pread = os.pread

    def count(fd: int, size: int, at: int) -> bytes:
        data = pread(fd, size, at)
        read.append(len(data))
        return data

    monkeypatch.setattr(os, "pread", count)
    found = journal_tail.read_window(str(path), 9_000, 9_100)
    assert found is not None
    assert [each["seq"] for each in found] == [*range(9_000, 9_101)]
    assert sum(read) < path.stat().st_size / 4


def test_a_window_that_cannot_be_believed_is_none(path: Path) -> None:
    whole = lines([10] * 300)
    path.write_bytes(b"".join(whole))
    assert journal_tail.read_window(str(path), 5, 9, (len(whole[0]), "0" * 64)) is None
    assert journal_tail.read_window(str(path.parent / "none"), 1, 2) is None
    path.write_bytes(
        b"".join(whole).replace(b'"seq": 150', b'"seq": 151').replace(b'"seq":150', b'"seq":151')
    )
    assert journal_tail.read_window(str(path), 140, 160) is None
    path.write_bytes(b"nonsense\n" * 5_000)
    assert journal_tail.read_window(str(path), 100, 110) is None
