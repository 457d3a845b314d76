"""Whether a rebaser kept to mechanical changes: its patch before and after, compared by tokens.

A rebase may rename symbols, adjust signatures, move imports and white space. Anything else is new
work that nobody reviewed. No language is parsed; where this cannot tell, it answers that a line is
more than mechanical, for that costs a look and the reverse costs a wrong merge.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import TypeVar

from porch.machine.patches import (
    CURRIED,
    NOTHING,
    Element,
    Elements,
    File,
    Group,
    Line,
    Token,
    ending_of,
    files,
    grouped,
    lines_of,
    words,
)

Pairs = list[tuple[str, str]]


def unmechanical(before: str, after: str) -> list[str]:
    """The lines of the patch that changed by more than the mechanical, in the order of files."""
    if before == after:
        return []
    compared = [_Compared(old, new) for old, new in _paired(files(before), files(after))]
    renames = _Renames(compared)
    return [line for each in compared for line in each.unmechanical(renames)]


class _Compared:
    """One file before and after; added and removed lines are each compared in their order."""

    def __init__(self, old: File | None, new: File | None):
        self._path = "".join(file.path for file in (new or old,) if file)
        self.matched: list[tuple[Line, Line, Pairs]] = []
        self.names: tuple[set[str], set[str]] = (set(), set())
        self._bad: list[str] = []
        for sign in "-+":
            self._compare(lines_of(old, sign), lines_of(new, sign))

    def unmechanical(self, renames: "_Renames") -> list[str]:
        bad = list(self._bad)
        for old, new, pairs in self.matched:
            if _changed_blocks(old, new) or not renames.allow(pairs):
                bad.append(self._said(new))
        return list(dict.fromkeys(bad))

    def _compare(self, old: list[Line], new: list[Line]) -> None:
        for names, lines in zip(self.names, (old, new), strict=True):
            names.update(token.text for line in lines for token in line.tokens if _is_name(token))
        for some, others in _blocks(old, new, lambda line: line.tokens):
            for gone, come in _blocks(some, others, lambda line: _key(line.tokens)):
                self._match(gone, come)

    def _match(self, old: Sequence[Line], new: Sequence[Line]) -> None:
        if len(old) != len(new):
            self._bad += [f"gone: {self._said(line)}" for line in old]
            self._bad += [self._said(line) for line in new]
            return
        for a, b in zip(old, new, strict=True):
            pairs = _adjusted(a.tokens, b.tokens, ending_of(self._path))
            if pairs is None:
                self._bad.append(self._said(b))
            else:
                self.matched.append((a, b, pairs))

    def _said(self, line: Line) -> str:
        return f"{self._path}: {line.sign}{line.raw}"


class _Renames:
    """Which symbols became which in the whole patch."""

    def __init__(self, compared: Sequence[_Compared]):
        self._before = {name for each in compared for name in each.names[0]}
        self._after = {name for each in compared for name in each.names[1]}
        self._to: dict[str, set[str]] = defaultdict(set)
        self._from: dict[str, set[str]] = defaultdict(set)
        for old, new in (
            pair for each in compared for _, _, pairs in each.matched for pair in pairs
        ):
            self._to[old].add(new)
            self._from[new].add(old)

    def allow(self, pairs: Pairs) -> bool:
        return all(
            self._to[old] == {new} and self._from[new] == {old} and self._is_same(old, new)
            for old, new in pairs
        )

    def _is_same(self, old: str, new: str) -> bool:
        if old == new:
            return True
        # A name that was there before, or still is, makes this an exchange and not a renaming.
        is_fresh = new not in self._before and old not in self._after
        return is_fresh and _means_the_same(old, new)


def _changed_blocks(old: Line, new: Line) -> bool:
    if old.owner and new.owner:
        return old.owner != new.owner
    return old.step != new.step


def _paired(old: list[File], new: list[File]) -> list[tuple[File | None, File | None]]:
    rest = {file.path: file for file in new}
    paired: list[tuple[File | None, File | None]] = []
    for file in sorted(old, key=lambda each: each.path not in rest):
        found = rest.get(file.path) or next((x for x in rest.values() if _moved(file, x)), None)
        paired.append((file, rest.pop(found.path) if found else None))
    return [*paired, *((None, file) for file in rest.values())]


def _moved(old: File, new: File) -> bool:
    """A sibling moved the file; what our own patch made has no reason to stand elsewhere."""
    (place, _, name), (there, _, other) = old.path.rpartition("/"), new.path.rpartition("/")
    is_near = name == other or (place == there and ending_of(name) == ending_of(other))
    return is_near and not old.is_new and not new.is_new


_MEANING = words("""
    all any eq equal equals even fail fails filter first flip ge gt ignore last le len lt map max
    min ne odd only raises reduce reversed sorted sum todo xdescribe xit xtest""")
_CLAIMS = (
    *("assert", "expect", "should", "skip", "xfail"),
    *("tobe", "tocontain", "toequal", "tohave", "tomatch", "tostrict", "tothrow"),
)
# Deeper than anybody writes; what is nested on purpose must not break the comparison.
_DEEPEST = 50


def _last(symbol: str) -> str:
    return re.split(r"\.|::|->", symbol)[-1].lower().lstrip("_@$")


def _is_claim(symbol: str) -> bool:
    return _last(symbol) in _MEANING or _last(symbol).startswith(_CLAIMS)


def _means_the_same(old: str, new: str) -> bool:
    """Some names carry the logic: `any` for `all` is no renaming, nor is a test without `test`."""
    if _last(old) == _last(new):
        return True
    is_test = [_last(name).startswith("test") for name in (old, new)]
    return not _is_claim(old) and not _is_claim(new) and is_test[0] == is_test[1]


def _is_name(token: Token) -> bool:
    return token.kind == "name"


def _key(tokens: Iterable[Token]) -> tuple[str, ...]:
    """The line with its symbols left blank."""
    return tuple("" if _is_name(token) else token.text for token in tokens)


T = TypeVar("T")


def _blocks(
    old: Sequence[T], new: Sequence[T], key: Callable[[T], Hashable]
) -> Iterator[tuple[Sequence[T], Sequence[T]]]:
    """Both sequences in step: parts that agree, and between them parts that do not."""
    keys = [[key(each) for each in side] for side in (old, new)]
    if keys[0] == keys[1]:
        # The usual case; finding it out line by line takes time by the square.
        yield old, new
        return
    matcher = SequenceMatcher(None, keys[0], keys[1], autojunk=False)
    for _, a1, a2, b1, b2 in matcher.get_opcodes():
        yield old[a1:a2], new[b1:b2]


def _adjusted(old: Sequence[Token], new: Sequence[Token], ending: str) -> Pairs | None:
    """The symbols that stand for each other in two lines; None if more than those differs."""
    if _key(old) == _key(new):
        return _named(old, new)
    if ending in CURRIED:
        return _curried(old, new)
    if max(map(_nested, (old, new))) > _DEEPEST:
        return None
    before, after = grouped(old), grouped(new)
    return _same(before, after, is_definition=_defines(before) and _defines(after))


def _nested(tokens: Iterable[Token]) -> int:
    return max(accumulate((token.text in "([") - (token.text in ")]") for token in tokens))


def _named(old: Iterable[Token], new: Iterable[Token]) -> Pairs:
    return [(a.text, b.text) for a, b in zip(old, new, strict=True) if _is_name(a)]


_ARROWS = words("-> => ( ) ,")


def _curried(old: Sequence[Token], new: Sequence[Token]) -> Pairs | None:
    """Where arguments stand without brackets: a name more or less behind another."""
    pairs: Pairs = []
    is_type = any(token.text == "::" for token in old)
    done: Token | None = None
    for gone, come in _blocks(old, new, lambda token: token.text):
        if _key(gone) == _key(come):
            pairs += _named(gone, come)
        elif done is None or not _may_curry(done, (*gone, *come), is_type):
            return None
        done = (*gone, *come)[-1]
    return pairs


def _may_curry(front: Token, tokens: Iterable[Token], is_type: bool) -> bool:
    marks = _ARROWS if is_type else frozenset[str]()
    is_argument = is_type or _is_name(front)
    return is_argument and all(
        token.text in marks or (_is_name(token) and not _is_claim(token.text)) for token in tokens
    )


def _same(old: Elements, new: Elements, is_definition: bool = False) -> Pairs | None:
    pairs: Pairs = []
    a, b, in_head = 0, 0, is_definition
    while a < len(old) or b < len(new):
        x, y = (old[a] if a < len(old) else None), (new[b] if b < len(new) else None)
        if isinstance(x, Token) and isinstance(y, Token) and _key([x]) == _key([y]):
            pairs += _named([x], [y])
            # The body of what is defined follows its head, in the same line or not.
            in_head = in_head and not (
                x.text in _BODY and any(isinstance(e, Group) for e in old[:a])
            )
            a, b = a + 1, b + 1
            continue
        step = _step(x, y, in_head)
        if step is None:
            return None
        pairs += step[0]
        a, b = a + step[1], b + step[2]
    return pairs


_BODY = words("{ : = =>")


def _step(x: Element | None, y: Element | None, in_head: bool) -> tuple[Pairs, int, int] | None:
    match x, y:
        case Group(), Group():
            pairs = _same_group(x, y, in_head)
            return None if pairs is None else (pairs, 1, 1)
        case _, Group() if _may_appear(y):
            return [], 0, 1
        case _:
            return None


def _may_appear(group: Group) -> bool:
    """A value that became a function; the reverse would make any condition true."""
    is_call = bool(group.callee) and group.is_closed and not _is_claim(group.callee or "")
    return is_call and all(_is_plain(each) for each in group.arguments)


def _same_group(x: Group, y: Group, in_head: bool) -> Pairs | None:
    if _shape(x)[:3] != _shape(y)[:3]:
        return None
    if x.opener == "(" and (x.callee is not None or in_head):
        return _same_arguments(x, y, in_head)
    return _all_same(x.arguments, y.arguments)


def _all_same(old: Sequence[Elements], new: Sequence[Elements]) -> Pairs | None:
    if len(old) != len(new):
        return None
    pairs: Pairs = []
    for a, b in zip(old, new, strict=True):
        found = _same(a, b)
        if found is None:
            return None
        pairs += found
    return pairs


def _same_arguments(x: Group, y: Group, in_head: bool) -> Pairs | None:
    pairs: Pairs = []
    for some, others in _blocks(x.arguments, y.arguments, lambda each: each):
        for gone, come in _blocks(some, others, lambda each: tuple(map(_shape, each))):
            found = _all_same(gone, come)
            if found is None and not _may_adjust(x, gone, come, in_head):
                return None
            pairs += found or []
    return pairs


def _may_adjust(
    group: Group, gone: Sequence[Elements], come: Sequence[Elements], in_head: bool
) -> bool:
    if in_head:
        # A new parameter may bring its default; none may take one away or change it.
        has_value = any(_is_value(part) for each in gone for part in each)
        return not has_value and all(map(_is_parameter, (*gone, *come)))
    return not _is_claim(group.callee or "") and all(map(_is_plain, (*gone, *come)))


def _is_value(part: Element) -> bool:
    return isinstance(part, Token) and part.kind == "text"


def _is_plain(argument: Elements) -> bool:
    """A symbol, or one given by name; no literal but the one that says nothing."""
    match argument:
        case (Token("name"),):
            return True
        case (Token("name"), Token("fixed", "="), Token(kind, text)):
            return kind == "name" or text in NOTHING
        case _:
            return False


_TYPE_MARKS = words(": * ** & && < > >> | ? ?: ... . -> :: = const mut struct final")


def _is_parameter(argument: Elements) -> bool:
    pairs = zip((None, *argument), argument, strict=False)
    return all(_is_in_parameter(front, part) for front, part in pairs)


def _is_in_parameter(front: Element | None, part: Element) -> bool:
    match part:
        case Group("[", None):
            return all(map(_is_parameter, part.arguments))
        case Token("text", text):
            return text in NOTHING or front == Token("fixed", "=")
        case Token(kind, text):
            return kind == "name" or text in _TYPE_MARKS
        case _:
            return False


def _shape(part: Element) -> tuple[Hashable, ...]:
    if isinstance(part, Token):
        return (_key([part]),)
    inner = tuple(tuple(map(_shape, each)) for each in part.arguments)
    return part.opener, part.callee is None, part.is_closed, inner


_DEFINING = words("def fn func function fun constructor")
_BEFORE_NAMES = words("""
    public private protected internal static final abstract override virtual async const
    unsafe extern pub struct sealed * & < > , ?""")


def _defines(elements: Elements) -> bool:
    """Whether the line is the head of a function; in C and its kin by the look of it."""
    words = [part.text if isinstance(part, Token) else "(" for part in elements]
    groups = [place for place, word in enumerate(words) if word == "("]
    if not groups:
        return False
    front, back = elements[: groups[0]], words[groups[0] + 1 : groups[0] + 2]
    if _DEFINING & set(words[: groups[0]]) or back == ["=>"]:
        return True
    is_typed = all(isinstance(x, Token) and (_is_name(x) or x.text in _BEFORE_NAMES) for x in front)
    return is_typed and (back == ["{"] or (len(front) > 1 and back in ([], [";"], ["throws"])))
