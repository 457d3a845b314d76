"""The tree of a run as boxes in boxes: each instance with its state, branch and children."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from msgspec import Struct

from porch.tree.tree_view import InstanceShape

_LOOKS = {"merged": "good", "failed": "bad", "cancelled": "stopped"}
# A box in a box in a box: deeper ones are drawn beside each other, and say whose they are.
_DEEPEST = 8


class TreeBox(Struct, frozen=True, kw_only=True):
    """One instance, with the boxes of its children; `picture` and `address` lead to its graph."""

    id: str
    name: str
    branch: str
    look: str
    word: str
    why: str
    places: Sequence[str]
    budgets: Sequence[str]
    children: "Sequence[TreeBox]"
    picture: str
    address: str
    is_open: bool
    has_asked: bool


def list_boxes(
    instances: Sequence[InstanceShape], asked: Sequence[str], graph: str
) -> list[TreeBox]:
    """`asked` are positions that wait for a person; `graph` is the address of the graph."""
    children: dict[str, list[InstanceShape]] = {}
    for each in instances:
        if each["parent"] is not None:
            children.setdefault(each["parent"], []).append(each)
    roots = [each for each in instances if each["parent"] is None]
    return [_make_box(each, children, set(asked), graph, 0) for each in roots]


def _make_box(
    instance: InstanceShape,
    children: Mapping[str, Sequence[InstanceShape]],
    asked: set[str],
    graph: str,
    depth: int,
) -> TreeBox:
    name = instance["instance"]
    mine = children.get(name, ()) if depth < _DEEPEST else ()
    inner = [_make_box(each, children, asked, graph, depth + 1) for each in mine]
    look, word = _describe_standing(instance, asked)
    has_asked = any(each.has_asked for each in inner)
    return TreeBox(
        id=instance["id"] or name or "the root",
        name=name,
        branch=instance["branch"],
        look=look,
        word=word,
        why=_describe_why(instance),
        places=[_strip_instance(each, name) for each in instance["positions"]],
        budgets=[f"{key}: {left}" for key, left in instance["budgets"].items()],
        children=inner,
        picture=f"{graph}.svg?{urlencode({'instance': name})}",
        address=f"{graph}?{urlencode({'instance': name})}",
        # What waits or works can be seen without opening every box.
        is_open=depth == 0 or has_asked,
        has_asked=look == "waiting" or has_asked,
    )


def _describe_standing(instance: InstanceShape, asked: set[str]) -> tuple[str, str]:
    outcome, places = instance["outcome"], instance["positions"]
    if outcome:
        return _LOOKS.get(outcome, "stopped"), outcome
    if any(place in asked for place in places):
        return "waiting", "waits for you"
    return ("running", "at work") if places else ("stopped", "nowhere")


def _describe_why(instance: InstanceShape) -> str:
    why = instance["why"]
    is_good = instance["outcome"] in ("", "merged")
    return "" if is_good else str(why.get("kind") or why.get("reason") or "")


def _strip_instance(position: str, name: str) -> str:
    return position.removeprefix(f"{name}/") if name else position
