"""One question with everything that a person needs to answer it, as it is printed at the prompt."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from porch.cli.terminal.documents import render_difference
from porch.cli.terminal.live_area import beside
from porch.cli.terminal.typed_request import READ_HINT, shorten_command
from porch.show.board import list_failure_notes, text_width
from porch.text.printable import make_printable

_REPORT_SHOWN = 8
_FILES_SHOWN = 30
_NARROW = 60
Decision = Mapping[str, Any]


def render_question(decision: Decision, root: str, width: int, is_only: bool) -> Iterator[Any]:
    """What is asked in one sentence, what speaks for and against it, and what each answer does."""
    yield Text("")
    asked = _find_sentence(decision)
    yield beside("?", make_printable(asked), "bold yellow")
    for text, style in _list_remarks(decision, asked):
        yield beside("", make_printable(text), text_style=style)
    yield from _render_reports(decision)
    # Here `diff` shows what it changed.
    for text in list_failure_notes({**(decision.get("failure") or {}), "changes": ""}):
        yield beside("", make_printable(text))
    yield from map(_indent, _render_changes(decision))
    yield from _name_files(decision["artifacts"], decision.get("missing") or (), root)
    yield _indent(_render_answers(decision["options"], width, is_only))
    yield beside("", READ_HINT, text_style="dim")


def _find_sentence(decision: Decision) -> str:
    """What is asked; the title of a gate asks nothing, and its name is what answers call it."""
    question, description = decision["question"], decision["description"]
    told = question if question.endswith("?") else description or question or "Your decision"
    if decision["kind"] != "gate":
        return told
    if told == question and not told.endswith("?"):
        return f"Do you approve? ({told})"
    return told if decision["name"] in told else f"{told} ({decision['name']})"


def _list_remarks(decision: Decision, asked: str) -> Iterator[tuple[str, str]]:
    get = decision.get
    for text in dict.fromkeys((get("description"), *(get("reason") or "").split("\n"))):
        if text and text not in asked:
            yield text, ""
    if request := get("request"):
        yield f"asked for: {request[0]}", ""
    for text in get("evidence") or ():
        yield text, "green"
    if get("needs_override"):
        yield "a check or review failed; to approve anyway, give a reason", "red"
    for text in get("reviews") or ():
        yield f"review of {text}", "yellow"
    for found in get("findings") or ():
        yield f"{found['by']}: {found['finding']}", ""
    for text in get("problems") or ():
        yield f"your answer cannot be used yet: {text}", "red"
    for text in get("settings") or ():
        yield text, ""


def _render_reports(decision: Decision) -> Iterator[RenderableType]:
    """How each ended; mostly that is where the reason stands."""
    for name, report in decision["reports"].items():
        yield beside("", f"{make_printable(name)}:")
        for line in make_printable(report).splitlines()[-_REPORT_SHOWN:]:
            yield beside("", f"  {line}", text_style="dim")


def _render_changes(decision: Decision) -> Iterator[RenderableType]:
    yield from map(render_difference, (decision.get("difference") or {}).values())
    if changed := decision.get("changed"):
        told = f"changed since {changed['since']}: approve with --accept-changes"
        yield Text(told, style="yellow")
        yield from map(render_difference, changed["difference"].values())


def _name_files(
    paths: Sequence[str], missing: Sequence[str], root: str
) -> Iterator[RenderableType]:
    """Some of them; an answer is for all. A path is never cut, so that it can be copied."""
    for path in sorted(paths, key=lambda path: path not in missing)[:_FILES_SHOWN]:
        word = "missing" if path in missing else "read"
        yield uncut(f"   {word}: {path_from_here(os.path.join(root, path))}")
    if len(paths) > _FILES_SHOWN:
        yield uncut(f"   read: {len(paths) - _FILES_SHOWN} more files")


def _render_answers(
    options: Sequence[Mapping[str, Any]], width: int, is_only: bool
) -> RenderableType:
    """What is typed, and what the run does then; one below the other where there is little room."""
    told = [
        (shorten_command(each["command"], is_only), each.get("then") or each["meaning"])
        for each in options
    ]
    longest = max((text_width(typed) for typed, _ in told), default=0)
    is_beside = width >= _NARROW and longest <= width // 2
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", overflow="fold", no_wrap=is_beside)
    table.add_column(overflow="fold")
    for typed, then in told:
        if is_beside:
            table.add_row(Text(make_printable(typed)), Text(make_printable(then)))
        else:
            table.add_row(Text(make_printable(typed)))
            table.add_row(Padding(Text(make_printable(then), style="not bold"), (0, 0, 0, 2)))
    return table


def _indent(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 3))


def uncut(text: str) -> Text:
    """Left to the terminal to break, so that a path in it can be copied."""
    return Text(make_printable(text), no_wrap=True, overflow="ignore")


def path_from_here(path: str) -> str:
    """As one would type it here; from elsewhere the whole path is easier to read."""
    short = os.path.relpath(path)
    return path if short.startswith(os.pardir) else short
