"""Where the text of a request comes from: the command line, a file, standard input, an issue."""

import os
import sys

from msgspec import Struct

from porch.errors import UsageError
from porch.system.regular_file import NotRegularFile, open_followed
from porch.text.late_pattern import late_pattern

# What a prompt quotes whole; more than this nobody reads.
MOST_BYTES = 64 * 1024
_NUMBERED = late_pattern(r"(?P<id>[0-9]+)(?![A-Za-z0-9])")
_URL = late_pattern(r"https?://\S+/(?P<id>[0-9]+)(?:[/?#]\S*)?")


class RequestText(Struct, frozen=True):
    """A request whole; `source` says where it came from, `id` is the number it goes by there."""

    text: str
    source: str
    id: str = ""


def take_typed_text(text: str) -> RequestText:
    return RequestText(check_text(text), "text")


def read_request_option(said: str) -> RequestText:
    """What `--request` was given: a text, `@FILE`, or `-` for standard input."""
    if said == "-":
        return RequestText(check_text(_read_standard_input()), "standard input")
    if said == "@":
        # As from `@$FILE` in a shell that knows no FILE: nobody pays for such a request.
        raise _unreadable_error("@", "no file is named after it")
    if said.startswith("@"):
        return read_request_file(said[1:])
    return take_typed_text(said)


def read_issue_option(said: str, directory: str) -> RequestText:
    """What `--issue` was given: a number or an address for `gh`, or a file."""
    url = _URL.fullmatch(said)
    number = url["id"] if url else said.lstrip("#")
    if url is None and not number.isdecimal():
        return read_request_file(said)
    from porch.run.requests.issue_text import read_issue

    text = read_issue(said if url else number, directory, MOST_BYTES)
    return RequestText(check_text(text), f"issue {number}", number)


def read_request_file(path: str) -> RequestText:
    """The text of a file; a number at the front of its name is the id."""
    name = os.path.basename(path)
    number = _NUMBERED.match(name)
    try:
        with open(path, "rb", opener=open_followed) as file:
            data = file.read(MOST_BYTES + 1)
    except NotRegularFile:
        raise _unreadable_error(path, "it is not a regular file") from None
    except OSError as error:
        raise _unreadable_error(path, error.strerror or str(error)) from error
    return RequestText(_decode(data, path), f"file {name}", number["id"] if number else "")


def _read_standard_input() -> str:
    try:
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
    except OSError as error:
        raise _unreadable_error("standard input", "it is closed") from error
    return _decode(data, "standard input")


def _decode(data: bytes, where: str) -> str:
    try:
        # A cut at the limit may fall into a character; the size is what is wrong then.
        text = data.decode("utf-8", "strict" if len(data) <= MOST_BYTES else "replace")
    except UnicodeDecodeError:
        raise _unreadable_error(where, "it is not UTF-8 text") from None
    return check_text(text)


def check_text(text: str) -> str:
    """Something, not too much of it, and with line ends of one kind."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise UsageError(
            "the request is empty", fix="say what is wanted, or leave it out", code="empty-request"
        )
    if "\0" in text:
        raise UsageError(
            "the request contains a zero byte", fix="hand in plain text", code="unreadable"
        )
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise UsageError(
            f"the request is longer than {MOST_BYTES // 1024} KiB",
            fix="put it into a file such as request.md, commit it, and ask "
            '"Do what request.md says"',
            code="long-request",
        )
    return text


def _unreadable_error(where: str, why: str) -> UsageError:
    return UsageError(
        f"'{where}' cannot be read as a request: {why}",
        fix="give a UTF-8 text file, or the text itself",
        code="unreadable",
    )
