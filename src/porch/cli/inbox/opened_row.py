"""A row of the inbox as it is opened: a sentence, pages to read, and what can be done.

All of it is plain values, made without Textual. A page is read when somebody turns to it, because
to compare the files of a run takes git a while. What can be done is done by the functions behind
the commands; each says in words what came of it, or raises what the command would print.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from porch.errors import FailedError, PorchError

BlockKind = Literal[
    "title", "text", "good", "bad", "warn", "plain", "quote", "document", "difference"
]


class Block(Struct, frozen=True):
    """A part of a page, by how it is shown: `quote` keeps its lines, `document` is Markdown.

    A sign stands in front of a text, and the text goes on beside it.
    """

    kind: BlockKind
    text: str
    sign: str = ""


class RowPage(Struct, frozen=True):
    """A name, its key, and what it says once somebody turns to it; of a log the end first."""

    name: str
    key: str
    load: Callable[[], Sequence[Block]]
    is_log: bool = False


class Action(Struct, frozen=True, kw_only=True):
    """Something that a person can do here. `question` has to be confirmed before it is done."""

    key: str
    label: str
    effect: str = ""
    takes_text: bool = False
    needs_text: bool = False
    text_label: str = ""
    question: str = ""
    perform: Callable[[str], str]


def list_action_blocks(actions: Sequence[Action]) -> Iterator[Block]:
    """Each with its key, and what it does."""
    if actions:
        yield Block("title", "What you can do")
    for action in actions:
        yield Block("text", f"{action.label}: {action.effect}", sign=action.key)


class OpenedRow(Struct, frozen=True, kw_only=True):
    """`watch` says what is different since it was opened; of a live one it is opened again."""

    title: str
    sentence: str
    warning: str = ""
    pages: tuple[RowPage, ...] = ()
    first_page: int = 0
    actions: tuple[Action, ...] = ()
    watch: Callable[[], str] = lambda: ""
    is_live: bool = False


class ShownMovedError(FailedError):
    """What somebody wanted to decide about is not what was shown; it has to be opened again."""


def describe_error(error: PorchError) -> str:
    """Where and what happened, and what to do."""
    return "\n".join(
        f"{f'{each.place}: ' if each.place else ''}{each.message}"
        f"{f'. {_start_sentence(each.fix)}' if each.fix else ''}"
        for each in error.findings
    )


def _start_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
