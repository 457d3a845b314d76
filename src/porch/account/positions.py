"""The state that a position was in, also of one that was left: `implement:checks:phase_1#2`."""

from porch.model.protocol import Protocol


def find_state_name(protocol: Protocol, position: str) -> str:
    """The longest name of a state that fits: behind it comes only the item; else nothing."""
    label = (position.rpartition("#")[0] or position).rpartition("/")[2]
    fits = (name for name in protocol.states if label == name or label.startswith(f"{name}:"))
    return max(fits, key=len, default="")
