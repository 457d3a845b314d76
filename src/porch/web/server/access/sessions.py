"""Who may look: a link that works once, and the cookie that a browser has from then on."""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

_BYTES = 32
# A page that is open asks all the time; one that nobody has opened for so long is over.
IDLE_S = 12 * 60 * 60.0
MOST = 64


class BrowserSession:
    """One browser that came with a link; `said` is told on the next page, once."""

    __slots__ = ("said", "seen")

    def __init__(self, seen: float) -> None:
        self.seen = seen
        self.said = ""

    def take_said(self) -> str:
        said, self.said = self.said, ""
        return said


class Sessions:
    """Kept in memory only: when the dashboard ends, all of them do."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, used: Callable[[], None] | None = None
    ) -> None:
        self._clock = clock
        self._used = used
        self._known: dict[str, BrowserSession] = {}
        self.token = secrets.token_urlsafe(_BYTES)

    def exchange(self, token: str) -> str:
        """The secret of a new session; empty if this is not the token, or somebody had it before.

        The next token is drawn at once, for another browser.
        """
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return ""
        self.token = secrets.token_urlsafe(_BYTES)
        secret = secrets.token_urlsafe(_BYTES)
        self._forget_old()
        self._known[_digest(secret)] = BrowserSession(self._clock())
        if self._used is not None:
            self._used()
        return secret

    def find(self, secret: str) -> BrowserSession | None:
        """The session of a cookie; none if it is unknown or over."""
        found = self._known.get(_digest(secret)) if secret else None
        now = self._clock()
        if found is None or now - found.seen > IDLE_S:
            return None
        found.seen = now
        return found

    def touch(self, session: BrowserSession) -> None:
        """An open page is in use, also if nobody clicks."""
        session.seen = self._clock()

    def _forget_old(self) -> None:
        now = self._clock()
        live = [(each.seen, key) for key, each in self._known.items() if now - each.seen <= IDLE_S]
        kept = {key for _, key in sorted(live)[-(MOST - 1) :]}
        self._known = {key: each for key, each in self._known.items() if key in kept}


def _digest(secret: str) -> str:
    """What is kept cannot be used, and how long a comparison takes says nothing."""
    return hashlib.sha256(secret.encode()).hexdigest()
