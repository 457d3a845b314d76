"""What every agent's output is translated to, and the little that an outcome needs of it."""

from typing import Any, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from porch.agents.outcomes import OutcomeKind

DENIALS_KEPT = 20
# A message this long is read to its end, where its signal stands; a longer one is said to be.
LONGEST_MESSAGE = 8 * 1024 * 1024
# Escaped by JSON a message takes more room in its line.
LONGEST_TOLD_LINE = 4 * LONGEST_MESSAGE
TOO_LONG = f"the last message was longer than {LONGEST_MESSAGE >> 20} MiB, so it was not read"
# Small pieces weigh more than their letters; so many are joined at the latest.
PIECES_KEPT = 4096


class Session(Struct, frozen=True):
    """The agent named the conversation, by which a later turn can go on."""

    id: str


class Said(Struct, frozen=True):
    """A piece of a message, or a whole one, which replaces what was said before it."""

    text: str
    is_whole: bool = False


class ToolStarted(Struct, frozen=True):
    """The agent began to use a tool."""

    name: str


class ToolEnded(Struct, frozen=True):
    """Output of a tool; nothing in it is ever taken for the agent's own word."""

    output: str


class Denied(Struct, frozen=True):
    """The agent wanted to do something that it may not."""

    text: str


class Used(Struct, frozen=True):
    """Cost since the last such event; a total is that of the whole conversation so far.

    `tokens` is everything, of which `cached` were read from a cache and `output` were written.
    """

    usd: float
    tokens: int
    cached: int = 0
    output: int = 0
    is_total: bool = False
    part: str = ""  # of which message; the same one told again replaces what was told of it


NO_USAGE = Used(0, 0)


class Final(Struct, frozen=True):
    """The final message: the only place where a signal counts."""

    text: str


class Done(Struct, frozen=True):
    """The turn came to its end; what was said since the last tool is the final message."""


class Answered(Struct, frozen=True):
    """A typed answer of the agent's structured output; the last one counts."""

    exit: str
    payload: Any


class Warned(Struct, frozen=True):
    """Something worth knowing that does not end the turn."""

    text: str


class ProviderWait(Struct, frozen=True):
    """A request to the provider is out: until it is answered, silence says nothing of the agent.

    `is_on` is false while the answer arrives piece by piece: then its silence counts again.
    """

    is_on: bool = True


class Failed(Struct, frozen=True):
    """The agent said itself that the turn went wrong; `wait_s` is when it may be asked again.

    `is_last` where nothing can come after it: some complain first and go on.
    """

    text: str
    kind: OutcomeKind = "crashed"
    wait_s: float = 0
    is_last: bool = False


Event = (
    Session
    | Said
    | ToolStarted
    | ToolEnded
    | Denied
    | Used
    | Final
    | Done
    | Answered
    | Warned
    | ProviderWait
    | Failed
)


class TurnSummary(Struct, frozen=True):
    """All that an outcome needs of the events, however many there were."""

    session: str = ""
    said: str = ""
    is_cut: bool = False  # whether its beginning was lost
    final: str | None = None
    usd: float = 0.0
    tokens: int = 0
    cached: int = 0
    output: int = 0
    warning: str = ""
    failure: Failed | None = None
    answer: Answered | None = None
    denied: tuple[str, ...] = ()
    tools: int = 0
    is_over: bool = False  # whether the agent said that this was all
    last_used: Used = NO_USAGE

    def then(self, event: Event) -> "TurnSummary":
        """The summary after one more event; `said` is what was said since the last tool."""
        match event:
            case Session():
                return replace(self, session=event.id)
            case Said():
                return self._said(event)
            case ToolStarted():
                # What was said before a tool is no final word, in whatever form.
                steps = self.tools + 1
                return replace(self, said="", is_cut=False, answer=None, tools=steps, is_over=False)
            case ToolEnded():
                return replace(self, said="", is_cut=False) if self.said else self
            case Used():
                return self.with_usage(event)
            case Final() | Done() | Answered():
                return self._answered(event)
            case Warned() | Denied() | Failed():
                return self._told(event)
            case ProviderWait():
                return self
            case _:
                assert_never(event)

    def _said(self, event: Said) -> "TurnSummary":
        said = event.text if event.is_whole else self.said + event.text
        is_cut = len(said) > LONGEST_MESSAGE or (self.is_cut and not event.is_whole)
        answer = None if event.is_whole else self.answer
        kept = said[-LONGEST_MESSAGE:]
        return replace(self, said=kept, is_cut=is_cut, answer=answer, is_over=False)

    def with_usage(self, event: Used) -> "TurnSummary":
        """The summary after a message about what was used."""
        old = TurnSummary() if event.is_total else self
        again = self.last_used if event.part and event.part == self.last_used.part else NO_USAGE
        return replace(
            self,
            usd=old.usd + event.usd - again.usd,
            tokens=old.tokens + event.tokens - again.tokens,
            cached=old.cached + event.cached - again.cached,
            output=old.output + event.output - again.output,
            last_used=event,
        )

    def _answered(self, event: Final | Done | Answered) -> "TurnSummary":
        match event:
            case Final(text=text):
                return replace(self, final=text, is_over=True)
            case Done():
                # Without its beginning nobody knows what of it is quoted.
                final = "" if self.is_cut else self.said
                return replace(self, final=final, is_over=True)
            case Answered():
                return replace(self, answer=event)
            case _:
                assert_never(event)

    def _waiting(self, event: Failed) -> Failed:
        """Some tell when a limit is over in a line before the one that says that it was met."""
        known = self.failure
        if known is None or known.kind != event.kind or event.wait_s:
            return event
        return replace(event, wait_s=known.wait_s)

    def _told(self, event: Warned | Denied | Failed) -> "TurnSummary":
        match event:
            case Warned(text=text):
                return replace(self, warning=text)
            case Denied(text=text):
                return replace(self, denied=(*self.denied, text)[-DENIALS_KEPT:])
            case Failed():
                return replace(self, failure=self._waiting(event), is_over=event.is_last)
            case _:
                assert_never(event)


class GrowingSummary(Struct):
    """A summary while it grows.

    Agents speak in pieces, and each summary is a value of its own: pieces are joined when somebody
    looks, or else a long message would be copied once for each of its words.
    """

    _summary: TurnSummary = field(default_factory=TurnSummary)
    _pieces: list[str] = field(default_factory=list)
    _size: int = 0
    _used: Used | None = None

    @property
    def summary(self) -> TurnSummary:
        """Of all events so far."""
        self._join()
        self._count(None)
        return self._summary

    def add(self, event: Event) -> None:
        if type(event) is Said and not event.is_whole:
            self._keep(event.text)
            return
        if type(event) is Used:
            # Every message has one, and it has nothing to do with what was said.
            self._count(event)
            return
        if type(event) is ToolStarted:
            # What was said before it does not outlive it, so it need not be joined.
            self._forget()
        elif type(event) is ToolEnded and not self._pieces and not self._summary.said:
            return
        self._join()
        self._summary = self._summary.then(event)

    def _count(self, event: Used | None) -> None:
        """Kept until the next: of a message that is told several times only the last one counts."""
        last, self._used = self._used, event
        if last is not None and not (event and _is_told_again(last, event)):
            self._summary = self._summary.with_usage(last)

    def _keep(self, text: str) -> None:
        self._pieces.append(text)
        self._size += len(text)
        if len(self._pieces) >= PIECES_KEPT or self._size >= LONGEST_MESSAGE:
            self._join()

    def _join(self) -> None:
        if self._pieces:
            self._summary = self._summary.then(Said("".join(self._pieces)))
            self._forget()

    def _forget(self) -> None:
        self._pieces.clear()
        self._size = 0


def _is_told_again(last: Used, event: Used) -> bool:
    is_same = bool(event.part) and event.part == last.part
    return is_same and not (last.is_total or event.is_total)
