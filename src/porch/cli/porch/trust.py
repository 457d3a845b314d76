"""`porch trust`: a person reads settings that start programs, and lets them count."""

import os
from typing import TYPE_CHECKING, Any

from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from porch.run.trust_requests import TrustRequest

    Requests = Sequence[TrustRequest]


def _trust_settings(args: Args) -> View:
    if args.list:
        return _list_grants()
    if args.revoke is not None:
        return _revoke_grant(args.revoke)
    from porch.run.start_settings import list_trust_requests
    from porch.store.where import find_project

    requests = list_trust_requests(find_project(os.getcwd()))
    if args.digest is not None:
        return _grant_digest(requests, args.digest, args.as_person)
    if any(not each.is_trusted for each in requests):
        return _ask(requests, args)
    what = "are trusted" if requests else "need no trust"
    return View(f"all settings that count here {what}", _describe_state(requests))


def _grant_digest(requests: "Requests", digest: str, as_person: bool) -> View:
    from msgspec.structs import replace

    from porch.cli.trust_prompt import grant_requests

    request = _find_request(requests, digest)
    grant_requests([request], as_person)
    note = "".join(_list_notes([digest]))
    granted = replace(request, is_trusted=not note, note=note)
    text = f"trusted: the settings of {request.file} with digest {digest}"
    text += f"\n  note: {note}" if note else ""
    return View(text, _describe_state([granted if e is request else e for e in requests]))


def _ask(requests: "Requests", args: Args) -> View:
    """On a terminal the question; elsewhere what is asked, and the commands that answer it."""
    from porch.cli.trust_prompt import (
        ask_for_trust,
        describe_trust_requests,
        is_person_at_terminal,
    )
    from porch.errors import EXIT_FAILED, EXIT_WAITING

    waiting = [each for each in requests if not each.is_trusted]
    if args.json or not is_person_at_terminal(args.as_person):
        commands = "\n".join(f"  porch trust {each.digest}" for each in waiting)
        text = f"{describe_trust_requests(waiting)}\n\nto trust them:\n{commands}"
        return View(text, _describe_state(requests), EXIT_WAITING)
    if ask_for_trust(waiting, args.as_person):
        notes = _list_notes(each.digest for each in waiting)
        return View("\n".join(["trusted", *(f"  note: {note}" for note in notes)]))
    return View("nothing was trusted", code=EXIT_FAILED)


def _list_notes(digests: "Iterable[str]") -> list[str]:
    """Why some of what was granted just now does not count yet."""
    from porch.run.grants import read_grants
    from porch.run.settings import user_directory

    grants = read_grants(user_directory(os.environ))
    return [note for digest in digests if (note := grants.explain(digest))]


def _find_request(requests: "Requests", digest: str) -> "TrustRequest":
    """Only what lies here can be granted: a person must be able to read it."""
    from porch.errors import UsageError

    for each in requests:
        if each.digest == digest:
            return each
    shown = ", ".join(f"{each.digest} ({each.file})" for each in requests)
    raise UsageError(
        f"no settings here have the digest {digest!r}",
        fix=f"the digests here: {shown}" if shown else "no setting here needs trust",
        code="no-such-digest",
    )


def _describe_state(requests: "Requests") -> dict[str, Any]:
    return {"requests": [{**each.as_json(), "trusted": each.is_trusted} for each in requests]}


def _list_grants() -> View:
    from msgspec import to_builtins

    from porch.run.grants import read_grants
    from porch.run.settings import user_directory

    grants = read_grants(user_directory(os.environ))
    lines = [
        f"{each.digest}  {each.at}  {each.by}  {each.file}"
        + (f"\n  does not count: {why}" if (why := grants.explain(each.digest)) else "")
        for each in grants.by_digest.values()
    ]
    text = "\n".join(lines) or grants.trouble or "no settings are trusted yet"
    data = {"grants": to_builtins([*grants.by_digest.values()]), "trouble": grants.trouble}
    return View(text, data)


def _revoke_grant(digest: str) -> View:
    from porch.errors import UsageError
    from porch.run.grants import revoke_grant
    from porch.run.settings import user_directory

    if not revoke_grant(user_directory(os.environ), digest):
        raise UsageError(
            f"there is no grant with the digest {digest!r}",
            fix="`porch trust --list` shows all of them",
            code="no-such-digest",
        )
    return View(f"no longer trusted: {digest}", {"revoked": digest})


COMMANDS: Verbs = {
    "trust": Verb(
        _trust_settings,
        (
            make_argument(
                "digest", nargs="?", metavar="DIGEST", help="trust exactly this, and ask nothing"
            ),
            make_argument("--list", action="store_true", help="show what you trust"),
            make_argument("--revoke", metavar="DIGEST", help="trust this no longer"),
            PERSON,
        ),
    ),
}
