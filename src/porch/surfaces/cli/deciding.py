"""Deciding from the command line: approve, reject, answer, retry, skip."""

import os

from porch.adapters import where as places
from porch.operations import decisions
from porch.operations.decisions import Answered, Verdict
from porch.operations.finding import find_run
from porch.operations.reading import read
from porch.operations.wishing import refuse_agents
from porch.surfaces.cli.command import Args, Command, View, arg

_PERSON = arg("--as-person", action="store_true", help="say that a person decides; recorded")
_ID = arg("id", help="the run: id, unpadded id or directory name; `.` means here")
_HERE = arg(
    "id", nargs="?", default="", help="the run: id, unpadded id or directory name; default: here"
)


def _decided(args: Args, name: str, exit_: str, text: str) -> View:
    refuse_agents(os.environ, args.as_person)
    where = places.find(os.getcwd())
    run = find_run(where, args.id)
    answered = decisions.decide(where, run, name, Verdict(exit_, text, args.as_person))
    return _view(answered)


def _view(answered: Answered) -> View:
    lines = [answered.message]
    if answered.changed:
        lines.append(f"changed since it was asked: {', '.join(answered.changed)}")
    data = {
        "run": answered.run,
        "decision": answered.name,
        "position": answered.position,
        "message": answered.message,
        "notice": answered.notice,
        "changed": list(answered.changed),
    }
    return View("\n".join(lines), data)


def _approve(args: Args) -> View:
    text = args.override or args.note or ""
    return _decided(args, args.gate, "waived" if args.override else "approved", text)


def _reject(args: Args) -> View:
    return _decided(args, args.gate, "rejected", args.reason)


def _answer(args: Args) -> View:
    """The first word may be an option of the decision; anything else is the text of an answer."""
    text = " ".join(args.text)
    where = places.find(os.getcwd())
    found = read(where, find_run(where, args.id))
    exit_, rest = decisions.chosen_option(found, args.question, args.text)
    return _decided(args, args.question, exit_, text if exit_ == "answered" else rest)


def _retry(args: Args) -> View:
    return _resolved(args, "retry", args.note or "")


def _skip(args: Args) -> View:
    return _resolved(args, "skip", args.reason)


def _resolved(args: Args, exit_: str, text: str) -> View:
    refuse_agents(os.environ, args.as_person)
    where = places.find(os.getcwd())
    run = find_run(where, args.id)
    name = decisions.resolve_failure(read(where, run), exit_)
    return _view(decisions.decide(where, run, name, Verdict(exit_, text, args.as_person)))


COMMANDS = (
    Command(
        "approve",
        "approve a gate as its artifacts are now",
        _approve,
        (
            _ID,
            arg("gate", nargs="?", default="", help="the gate, or nothing if only one is asked"),
            arg("--note", help="a word to keep with the approval"),
            arg("--override", help="approve in spite of a failed verification, and why"),
            _PERSON,
        ),
    ),
    Command(
        "reject",
        "send a gate back to its agent with a reason",
        _reject,
        (
            _ID,
            arg("gate", nargs="?", default="", help="the gate"),
            arg("--reason", required=True, help="what has to change; it reaches the agent"),
            _PERSON,
        ),
    ),
    Command(
        "answer",
        "answer a question of an agent, or choose an option of any decision",
        _answer,
        (
            _ID,
            arg("question", help="the decision, as `porch pending` names it"),
            arg("text", nargs="+", help="the answer, or an option and its reason"),
            _PERSON,
        ),
    ),
    Command(
        "retry",
        "try again what failed",
        _retry,
        (_HERE, arg("--note", help="a word to keep with it"), _PERSON),
    ),
    Command(
        "skip",
        "go past what failed",
        _skip,
        (_HERE, arg("--reason", required=True, help="why it may be skipped"), _PERSON),
    ),
)
