"""Reading output while it grows, in bounded memory, however much an agent prints."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from msgspec import Struct

from porch.system.regular_file import open_fresh

CHUNK = 64 * 1024
LONGEST_LINE = 1024 * 1024
# One poll reads at most this much, so that an event loop is never held up by a flood.
POLL_CHUNKS = 64


class OutputLine(Struct, frozen=True):
    """One line without its end; `cut` says that it went on beyond what is kept."""

    text: str
    cut: bool = False


class FileFollower:
    """Delivers each line of a growing file once, as soon as its end has been written."""

    def __init__(
        self, path: str, on_line: Callable[[OutputLine], object], longest: int = LONGEST_LINE
    ) -> None:
        self._path = path
        self._on_line = on_line
        self._longest = longest
        self._offset = 0
        self._kept = bytearray()
        self._skipping = False

    @property
    def offset(self) -> int:
        """How many bytes have been read."""
        return self._offset

    def poll(self) -> bool:
        """Read what is new, up to a bound; answers whether there is more."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._offset)
                return self._read_some(file)
        except FileNotFoundError:
            return False

    def drain(self) -> None:
        """Read to the end, once the writer is gone; the last line needs no line end then."""
        while self.poll():
            pass
        if self._kept:
            self._deliver()
        self._skipping = False

    def _read_some(self, file: BinaryIO) -> bool:
        for _ in range(POLL_CHUNKS):
            chunk = file.read(CHUNK)
            if not chunk:
                return False
            self._offset += len(chunk)
            self._split(chunk)
        return True

    def _split(self, chunk: bytes) -> None:
        # Splitting bytes before decoding is safe: no part of a longer UTF-8 character is "\n".
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            if self._kept or self._skipping or len(piece) > self._longest:
                self._end(piece)
            else:
                # Nearly every line lies in one chunk, and need not be kept to be told.
                self._tell(piece, cut=False)
        self._keep(rest)

    def _end(self, piece: bytes) -> None:
        self._keep(piece)
        if not self._skipping:
            self._deliver()
        self._skipping = False

    def _keep(self, piece: bytes) -> None:
        if self._skipping:
            return
        self._kept += piece
        if len(self._kept) > self._longest:
            del self._kept[self._longest :]
            self._deliver(cut=True)
            self._skipping = True

    def _deliver(self, cut: bool = False) -> None:
        kept = bytes(self._kept)
        self._kept.clear()
        self._tell(_trim_torn_end(kept) if cut else kept, cut)

    def _tell(self, line: bytes, cut: bool) -> None:
        self._on_line(OutputLine(line.decode(errors="replace").removesuffix("\r"), cut))


def read_head_and_tail(path: str, keep: int = CHUNK) -> str:
    """The beginning and the end of a file, and between them how much was left out."""
    with open(path, "rb") as file:
        head, note, tail = _read_ends(file, keep)
    return (head + note + tail).decode(errors="replace")


def compact_file(
    path: str, keep: int = LONGEST_LINE, margin: int = 0, clean: Callable[[bytes], bytes] = bytes
) -> bool:
    """Replace an oversized finished file by its two ends, all at once; False if it is not.

    Each end is cleaned with a margin at the cut, which then goes.
    """
    with open(path, "rb") as file:
        size, mode = os.fstat(file.fileno()).st_size, os.fstat(file.fileno()).st_mode & 0o777
        if size <= 2 * (keep + margin):
            return False
        found = _read_ends(file, keep + margin)
    if not found[1]:
        return False
    ends = (
        _cut_ends(clean(found[0]), clean(found[2]), keep=keep, margin=margin, size=size)
        if margin
        else found
    )
    _replace_content(path, ends, mode)
    return True


def drop_lines(path: str, start: str) -> None:
    """Replace a finished file by its lines that do not begin so, all at once."""
    with open(path, "rb") as file:
        mode = os.fstat(file.fileno()).st_mode & 0o777
        _replace_content(path, _iterate_other_lines(file, start.encode()), mode)


def _iterate_other_lines(file: BinaryIO, start: bytes) -> Iterator[bytes]:
    """In pieces, for nobody knows how long a line is."""
    is_first, is_other = True, True
    while piece := file.readline(CHUNK):
        is_other = not piece.startswith(start) if is_first else is_other
        is_first = piece.endswith(b"\n")
        if is_other:
            yield piece


def _replace_content(path: str, parts: Iterable[bytes], mode: int) -> None:
    draft = f"{path}.compact-{os.getpid()}"
    try:
        _write_synced(draft, parts, mode)
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)
        raise


def _cut_ends(
    head: bytes, tail: bytes, *, keep: int, margin: int, size: int
) -> tuple[bytes, bytes, bytes]:
    """The margin goes whole, however little is left: half of something may stand in it."""
    head = _trim_torn_end(head[: max(0, min(keep, len(head) - margin))])
    tail = _trim_torn_start(tail[max(margin, len(tail) - keep) :])
    return head, _describe_gap(size - len(head) - len(tail)), tail


def _describe_gap(size: int) -> bytes:
    return f"\n[... {size} bytes not shown ...]\n".encode()


def _write_synced(path: str, parts: Iterable[bytes], mode: int) -> None:
    descriptor = open_fresh(path, os.O_WRONLY, mode)
    with open(descriptor, "wb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())


def _read_ends(file: BinaryIO, keep: int) -> tuple[bytes, bytes, bytes]:
    size = os.fstat(file.fileno()).st_size
    if size <= 2 * keep:
        return file.read(size), b"", b""
    head = _trim_torn_end(file.read(keep))
    file.seek(size - keep)
    tail = _trim_torn_start(file.read(keep))
    return head, _describe_gap(size - len(head) - len(tail)), tail


def _trim_torn_end(data: bytes) -> bytes:
    """Without the torn character that a cut may leave at the end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            needs = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
            return data[:-back] if needs > back else data
    return data


def _trim_torn_start(data: bytes) -> bytes:
    """Without the torn character that a cut may leave at the start."""
    torn = next((i for i, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)
    return data[torn:]


def read_tail(path: str, size: int) -> str:
    """The last so many bytes of a file as text; nothing if there is no file."""
    try:
        with open(path, "rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - size))
            return _trim_torn_start(file.read()).decode("utf-8", "replace")
    except OSError:
        return ""
