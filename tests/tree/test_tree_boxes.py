"""The tree of a run as boxes in boxes."""

from typing import Any, cast

from porch.tree.tree_boxes import list_boxes
from porch.tree.tree_view import InstanceShape


def instance(name: str, parent: str | None, **more: Any) -> InstanceShape:
    told = {"id": name or "root", "branch": f"b/{name}", "outcome": "", "why": {}, "budgets": {}}
    found = {"instance": name, "parent": parent, "positions": [], **told, **more}
    return cast("InstanceShape", found)


def test_children_are_boxes_in_the_box_of_their_parent() -> None:
    (root,) = list_boxes(
        [
            instance("", None, positions=["children#1"]),
            instance("a", "", positions=["a/impl#1"], budgets={"rounds": "2 left"}),
            instance("a.x", "a", outcome="merged"),
            instance("b", "", outcome="failed", why={"kind": "Stuck"}),
        ],
        [],
        "/g",
    )
    a, b = root.children
    assert (a.places, a.budgets) == (["impl#1"], ["rounds: 2 left"])
    assert [(each.look, each.word, each.why) for each in (a, a.children[0], b)] == [
        ("running", "at work", ""),
        ("good", "merged", ""),
        ("bad", "failed", "Stuck"),
    ]
    assert a.picture == "/g.svg?instance=a"
    assert [root.is_open, a.is_open] == [True, False]


def test_a_box_with_somebody_who_waits_for_a_person_is_open() -> None:
    (root,) = list_boxes(
        [
            instance("", None),
            instance("a", ""),
            instance("a.x", "a", positions=["a.x/ask#1"]),
            instance("b", ""),
        ],
        ["a.x/ask#1"],
        "/g",
    )
    a, b = root.children
    assert (a.is_open, a.children[0].word, b.is_open) == (True, "waits for you", False)
    assert b.word == "nowhere"


def test_a_tree_that_is_far_too_deep_is_cut_and_no_tree_is_no_box() -> None:
    rows = [instance("0", None), *(instance(str(n), str(n - 1)) for n in range(1, 3_000))]
    (box,) = list_boxes(rows, [], "/g")
    depth = 0
    while box.children:
        (box,) = box.children
        depth += 1
    assert depth == 8
    assert list_boxes([], [], "/g") == []
