"""What a person types at the prompt of a run: a command of the prompt, or one that decides.

The deciding ones are those of `porch`, with the same words: only the run need not be named.
"""

import shlex

from msgspec import Struct

_SHORT = {"a": "approve", "r": "reject", "q": "quit", "s": "status", "h": "help", "?": "help"}
DECIDING = ("approve", "reject", "answer", "retry", "skip")
_OTHERS = ("stop", "status", "view", "quit", "help", "")
HELP = """\
  approve [GATE] [--note "..."] [--override "REASON"] [--accept-changes]
  reject [GATE] --reason "..."
  answer QUESTION "TEXT"
  answer NAME --option ANSWER ["REASON"]
  retry, skip --reason "..."
  view: show what is waiting for you, and every possible answer
  status: show the status of the run
  stop: stop the agents; nothing is lost
  quit, or Ctrl-C: leave"""
_HINTS = {
    "gate": 'approve, reject --reason "...", help',
    "question": 'answer {name} "...", help',
    "failure": 'retry, skip --reason "...", help',
    "undecided": 'retry, approve --override "...", help',
}


def decision_hint(kind: str, name: str) -> str:
    """What may be typed to answer a decision of this kind."""
    return _HINTS.get(kind, "help").format(name=shlex.quote(name))


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
        return TypedRequest(verb, trouble=f"'{first}' is not a command; type help")
    if verb in _OTHERS and rest:
        return TypedRequest(verb, trouble=f"{verb} takes no other words; nothing was done")
    return TypedRequest(verb, tuple(rest), names_run)
