"""`porch ask`: questions of a file for a person, and the replies that come back."""

import os
import sys
from typing import TYPE_CHECKING, Any

from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument

if TYPE_CHECKING:
    from porch.claims.questions.question import QuestionRound
    from porch.claims.questions.tool_calls import ElicitationCall, ToolCall
    from porch.claims.questions.transports import TransportName
    from porch.errors import Finding
    from porch.store.where import ProjectPaths
    from porch.track.questions.ask_answers import AskOutcome

# The same as in `transports`, which is loaded when somebody asks.
_SHAPES = ("text", "claude", "codex", "gemini", "opencode", "mcp")
_LONGEST = 1_000_000


def _ask_questions(args: Args) -> View:
    from porch.store import where as places
    from porch.track.questions import ask_answers

    round_, warnings = _read_file(args.file)
    where = places.find_project(os.getcwd())
    shape: TransportName = getattr(args, "as") or "text"
    ask_answers.require_carried(round_, shape)
    if args.reply is not None:
        reply = _read_reply(args.reply)
        came = ask_answers.answer_questions(where, round_, reply, shape, as_person=args.as_person)
    else:
        came = ask_answers.ask_questions(where, round_, shape)
        if _is_at_terminal(args) and came.open:
            came = _talk(where, round_, came, args.as_person)
    return _outcome_view(came, warnings)


def _read_file(path: str) -> "tuple[QuestionRound, tuple[Finding, ...]]":
    from porch.claims.questions.question_file import read_questions
    from porch.errors import UsageError
    from porch.system.document_file import read_document
    from porch.text.formats import read_tree

    try:
        text = read_document(path)
    except UnicodeDecodeError as error:
        fix = "save it as UTF-8"
        raise UsageError(f"'{path}' is not UTF-8 text", fix, "unreadable") from error
    except OSError as error:
        fix = "give the path of a file with questions"
        raise UsageError(f"'{path}' cannot be read: {error.strerror}", fix, "unreadable") from error
    read = read_questions(read_tree(text, path), path)
    return read.round, read.warnings


def _read_reply(path: str) -> str:
    from porch.cli.arguments import read_text_file

    text = read_text_file(path, "--reply")
    if len(text) > _LONGEST:
        from porch.errors import UsageError

        told = f"the reply has {len(text)} characters; at most {_LONGEST} are read"
        raise UsageError(told, fix="say it shorter, or name a file in it", code="reply-too-long")
    return text


def _is_at_terminal(args: Args) -> bool:
    """Where a person sits and nobody asked for another shape, the questions are asked at once."""
    if args.json or getattr(args, "as") or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    from porch.run.engine.caller import find_agent_sign

    return not find_agent_sign(os.environ)


def _talk(
    where: "ProjectPaths", round_: "QuestionRound", came: "AskOutcome", as_person: bool
) -> "AskOutcome":
    """Ask, read lines up to an empty one, and ask again for what is still open."""
    from porch.track.questions.ask_answers import answer_questions

    while came.state == "asking":
        print(f"{_again_text(came)}\n(end your reply with an empty line)")
        reply = _read_lines()
        if not reply.strip():
            return came
        came = answer_questions(where, round_, reply, as_person=as_person)
    return came


def _read_lines() -> str:
    lines: list[str] = []
    for line in sys.stdin:
        if not line.strip() and lines:
            break
        lines.append(line)
    return "".join(lines)


def _outcome_view(came: "AskOutcome", warnings: "tuple[Finding, ...]") -> View:
    from porch.errors import EXIT_WAITING

    for each in warnings:
        sys.stderr.write(f"{each}\n")
    return View(
        "\n".join(_outcome_lines(came)), _outcome_data(came), EXIT_WAITING if came.open else 0
    )


def _outcome_lines(came: "AskOutcome") -> list[str]:
    """In the shape of a tool nothing but its calls is printed, one on each line."""
    if came.open and came.transport != "text":
        import json

        return [json.dumps(each, ensure_ascii=False) for each in _list_calls(came)]
    from porch.claims.questions.text_form import describe_answer

    asked = {each.id: each for each in came.round.questions}
    lines = [f"note: {note}" for note in came.notes]
    lines += [describe_answer(asked[id_], answer) for id_, answer in came.answers.items()]
    lines += [f"{p.question}: {p.message}" for p in came.problems if p.question not in asked]
    if came.state == "awaiting_answers":
        lines += ["three replies left something open; it waits in `porch pending`"]
    return [*lines, *([""] if lines else []), _again_text(came)] if came.open else lines


def _again_text(came: "AskOutcome") -> str:
    from porch.claims.questions.text_form import render_round

    return render_round(came.round, came.open, came.refusals)


def _list_calls(came: "AskOutcome") -> "list[ToolCall] | list[ElicitationCall]":
    from porch.claims.questions.tool_calls import render_calls

    return render_calls(came.round, came.open, came.transport, came.refusals)


def _outcome_data(came: "AskOutcome") -> dict[str, Any]:
    from msgspec import to_builtins

    again: dict[str, Any] = {}
    if came.open:
        is_text = came.transport == "text"
        asked = {"text": _again_text(came)} if is_text else {"calls": _list_calls(came)}
        again = {"ask": {"as": came.transport, **asked}}
    return {
        "answers": to_builtins(dict(came.answers)),
        "problems": to_builtins(came.problems),
        "notes": list(came.notes),
        "state": came.state,
        "open": list(came.open),
        "run": came.run.id,
        "protocol": came.round.protocol,
        **again,
    }


COMMANDS: Verbs = {
    "ask": Verb(
        _ask_questions,
        (
            make_argument(
                "file", metavar="QUESTIONS", help="the file of questions, in YAML or JSON"
            ),
            make_argument(
                "--reply",
                default=None,
                metavar="FILE",
                help="what the person replied; - is stdin",
            ),
            make_argument(
                "--as",
                choices=_SHAPES,
                default=None,
                help="the shape of questions and reply: text (default), or a question tool",
            ),
            PERSON,
        ),
    ),
}
