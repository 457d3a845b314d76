"""Following output: every line once, in bounded memory, whatever the bytes are."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.system import growing_file
from porch.system.growing_file import FileFollower, OutputLine


def lines_of(path: Path) -> list[str]:
    lines: list[OutputLine] = []
    FileFollower(str(path), lines.append).drain()
    assert not any(line.cut for line in lines)
    return [line.text for line in lines]


def test_lines_arrive_as_they_are_completed(tmp_path: Path) -> None:
    path = tmp_path / "out"
    lines: list[OutputLine] = []
    follower = FileFollower(str(path), lines.append)
    assert not follower.poll(), "the file need not be there yet"
    path.write_bytes(b"one\ntw")
    follower.poll()
    assert lines == [OutputLine("one")]
    with path.open("ab") as file:
        file.write(b"o\r\nrest")
    follower.poll()
    assert lines == [OutputLine("one"), OutputLine("two")]
    follower.drain()
    assert lines == [OutputLine("one"), OutputLine("two"), OutputLine("rest")]
    assert follower.offset == path.stat().st_size


PIECES = st.lists(
    st.one_of(st.binary(max_size=12), st.just(b"\n"), st.text(max_size=6).map(str.encode)),
    max_size=12,
)


@given(PIECES)
def test_pieces_of_any_size_give_the_lines_of_the_whole(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    wanted = [line.removesuffix("\r") for line in whole.decode(errors="replace").split("\n")]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "out")
        lines: list[OutputLine] = []
        follower = FileFollower(str(path), lines.append)
        for piece in pieces:
            with path.open("ab") as file:
                file.write(piece)
            follower.poll()
        follower.drain()
    wanted = wanted if not whole or not whole.endswith(b"\n") else wanted[:-1]
    assert [line.text for line in lines] == (wanted if whole else [])


def test_character_across_a_chunk_border_stays_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    text = "x" * (growing_file.CHUNK - 1) + "€" + "é" * growing_file.CHUNK
    path.write_text(text + "\nnext\n", encoding="utf-8")
    assert lines_of(path) == [text, "next"]


def test_over_long_line_is_cut_once_and_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"a" * 25 + b"\nshort\n" + b"b" * 11 + b"\n" + b"c" * 10)
    lines: list[OutputLine] = []
    FileFollower(str(path), lines.append, longest=10).drain()
    assert lines == [
        OutputLine("a" * 10, cut=True),
        OutputLine("short"),
        OutputLine("b" * 10, cut=True),
        OutputLine("c" * 10),
    ]


def test_cut_line_does_not_end_in_half_a_character(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("€€€€\n", encoding="utf-8")
    lines: list[OutputLine] = []
    FileFollower(str(path), lines.append, longest=7).drain()
    assert lines == [OutputLine("€€", cut=True)]


def test_poll_is_bounded_and_says_that_there_is_more(tmp_path: Path) -> None:
    path = tmp_path / "out"
    limit = growing_file.CHUNK * growing_file.POLL_CHUNKS
    path.write_bytes((b"x" * 1023 + b"\n") * (limit // 1024 + 1))
    seen: list[OutputLine] = []
    follower = FileFollower(str(path), seen.append)
    assert follower.poll()
    assert follower.offset == limit


BOUNDED = """
import resource, sys
from porch.system.growing_file import FileFollower, read_head_and_tail, compact_file
path = sys.argv[1]
with open(path, "wb") as file:
    for n in range(150):
        file.write((b"line %d\\n" % n) * 3000 + b"y" * 1_000_000)
    file.truncate(200_000_000)
count = 0
def take(line):
    global count
    count += 1
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
FileFollower(path, take).drain()
read_head_and_tail(path)
compact_file(path)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(count, after - before)
"""


def test_memory_stays_bounded_while_200_megabytes_pass(tmp_path: Path) -> None:
    path = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", BOUNDED, str(path)], capture_output=True, text=True, check=True
    )
    count, grown_kib = map(int, done.stdout.split())
    assert count == 150 * 3000 + 1
    assert grown_kib < 16 * 1024
    assert path.stat().st_size < 2 * 1024 * 1024 + 100


def test_head_and_tail_says_how_much_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"H" * 10 + b"m" * 77 + b"T" * 10)
    wanted = "H" * 10 + "\n[... 77 bytes not shown ...]\n" + "T" * 10
    assert growing_file.read_head_and_tail(str(path), keep=10) == wanted


def test_small_file_is_shown_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"0123456789")
    assert growing_file.read_head_and_tail(str(path), keep=5) == "0123456789"


@given(st.text(alphabet="aé€😀", min_size=0, max_size=60), st.integers(4, 20))
def test_ends_of_a_file_hold_only_whole_characters(text: str, keep: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "out")
        path.write_text(text, encoding="utf-8")
        shown = growing_file.read_head_and_tail(str(path), keep)
    assert "\ufffd" not in shown
    head, _, rest = shown.partition("\n[... ")
    number, _, tail = rest.partition(" bytes not shown ...]\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head.encode()) + int(number or 0) + len(tail.encode()) == len(text.encode())


def test_compact_replaces_an_oversized_file_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"a" * 100 + b"\n" + b"z" * 100)
    path.chmod(0o600)
    assert growing_file.compact_file(str(path), keep=20)
    assert path.read_bytes() == b"a" * 20 + b"\n[... 161 bytes not shown ...]\n" + b"z" * 20
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_compact_leaves_a_small_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"a" * 40)
    assert not growing_file.compact_file(str(path), keep=20)
    assert path.read_bytes() == b"a" * 40


def test_compact_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"a" * 100)

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        growing_file.compact_file(str(path), keep=10)
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
    assert path.read_bytes() == b"a" * 100


def test_lines_are_dropped_by_how_they_begin_however_long_they_are(tmp_path: Path) -> None:
    """E2: what an agent prints only as a sign of life is not kept."""
    path = tmp_path / "out"
    long = b"x" * 200_000
    kept = (b"one\n", b"a piece\n", long + b"piece\n", b"\n", b"half")
    path.write_bytes(
        b"piece 1\n" + kept[0] + kept[1] + b"piece" + long + b"\n" + kept[2] + kept[3] + kept[4]
    )
    path.chmod(0o600)
    growing_file.drop_lines(str(path), "piece")
    assert path.read_bytes() == b"".join(kept)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
