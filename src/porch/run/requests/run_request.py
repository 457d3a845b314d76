"""What a call asks for, put together: which run is meant, and the text it is handed."""

import os
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from porch.errors import OutsideError, UsageError, suggest_name
from porch.model.definition import Definition
from porch.run.definitions.subject_names import RunSubject
from porch.run.engine.drive_options import RunRequest
from porch.run.requests import request_text
from porch.run.requests.free_ids import draw_free_id
from porch.run.requests.known_names import find_known_names, list_document_names
from porch.run.requests.request_text import RequestText
from porch.run.requests.request_words import (
    FILE_SUBJECTS,
    RequestWords,
    find_unread_file,
    read_request_words,
)
from porch.run.settings import load_settings
from porch.store.run_names import match_run_names, quote_word, unique_word
from porch.store.where import ProjectPaths
from porch.text.late_pattern import late_pattern

# Their runs are about a number that exists elsewhere: a file of that name brings it along.
_NUMBERED_ELSEWHERE = ("issue", "amendment")
_SPEC_FILE = late_pattern(r"[0-9]+-.+\.md")
_PROJECT = late_pattern(r"[0-9]+-")
_UNNAMED = ("untitled", "amendment")


def with_default_protocol(
    where: ProjectPaths, wanted: RunRequest, notice: Callable[[str], None]
) -> RunRequest:
    """No protocol has a name of several words: what stands in its place is the request itself."""
    if len(wanted.protocol.split()) == 1:
        return wanted
    chosen = load_settings(where.root).protocol
    notice(f"protocol: {chosen}, the default of this project ([run] protocol)")
    words = (wanted.protocol, *wanted.words) if wanted.protocol else wanted.words
    return replace(wanted, protocol=chosen, words=words)


def lacks_request(where: ProjectPaths, protocol: str) -> bool:
    """Whether a new run of this protocol, or of the project's own, has to be told what to do."""
    from porch.run.definitions.current_definition import load_current_definition

    name = protocol or load_settings(where.root).protocol
    definition = load_current_definition(where, name).demand()
    is_open = definition.protocol.subject in ("project", "issue")
    return is_open and any(_uses_request(definition))


def refuse_name_of_protocol(
    where: ProjectPaths, words: Sequence[str], command: str, *, is_near_enough: bool = False
) -> None:
    """Whoever types the name of a protocol means the protocol; `command` stands in front of it.

    `is_near_enough` where a mistyped name counts, too: nothing else has been said there.
    """
    from porch.run.definitions.library import list_protocols

    names = [each.name for each in list_protocols(where)]
    word = words[0]
    near = [word] if word in names else []
    if is_near_enough and len(words) == 1 and not near:
        from difflib import get_close_matches

        near = get_close_matches(word, names, n=1)
    if near:
        nearly = "" if word in names else "nearly "
        rest = " ".join(map(quote_word, words[1:])) or '"what you want"'
        raise UsageError(
            f"'{word}' is {nearly}the name of a protocol, and says nothing of what you want",
            fix=f"{command} {near[0]} {rest}; if this word is the request: --request {word}",
            code="no-request",
        )


def take_request(
    where: ProjectPaths, subject: str, wanted: RunRequest, notice: Callable[[str], None]
) -> RunRequest:
    """Words and options become a subject and a text; `subject` is what the protocol's runs have."""
    known = find_known_names(where, wanted.words)
    meant = read_request_words(subject, wanted.words, known)
    if meant.request and (meant.request,) == wanted.words:
        refuse_name_of_protocol(where, wanted.words, "porch run")
    # Nobody can say whether the text was meant; what is not handed on must be seen.
    if unread := find_unread_file(meant, wanted.words, known):
        option = quote_word(f"@{unread}")
        notice(
            f"note: {unread} is a file, and it was not read: the request is the words as they were "
            f"typed. For the text of the file, instead of all words: --request {option}"
        )
    if subject in FILE_SUBJECTS or _is_spec_of_project(subject, meant):
        _refuse_several(meant.path, wanted.request_option, wanted.issue)
        is_text = subject not in FILE_SUBJECTS and bool(meant.path)
        source = f"file {os.path.basename(meant.path)}" if is_text else ""
        return replace(wanted, subject=meant.path or wanted.subject, request_from=source)
    found = _find_text(where, meant, wanted)
    id_ = meant.id or wanted.subject
    if found is None:
        return _with_id(subject, replace(wanted, subject=id_))
    if subject in _NUMBERED_ELSEWHERE:
        id_ = id_ or found.id
    wanted = replace(wanted, subject=id_, request=found.text, request_from=found.source)
    return _with_id(subject, wanted)


def _is_spec_of_project(subject: str, meant: RequestWords) -> bool:
    """A specification with a number names its project; what it says is the request."""
    is_spec = bool(_SPEC_FILE.fullmatch(os.path.basename(meant.path)))
    return subject == "project" and not meant.id and is_spec


def _with_id(subject: str, wanted: RunRequest) -> RunRequest:
    if subject == "amendment" and not wanted.subject:
        raise UsageError(
            f"{wanted.protocol} changes an existing project, and no project was named",
            fix=f'porch run {wanted.protocol} ID "what should change"; `porch status` lists ids',
            code="no-project",
        )
    return wanted


def _find_text(where: ProjectPaths, meant: RequestWords, wanted: RunRequest) -> RequestText | None:
    _refuse_several(meant.request, meant.path, wanted.request_option, wanted.issue)
    if meant.request:
        return request_text.take_typed_text(meant.request)
    if meant.path:
        return request_text.read_request_file(meant.path)
    if wanted.request_option:
        return request_text.read_request_option(wanted.request_option)
    return request_text.read_issue_option(wanted.issue, where.workspace) if wanted.issue else None


def _refuse_several(*ways: str) -> None:
    if len([way for way in ways if way]) > 1:
        raise UsageError(
            "the request was given twice",
            fix="use one of: words after the protocol, --request, --issue",
            code="request-twice",
        )


def refuse_request_for_run(name: str, id_: str, wanted: RunRequest) -> None:
    """A run keeps what it was asked; people speak to it by deciding."""
    if wanted.request:
        raise UsageError(
            f"{name} exists already, and a request is only for a new run",
            fix=f"to say something to it: porch reject {id_} GATE --reason TEXT, or "
            f"porch answer {id_}; to continue it: porch resume {id_}; for a new run leave out "
            f"the id {id_}",
            code="request-for-run",
        )


def require_project(
    where: ProjectPaths,
    subject: str,
    wanted: RunRequest,
    notice: Callable[[str], None],
    *,
    is_paid: bool,
) -> None:
    """Nobody changes a project that is not there: most likely its id is a slip.

    A dry run where there is no project at all shows how the protocol works, and says so.
    """
    if subject != "amendment" or wanted.adopt:
        return
    names = [*where.runs(), *list_document_names(where)]
    if match_run_names(names, wanted.subject):
        return
    if not (is_paid or any(map(_PROJECT.match, names))):
        notice(f"there is no project {wanted.subject} here, nor any other; this is only a dry run")
        return
    ids = [unique_word(names, name, name.partition("-")[0]) for name in names]
    near = suggest_name(wanted.subject, ids)
    raise UsageError(
        f"{wanted.protocol} changes an existing project, and there is no project {wanted.subject}",
        fix=f'{near}`porch status` lists ids; for a new project: porch run spider "what you want"',
        code="no-project",
    )


def with_drawn_id(where: ProjectPaths, subject: str, wanted: RunRequest) -> RunRequest:
    """The next free number, where a new run has no id; a run about nothing needs none."""
    if wanted.subject or (subject == "none" and not wanted.request):
        return wanted
    return replace(wanted, subject=draw_free_id(where))


def with_issue_text(where: ProjectPaths, subject: str, wanted: RunRequest) -> RunRequest:
    """For a run about an issue of which only the number was given: its text, if gh has it."""
    is_bare = subject == "issue" and wanted.subject.isdecimal() and not wanted.request
    if not is_bare:
        return wanted
    try:
        found = request_text.read_issue_option(wanted.subject, where.workspace)
    except OutsideError as error:
        if wanted.title:
            return wanted
        told = error.findings[0]
        said = f"nobody knows what issue {wanted.subject} says: {told.message}"
        raise OutsideError(said, fix=told.fix, code=told.code) from error
    return replace(wanted, request=found.text, request_from=found.source)


def require_request(definition: Definition, about: RunSubject, wanted: RunRequest) -> None:
    """Nobody is paid to guess: a protocol that reads the request needs one."""
    is_known = wanted.subject and about.title not in _UNNAMED
    if about.text or wanted.title or wanted.adopt or is_known or not any(_uses_request(definition)):
        return
    id_ = f"{wanted.subject} " if wanted.subject else ""
    raise UsageError(
        "nothing says what this run is to do",
        fix=f'porch run {wanted.protocol} {id_}"what you want"; or --request @FILE, or --issue N',
        code="no-request",
    )


def _uses_request(definition: Definition) -> Iterator[bool]:
    from porch.show.prompt import REQUEST_VARIABLES, uses_variable

    texts = definition.prompts.values()
    return (uses_variable(text, name) for text in texts for name in REQUEST_VARIABLES)
