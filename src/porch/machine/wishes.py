"""What people ask of a run: whether it may be granted, and what it then moves."""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from porch.machine import approvals, base_commands, budgets, outside
from porch.machine import moves as m
from porch.machine.exits.departure import Departure, entry_moves, exit_moves, still_finished
from porch.machine.exits.evidence import expired_evidence_moves
from porch.machine.facts import Item, Payload, Wish, WishTaken
from porch.machine.state import Decision, RunState, Standing
from porch.model.protocol import TRACK, Agent, Human, Option, Protocol, Target

_DRIVERLESS_MOVES = {
    budgets.PLAN: "a plan moves only by `envoy` commands and by answers to its questions",
    budgets.ASK: "questions move only by answers to them",
}
KINDS = ("decide", "done", "stop", "resume", "rollback", "replan", "upgrade", "cancel", "reopen")
TOO_LATE = "is no longer waiting for an answer"
ACCEPTED = "accept_changes"  # in the data of an answer: the files that changed since it was asked
TRACK_KINDS = ("cancel", "reopen")


class Refusal(Struct, frozen=True):
    """No, and why; a notice is a no that changes nothing for anybody."""

    reason: str
    notice: bool = False


def find_refusal(
    protocol: Protocol, state: RunState, wish: Wish, digest: str = ""
) -> Refusal | None:
    """Why a wish cannot be granted now; `digest` is that of the asked artifacts as they are."""
    if state.outcome and wish.kind != "upgrade" and not _may_reopen(protocol, state, wish):
        return Refusal(f"the run is already {state.outcome}", notice=True)
    if protocol.subject in budgets.DRIVERLESS and wish.kind not in ("decide", "upgrade"):
        return Refusal(_DRIVERLESS_MOVES[protocol.subject])
    return _refusal_by_kind(protocol, state, wish, digest)


def _may_reopen(protocol: Protocol, state: RunState, wish: Wish) -> bool:
    """In a track, what is complete can be taken back as long as the work was not delivered."""
    is_kept = state.outcome == "complete" and state.run.delivery is None
    return wish.kind == "reopen" and protocol.subject == TRACK and is_kept


def _refusal_by_kind(
    protocol: Protocol, state: RunState, wish: Wish, digest: str
) -> Refusal | None:
    match wish.kind:
        case "decide":
            return _refuse_decision(protocol, state, wish, digest)
        case "done":
            return _refuse_done(protocol, state, wish)
        case "stop" | "resume":
            return _refuse_pause(state, wish)
        case "rollback" if protocol.spec:
            return Refusal("a tree run cannot go back; it makes a new plan instead")
        case "rollback" | "cancel" | "reopen":
            return _refuse_way_back(protocol, state, wish)
        case "replan" if ("", str(wish.data.get("loop", ""))) not in state.items:
            return Refusal("this run has read no plan yet")
        case other:
            return None if other in KINDS else Refusal(f"unknown request '{other}'")


def _refuse_way_back(protocol: Protocol, state: RunState, wish: Wish) -> Refusal | None:
    if wish.kind in TRACK_KINDS:
        from porch.machine.track.people_rules import find_track_problem as find_problem
    else:
        from porch.machine.rollback import rollback_problem as find_problem
    reason = find_problem(protocol, state, wish)
    return Refusal(reason) if reason else None


def _track_moves(protocol: Protocol, state: RunState, wish: Wish) -> Iterator[m.Move]:
    from porch.machine.track import people_rules

    is_cancel = wish.kind == "cancel"
    return (people_rules.cancel_moves if is_cancel else people_rules.reopen_moves)(
        protocol, state, wish
    )


def _rollback_moves(
    protocol: Protocol, state: RunState, wish: Wish, answered: str = ""
) -> Iterator[m.Move]:
    """Loaded where somebody goes back: most commands do not."""
    if answered and protocol.subject == TRACK:
        # As when it is reopened: work that was done behind it stays done.
        from porch.machine.track.people_rules import back_moves

        return back_moves(protocol, state, str(wish.data["state"]), answered)
    from porch.machine.rollback import rollback_moves

    return rollback_moves(protocol, state, wish, answered)


def _refuse_pause(state: RunState, wish: Wish) -> Refusal | None:
    if state.paused is not (wish.kind == "stop"):
        return None
    known = "the run is already stopped" if state.paused else "the run is not stopped"
    return Refusal(known, notice=True)


def _refuse_decision(
    protocol: Protocol, state: RunState, wish: Wish, digest: str
) -> Refusal | None:
    decision = state.decisions.get(wish.position)
    if decision is None:
        return _refuse_unasked(state, wish)
    if wish.digest and wish.digest != digest:
        return Refusal("the files changed after you looked; look again, then decide")
    reason = _option_problem(protocol, state, decision, wish)
    if not reason and protocol.subject in budgets.DRIVERLESS:
        reason = _form_problem(protocol, state, wish)
    if not reason and _approves_unseen(protocol, state, decision, wish, digest):
        reason = "the files changed since porch asked; look at the difference, then decide"
    if reason:
        return Refusal(reason)
    if wish.exit == "approved":
        return _refuse_without_override(protocol, state, state.positions[wish.position])
    return None


def is_approval(protocol: Protocol, state: RunState, wish: Wish) -> bool:
    """Whether an answer lets pass what was asked about; a form of a plan can say that, too."""
    if wish.exit in approvals.APPROVED:
        return True
    if protocol.subject != budgets.PLAN:
        return False
    from porch.machine.plan import run_rules

    return run_rules.is_form_approval(state.positions[wish.position], wish)


def _approves_unseen(
    protocol: Protocol, state: RunState, decision: Decision, wish: Wish, digest: str
) -> bool:
    """An approval is for the files that were asked about, or for others that it names by digest."""
    is_moved = bool(decision.artifacts) and digest not in ("", decision.digest)
    is_accepted = bool(wish.data.get(ACCEPTED)) and bool(wish.digest)
    return is_moved and not is_accepted and is_approval(protocol, state, wish)


def _form_problem(protocol: Protocol, state: RunState, wish: Wish) -> str:
    """The rules of a run without a driver are loaded where there is one."""
    if protocol.subject == budgets.ASK:
        from porch.machine.ask import run_rules as ask_rules

        return ask_rules.form_problem(state, wish)
    from porch.machine.plan import run_rules

    return run_rules.form_problem(state, state.positions[wish.position], wish)


def _option_problem(protocol: Protocol, state: RunState, decision: Decision, wish: Wish) -> str:
    option = _find_option(protocol, state, decision, wish.exit)
    if option is None:
        what = "a text" if wish.exit == "answered" else f"'{wish.exit}'"
        return f"{what} is not a possible answer to {decision.name}"
    if option.needs_failure and not _has_failure(protocol, state, decision):
        return "nothing failed here, so nothing has to be overridden; approve without it"
    if option.needs_text and not (_has_words(wish.text) or wish.data.get("form")):
        return f"'{wish.exit}' needs a reason"
    return ""


def _has_words(text: str) -> bool:
    """Something that can be read: spaces and invisible characters say nothing."""
    return any(char.isprintable() and not char.isspace() for char in text)


def _has_failure(protocol: Protocol, state: RunState, decision: Decision) -> bool:
    standing = state.positions[decision.position]
    actor = protocol.states[standing.state].actor
    return isinstance(actor, Human) and shows_failure(state, standing, actor)


def shows_failure(state: RunState, standing: Standing, human: Human) -> bool:
    """Whether something failed that this question is about."""
    paths = (*human.shows, *human.override)
    return any(state.recall(standing, path) is not None for path in paths)


def _refuse_unasked(state: RunState, wish: Wish) -> Refusal:
    name = str(wish.data.get("name", ""))
    gate = state.gates.get(name)
    if gate is not None and gate.status in approvals.APPROVED and wish.exit in approvals.APPROVED:
        return Refusal(f"{name} is already {gate.status}", notice=True)
    return Refusal(f"{wish.position} {TOO_LATE}")


def _find_option(
    protocol: Protocol, state: RunState, decision: Decision, exit_: str
) -> Option | None:
    actor = protocol.states[state.positions[decision.position].state].actor
    options = actor.options if isinstance(actor, Human) else ()
    return next((option for option in options if option.exit == exit_), None)


def _refuse_without_override(
    protocol: Protocol, state: RunState, standing: Standing
) -> Refusal | None:
    actor = protocol.states[standing.state].actor
    paths = actor.override if isinstance(actor, Human) else ()
    failed = [path for path in paths if state.recall(standing, path) is not None]
    if not failed:
        return None
    broken = failed[0].rpartition(".")[0]
    return Refusal(f"{broken} failed; to approve anyway, add --override with a reason")


def _refuse_done(protocol: Protocol, state: RunState, wish: Wish) -> Refusal | None:
    held_up = _refuse_while_held_up(state)
    if held_up is not None:
        return held_up
    standing = state.positions.get(wish.position)
    if standing is None:
        return Refusal(f"the run is no longer at {wish.position}")
    actor = protocol.states[standing.state].actor
    if not isinstance(actor, Agent):
        return Refusal(f"{wish.position} is not an agent's work")
    if actor.ask is not None:
        return Refusal(
            f"{standing.state} must be answered by an agent that porch runs, not by hand"
        )
    if not _has_begun(protocol, state, standing):
        return Refusal(f"the work at {wish.position} has not started")
    known = next((known for known in actor.exits if known.name == wish.exit), None)
    if known is None:
        return Refusal(f"'{wish.exit}' is not a signal of {standing.state}")
    if known.needs_reason and not wish.text.strip():
        return Refusal(f"'{wish.exit}' needs a reason")
    return None


def _refuse_while_held_up(state: RunState) -> Refusal | None:
    """Where nothing begins, nothing is reported either."""
    if state.paused:
        return Refusal("the run was stopped by a person; continue with `porch resume`")
    asked = approvals.open_questions(state)
    if asked:
        return Refusal(f"{', '.join(asked)} must be approved first; then report again")
    return None


def _has_begun(protocol: Protocol, state: RunState, standing: Standing) -> bool:
    """Its turn has come: all it waits for is there, and it knows which item it is about."""
    kind = protocol.states[standing.state]
    if kind.loop and not standing.item:
        return False
    return all(state.recall(standing, path) is not None for path in kind.waits_for)


def wish_moves(
    protocol: Protocol, state: RunState, wish: Wish, taken: WishTaken | None = None
) -> tuple[m.Move, ...]:
    """The moves of a wish that was found grantable."""
    taken = taken or WishTaken(wish=wish)
    asked = tuple(approvals.question_moves(protocol, state, taken.gates))
    match wish.kind:
        case "decide":
            return _decision_moves(protocol, state, taken)
        case "done":
            standing = state.positions[wish.position]
            payload = {"reason": wish.text} if wish.text else {}
            found = wish.data.get("outside") or {}
            seen = outside.outside_moves(protocol, state, standing, found)
            return (*seen, *exit_moves(protocol, state, standing, wish.exit, payload))
        case "stop":
            return (m.Paused(),)
        case "resume":
            return (m.Resumed(),)
        case "rollback":
            return tuple(_rollback_moves(protocol, state, wish))
        case "cancel" | "reopen":
            return tuple(_track_moves(protocol, state, wish))
        case "replan":
            # What was approved counts until the new list is.
            return asked or tuple(_replan_moves(protocol, state, _with_items(taken)))
        case _:
            return (*_upgrade_moves(state, wish), *asked, *_renewed_moves(state, taken))


def _renewed_moves(state: RunState, taken: WishTaken) -> Iterator[m.Move]:
    from porch.machine.upgraded_gates import renewed_moves

    return renewed_moves(state, taken.gates)


def _decision_moves(protocol: Protocol, state: RunState, taken: WishTaken) -> tuple[m.Move, ...]:
    wish, closed = taken.wish, _closed_moves(state, taken)
    payload = {"text": wish.text, "by": wish.who} if wish.text else {"by": wish.who}
    standing = state.positions[wish.position]
    if standing.state == approvals.STATE:
        again = _approved_again_moves(protocol, state, standing, taken, payload)
        return (*closed, *again)
    allowed = budgets.budget_grant_moves(protocol, state, standing, wish.exit)
    left = exit_moves(protocol, state, standing, wish.exit, payload)
    told = tuple(_decided_in_form(protocol, state, standing, wish))
    onward = _asked_onward(protocol, state, standing, wish)
    paused = base_commands.answer_moves(standing, wish.exit)
    return (*closed, *allowed, *told, *left, *onward, *paused)


def _closed_moves(state: RunState, taken: WishTaken) -> Iterator[m.Move]:
    """A gate that was passed in spite of a failure says so, wherever gates are told."""
    wish, decision = taken.wish, state.decisions[taken.wish.position]
    is_approval = decision.kind == "gate" and wish.exit in approvals.APPROVED
    about = taken.artifacts if is_approval else {}
    yield from outside.shown_moves(state) if decision.kind == "gate" else ()
    yield m.Closed(wish.position, wish.exit, wish.text, wish.who, wish.channel, wish.digest, about)
    known = state.approvals.get(decision.name)
    is_waived = wish.exit == "waived" or (known is not None and known.status == "waived")
    if is_approval and is_waived:
        yield m.GateNoted(decision.name, "waived", wish.who)


def _approved_again_moves(
    protocol: Protocol, state: RunState, standing: Standing, taken: WishTaken, payload: Payload
) -> Iterator[m.Move]:
    """The new bytes count, with their list of phases; or the run goes back to who wrote them."""
    back = _rejection_target(protocol, standing.item)
    if taken.wish.exit == "rejected" and back:
        gate, target = back
        known = state.approvals.get(standing.item)
        item = _item_of(gate, known.position) if known else ""
        data = {"state": target, "item": item}
        wish = Wish(id="", kind="rollback", data=data)
        yield from _rollback_moves(protocol, state, wish, answered=standing.item)
        yield m.Remembered(f"{gate}.rejected", payload, item, "")
        return
    yield m.Forgot(approvals.FOUND, standing.item, "")
    yield from exit_moves(protocol, state, standing, taken.wish.exit, payload)
    if taken.wish.text:
        # The question has a place of its own; what is said there is for whoever works next.
        yield m.Remembered(f"{approvals.STATE}.{taken.wish.exit}", payload, "", "")
    if taken.items:
        listed = {"loop": taken.loop, "items": taken.items, "digest": taken.wish.digest}
        yield from _replan_moves(protocol, state, Wish(id="", kind="replan", data=listed))


def _rejection_target(protocol: Protocol, name: str) -> tuple[str, str] | None:
    """The gate's state, and the one to which its own rejection leads."""
    found = approvals.find_gate(protocol, name)
    gate = found[0].name if found else ""
    targets = (t.state for edge in protocol.edges_of(gate, "rejected") for t in edge.targets)
    first = next(filter(None, targets), "")
    return (gate, first) if first else None


def _item_of(gate: str, position: str) -> str:
    return position.removeprefix(gate).rpartition("#")[0].removeprefix(":")


def _decided_in_form(
    protocol: Protocol, state: RunState, standing: Standing, wish: Wish
) -> Iterable[m.Move]:
    if protocol.subject == budgets.ASK:
        from porch.machine.ask import run_rules as ask_rules

        return ask_rules.answer_moves(state, wish)
    if protocol.subject != budgets.PLAN:
        return ()
    from porch.machine.plan import run_rules

    return run_rules.plan_answer_moves(state, standing, wish)


def _asked_onward(
    protocol: Protocol, state: RunState, standing: Standing, wish: Wish
) -> Iterable[m.Move]:
    """Of questions, what is still open stands again at once, in the same record."""
    if protocol.subject != budgets.ASK:
        return ()
    from porch.machine.ask import run_rules

    return run_rules.onward_moves(state, standing, wish)


def _with_items(taken: WishTaken) -> Wish:
    """The list that the holder of the lock read itself, where there is one."""
    data = {**taken.wish.data, "items": taken.items} if taken.items else taken.wish.data
    return replace(taken.wish, data=data)


def _replan_moves(protocol: Protocol, state: RunState, wish: Wish) -> Iterator[m.Move]:
    """Finished items with the same id and text stay finished; work on a vanished one moves on."""
    loop, raw = str(wish.data["loop"]), wish.data["items"]
    items = tuple(item if isinstance(item, Item) else Item(**item) for item in raw)
    finished = still_finished(state.items[("", loop)], items)
    yield m.Itemised(loop, items, str(wish.data["digest"]), finished)
    ids = [item.id for item in items]
    lost = [s for s in state.positions.values() if _is_item_gone(protocol, s, loop, ids)]
    yield from (m.Left(standing.position) for standing in lost)
    if lost:
        has_more = any(item not in finished for item in ids)
        onward = Target(protocol.loops[loop].first) if has_more else protocol.loops[loop].after
        yield from entry_moves(Departure(protocol, state, _outside_loop(lost[0]), "", {}), onward)


def _is_item_gone(protocol: Protocol, standing: Standing, loop: str, ids: list[str]) -> bool:
    looped = not standing.instance and protocol.states[standing.state].loop == loop
    return looped and bool(standing.item) and standing.item not in ids


def _outside_loop(standing: Standing) -> Standing:
    """As if arriving from before the loop, so that its list is looked at again."""
    return Standing(standing.position, standing.instance, "", "", 0, standing.entered_at)


def _upgrade_moves(state: RunState, wish: Wish) -> Iterator[m.Move]:
    digest, settings = str(wish.data["digest"]), str(wish.data.get("settings", ""))
    if not settings or digest != state.run.digest:
        yield m.Pinned(digest)
    if settings and settings != state.run.settings:
        yield m.PinnedSettings(settings)
    yield from expired_evidence_moves(state)
