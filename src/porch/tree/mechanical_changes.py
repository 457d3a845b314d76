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

from porch.tree.patch_tokens import (
    CURRIED_ENDINGS,
    NULL_WORDS,
    Element,
    Elements,
    PatchFile,
    PatchLine,
    Token,
    TokenGroup,
    find_file_ending,
    group_tokens,
    list_patch_lines,
    parse_patch_files,
    split_words,
)

NamePairs = list[tuple[str, str]]


def find_unmechanical_lines(before: str, after: str) -> list[str]:
    """The lines of the patch that changed by more than the mechanical, in the order of files."""
    if before == after:
        return []
    compared = [
        _ComparedFile(old, new)
        for old, new in _pair_files(parse_patch_files(before), parse_patch_files(after))
    ]
    renames = _PatchRenames(compared)
    return [line for each in compared for line in each.unmechanical(renames)]


class _ComparedFile:
    """One file before and after; added and removed lines are each compared in their order."""

    def __init__(self, old: PatchFile | None, new: PatchFile | None):
        self._path = "".join(file.path for file in (new or old,) if file)
        self.matched: list[tuple[PatchLine, PatchLine, NamePairs]] = []
        self.names: tuple[set[str], set[str]] = (set(), set())
        self._bad: list[str] = []
        for sign in "-+":
            self._compare(list_patch_lines(old, sign), list_patch_lines(new, sign))

    def unmechanical(self, renames: "_PatchRenames") -> list[str]:
        bad = list(self._bad)
        for old, new, pairs in self.matched:
            if _is_in_other_block(old, new) or not renames.allow(pairs):
                bad.append(self._said(new))
        return list(dict.fromkeys(bad))

    def _compare(self, old: list[PatchLine], new: list[PatchLine]) -> None:
        for names, lines in zip(self.names, (old, new), strict=True):
            names.update(token.text for line in lines for token in line.tokens if _is_name(token))
        for some, others in _align_blocks(old, new, lambda line: line.tokens):
            for gone, come in _align_blocks(some, others, lambda line: _blank_names(line.tokens)):
                self._match(gone, come)

    def _match(self, old: Sequence[PatchLine], new: Sequence[PatchLine]) -> None:
        if len(old) != len(new):
            self._bad += [f"gone: {self._said(line)}" for line in old]
            self._bad += [self._said(line) for line in new]
            return
        for a, b in zip(old, new, strict=True):
            pairs = _find_renamed_pairs(a.tokens, b.tokens, find_file_ending(self._path))
            if pairs is None:
                self._bad.append(self._said(b))
            else:
                self.matched.append((a, b, pairs))

    def _said(self, line: PatchLine) -> str:
        return f"{self._path}: {line.sign}{line.raw}"


class _PatchRenames:
    """Which symbols became which in the whole patch."""

    def __init__(self, compared: Sequence[_ComparedFile]):
        self._before = {name for each in compared for name in each.names[0]}
        self._after = {name for each in compared for name in each.names[1]}
        self._to: dict[str, set[str]] = defaultdict(set)
        self._from: dict[str, set[str]] = defaultdict(set)
        for old, new in (
            pair for each in compared for _, _, pairs in each.matched for pair in pairs
        ):
            self._to[old].add(new)
            self._from[new].add(old)

    def allow(self, pairs: NamePairs) -> bool:
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


def _is_in_other_block(old: PatchLine, new: PatchLine) -> bool:
    if old.owner and new.owner:
        return old.owner != new.owner
    return old.step != new.step


def _pair_files(
    old: list[PatchFile], new: list[PatchFile]
) -> list[tuple[PatchFile | None, PatchFile | None]]:
    rest = {file.path: file for file in new}
    paired: list[tuple[PatchFile | None, PatchFile | None]] = []
    for file in sorted(old, key=lambda each: each.path not in rest):
        found = rest.get(file.path) or next(
            (x for x in rest.values() if _is_moved_file(file, x)), None
        )
        paired.append((file, rest.pop(found.path) if found else None))
    return [*paired, *((None, file) for file in rest.values())]


def _is_moved_file(old: PatchFile, new: PatchFile) -> bool:
    """A sibling moved the file; what our own patch made has no reason to stand elsewhere."""
    (place, _, name), (there, _, other) = old.path.rpartition("/"), new.path.rpartition("/")
    is_near = name == other or (
        place == there and find_file_ending(name) == find_file_ending(other)
    )
    return is_near and not old.is_new and not new.is_new


_MEANINGFUL_NAMES = split_words("""
    all any eq equal equals even fail fails filter first flip ge gt ignore last le len lt map max
    min ne odd only raises reduce reversed sorted sum todo xdescribe xit xtest""")
_CLAIM_PREFIXES = (
    *("assert", "expect", "should", "skip", "xfail"),
    *("tobe", "tocontain", "toequal", "tohave", "tomatch", "tostrict", "tothrow"),
)
# Deeper than anybody writes; what is nested on purpose must not break the comparison.
_DEEPEST = 50


def _last_name_part(symbol: str) -> str:
    return re.split(r"\.|::|->", symbol)[-1].lower().lstrip("_@$")


def _is_claim(symbol: str) -> bool:
    return _last_name_part(symbol) in _MEANINGFUL_NAMES or _last_name_part(symbol).startswith(
        _CLAIM_PREFIXES
    )


def _means_the_same(old: str, new: str) -> bool:
    """Some names carry the logic: `any` for `all` is no renaming, nor is a test without `test`."""
    if _last_name_part(old) == _last_name_part(new):
        return True
    is_test = [_last_name_part(name).startswith("test") for name in (old, new)]
    return not _is_claim(old) and not _is_claim(new) and is_test[0] == is_test[1]


def _is_name(token: Token) -> bool:
    return token.kind == "name"


def _blank_names(tokens: Iterable[Token]) -> tuple[str, ...]:
    """The line with its symbols left blank."""
    return tuple("" if _is_name(token) else token.text for token in tokens)


T = TypeVar("T")


def _align_blocks(
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


def _find_renamed_pairs(
    old: Sequence[Token], new: Sequence[Token], ending: str
) -> NamePairs | None:
    """The symbols that stand for each other in two lines; None if more than those differs."""
    if _blank_names(old) == _blank_names(new):
        return _pair_names(old, new)
    if ending in CURRIED_ENDINGS:
        return _compare_curried(old, new)
    if max(map(_nesting_depth, (old, new))) > _DEEPEST:
        return None
    before, after = group_tokens(old), group_tokens(new)
    return _compare_elements(
        before, after, is_definition=_is_function_head(before) and _is_function_head(after)
    )


def _nesting_depth(tokens: Iterable[Token]) -> int:
    return max(accumulate((token.text in "([") - (token.text in ")]") for token in tokens))


def _pair_names(old: Iterable[Token], new: Iterable[Token]) -> NamePairs:
    return [(a.text, b.text) for a, b in zip(old, new, strict=True) if _is_name(a)]


_TYPE_ARROWS = split_words("-> => ( ) ,")


def _compare_curried(old: Sequence[Token], new: Sequence[Token]) -> NamePairs | None:
    """Where arguments stand without brackets: a name more or less behind another."""
    pairs: NamePairs = []
    is_type = any(token.text == "::" for token in old)
    done: Token | None = None
    for gone, come in _align_blocks(old, new, lambda token: token.text):
        if _blank_names(gone) == _blank_names(come):
            pairs += _pair_names(gone, come)
        elif done is None or not _may_curry(done, (*gone, *come), is_type):
            return None
        done = (*gone, *come)[-1]
    return pairs


def _may_curry(front: Token, tokens: Iterable[Token], is_type: bool) -> bool:
    marks = _TYPE_ARROWS if is_type else frozenset[str]()
    is_argument = is_type or _is_name(front)
    return is_argument and all(
        token.text in marks or (_is_name(token) and not _is_claim(token.text)) for token in tokens
    )


def _compare_elements(
    old: Elements, new: Elements, is_definition: bool = False
) -> NamePairs | None:
    pairs: NamePairs = []
    a, b, in_head = 0, 0, is_definition
    while a < len(old) or b < len(new):
        x, y = (old[a] if a < len(old) else None), (new[b] if b < len(new) else None)
        if isinstance(x, Token) and isinstance(y, Token) and _blank_names([x]) == _blank_names([y]):
            pairs += _pair_names([x], [y])
            # The body of what is defined follows its head, in the same line or not.
            in_head = in_head and not (
                x.text in _BODY_MARKS and any(isinstance(e, TokenGroup) for e in old[:a])
            )
            a, b = a + 1, b + 1
            continue
        step = _compare_step(x, y, in_head)
        if step is None:
            return None
        pairs += step[0]
        a, b = a + step[1], b + step[2]
    return pairs


_BODY_MARKS = split_words("{ : = =>")


def _compare_step(
    x: Element | None, y: Element | None, in_head: bool
) -> tuple[NamePairs, int, int] | None:
    match x, y:
        case TokenGroup(), TokenGroup():
            pairs = _compare_groups(x, y, in_head)
            return None if pairs is None else (pairs, 1, 1)
        case _, TokenGroup() if _may_appear_as_call(y):
            return [], 0, 1
        case _:
            return None


def _may_appear_as_call(group: TokenGroup) -> bool:
    """A value that became a function; the reverse would make any condition true."""
    is_call = bool(group.callee) and group.is_closed and not _is_claim(group.callee or "")
    return is_call and all(_is_plain_argument(each) for each in group.arguments)


def _compare_groups(x: TokenGroup, y: TokenGroup, in_head: bool) -> NamePairs | None:
    if _element_shape(x)[:3] != _element_shape(y)[:3]:
        return None
    if x.opener == "(" and (x.callee is not None or in_head):
        return _compare_arguments(x, y, in_head)
    return _compare_each(x.arguments, y.arguments)


def _compare_each(old: Sequence[Elements], new: Sequence[Elements]) -> NamePairs | None:
    if len(old) != len(new):
        return None
    pairs: NamePairs = []
    for a, b in zip(old, new, strict=True):
        found = _compare_elements(a, b)
        if found is None:
            return None
        pairs += found
    return pairs


def _compare_arguments(x: TokenGroup, y: TokenGroup, in_head: bool) -> NamePairs | None:
    pairs: NamePairs = []
    for some, others in _align_blocks(x.arguments, y.arguments, lambda each: each):
        for gone, come in _align_blocks(
            some, others, lambda each: tuple(map(_element_shape, each))
        ):
            found = _compare_each(gone, come)
            if found is None and not _may_adjust_arguments(x, gone, come, in_head):
                return None
            pairs += found or []
    return pairs


def _may_adjust_arguments(
    group: TokenGroup, gone: Sequence[Elements], come: Sequence[Elements], in_head: bool
) -> bool:
    if in_head:
        # A new parameter may bring its default; none may take one away or change it.
        has_value = any(_is_literal(part) for each in gone for part in each)
        return not has_value and all(map(_is_parameter, (*gone, *come)))
    return not _is_claim(group.callee or "") and all(map(_is_plain_argument, (*gone, *come)))


def _is_literal(part: Element) -> bool:
    return isinstance(part, Token) and part.kind == "text"


def _is_plain_argument(argument: Elements) -> bool:
    """A symbol, or one given by name; no literal but the one that says nothing."""
    match argument:
        case (Token("name"),):
            return True
        case (Token("name"), Token("fixed", "="), Token(kind, text)):
            return kind == "name" or text in NULL_WORDS
        case _:
            return False


_TYPE_MARKS = split_words(": * ** & && < > >> | ? ?: ... . -> :: = const mut struct final")


def _is_parameter(argument: Elements) -> bool:
    pairs = zip((None, *argument), argument, strict=False)
    return all(_is_in_parameter(front, part) for front, part in pairs)


def _is_in_parameter(front: Element | None, part: Element) -> bool:
    match part:
        case TokenGroup("[", None):
            return all(map(_is_parameter, part.arguments))
        case Token("text", text):
            return text in NULL_WORDS or front == Token("fixed", "=")
        case Token(kind, text):
            return kind == "name" or text in _TYPE_MARKS
        case _:
            return False


def _element_shape(part: Element) -> tuple[Hashable, ...]:
    if isinstance(part, Token):
        return (_blank_names([part]),)
    inner = tuple(tuple(map(_element_shape, each)) for each in part.arguments)
    return part.opener, part.callee is None, part.is_closed, inner


_DEFINING_WORDS = split_words("def fn func function fun constructor")
_BEFORE_NAMES = split_words("""
    public private protected internal static final abstract override virtual async const
    unsafe extern pub struct sealed * & < > , ?""")


def _is_function_head(elements: Elements) -> bool:
    """Whether the line is the head of a function; in C and its kin by the look of it."""
    words = [part.text if isinstance(part, Token) else "(" for part in elements]
    groups = [place for place, word in enumerate(words) if word == "("]
    if not groups:
        return False
    front, back = elements[: groups[0]], words[groups[0] + 1 : groups[0] + 2]
    if _DEFINING_WORDS & set(words[: groups[0]]) or back == ["=>"]:
        return True
    is_typed = all(isinstance(x, Token) and (_is_name(x) or x.text in _BEFORE_NAMES) for x in front)
    return is_typed and (back == ["{"] or (len(front) > 1 and back in ([], [";"], ["throws"])))
