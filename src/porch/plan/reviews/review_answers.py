"""What a reviewing agent answers to `envoy review`: passed only where it is unmistakable."""

import json
import re
from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from porch.claims.spoken_words import find_spoken_words
from porch.text.late_pattern import late_pattern
from porch.text.markdown import MarkdownLine, heading_of, parse_markdown_lines

VerdictWord = Literal["passed", "failed", "error"]

# What the prompt shows; in angle brackets stands what a reviewer has to say itself.
FORM = """\
{
  "verdict": "<passed or failed>",
  "thoughts": "<what you looked at, and what you think of it>",
  "clarifying_questions": ["<what only the user can answer>"],
  "suggested_changes": "<what has to change before it can pass>"
}"""

LONGEST_TEXT = 20_000
LONGEST_QUESTION = 1_000
MOST_QUESTIONS = 10
_LONGEST_MESSAGE = 400_000
# Each failed attempt may read the rest of the message.
_MOST_ATTEMPTS = 200

_TEXTS = ("verdict", "thoughts", "suggested_changes")
_QUESTIONS = "clarifying_questions"
_VERDICTS: dict[str, VerdictWord] = {"passed": "passed", "failed": "failed"}
_OPENS = late_pattern(r'\{\s*["}]')
_PLACEHOLDER = late_pattern(r"\s*(?:<[^<>]*>|\.\.\.|\u2026)\s*")
_NOTHING = late_pattern(
    r"(?:none|nothing|n/?a|no (?:suggested |further )?(?:changes|questions)"
    r"(?: (?:are )?(?:needed|required|necessary|suggested))?)[.!]?",
    re.IGNORECASE,
)
_FENCE = late_pattern(r"\s*(`{3,}|~{3,})[ \t]*(?:json)?[ \t]*", re.IGNORECASE)
_GOES_ON = late_pattern(r'(?:[{\[(,]|" ?:)\Z')
# Such a line before an object says that it is somebody else's, or nobody's.
_FOREIGN = late_pattern(
    r"\b(?:examples?|templates?|previous(?:ly)?|earlier|prior|last (?:round|time|review)|would"
    r"|could|if|unless|until|once|when|author|worker|someone|instructions?|asked|told)\b|e\.g\."
    r"|(?:\b(?:not|never|cannot)|n['\u2019]t)\b",
    re.IGNORECASE,
)
_REFUSED = late_pattern(
    r"\bverdict\b[\"'`*\s:=\u2013\u2014-]{1,9}(?:is[\"'`*\s]{1,9})?"
    r"(?:fail|not\s+pass|reject|request)",
    re.IGNORECASE,
)
_UNREADABLE = late_pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_STANDS_HERE = "answer"

# Objects as tuples of pairs: a key that is there twice is seen.
_DECODER = json.JSONDecoder(object_pairs_hook=tuple)


class ReviewAnswer(Struct, frozen=True):
    """`why` says what an error is, or why the verdict is not the one that was written."""

    verdict: VerdictWord
    thoughts: str = ""
    questions: tuple[str, ...] = ()
    suggested_changes: str = ""
    why: str = ""


class _AnswerObject(Struct, frozen=True):
    start: int
    end: int
    pairs: tuple[tuple[str, Any], ...]

    @property
    def verdicts(self) -> list[Any]:
        return [value for key, value in self.pairs if key == "verdict"]


def read_answer(final: str) -> ReviewAnswer:
    """The object that ends the message; whatever makes it doubtful makes it an error."""
    if not final.strip():
        return _error_answer("the answer is empty")
    if len(final) > _LONGEST_MESSAGE:
        return _error_answer(f"the answer is longer than {_LONGEST_MESSAGE} characters")
    objects = _find_objects(final)
    if not objects:
        return _error_answer("there is no complete JSON object")
    last = objects[-1]
    why = _why_misplaced(final, last) or _why_unfit(last) or _why_disagreeing(objects)
    if why:
        return _error_answer(why)
    answer = _make_answer(dict(last.pairs))
    doubt = _why_doubtful(final, last) if answer.verdict == "passed" else ""
    return _error_answer(doubt) if doubt else answer


def _error_answer(why: str) -> ReviewAnswer:
    return ReviewAnswer("error", why=why)


def _find_objects(text: str) -> list[_AnswerObject]:
    """All objects that stand in no other one; none if there is too much that only looks so."""
    found: list[_AnswerObject] = []
    at = attempts = 0
    while opens := _OPENS.search(text, at):
        start = opens.start()
        try:
            pairs, at = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            at, attempts = start + 1, attempts + 1
        else:
            found.append(_AnswerObject(start, at, pairs))
        if attempts > _MOST_ATTEMPTS:
            return []
    return found


def _why_misplaced(text: str, last: _AnswerObject) -> str:
    """Why the object is not the one answer of the message, or nothing."""
    before, rest = text[: last.start], text[last.end :]
    head = before.rstrip(" ")
    if len(before) - len(head) > 3 or (head and head[-1] not in "\r\n"):
        return "the object does not start on a new line"
    lines = _without_end(parse_markdown_lines(head))
    fence = _opening_fence(lines)
    if not _is_end(rest, fence):
        return "there is text after the object"
    # A fence begins a paragraph of its own, wherever it stands.
    return _why_only_shown(
        "".join(f"{line.raw}\n" for line in lines[:-1]) + "\n" if fence else head
    )


def _is_end(rest: str, fence: str) -> bool:
    closing = rest.strip()
    is_line = rest.lstrip(" \t")[:1] in ("\r", "\n")
    return not closing or bool(
        fence and is_line and closing.strip(fence[0]) == "" and closing.startswith(fence)
    )


def _why_only_shown(head: str) -> str:
    """Whether a word in the place of the object would be shown, and not said."""
    heard = find_spoken_words(f"{head}{_STANDS_HERE}")
    if heard.lines[-1].kind != "text" or not heard.said.endswith(_STANDS_HERE):
        return "the object is only quoted"
    return "the object is part of something larger" if _GOES_ON.search(head.rstrip()) else ""


def _without_end(lines: Sequence[MarkdownLine]) -> Sequence[MarkdownLine]:
    last = max((n for n, line in enumerate(lines, 1) if line.raw.strip()), default=0)
    return lines[:last]


def _opening_fence(lines: Sequence[MarkdownLine]) -> str:
    """The fence that the last line opens, or nothing."""
    fences = sum(line.kind == "fence" for line in lines)
    opens = _FENCE.fullmatch(lines[-1].raw) if lines and lines[-1].kind == "fence" else None
    return opens[1] if opens and fences % 2 else ""


def _why_disagreeing(objects: Sequence[_AnswerObject]) -> str:
    earlier = [value for each in objects[:-1] for value in each.verdicts]
    meant = [value for value in earlier if not (isinstance(value, str) and _is_form(value))]
    said = {_verdict_word(value) for value in [*meant, *objects[-1].verdicts]}
    return "several objects disagree about the verdict" if len(said) > 1 else ""


def _is_form(value: str) -> bool:
    return bool(_PLACEHOLDER.fullmatch(value))


def _verdict_word(value: Any) -> str:
    return value.strip().lower() if isinstance(value, str) else repr(value)


def _why_unfit(last: _AnswerObject) -> str:
    keys = [key for key, _ in last.pairs]
    unknown = [key for key in keys if key not in (*_TEXTS, _QUESTIONS)]
    if "verdict" not in keys:
        return "the last object has no verdict"
    if len(set(keys)) < len(keys):
        return "a key is written twice"
    if unknown:
        return f"the object has an unknown key: '{unknown[0][:60]}'"
    return next((why for key, value in last.pairs if (why := _why_value_unfit(key, value))), "")


def _why_value_unfit(key: str, value: Any) -> str:
    texts = [value] if key in _TEXTS else value
    is_list = isinstance(texts, list)
    if not is_list or not all(isinstance(each, str) for each in texts):
        return f"'{key}' is not {'text' if key in _TEXTS else 'a list of texts'}"
    if any(_is_form(each) for each in texts):
        return f"'{key}' only repeats the form"
    if key == "verdict" and _verdict_word(value) not in _VERDICTS:
        return f"'{_make_readable(value)[:60]}' is not a verdict"
    return ""


def _make_answer(told: dict[str, Any]) -> ReviewAnswer:
    changes = _said_words(told.get("suggested_changes", ""))
    questions = [said for each in told.get(_QUESTIONS, ()) if (said := _said_words(each))]
    verdict = _VERDICTS[_verdict_word(told["verdict"])]
    notes = list(_list_notes(verdict, changes, questions))
    return ReviewAnswer(
        "failed" if changes or questions else verdict,
        _cut_text(_make_readable(told.get("thoughts", "")).strip(), LONGEST_TEXT),
        tuple(_cut_text(each, LONGEST_QUESTION) for each in questions[:MOST_QUESTIONS]),
        _cut_text(changes, LONGEST_TEXT),
        "; ".join(notes),
    )


def _list_notes(verdict: VerdictWord, changes: str, questions: Sequence[str]) -> Sequence[str]:
    left_out = len(questions) - MOST_QUESTIONS
    said = (
        (verdict == "passed" and changes, "it says passed, but it asks for changes"),
        (verdict == "passed" and questions, "it has questions"),
        (verdict == "failed" and not (changes or questions), "it names nothing to change"),
        (left_out > 0, f"{left_out} more questions were left out"),
    )
    return [note for is_so, note in said if is_so]


def _said_words(text: str) -> str:
    words = _make_readable(text).strip()
    return "" if _NOTHING.fullmatch(words) else words


def _make_readable(text: str) -> str:
    """What no file and no terminal takes is replaced, so that it is seen."""
    return _UNREADABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def _cut_text(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    note = f"\n[porch cut this here; it had {len(text)} characters]"
    return text[: most - len(note)] + note


def _why_doubtful(text: str, last: _AnswerObject) -> str:
    """Why a pass is not believed: what stands around it speaks against it."""
    before = text[: last.start]
    if _REFUSED.search(before):
        return "there is another verdict before the object"
    lines = [
        line for line in parse_markdown_lines(before) if line.raw.strip() and line.kind != "fence"
    ]
    intro = lines[-1] if lines else None
    is_intro = intro is not None and (intro.raw.rstrip().endswith(":") or heading_of(intro))
    if intro is not None and is_intro and _FOREIGN.search(intro.raw):
        return "the text before the object says that it is not the answer"
    return ""
