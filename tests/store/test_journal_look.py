"""Looking for a few records in a long journal."""

from pathlib import Path

from msgspec import Struct

from porch.store import journal_look


class _Numbered(Struct):
    seq: int


def find(path: Path, *words: bytes) -> list[int] | None:
    found = journal_look.find_records(str(path), words, _Numbered)
    return None if found is None else [each.seq for each in found]


def test_only_lines_with_a_wanted_word_are_read(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    rest = b'{"seq":4,"fact":"wanted"'  # a crash cut it short
    path.write_bytes(b'{"seq":1,"a":"wanted"}\nnonsense\n{"seq":3,"b":"other"}\n' + rest)
    assert find(path, b"wanted") == [1]
    assert find(path, b"wanted", b"other") == [1, 3]
    assert find(path, b"absent") == []


def test_what_is_no_record_of_this_shape_or_no_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    for line in (b"nonsense wanted\n", b'{"seq":"wanted"}\n', b'["wanted"]\n', b"\xffwanted\n"):
        path.write_bytes(line)
        assert find(path, b"wanted") is None
    assert find(tmp_path / "none", b"wanted") is None
    (tmp_path / "link").symlink_to(path)
    assert find(tmp_path / "link", b"wanted") is None


def test_lines_across_the_pieces_of_a_file_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    long = b'{"seq":%d,"w":"' + b"x" * (journal_look._PIECE // 3) + b'"}\n'
    path.write_bytes(b"".join(long % number for number in range(1, 9)))
    assert find(path, b'"w"') == [*range(1, 9)]
