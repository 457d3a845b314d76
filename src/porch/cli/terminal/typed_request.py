"""What a person types at the prompt of a run, read into one request."""

from collections.abc import Sequence

from msgspec import Struct

_SHORT = {"a": "approve", "r": "reject", "q": "quit", "s": "status", "h": "help", "?": "help"}
_EXITS = {
    "approve": "approved",
    "reject": "rejected",
    "override": "waived",
    "answer": "answered",
    "retry": "retry",
    "skip": "skip",
    "abandon": "stopped",
}
HELP = """\
  approve [GATE] [NOTE]
  reject [GATE] REASON
  override [GATE] REASON
  answer [QUESTION] TEXT
  retry, skip REASON, abandon
  view: show what is waiting for you
  status: show the status of the run
  stop: stop the agents; nothing is lost
  quit, or Ctrl-C: leave"""
_HINTS = {
    "gate": "approve, reject REASON, help",
    "question": "answer TEXT, abandon, help",
    "failure": "retry, skip REASON, abandon, help",
    "undecided": "retry, override REASON, help",
}


def decision_hint(kind: str) -> str:
    """What may be typed to answer a decision of this kind."""
    return _HINTS.get(kind, "help")


class TypedRequest(Struct, frozen=True):
    """One line of a person: a verb, and for deciding verbs the decision, the exit and the text."""

    verb: str
    decision: str = ""
    exit: str = ""
    text: str = ""
    trouble: str = ""


def parse_typed_line(line: str, open_: Sequence[str]) -> TypedRequest:
    """Read one line; with one open decision its name may be left out."""
    first, _, rest = line.strip().partition(" ")
    verb = _SHORT.get(first.lower(), first.lower())
    if verb not in _EXITS:
        known = ("stop", "status", "view", "quit", "help", "")
        trouble = "" if verb in known else f"'{first}' is not a command; type help"
        return TypedRequest(verb, trouble=trouble)
    name, _, after = rest.strip().partition(" ")
    if name in open_:
        return _decision_request(verb, name, after.strip())
    if len(open_) == 1:
        return _decision_request(verb, open_[0], rest.strip())
    asked = ", ".join(open_)
    trouble = f"say which one: {asked}" if open_ else "no decision is waiting for you"
    return TypedRequest(verb, trouble=trouble)


def _decision_request(verb: str, name: str, text: str) -> TypedRequest:
    needs = {"reject", "override", "answer", "skip"}
    trouble = f"{verb} needs a reason or text: {verb} ..." if verb in needs and not text else ""
    return TypedRequest(verb, name, _EXITS[verb], text, trouble)
