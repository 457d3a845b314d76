"""The tree of a run as boxes in boxes: each instance with its state, branch and children."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from porch.web.pages.page_words import count_of

Instance = Mapping[str, Any]
_LOOKS = {"merged": "good", "failed": "bad", "cancelled": "stopped"}
# A box in a box in a box: deeper ones are drawn beside each other, and say whose they are.
_DEEPEST = 8


def make_tree(instances: Sequence[Instance], asked: Sequence[str], graph: str) -> dict[str, Any]:
    """`asked` are positions that wait for a person; `graph` is the address of the graph."""
    children: dict[str, list[Instance]] = {}
    for each in instances:
        if each["parent"] is not None:
            children.setdefault(str(each["parent"]), []).append(each)
    roots = [each for each in instances if each["parent"] is None]
    boxes = [_make_box(each, children, set(asked), graph, 0) for each in roots]
    return {"boxes": boxes, "total": count_of(len(instances), "instance")}


def _make_box(
    instance: Instance,
    children: Mapping[str, Sequence[Instance]],
    asked: set[str],
    graph: str,
    depth: int,
) -> dict[str, Any]:
    name = str(instance["instance"])
    mine = children.get(name, ()) if depth < _DEEPEST else ()
    inner = [_make_box(each, children, asked, graph, depth + 1) for each in mine]
    look, word = _describe_standing(instance, asked)
    return {
        "id": instance["id"] or name or "the root",
        "name": name,
        "branch": instance["branch"],
        "look": look,
        "word": word,
        "why": _describe_why(instance),
        "places": [_strip_instance(each, name) for each in instance["positions"]],
        "budgets": [f"{key}: {left}" for key, left in instance["budgets"].items()],
        "children": inner,
        "count": count_of(len(inner), "child", "children") if inner else "",
        "picture": f"{graph}.svg?{urlencode({'instance': name})}",
        "address": f"{graph}?{urlencode({'instance': name})}",
        # What waits or works can be seen without opening every box.
        "is_open": depth == 0 or any(each["has_asked"] for each in inner),
        "has_asked": look == "waiting" or any(each["has_asked"] for each in inner),
    }


def _describe_standing(instance: Instance, asked: set[str]) -> tuple[str, str]:
    outcome, places = str(instance["outcome"]), instance["positions"]
    if outcome:
        return _LOOKS.get(outcome, "stopped"), outcome
    if any(place in asked for place in places):
        return "waiting", "waits for you"
    return ("running", "at work") if places else ("stopped", "nowhere")


def _describe_why(instance: Instance) -> str:
    why = instance["why"]
    is_good = instance["outcome"] in ("", "merged")
    return "" if is_good else str(why.get("kind") or why.get("reason") or "")


def _strip_instance(position: str, name: str) -> str:
    return position.removeprefix(f"{name}/") if name else position
