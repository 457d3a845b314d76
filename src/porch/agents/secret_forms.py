"""How a secret can look in what an agent prints: spelled by JSON, inside Base64, by its shape.

All of these are regular expressions that take a run of characters whole or give up within a
bounded number of them, so that no text makes the search slow.
"""

import re
from binascii import b2a_base64
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

    Where the pattern has a group, that is what is hidden. `is_word_end` where no letter can follow
    the anchor: `_token` is in every message that tells of `output_tokens`.
    """

    anchor: str
    pattern: str
    is_word_end: bool = False


# Between a name and its value: the end of a quoted name, a sign, perhaps a quote.
_SIGN = r"""\\{0,4}+["']?\s{0,3}(?:=>|[:=])\s{0,3}"""
_QUOTE = r"""\\{0,4}+["']"""
# What documentation and schemas have in the place of a value.
_NO_VALUE = r"(?!(?:string|str|required|optional|password|secret|redacted|null|none|true|false)\b)"
# In quotes anything without a space; bare it must not look like a word or a name of a program.
_QUOTED = rf"""{_QUOTE}{_NO_VALUE}([^\s"'\\<>{{}}$]{{6,256}}+)(?=\\{{0,4}}["'])"""
_BARE = (
    r"""(?=[^\s"'\\<>,;()\[\]{}$]{0,255}?[0-9])(?![0-9.,:-]{1,12}(?:\s|$))"""
    r"""([^\s"'\\<>,;()\[\]{}$]{6,256}+)"""
)


# Behind `password=` in a line of a shell or a log there may be a word; names in code stay: a sign
# follows them, or they say again what they are.
_WORD = (
    rf"{_NO_VALUE}(?![\w-]{{0,64}}(?:ass(?:word|wd|phrase)|ecret|oken|_key))"
    r"""([^\s"'\\<>,;()\[\]{}$&.]{6,256}+)(?=[\s"'&\\]|$)"""
)


def _named_forms(anchor: str, name: str) -> Iterator[SecretForm]:
    """A value behind a name that says that it is a secret."""
    front = rf"{name}[0-9]{{0,3}}+{_SIGN}"
    is_word_end = anchor == name
    yield SecretForm(anchor, front + _QUOTED, is_word_end)
    yield SecretForm(anchor, front + _BARE, is_word_end)


_NAMED = (
    *(("assword", "assword"), ("ASSWORD", "ASSWORD"), ("asswd", "asswd"), ("ASSWD", "ASSWD")),
    *(("assphrase", "assphrase"), ("ASSPHRASE", "ASSPHRASE")),
    ("ecret", r"ecret(?:[_-]?[Aa]ccess)?(?:[_-]?[Kk]ey)?"),
    ("ECRET", r"ECRET(?:_ACCESS)?(?:_KEY)?"),
    *(("pi_key", "pi_key"), ("pi-key", "pi-key"), ("piKey", "piKey"), ("pikey", "pikey")),
    *(("pi-Key", "pi-Key"), ("API_KEY", "API_KEY"), ("APIKEY", "APIKEY")),
    *(("_token", "_token"), ("_TOKEN", "_TOKEN"), ("cessToken", "cessToken")),
)

_SHELL_NAMES = ("assword", "ASSWORD", "asswd", "ASSWD", "assphrase", "ASSPHRASE")
# What tokens of these services begin with.
_BEGINNINGS = (
    *((front, r"[\w-]") for front in ("glpat-", "gldt-", "dckr_pat_", "pypi-AgE")),
    # Names of variables and functions begin so as well, but go on with a line between words.
    *((front, "[A-Za-z0-9]") for front in ("npm_", "hf_", "dop_v1_", "shpat_")),
    *((front, "[A-Za-z0-9]") for front in ("sk_live_", "rk_live_", "sk_test_")),
)

# None of them takes a quote or half an escape, so JSON stays JSON.
SHAPED_FORMS = (
    *(form for anchor, name in _NAMED for form in _named_forms(anchor, name)),
    *(SecretForm(name, rf"{name}={_WORD}", is_word_end=True) for name in _SHELL_NAMES),
    *(
        SecretForm(front, rf"{front}(?<={_START_BOUNDARY}{front}){character}{{16,512}}+")
        for front, character in _BEGINNINGS
    ),
    SecretForm("SG.", r"SG\.[A-Za-z0-9_-]{16,64}+\.[A-Za-z0-9_-]{16,128}+"),
    # `Authorization: Basic ...`, or a scheme of somebody's own; a word has neither digit nor `=`.
    SecretForm(
        "uthorization",
        rf"uthorization{_SIGN}(?:{_QUOTE})?(?:[A-Za-z]{{2,16}} )?"
        r"(?=[A-Za-z+/._~-]{0,64}[0-9=])([A-Za-z0-9+/=._~-]{8,}+)",
    ),
    SecretForm("uthorization: ", rf"(?<=uthorization: )(?:{_QUOTE})?Basic ([A-Za-z0-9+/=]{{6,}}+)"),
    # Addresses that let in whoever has them.
    *(
        SecretForm(f"{sign}{name}", rf"(?<=[{sign}]){name}([^\s\"'\\<>&]{{8,512}}+)")
        for name in ("token=", "sig=", "signature=", "key=", "X-Amz-Signature=", "code=")
        for sign in "?&"
    ),
    SecretForm("hooks.slack.com/", r"hooks\.slack\.com/services/([A-Za-z0-9/_-]{16,256}+)"),
    SecretForm("/api/webhooks/", r"/api/webhooks/([0-9]{8,32}+/[A-Za-z0-9_-]{16,256}+)"),
    SecretForm("://", r"://([A-Za-z0-9_~.-]{20,256}+)@"),
    SecretForm("sk-ant-", r"sk-ant-[A-Za-z0-9_-]{8,}+"),
    SecretForm("sk-", rf"sk-(?<={_START_BOUNDARY}sk-)[A-Za-z0-9_-]{{20,}}+"),
    *(SecretForm(f"gh{kind}_", rf"gh{kind}_[A-Za-z0-9]{{20,}}+") for kind in "opusr"),
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
    text = b2a_base64(bytes(offset) + data, newline=False).decode()
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
