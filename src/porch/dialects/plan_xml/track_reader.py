"""Reading track.xml as far as it maps: groups are phases, leaves are tasks, hooks are confirms."""

from collections.abc import Iterator, Mapping

from porch.dialects.plan_xml.confirm_reader import read_hooks
from porch.dialects.plan_xml.elements import (
    PlanNotes,
    attribute_text,
    child_text,
    children_named,
    first_child,
    plain_text,
)
from porch.dialects.plan_xml.status_words import find_status_mark, read_status
from porch.dialects.plan_xml.track_plan import (
    PlanCriterion,
    StatusMark,
    TrackPhase,
    TrackPlan,
    TrackTask,
)
from porch.text.nodes import ElementNode

Needs = Mapping[str, tuple[str, ...]]


def read_track_tree(root: ElementNode, notes: PlanNotes) -> TrackPlan:
    about = first_child(root, "Metadata") or root
    status = first_child(about, "Status")
    space = first_child(root, "TaskSpace") or root
    needs = _read_schedule(root)
    for hooks in children_named(root, "Hooks"):
        message = "hooks of the whole track are not walked; hang them on its phases"
        notes.warn("plan-unread", message, hooks.place)
    return TrackPlan(
        id=attribute_text(root, "id"),
        name=attribute_text(space, "name") or attribute_text(root, "name"),
        goal=child_text(about, "Goal") or child_text(about, "Description"),
        status=status.text.strip().lower() if status else "",
        mark=StatusMark(status, "", status.text.strip()) if status else None,
        commit_mode=child_text(about, "CommitMode"),
        words="track",
        phases=tuple(_read_group(each, needs, notes) for each in _sub_nodes(space, "TaskGroup")),
        place=root.place,
    )


def _sub_nodes(element: ElementNode, *names: str) -> Iterator[ElementNode]:
    for group in children_named(element, "SubNodes"):
        yield from children_named(group, *names)


def _read_schedule(root: ElementNode) -> Needs:
    """What comes after what, inside groups that say so."""
    found: dict[str, tuple[str, ...]] = {}
    for schedule in children_named(root, "Schedule"):
        for dag in children_named(schedule, "Dag"):
            for node in children_named(dag, "Node"):
                after = [attribute_text(each, "ref") for each in children_named(node, "After")]
                found[attribute_text(node, "id")] = tuple(dict.fromkeys(filter(None, after)))
    return found


def _read_group(element: ElementNode, needs: Needs, notes: PlanNotes) -> TrackPhase:
    id_ = attribute_text(element, "id")
    gate = first_child(element, "Gate")
    return TrackPhase(
        id=id_,
        name=attribute_text(element, "name"),
        goal=child_text(element, "Description"),
        confirms=read_hooks(element, "phase", f"phase {id_}", notes),
        tasks=tuple(_read_leaf(each, needs, notes) for each in _list_leaves(element, 0)),
        criteria=tuple(_read_criteria(gate)) if gate is not None else (),
        mark=find_status_mark(element),
        place=element.place,
    )


def _list_leaves(element: ElementNode, depth: int) -> Iterator[ElementNode]:
    """The tasks of a group and of the groups inside it; a reading of files ends somewhere."""
    for each in _sub_nodes(element, "TaskGroup", "Task"):
        if each.name.rpartition(":")[2] == "Task":
            yield each
        else:
            yield from _list_leaves(each, depth + 1)


def _read_criteria(element: ElementNode) -> Iterator[PlanCriterion]:
    for each in children_named(element, "Criterion"):
        is_checked = attribute_text(each, "checked").lower() == "true"
        yield PlanCriterion(plain_text(each), is_checked, each)


def _read_leaf(element: ElementNode, needs: Needs, notes: PlanNotes) -> TrackTask:
    id_ = attribute_text(element, "id")
    what, mark = f"task {id_}", find_status_mark(element)
    acceptance = first_child(element, "Acceptance")
    status, blocker = read_status(mark, what, notes), attribute_text(element, "blocker")
    described = first_child(element, "Description")
    return TrackTask(
        id=id_,
        name=attribute_text(element, "name"),
        # Blocked has no word of its own: it is work that is under way, with a reason beside it.
        status="BLOCKED" if blocker and status == "IN_PROGRESS" else status,
        mark=mark,
        text=plain_text(described if described is not None else element),
        priority=attribute_text(element, "priority"),
        blocker=blocker,
        needs=needs.get(id_, ()),
        confirms=read_hooks(element, "task", what, notes),
        criteria=tuple(_read_criteria(acceptance)) if acceptance is not None else (),
        place=element.place,
    )
