"""Settings that need a person's trust: shown, and asked about on a terminal."""

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from porch.text.printable import make_printable

if TYPE_CHECKING:
    from porch.run.trust_requests import TrustRequest

_INTRODUCTION = (
    "These settings start programs, or let programs see more. They count only if you trust them."
)


def describe_trust_requests(requests: "Iterable[TrustRequest]") -> str:
    """Each setting with its value and place."""
    lines = [_INTRODUCTION]
    for request in requests:
        lines += ["", f"{request.file}, digest {request.digest}"]
        lines += [f"  {each}  ({each.place.file}:{each.place.line})" for each in request.settings]
        lines += [f"  note: {request.note}"] if request.note else []
    return "\n".join(lines)


def is_person_at_terminal(as_person: bool) -> bool:
    from porch.run.engine.caller import find_agent_sign

    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    return is_terminal and (as_person or not find_agent_sign(os.environ))


def ask_for_trust(requests: "Iterable[TrustRequest]", as_person: bool) -> bool:
    """Ask once, about all of them; only a yes grants anything."""
    from porch.cli.typed_line import ask_line

    requests = list(requests)
    print(make_printable(describe_trust_requests(requests)), end="\n\n", flush=True)
    if ask_line("Trust them? [y/N] ").lower() not in ("y", "yes"):
        return False
    grant_requests(requests, as_person)
    return True


def grant_requests(requests: "Iterable[TrustRequest]", as_person: bool) -> None:
    from porch.run.engine.caller import find_user_name
    from porch.run.grants import add_grant
    from porch.run.settings import user_directory

    by = f"{find_user_name()}{' (--as-person)' if as_person else ''}"
    for each in requests:
        add_grant(user_directory(os.environ), each.digest, os.path.abspath(each.file), by)
