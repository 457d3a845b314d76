"""What a legal signal means; apart from reading signals, for modules that only list them."""

from msgspec import Struct

from porch.model.protocol import Exit

# What a prompt shows in the place of a reason; said back, it is none.
PLACEHOLDER = "your reason"


class LegalSignal(Struct, frozen=True):
    """A signal that the agent may give here: its exit, and whether it needs a reason."""

    exit: str
    needs_reason: bool = False


def legal_signals(exits: tuple[Exit, ...]) -> dict[str, LegalSignal]:
    return {
        signal: LegalSignal(known.name, known.needs_reason)
        for known in exits
        for signal in (known.signals or (known.name,))
    }
