"""The words after the protocol: an id, a file, or what is wanted; the same for every command."""

from collections.abc import Sequence

from msgspec import Struct

from porch.errors import UsageError
from porch.store.run_names import match_run_names, quote_word
from porch.text.late_pattern import late_pattern

# What a run of a protocol is about, where one word names that and cannot be a request.
FILE_SUBJECTS = ("spec",)
NAMED_SUBJECTS = ("inputs", "none")
_NUMBER = late_pattern(r"#?(?P<id>[0-9]{1,64})")
_NAME = late_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_WITH_SLASH = late_pattern(r"(?=\S*[0-9])[^\s/]+/\S*")
_LIKE_A_FILE = late_pattern(r"(?:~|\.{0,2}[\\/]).*|\S+\.(?:md|markdown|txt|rst|ya?ml|json)")


class KnownNames(Struct, frozen=True):
    """What exists: runs, projects, executions and specs by name, and which words are files."""

    names: tuple[str, ...] = ()
    files: frozenset[str] = frozenset()


class RequestWords(Struct, frozen=True):
    """What was meant: at most one of `request` and `path` is there, each with an id or without."""

    id: str = ""
    request: str = ""
    path: str = ""


def read_request_words(subject: str, words: Sequence[str], known: KnownNames) -> RequestWords:
    """Take the words apart; `subject` is what the protocol says its runs are about.

    The first word is an id if it is a number or names something that exists. One word that is a
    file stands for the text in it. Everything else is the request itself.
    """
    if not words:
        return RequestWords()
    if subject in FILE_SUBJECTS:
        return _read_file_word(words)
    first, rest = words[0], words[1:]
    if _is_only_name(subject, words):
        return RequestWords(first)
    number = _NUMBER.fullmatch(first)
    if number and first in known.files and not rest and not match_run_names([*known.names], first):
        raise _unclear_word_error(first)
    if number or _names_something(first, known):
        return _read_rest(number["id"] if number else first, rest, known)
    return _read_rest("", words, known)


def find_unread_file(meant: RequestWords, words: Sequence[str], known: KnownNames) -> str:
    """The file with which a request of several words begins: a person may have meant its text."""
    typed = words[1:] if meant.id else words
    return typed[0] if meant.request and len(typed) > 1 and typed[0] in known.files else ""


def _is_only_name(subject: str, words: Sequence[str]) -> bool:
    return subject in NAMED_SUBJECTS and len(words) == 1 and bool(_NAME.fullmatch(words[0]))


def _names_something(word: str, known: KnownNames) -> bool:
    """A file that exists is never taken for an id."""
    return word not in known.files and bool(match_run_names([*known.names], word))


def _read_file_word(words: Sequence[str]) -> RequestWords:
    if len(words) > 1:
        raise UsageError(
            f"one file is expected here, not {len(words)} words",
            fix="write what is wanted into the file, and give only its name",
            code="no-spec",
        )
    return RequestWords(path=words[0])


def _read_rest(id_: str, words: Sequence[str], known: KnownNames) -> RequestWords:
    if len(words) == 1 and words[0] in known.files:
        return RequestWords(id_, path=words[0])
    if words and _is_id_with_slash(words):
        raise UsageError(
            f"'{words[0]}' is neither an id nor a file: an id has no slash",
            fix="write the id without the slash; or if this is the request itself, give it with "
            f"--request {quote_word(' '.join(words))}",
            code="bad-id",
        )
    if len(words) == 1 and _LIKE_A_FILE.fullmatch(words[0]):
        raise UsageError(
            f"there is no file '{words[0]}'",
            fix="correct the path; or if this is the request itself, give it with --request",
            code="no-request-file",
        )
    return RequestWords(id_, " ".join(words))


def _is_id_with_slash(words: Sequence[str]) -> bool:
    """One word alone, or one before a request in quotes; a sentence may begin with a path.

    Ids have digits: `TCP/IP` is a request, though a short one.
    """
    first, rest = words[0], words[1:]
    is_id = _WITH_SLASH.fullmatch(first) and not _LIKE_A_FILE.fullmatch(first)
    return bool(is_id) and (not rest or any(" " in word for word in rest))


def _unclear_word_error(word: str) -> UsageError:
    return UsageError(
        f"'{word}' can be an id, and it is a file here",
        fix=f"for the text of the file write ./{word}, for the id write '#{word}'",
        code="unclear-word",
    )
