"""Patches as tokens, for `mechanical` to compare; languages differ only where they must."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from porch.text.late_pattern import late_pattern

TokenKind = Literal["name", "fixed", "text"]


def split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Token(Struct, frozen=True):
    """A symbol that may be renamed, a word or mark of the language, or a literal text."""

    kind: TokenKind
    text: str


class TokenGroup(Struct, frozen=True):
    """What stands in brackets, split at commas; `callee` is the name in front of a call."""

    opener: str
    callee: str | None
    arguments: tuple[tuple["Token | TokenGroup", ...], ...]
    is_closed: bool


Element = Token | TokenGroup
Elements = tuple[Element, ...]


class PatchLine(Struct, frozen=True):
    """A logical line of a patch: what is open in brackets goes on in the next.

    Where indentation is logic, the owner is the keyword of the block around it, if that is in
    sight, and the step says whether it stands deeper or less deep than the line before.
    """

    sign: str
    raw: str
    tokens: tuple[Token, ...]
    owner: str = ""
    step: int = 0


class PatchFile(Struct, frozen=True):
    """One file of a patch; its hunks hold lines with their sign, context too."""

    path: str
    is_new: bool
    hunks: tuple[tuple[str, ...], ...]
    opaque: tuple[str, ...]


_HUNK_HEAD = late_pattern(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_OPAQUE_CHANGE = late_pattern(
    r"new mode|new file mode|deleted file mode|Binary files|GIT binary patch"
)
_INDEX_LINE = late_pattern(r"index \w+\.\.(\w+)")


def parse_patch_files(patch: str) -> list[PatchFile]:
    """The files that a patch changes, each once, however often the patch comes back to it."""
    found: dict[str, PatchFile] = {}
    for file in _split_files(patch):
        known = found.get(file.path, PatchFile(file.path, file.is_new, (), ()))
        hunks, opaque = known.hunks + file.hunks, known.opaque + file.opaque
        found[file.path] = PatchFile(file.path, known.is_new, hunks, opaque)
    return list(found.values())


def list_patch_lines(file: PatchFile | None, sign: str) -> list[PatchLine]:
    """The added or the removed lines, without imports, comments and blank ones."""
    if file is None:
        return []
    lines = [
        line
        for hunk in file.hunks
        for line in _parse_hunk_lines(hunk, sign, find_file_ending(file.path))
    ]
    opaque = file.opaque if sign == "+" else ()
    return [*lines, *(PatchLine(sign, text, (Token("text", text),)) for text in opaque)]


def find_file_ending(path: str) -> str:
    return path.rpartition(".")[2].lower()


def _split_files(patch: str) -> Iterable[PatchFile]:
    lines = iter(patch.split("\n"))
    head: list[str] = []
    hunks: list[tuple[str, ...]] = []
    for line in lines:
        found = _HUNK_HEAD.match(line)
        if found:
            hunks.append(_take_hunk(lines, int(found[1] or 1), int(found[2] or 1)))
        elif line.startswith("diff --git ") or (line.startswith("--- ") and hunks):
            yield from _make_patch_file(head, hunks)
            head, hunks = [line], []
        else:
            head.append(line)
    yield from _make_patch_file(head, hunks)


def _take_hunk(lines: Iterable[str], old: int, new: int) -> tuple[str, ...]:
    """As many lines as its head says, so that a removed `-- x` is not the head of a file."""
    taken: list[str] = []
    for line in lines:
        sign = line[:1] or " "
        old -= sign in "- "
        new -= sign in "+ "
        if sign in "+- ":
            taken.append(line or " ")
        if old <= 0 and new <= 0:
            break
    return tuple(taken)


def _make_patch_file(head: list[str], hunks: list[tuple[str, ...]]) -> list[PatchFile]:
    names = {line[:3]: line[4:].split("\t")[0] for line in head if line[:4] in ("--- ", "+++ ")}
    old, new = names.get("---", ""), names.get("+++", "")
    named = (old if new == "/dev/null" else new)[2:]
    path = named or "".join(head[:1]).rpartition(" b/")[2]
    opaque = [line for line in head if _OPAQUE_CHANGE.match(line)]
    if any("inary" in line for line in opaque):
        # The bytes are not shown, but their name is.
        opaque += [found[1] for line in head if (found := _INDEX_LINE.match(line))]
    if not hunks and not opaque:
        return []
    is_new = old == "/dev/null" or any(line.startswith("new file mode") for line in opaque)
    return [PatchFile(path, is_new, tuple(hunks), tuple(opaque))]


_HASH_COMMENT_ENDINGS = split_words("py pyi rb nim")
_SLASH_COMMENT_ENDINGS = split_words(
    "js jsx mjs cjs ts tsx go rs java kt scala swift cs c h cc cpp hpp php"
)
_DASH_COMMENT_ENDINGS = split_words("hs elm purs")
_SINGLE_QUOTE_ENDINGS = split_words("py pyi rb js jsx mjs cjs ts tsx php")
CURRIED_ENDINGS = split_words("hs elm purs ml")
# In other files any word and any space may matter.
_KNOWN_ENDINGS = (
    _HASH_COMMENT_ENDINGS
    | _SLASH_COMMENT_ENDINGS
    | _DASH_COMMENT_ENDINGS
    | CURRIED_ENDINGS
    | split_words("json")
)
_INDENTED_ENDINGS = split_words("py pyi nim")
# Nobody writes longer lines; quotes and comments that never end are looked for again and again.
_LONGEST = 1000
# Marks between which a text goes over lines.
_FENCE_BY_ENDING = {
    ending: late_pattern(fence)
    for endings, fence in (
        ("py pyi", "\"\"\"|'''"),
        ("java kt scala swift cs nim", '"""'),
        ("js jsx mjs cjs ts tsx go", "`"),
        ("rs rb php", r"""(?<!\\)(?<!')\""""),
    )
    for ending in split_words(endings)
}
# Comments that tools obey; any other may say what it likes.
_TOOL_COMMENT = late_pattern(
    r"noqa|type:|pragma|nolint|eslint|@ts-|go:|pylint|fmt:|istanbul|rubocop|build"
)
_IMPORT_LINE = late_pattern(
    r"""\s*(?:import\s*\(|import\s+[^\s(;][^;]*;?|from\s+[\w.]+\s+import\s[^;]*|use\s[^;()]*;?
        |using\s+[\w.]+;|extern\s+crate\s+\w+;|\#\s*include\s*(?:<[^<>]*>|"[^"]*")
        |(?:const|let|var)\s+[\w$\s{},:]+=\s*require\(\s*["'][^"']+["']\s*\);?
        |require(?:_relative)?\s*\(?\s*["'][^"']+["']\s*\)?;?)\s*""",
    re.VERBOSE,
)
_GO_IMPORT_LINE = late_pattern(r'\s*(?:[\w.]+\s+)?"[^"]+"\s*')
_INSIDE_IMPORT = late_pattern(r"""[\w$\s,.*:{}()]*(?:from\s*)?(?:["'][^"']*["'])?;?\s*""")


def _parse_hunk_lines(hunk: Sequence[str], sign: str, ending: str) -> list[PatchLine]:
    reader = _HunkReader(sign, ending)
    for line in hunk:
        if line[0] in (sign, " "):
            reader.take(line[1:], is_own=line[0] == sign)
    reader.end()
    return reader.lines


class _HunkReader:
    """One side of one hunk, line by line; the context says what a line of ours stands in."""

    def __init__(self, sign: str, ending: str):
        self.lines: list[PatchLine] = []
        self._sign, self._ending = sign, ending
        self._raw: list[str] = []
        self._tokens: list[Token] = []
        self._depth = 0
        self._stands = ("", 0)
        self._above: list[tuple[int, str]] = []
        self._fence = ""
        self._importing = 0
        self._indent: int | None = None

    def take(self, text: str, is_own: bool) -> None:
        tokens = self._read(text)
        stands = self._stand(text, tokens)
        if not is_own:
            self.end()
        elif tokens:
            self._stands = self._stands if self._tokens else stands
            self._raw.append(text.strip())
            self._tokens += tokens
            self._depth += _bracket_depth(tokens)
            if self._depth <= 0:
                self.end()

    def end(self) -> None:
        if self._tokens:
            raw = " ".join(self._raw)
            self.lines.append(PatchLine(self._sign, raw, tuple(self._tokens), *self._stands))
        self._raw, self._tokens, self._depth = [], [], 0

    def _read(self, text: str) -> list[Token]:
        was_fenced = bool(self._fence)
        self._toggle_fence(text)
        if was_fenced or self._fence:
            return _text_tokens(text.strip())
        if self._ending not in _KNOWN_ENDINGS or len(text) > _LONGEST:
            return _text_tokens(text.rstrip())
        tokens = [] if self._is_import(text) else _tokenize_text(text, self._ending)
        # A quote that is not closed: who knows where its text ends.
        return _text_tokens(text.strip()) if Token("fixed", '"') in tokens else tokens

    def _toggle_fence(self, text: str) -> None:
        regex = _FENCE_BY_ENDING.get(self._ending)
        for found in regex.findall(text) if regex else ():
            if self._fence in ("", found):
                self._fence = "" if self._fence else found

    def _is_import(self, text: str) -> bool:
        plain = text.partition("#" if self._ending in _HASH_COMMENT_ENDINGS else "//")[0]
        opened = sum((each in "({") - (each in ")}") for each in plain)
        if self._importing:
            is_import = _INSIDE_IMPORT.fullmatch(plain) is not None
            self._importing = max(0, self._importing + opened) if is_import else 0
            return is_import
        is_go = self._ending == "go" and _GO_IMPORT_LINE.fullmatch(plain) is not None
        is_import = is_go or _IMPORT_LINE.fullmatch(plain) is not None
        goes_on = is_import and plain.rstrip().endswith(("(", "{", ","))
        self._importing = max(0, opened) if goes_on else 0
        return is_import

    def _stand(self, text: str, tokens: list[Token]) -> tuple[str, int]:
        if self._ending not in _INDENTED_ENDINGS or not tokens:
            return "", 0
        indent = len(text) - len(text.lstrip())
        last, self._indent = (indent if self._indent is None else self._indent), indent
        while self._above and self._above[-1][0] >= indent:
            self._above.pop()
        owner = self._above[-1][1] if self._above else ""
        self._above.append((indent, tokens[0].text if tokens[0].text in _KEYWORDS else ""))
        return owner, (indent > last) - (indent < last)


def _text_tokens(text: str) -> list[Token]:
    return [Token("text", text)] if text else []


def _bracket_depth(tokens: Iterable[Token]) -> int:
    texts = [token.text for token in tokens if token.kind == "fixed"]
    return sum((text in ("(", "[")) - (text in (")", "]")) for text in texts)


_KEYWORDS = split_words("""
    abstract alias and as assert async await begin break case catch class const constructor
    continue data def default defer del delete deriving do elif else elsif end ensure enum except
    extends extern final finally fn for foreach fun func function global go goto if impl implements
    in infix instance instanceof interface internal is lambda let loop macro match mod module mut
    namespace new newtype nonlocal not of operator or otherwise out override package pass priv
    private protected pub public raise readonly ref rescue return sealed select static struct super
    switch synchronized template then throw throws trait try type typedef typeof union unless
    unsafe until val var virtual volatile when where while with xor yield""")
NULL_WORDS = split_words("None null nil undefined Nothing")
_VALUE_WORDS = NULL_WORDS | split_words(
    "True False true false NaN Infinity Just Some Ok Err Left Right"
)
_COMMENT_BY_ENDINGS = (
    (_HASH_COMMENT_ENDINGS, r"\#.*"),
    (_SLASH_COMMENT_ENDINGS, r"//.*|/\*.*?\*/"),
    (_DASH_COMMENT_ENDINGS, r"--+(?=[\s\w]|$).*"),
)


def _make_lexer(ending: str) -> re.Pattern[str]:
    comment = next((each for endings, each in _COMMENT_BY_ENDINGS if ending in endings), r"(?!)")
    single = r"'(?:\\.|[^'\\])*'" if ending in _SINGLE_QUOTE_ENDINGS else r"'(?:\\[^']+|[^'\\])'"
    # Code in template strings and f-strings cannot be told from text, so it counts as text.
    string = rf"""(?:\b[rbufRBUF]{{1,2}})?(?:"(?:\\.|[^"\\])*"|{single}|`[^`]*`)"""
    name = r"[^\W\d][\w$]*" + ("'*" if ending in CURRIED_ENDINGS else "")
    symbol = rf"[$@]?{name}(?:(?:\.|::|->|\?\.){name})*"
    mark = r"[-+*/%&|^!<>=~?:.@\#$\\]+|\S"
    rest = rf"(?P<number>\d\w*(?:\.\d\w*)?)|(?P<name>{symbol})|(?P<mark>{mark})"
    return re.compile(rf"(?P<comment>{comment})|(?P<string>{string})|{rest}")


_LEXER_BY_ENDING = {ending: _make_lexer(ending) for ending in _KNOWN_ENDINGS}


def _tokenize_text(text: str, ending: str) -> list[Token]:
    found = ((each.lastgroup or "", each[0]) for each in _LEXER_BY_ENDING[ending].finditer(text))
    kinds = ((_token_kind(group, word), word) for group, word in found)
    return [Token(kind, word) for kind, word in kinds if kind]


def _token_kind(group: str, word: str) -> TokenKind | None:
    if group == "comment":
        return "text" if _TOOL_COMMENT.search(word) else None
    if group in ("number", "string") or word in _VALUE_WORDS:
        return "text"
    return "name" if group == "name" and word not in _KEYWORDS else "fixed"


def group_tokens(tokens: Iterable[Token]) -> Elements:
    """A line as a tree of what stands in brackets."""
    stack: list[tuple[str, str | None, list[list[Element]]]] = [("", None, [[]])]
    for token in tokens:
        here = stack[-1][2]
        match token:
            case Token("fixed", "(" | "[" as opener):
                front = here[-1][-1] if here[-1] and opener == "(" else None
                stack.append((opener, _find_callee(front), [[]]))
            case Token("fixed", ")" | "]") if len(stack) > 1:
                _close_group(stack, is_closed=True)
            case Token("fixed", ",") if len(stack) > 1:
                here.append([])
            case _:
                here[-1].append(token)
    while len(stack) > 1:
        _close_group(stack, is_closed=False)
    return tuple(stack[0][2][0])


def _find_callee(front: Element | None) -> str | None:
    match front:
        case Token("name", name):
            return name
        case TokenGroup(_, str()):
            return ""
        case _:
            return None


def _close_group(stack: list[tuple[str, str | None, list[list[Element]]]], is_closed: bool) -> None:
    opener, callee, parts = stack.pop()
    # A comma at the end means nothing, except in a tuple.
    is_loose = opener == "[" or callee is not None
    arguments = tuple(tuple(part) for part in parts if part or not is_loose)
    stack[-1][2][-1].append(TokenGroup(opener, callee, arguments, is_closed))
