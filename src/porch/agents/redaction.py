"""What an agent printed is kept without the secrets that it was given or came upon.

Neither known values nor well-known shapes can make this complete: a secret that an agent cuts up
or enciphers passes. It keeps accidents out of files, not malice.
"""

import codecs
import contextlib
import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, BinaryIO

from porch.agents.anchor_sieve import AnchorSieve
from porch.agents.secret_forms import SHAPED_FORMS, SecretForm, list_secret_forms
from porch.system.growing_file import LONGEST_LINE

MASK = "[redacted]"
SHORTEST_SECRET = 8
SECRET_NAMES = ("*KEY*", "*TOKEN*", "*SECRET*", "*PASSWORD*", "*CREDENTIAL*")
# The address of a proxy often has one.
_PASSWORD_IN_URL = re.compile(r"://[^/\s@:]*:([^/\s@]+)@")
_BATCH_BYTES = 64 * 1024
_BLOCK_BYTES = 64 * 1024
# What a match may need to be seen whole; only then is the text in front of it let go.
_HELD_BACK = 16 * 1024
# How far back a pattern looks at what stands in front of a match.
_LOOK_BACK = 16
# As many characters may stand for one: \\\\u00e9, or two of these.
_MOST_SPELLED = 20


def find_secrets(env: Mapping[str, str], patterns: Iterable[str] = SECRET_NAMES) -> tuple[str, ...]:
    """The values that count as secrets, by the names of their variables, and passwords in URLs."""
    globs = tuple(patterns)
    named = (v for name, v in env.items() if _is_secret_name(name, globs))
    # Whoever reads a value from a file or a variable often strips it first.
    values = {form for value in named for form in (value, value.strip())}
    values |= {found[1] for value in env.values() for found in _PASSWORD_IN_URL.finditer(value)}
    return tuple(sorted(value for value in values if len(value) >= SHORTEST_SECRET))


@lru_cache(maxsize=1024)
def _is_secret_name(name: str, globs: tuple[str, ...]) -> bool:
    """Asked of the same few variables for everything that an agent or a check prints."""
    return any(fnmatchcase(name.upper(), each) for each in globs)


class Redactor:
    """Knows the secrets of a turn and puts `[redacted]` in their place."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = {
            secret for secret in secrets if len(secret) >= SHORTEST_SECRET and secret not in MASK
        }
        # Of two that begin alike the longer one is tried first.
        ordered = sorted(known, key=lambda secret: (-len(secret), secret))
        self._forms, self._anchors, self._sieve = _prepare_forms(tuple(ordered))
        self._hold = max([_HELD_BACK, *(_MOST_SPELLED * len(secret) for secret in known)])

    def text(self, text: str) -> str:
        """The text with a mask for each secret; a text without any is the same."""
        if not any(map(text.__contains__, self._anchors)):
            return text
        near = _list_anchored_forms(self._forms, text)
        return _RedactionWindow(near, 0).last(text)

    def texts(self, texts: Sequence[str]) -> Sequence[str]:
        """The same for many short ones: mostly none hides anything, which is seen of all at once.

        No anchor has a line end in it, so none is made by putting the texts together.
        """
        if not self._sieve.near_forms(("\n".join(texts).encode("utf-8", "surrogatepass"),)):
            return texts
        return [self.text(text) for text in texts]

    def line(self, line: str) -> str:
        """The same for one line, which stays JSON if it was."""
        masked = self.text(line)
        if masked == line or not _is_json(line) or _is_json(masked):
            return masked
        # A number or an object was a secret, or half an escape; a mask has no quotes of its own.
        again = json.dumps(self._value(json.loads(line)))
        end = line[len(line.rstrip("\r\n")) :]
        return (again if self.text(again) == again else json.dumps(MASK)) + end

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self.text(key): self._value(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._value(each) for each in value]
        if isinstance(value, str):
            return self.text(value)
        written = json.dumps(value)
        return value if self.text(written) == written else MASK

    def file(self, path: str) -> bool:
        """Rewrite a finished file in place, all at once; False if it held nothing to hide.

        Where the file is also compacted, that comes afterwards: half a secret is not found.
        """
        # Agents can plant links and pipes where their files lie.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        if not os.path.isfile(path) or os.path.islink(path):
            return False
        with open(os.open(path, flags), "rb") as file:
            return self._rewrite(path, file, os.fstat(file.fileno()).st_mode & 0o777)

    def data(self, data: bytes) -> bytes:
        """The same for the bytes of a file."""
        file = io.BytesIO(data)
        near = self._near_forms(file)
        if not near:
            return data
        pieces = (piece for piece, _ in self._pieces(file, near))
        return "".join(pieces).encode("utf-8", "surrogateescape")

    def _rewrite(self, path: str, file: BinaryIO, mode: int) -> bool:
        # Mostly there is nothing to hide, and then nothing to write.
        near = self._near_forms(file)
        if not near or not any(is_changed for _, is_changed in self._pieces(file, near)):
            return False
        draft = f"{path}.redacted-{os.getpid()}"
        _remove_file(draft)
        try:
            self._copy(file, near, draft, mode)
            os.replace(draft, path)
        finally:
            _remove_file(draft)
        return True

    def _near_forms(self, file: BinaryIO) -> tuple[SecretForm, ...]:
        """Of the many forms those that the file can have: mostly none, and then no more is done.

        Bytes are searched as they lie there, for anchors are plain letters in any spelling.
        """
        return self._sieve.near_forms(_read_blocks(file, self._sieve.overlap))

    def _copy(self, file: BinaryIO, near: tuple[SecretForm, ...], draft: str, mode: int) -> None:
        """Write the file anew without secrets."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with open(os.open(draft, flags, mode), "wb") as copy:
            pieces = (piece for piece, _ in self._pieces(file, near))
            copy.writelines(piece.encode("utf-8", "surrogateescape") for piece in pieces)
            copy.flush()
            os.fsync(copy.fileno())

    def _pieces(self, file: BinaryIO, near: tuple[SecretForm, ...]) -> Iterator[tuple[str, bool]]:
        """Line by line where lines are JSON, then across lines, where a secret has several."""
        window = _RedactionWindow(self._forms, self._hold)
        for batch in _read_batches(file):
            if not window.may_match(batch, near):
                yield window.next(batch, ()), False
                continue
            told = "".join([self._line(line, near) for line in _split_lines(batch)])
            is_changed = told != batch
            piece = window.next(told, self._forms if is_changed else near)
            if is_changed:
                near = self._with_forms_in(window.kept, near)
            yield piece, is_changed or window.changed
        yield window.last(""), window.changed

    def _with_forms_in(self, text: str, near: tuple[SecretForm, ...]) -> tuple[SecretForm, ...]:
        """What a line says once it is written anew may have anchors that the file had not."""
        anchors = {form.anchor for form in near}
        return tuple([f for f in self._forms if f.anchor in anchors or f.anchor in text])

    def _line(self, line: str, near: tuple[SecretForm, ...]) -> str:
        return (
            self.line(line) if line.startswith("{") and _list_anchored_forms(near, line) else line
        )


class _RedactionWindow:
    """Replaces matches in a text that comes in pieces, holding back what may be half of one."""

    def __init__(self, forms: tuple[SecretForm, ...], hold: int) -> None:
        self._forms = forms
        self._hold = hold
        self._kept = ""
        self._begin = 0
        self.changed = False

    @property
    def kept(self) -> str:
        """What is held back: a match may begin in it."""
        return self._kept

    def may_match(self, piece: str, forms: tuple[SecretForm, ...]) -> bool:
        """Whether one of the forms matches in the piece as a whole, or in one of its lines.

        A line that began in the piece before has no neighbours when it is looked at alone.
        """
        if not forms:
            return False
        if self._kept and not self._kept.endswith("\n"):
            return True
        return any(True for _ in _find_matches(forms, self._kept + piece, self._begin))

    def next(self, piece: str, forms: tuple[SecretForm, ...]) -> str:
        """Only these forms are looked for in it."""
        self._kept += piece
        return self._told(max(self._begin, len(self._kept) - self._hold), forms)

    def last(self, piece: str) -> str:
        self._kept += piece
        return self._told(len(self._kept), self._forms)

    def _told(self, limit: int, forms: tuple[SecretForm, ...]) -> str:
        """What is certain up to the limit; a few characters of it stay, to be looked back at."""
        kept, at = self._kept, self._begin
        told: list[str] = []
        for match in _find_matches(forms, kept, at):
            start, stop = match.span(match.lastindex or 0)
            if stop > limit and stop - start < self._hold:
                limit = min(limit, match.start())
                break
            # A backslash that is left in front of the mask would make an escape of it.
            told += (kept[at:start].rstrip("\\"), MASK)
            at = stop
            self.changed = True
        end = max(at, limit)
        if end < len(kept):
            end = at + len(kept[at:end].rstrip("\\")) or end
        told.append(kept[at:end])
        back = max(0, end - _LOOK_BACK)
        self._kept, self._begin = kept[back:], end - back
        return "".join(told)


def _find_matches(forms: tuple[SecretForm, ...], text: str, at: int) -> Iterator[re.Match[str]]:
    """Of the many patterns those are tried whose anchors are there: mostly none."""
    near = tuple(form.pattern for form in _list_anchored_forms(forms, text))
    return _compile_patterns(near).finditer(text, at) if near else iter(())


def _list_anchored_forms(forms: tuple[SecretForm, ...], text: str) -> tuple[SecretForm, ...]:
    return tuple([form for form in forms if form.anchor in text])


@lru_cache(maxsize=64)
def _compile_patterns(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


def _read_blocks(file: BinaryIO, overlap: int) -> Iterator[bytes]:
    """All of a file, each block with the end of the one before it."""
    file.seek(0)
    end = b""
    while data := file.read(_BLOCK_BYTES):
        yield end + data
        end = (end + data)[-overlap:] if len(data) < overlap else data[-overlap:]


def _read_batches(file: BinaryIO) -> Iterator[str]:
    """Whole lines, about as many as a window holds; what is too long to be one comes in parts."""
    file.seek(0)
    decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
    while data := file.read(_BATCH_BYTES):
        yield decode(data + file.readline(LONGEST_LINE))
    yield decode(b"", True)


def _split_lines(text: str) -> list[str]:
    """With their ends; only this one ends a line of JSON."""
    *lines, rest = text.split("\n")
    return [*(f"{line}\n" for line in lines), rest]


@lru_cache(maxsize=8)
def _prepare_forms(
    secrets: tuple[str, ...],
) -> tuple[tuple[SecretForm, ...], tuple[str, ...], AnchorSieve]:
    """What is looked for, and how; a run has the same secrets from its beginning to its end."""
    own = (form for secret in secrets for form in list_secret_forms(secret))
    forms = (*own, *SHAPED_FORMS)
    return forms, tuple(dict.fromkeys(form.anchor for form in forms)), AnchorSieve(forms)


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _remove_file(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
