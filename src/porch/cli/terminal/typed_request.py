"""What a person types at the prompt of a run: a command of the prompt, or one that decides.

The deciding ones are those of `porch`, with the same words: only the run need not be named.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

# A slip of one key must not decide anything, so words that decide have no short form.
_SHORT = {
    "v": "view",
    "d": "diff",
    "l": "log",
    "c": "cost",
    "s": "status",
    "q": "quit",
    "h": "help",
    "?": "help",
}
DECIDING = ("approve", "reject", "answer", "retry", "skip")
READING = ("view", "diff", "log", "cost", "status")
_OF_A_FILE = ("view", "diff")
_OTHERS = (*READING, "stop", "quit", "help", "")
HELP = """\
  approve [GATE] [--note "..."] [--override "REASON"] [--accept-changes]
  reject [GATE] --reason "..."
  answer [QUESTION] "TEXT"
  answer NAME --option ANSWER ["REASON"]
  retry, skip --reason "..."
  If one decision is open, answer and reject need no name: the words are the answer or the reason
  view [FILE]: read what you are asked about, then the question and every possible answer
  diff [FILE]: show what the run has changed so far
  log: show what happened; cost: show what it cost; status: show the status of the run
  stop: stop the agents; nothing is lost
  quit, or Ctrl-C: leave
  Tab completes a word; Up and Down bring back what you typed
  One letter is enough to read: v, d, l, c, s. Words that decide are typed in full"""
READ_HINT = "to read: view, diff, log, cost, status"
_HINTS = {
    "gate": 'approve, reject --reason "...", view, help',
    "question": 'answer {name} "...", help',
    "failure": 'retry, skip --reason "...", help',
    "undecided": 'retry, approve --override "...", help',
}
_FLAGS: Mapping[str, Sequence[str]] = {
    "approve": ("--note", "--override", "--accept-changes"),
    "reject": ("--reason",),
    "answer": ("--option", "--accept-changes"),
    "retry": ("--note", "--keep-settings"),
    "skip": ("--reason",),
}


def decision_hint(kind: str, name: str) -> str:
    """What may be typed to answer a decision of this kind."""
    return _HINTS.get(kind, "help").format(name=shlex.quote(name))


def shorten_command(command: str, is_only: bool) -> str:
    """A command of `porch` as it is typed here: without the run, and a gate that waits alone."""
    _, verb, _run, *words = command.split(" ")
    if is_only and verb in ("approve", "reject") and not command.count("'"):
        words = words[1:]
    return " ".join((verb, *words))


_SHELL_COMMAND = re.compile(
    r"porch (approve|reject|answer|retry|skip|log|status) (?:'[^']*'|[\w.:-]+)"
)
_SHELL_PENDING = re.compile(r"porch pending(?: \d[\w.:-]*)?")


def use_prompt_words(advice: str) -> str:
    """What a command advises, as it is typed here: without `porch` and without the run."""
    return _SHELL_PENDING.sub("view", _SHELL_COMMAND.sub(r"\1", advice))


def add_only_decision(
    verb: str, words: Sequence[str], only: str, is_name: Callable[[str], bool]
) -> list[str]:
    """The words of a command, where one decision is open and people answer it without its name.

    All words of `answer` are then the answer, and those of `reject` are the reason.
    """
    names_it = bool(words) and is_name(words[0])
    if verb == "answer":
        return [*words] if names_it else [only, *words]
    is_reason = len(words) > names_it and not any(word.startswith("-") for word in words)
    if verb == "reject" and is_reason:
        return [*words[:names_it], f"--reason={' '.join(words[names_it:])}"]
    return [*words]


class TypedRequest(Struct, frozen=True):
    """One line of a person: a verb and what follows it; `names_run` if it began with `porch`."""

    verb: str
    words: tuple[str, ...] = ()
    names_run: bool = False
    trouble: str = ""


def parse_typed_line(line: str) -> TypedRequest:
    """Read one line as a shell would, so that a command that porch prints can be typed here."""
    try:
        words = shlex.split(line)
    except ValueError:
        return TypedRequest("", trouble='a quotation mark is not closed; write "like this"')
    names_run = words[:1] == ["porch"]
    first, *rest = words[names_run:] or [""]
    verb = _SHORT.get(first.lower(), first.lower())
    if verb not in (*DECIDING, *_OTHERS) or (names_run and verb not in DECIDING):
        likely = [word for word in DECIDING if word.startswith(verb)]
        fix = f"type the whole word: {' or '.join(likely)}" if likely else "type help"
        return TypedRequest(verb, trouble=f"'{first}' is not a command; {fix}")
    if verb in _OTHERS and len(rest) > (verb in _OF_A_FILE):
        told = "one file at most" if verb in _OF_A_FILE else "no other words"
        return TypedRequest(verb, trouble=f"{verb} takes {told}; nothing was done")
    return TypedRequest(verb, tuple(rest), names_run)


def complete_line(
    front: str, decisions: Sequence[Mapping[str, Any]], files: Sequence[str]
) -> list[str]:
    """The words that can stand where the last one was begun, in the order in which they help."""
    if front.count('"') % 2 or front.count("'") % 2:
        return []  # a reason is in nobody's list
    *before, begun = front.split(" ")
    words = [word for word in before if word]
    if not words:
        verbs = (*DECIDING, *_OTHERS) if begun or decisions else _OTHERS
        return [verb for verb in verbs if verb]
    verb = _SHORT.get(words[0].lower(), words[0].lower())
    if verb in _OF_A_FILE:
        return [shlex.quote(file) for file in files] if len(words) == 1 else []
    return [word for word in _list_words(verb, words, decisions) if word not in words]


def _list_words(
    verb: str, words: Sequence[str], decisions: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    if words[-1] == "--option":
        asked = [each for each in decisions if shlex.quote(each["name"]) in words]
        yield from (option["answer"] for each in asked or decisions for option in each["options"])
        return
    if len(words) == 1 and verb in ("approve", "reject", "answer"):
        is_gate = verb != "answer"
        fits = (each for each in decisions if not is_gate or _has_answer(each, verb))
        yield from (shlex.quote(each["name"]) for each in fits)
    yield from _FLAGS.get(verb, ())


def _has_answer(decision: Mapping[str, Any], verb: str) -> bool:
    wanted = {"approve": ("approved", "waived"), "reject": ("rejected",)}[verb]
    return any(option["answer"] in wanted for option in decision["options"])
