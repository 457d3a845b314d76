"""What a settings file asks of a person: settings that start programs, or let programs see more.

Such settings count only if a person trusts them. What is trusted is their content: the digest of
the keys and values, in whichever project or file they are.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from porch.errors import Finding, Place, UsageError
from porch.text.sha256 import sha256

_DIGITS = 32


class AskingSetting(Struct, frozen=True):
    """One setting that counts only if a person trusts it."""

    key: str
    value: Any
    place: Place

    def __str__(self) -> str:
        return f"{self.key} = {json.dumps(self.value, ensure_ascii=False)}"


class TrustRequest(Struct, frozen=True):
    """All such settings of one file; `note` says why an earlier grant does not count."""

    settings: tuple[AskingSetting, ...]
    digest: str
    note: str = ""
    is_trusted: bool = False

    @property
    def file(self) -> str:
        return self.settings[0].place.file

    def as_json(self) -> dict[str, Any]:
        shown = [
            {"key": each.key, "value": each.value, "line": each.place.line}
            for each in self.settings
        ]
        return {"file": self.file, "digest": self.digest, "settings": shown, "note": self.note}


class UntrustedSettingsError(UsageError):
    """Settings that nobody has trusted; a terminal can ask about them and try once more."""

    code = "untrusted-settings"

    def __init__(self, requests: Sequence[TrustRequest]):
        super().__init__("settings need a person's trust")
        self.requests = tuple(requests)
        self.findings = [finding for each in requests for finding in _describe_request(each)]


def make_trust_request(settings: Iterable[AskingSetting]) -> TrustRequest | None:
    """The request of one file; None if nothing in it asks."""
    asking = tuple(settings)
    if not asking:
        return None
    content = sorted([each.key, each.value] for each in asking)
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return TrustRequest(asking, sha256(text.encode()).hexdigest()[:_DIGITS])


def require_trust(untrusted: Sequence[TrustRequest]) -> None:
    """Before anything is made: whoever starts programs needs all of the settings."""
    if untrusted:
        raise UntrustedSettingsError(untrusted)


def _describe_request(request: TrustRequest) -> Iterable[Finding]:
    """The last of them says what to do about all of its file."""
    last = request.settings[-1]
    for each in request.settings:
        fix = f"read them; if you want them: porch trust {request.digest}" if each is last else ""
        note = f"; {request.note}" if request.note and each is last else ""
        what = "it starts programs or lets them see more, and nobody has trusted it"
        yield Finding(UntrustedSettingsError.code, f"{each}: {what}{note}", each.place, fix)
