"""What a run did at a state and on an arrow, in words that every format writes."""

from porch.show.graph.picture import Arrow, Node


def describe_node_walk(node: Node) -> str:
    """What a run did there, in words: `here now, entered 2 times`; empty if it never came."""
    parts = ["here now"] if node.is_here else []
    return ", ".join([*parts, *([f"entered {_times(node.entered)}"] if node.entered else [])])


def describe_arrow_walk(arrow: Arrow) -> str:
    return f"taken {_times(arrow.taken)}" if arrow.taken else ""


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
