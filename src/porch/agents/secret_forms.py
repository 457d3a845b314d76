"""How a secret can look in what an agent prints: spelled by JSON, inside Base64, by its shape.

All of these are regular expressions that take a run of characters whole or give up within a
bounded number of them, so that no text makes the search slow.
"""

import re
from base64 import b64encode
from collections.abc import Iterator

from msgspec import Struct

# Where a token can begin: not inside a word, but behind an escape or a colour, which end in one.
_START_BOUNDARY = (
    r"(?:(?<![A-Za-z0-9_-])|(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4})"
    r"|(?<=[\[;][0-9]m)|(?<=[\[;][0-9]{2}m))"
)
_SHORT_ESCAPES = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f", '"': '"', "/": "/"}
_URL_SAFE = str.maketrans("+/", "-_")


class SecretForm(Struct, frozen=True):
    """A pattern, and a text without which it cannot match: looking for that costs next to nothing.

    Where the pattern has a group, that is what is hidden.
    """

    anchor: str
    pattern: str


# None of them takes a quote or half an escape, so JSON stays JSON.
SHAPED_FORMS = (
    SecretForm("sk-ant-", r"sk-ant-[A-Za-z0-9_-]{8,}+"),
    SecretForm("sk-", rf"sk-(?<={_START_BOUNDARY}sk-)[A-Za-z0-9_-]{{20,}}+"),
    SecretForm("gh", r"gh[opusr]_[A-Za-z0-9]{20,}+"),
    SecretForm("github_pat_", r"github_pat_[A-Za-z0-9_]{20,}+"),
    SecretForm("AIza", r"AIza[A-Za-z0-9_-]{30,}+"),
    SecretForm("xox", r"xox[a-z]-[A-Za-z0-9-]{10,}+"),
    SecretForm("AKIA", r"AKIA[A-Z0-9]{16}"),
    SecretForm("ASIA", r"ASIA[A-Z0-9]{16}"),
    SecretForm(
        "eyJ",
        rf"eyJ(?<={_START_BOUNDARY}eyJ)[A-Za-z0-9_-]{{8,4096}}+\.[A-Za-z0-9_-]{{8,8192}}+"
        r"\.[A-Za-z0-9_-]{0,2048}+",
    ),
    # Words follow it in prose; a token has a digit, or is longer than any word.
    SecretForm(
        "earer ",
        r"earer ([A-Za-z0-9._~+/=-]{32,}+"
        r"|(?=[A-Za-z._~+/=-]{0,31}[0-9])[A-Za-z0-9._~+/=-]{8,}+)",
    ),
    SecretForm(
        "PRIVATE KEY-----",
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[A-Za-z0-9+/=:,.\s]|\\++[nr]|-(?!-))*+"
        r"(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?+",
    ),
    SecretForm("://", r"://([^\s/@:\"'\\<>]{0,256}+:[^\s/@\"'\\<>]{1,256}+)@"),
)


def list_secret_forms(secret: str) -> Iterator[SecretForm]:
    """The secret itself, and any Base64 that has it inside."""
    yield SecretForm(_longest_plain_part(secret), spelling_pattern(secret))
    data = secret.encode("utf-8", "surrogateescape")
    for offset in range(3):
        core, tail = _base64_core_and_tail(data, offset)
        for text in dict.fromkeys((core, core.translate(_URL_SAFE))):
            yield SecretForm(_longest_plain_part(text), spelling_pattern(text) + tail)


def _longest_plain_part(text: str) -> str:
    """The longest part of the text that every way of spelling it leaves as it is."""
    parts: list[str] = re.findall(r"[A-Za-z0-9]*", text)
    return max(parts, key=len)


def _base64_core_and_tail(data: bytes, offset: int) -> tuple[str, str]:
    """The characters that depend on the secret alone, and a pattern for those after them."""
    text = b64encode(bytes(offset) + data).decode()
    bits = 8 * (offset + len(data))
    tail = "[A-Za-z0-9+/_-]?={0,2}" if bits % 6 else ""
    return text[-(-8 * offset // 6) : bits // 6], tail


def spelling_pattern(text: str) -> str:
    """The text, or any way in which JSON may write it, also JSON inside of JSON.

    No writer escapes plain letters and digits.
    """
    runs = re.findall(r"\\+|[^\\]", text)
    if len(runs) == 1 and runs[0][0] == "\\":
        return rf"(?<!\\)(?:\\\\){{{len(text) // 2},}}+"
    last = len(runs) - 1
    return "".join(
        _slashes_pattern(len(run), at, last)
        if run[0] == "\\"
        else _character_pattern(run, runs[at - 1] if at else "")
        for at, run in enumerate(runs)
    )


def _slashes_pattern(count: int, at: int, last: int) -> str:
    """Escaping makes more of them; those at the end stay, for one may belong to what follows."""
    if at == last:
        return rf"(?=\\{{{count},}})"
    # Once for each run of them: trying each place of a long one would take for ever.
    front = r"(?<!\\)" if at == 0 else ""
    return rf"{front}\\{{{count},}}+"


def _character_pattern(char: str, before: str) -> str:
    if char.isascii() and char.isalnum():
        return char
    slash = r"\\\\*+" if before else r"(?<!\\)\\\\*+"
    if before.startswith("\\"):
        slash = ""  # they were taken already
    units = char.encode("utf-16-be", "surrogatepass")
    words = [units[at : at + 2].hex() for at in range(0, len(units), 2)]
    escapes = [r"\\\\*+".join("u" + _any_case_pattern(word) for word in words)]
    if char in _SHORT_ESCAPES:
        escapes.append(_SHORT_ESCAPES[char])
    return f"(?:{re.escape(char)}|{slash}(?:{'|'.join(escapes)}))"


def _any_case_pattern(digits: str) -> str:
    return "".join(d if d.isdigit() else f"[{d}{d.upper()}]" for d in digits)
