"""Granting a wish: what its record says besides the wish, looked at by the holder of the lock."""

import os
from collections.abc import Callable, Mapping
from typing import Protocol as Port

from porch.machine import approvals
from porch.machine import facts as f
from porch.machine.budgets import DRIVERLESS
from porch.machine.state import RunState
from porch.model.definition import Definition
from porch.model.protocol import Protocol
from porch.run.engine import approved_artifacts
from porch.run.engine.artifacts import hash_artifacts, list_artifact_paths
from porch.text.sha256 import sha256

_MOVED = "the files changed while you answered; look again, then decide"


class ReadBook(Port):
    """Of the book of a run what is read here; nothing is written into it."""

    definition: Definition
    state: RunState
    pinned: Callable[[str], Definition]


def take_wish(
    book: ReadBook, store: str, workspace: str, *, wish: f.Wish, known: Mapping[str, str]
) -> f.WishTaken | f.WishRefused:
    """The record of a granted wish; `known` are the hashes of the files that it is about."""
    if book.definition.protocol.subject in DRIVERLESS:
        return f.WishTaken(wish=wish)
    match wish.kind:
        case "decide":
            return _take_decision(book, store, workspace, wish=wish, known=known)
        case "replan":
            return _take_replan(book, store, workspace, wish)
        case "upgrade":
            return _take_upgrade(book, store, workspace, wish)
        case _:
            return f.WishTaken(wish=wish)


def _take_decision(
    book: ReadBook, store: str, workspace: str, *, wish: f.Wish, known: Mapping[str, str]
) -> f.WishTaken | f.WishRefused:
    """What was decided about, and the bytes of it."""
    state, decision = book.state, book.state.decisions[wish.position]
    is_approval = decision.kind == "gate" and wish.exit in approvals.APPROVED
    if is_approval and not approved_artifacts.keep_artifacts(workspace, store, known):
        return f.WishRefused(wish=wish, reason=_MOVED)
    if decision.kind == "gate" and not is_approval:
        # So that the next round can show what is different; nothing depends on it.
        approved_artifacts.keep_artifacts(workspace, store, known)
    is_again = state.positions[wish.position].state == approvals.STATE
    protocol = book.definition.protocol
    listed = (
        _read_new_list(protocol, state, (workspace, store), known)
        if is_approval and is_again
        else None
    )
    loop, items = listed or ("", ())
    return f.WishTaken(
        wish=wish,
        artifacts=known,
        definition=state.run.digest,
        settings=str(getattr(state.run, "settings", "")),  # a run may have none pinned
        loop=loop,
        items=items,
    )


def _read_new_list(
    protocol: Protocol, state: RunState, places: tuple[str, str], known: Mapping[str, str]
) -> tuple[str, tuple[f.Item, ...]] | None:
    """The phases of a plan that is approved anew, if they are others than before."""
    workspace, store = places
    for (_, loop), listed in state.items.items():
        path = plan_path(workspace, protocol, state, loop)
        data = approved_artifacts.read_kept_file(store, known.get(path, ""))
        if data is not None:
            from porch.run.engine.plan_items import list_items

            items = list_items(data, path)
            return None if items == listed.items else (loop, items)
    return None


def plan_path(workspace: str, protocol: Protocol, state: RunState, loop: str) -> str:
    known = protocol.loops.get(loop)
    return list_artifact_paths(workspace, state.run, (known.source if known else "",))[0]


def _take_upgrade(book: ReadBook, store: str, workspace: str, wish: f.Wish) -> f.WishTaken:
    """Only gates that the new definition adds or changes are asked again."""
    from porch.machine import upgraded_gates

    old, new = book.definition.protocol, book.pinned(str(wish.data["digest"])).protocol
    asked: dict[str, f.GateQuestion] = {}
    for gate, reason in upgraded_gates.gates_to_ask(old, new, book.state).items():
        known = approvals.find_gate(new, gate)
        names = known[1].artifacts if known else ()
        now = hash_artifacts(workspace, "", list_artifact_paths(workspace, book.state.run, names))
        asked[gate] = approved_artifacts.make_upgrade_question(
            workspace, store, book.state, gate, now=now, reason=reason
        )
    for position, reason in upgraded_gates.questions_to_renew(old, new, book.state).items():
        asked[position] = f.GateQuestion(reason=reason)
    return f.WishTaken(wish=wish, gates=asked)


def _take_replan(
    book: ReadBook, store: str, workspace: str, wish: f.Wish
) -> f.WishTaken | f.WishRefused:
    """A plan that was approved is read again only as it was approved; else it is asked first."""
    state, protocol = book.state, book.definition.protocol
    loop = str(wish.data["loop"])
    path = plan_path(workspace, protocol, state, loop)
    gate, then = approved_artifacts.find_approved_digest(state, path)
    if not gate or gate not in protocol.gates:
        return f.WishTaken(wish=wish)
    data = approved_artifacts.read_regular_file(os.path.join(workspace, path))
    if data is not None and sha256(data).hexdigest() == then:
        from porch.run.engine.plan_items import list_items

        # Whoever left the wish may have read something else.
        return f.WishTaken(wish=wish, loop=loop, items=list_items(data, path))
    lists = _describe_lists(state, loop, wish)
    reason = f"{path} changed since {gate} was approved\n{lists}\n{approved_artifacts.PUT_BACK}"
    shown = approved_artifacts.describe_difference(workspace, store, path, then)
    now = hash_artifacts(workspace, "", state.approvals[gate].artifacts)
    approved_artifacts.keep_artifacts(workspace, store, now)
    asked = approved_artifacts.make_question(now, reason, {path: shown}, is_changed=True)
    return f.WishTaken(wish=wish, gates={gate: asked})


def _describe_lists(state: RunState, loop: str, wish: f.Wish) -> str:
    raw = wish.data.get("items")
    fresh = [str(item.get("id")) for item in raw or () if isinstance(item, dict)]
    old = [item.id for item in state.items[("", loop)].items]
    return f"phases before: {', '.join(old)}\nphases now: {', '.join(fresh) or 'none'}"
