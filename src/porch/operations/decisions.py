"""Deciding: one inbox for everything a person is asked, under the same rules for every channel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from porch.adapters.where import Where
from porch.errors import FailedError, UsageError
from porch.machine import plans
from porch.machine.state import Decision, State
from porch.model.protocol import Human, Protocol
from porch.operations.reading import Read, read
from porch.operations.session import workspace_of
from porch.operations.wishing import ask
from porch.runtime.artifacts import changed, digest_of, sums


@dataclass(frozen=True, slots=True)
class Verdict:
    """What somebody wants to decide."""

    exit: str
    text: str = ""
    as_person: bool = False
    digest: str = ""
    channel: str = "cli"


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of it: taken, or a notice that nothing had to change."""

    run: str
    name: str
    position: str
    message: str
    notice: bool = False
    changed: tuple[str, ...] = ()


def decide(where: Where, run: str, name: str, verdict: Verdict) -> Answered:
    """Decide what is being asked; a decision already taken that way is a notice."""
    found = read(where, run)
    decision = asked(found, name)
    if decision is None:
        return _nothing_asked(found, name, verdict)
    now = sums(workspace_of(where, found.state), "", decision.artifacts)
    wish = {
        "kind": "decide",
        "position": decision.position,
        "exit": verdict.exit,
        "text": verdict.text,
        "digest": verdict.digest or digest_of(now),
        "as_person": verdict.as_person,
        "channel": verdict.channel,
        "data": {"name": decision.name, **_form(where, found, decision, verdict)},
    }
    fact = ask(where, run, wish, f"porch {verdict.exit}")
    moved = tuple(changed(decision.artifacts, now))
    return _answered(run, decision, verdict, fact, moved)


def _form(where: Where, found: Read, decision: Decision, verdict: Verdict) -> dict[str, Any]:
    """A gate of a plan has a form; its words are read before anybody is bothered with them."""
    if found.definition.protocol.subject != plans.NAME or verdict.exit != "answered":
        return {}
    from porch.operations.plans import spoken_forms

    standing = found.state.positions[decision.position]
    form = spoken_forms.form_in(where, found.state, standing, verdict.text)
    return {} if form is None else {"form": form}


def asked(found: Read, name: str) -> Decision | None:
    """The open decision of this name or position; without a name, the only one there is."""
    open_ = list(found.state.decisions.values())
    if not name and len(open_) == 1:
        return open_[0]
    fits = [d for d in open_ if name in (d.name, d.position, d.position.rpartition("#")[0])]
    if len(fits) > 1:
        names = ", ".join(d.position for d in fits)
        raise UsageError(f"'{name}' fits several decisions", fix=f"name one of: {names}")
    return fits[0] if fits else None


def _answered(
    run: str, decision: Decision, verdict: Verdict, fact: Mapping[str, Any], moved: tuple[str, ...]
) -> Answered:
    if fact["is"] == "WishTaken":
        said = f"{decision.name}: {verdict.exit}"
        return Answered(run, decision.name, decision.position, said, changed=moved)
    reason = str(fact["reason"])
    if fact.get("notice"):
        return Answered(run, decision.name, decision.position, reason, notice=True)
    raise FailedError(
        f"{decision.name} was not decided: {reason}",
        fix="it is still open; `porch pending` shows which answers there are",
        code="wish-refused",
    )


def _nothing_asked(found: Read, name: str, verdict: Verdict) -> Answered:
    state, protocol = found.state, found.definition.protocol
    if state.outcome:
        said = f"{found.name} is already {state.outcome}; nothing was changed"
        return Answered(found.name, name, "", said, notice=True)
    gate = state.gates.get(name)
    if gate and gate.status == "approved" and verdict.exit in ("approved", "waived"):
        said = f"{name} is already approved; nothing was changed"
        return Answered(found.name, name, "", said, notice=True)
    raise UsageError(
        f"{name or 'nothing'} is not being asked",
        fix=_what_is_asked(state, protocol, name),
        code="not-asked",
    )


def _what_is_asked(state: State, protocol: Protocol, name: str) -> str:
    open_ = ", ".join(d.name for d in state.decisions.values())
    known = [s.actor.name for s in protocol.states.values() if isinstance(s.actor, Human)]
    if open_:
        return f"being asked now: {open_}"
    where = ", ".join(s.position for s in state.positions.values())
    later = "it is asked later; " if name in known else ""
    return f"{later}the run stands at {where}"


def resolve_failure(found: Read, exit_: str) -> str:
    """The open decision that has this answer, for `retry` and `skip` that name no decision."""
    protocol = found.definition.protocol
    fits = [d.name for d in found.state.decisions.values() if _has(protocol, found.state, d, exit_)]
    if len(fits) == 1:
        return fits[0]
    if found.state.outcome:
        return ""
    raise UsageError(
        f"nothing here can be answered with '{exit_}'",
        fix=_what_is_asked(found.state, protocol, ""),
        code="not-asked",
    )


def _has(protocol: Protocol, state: State, decision: Decision, exit_: str) -> bool:
    actor = protocol.states[state.positions[decision.position].state].actor
    return isinstance(actor, Human) and any(option.exit == exit_ for option in actor.options)


def chosen_option(found: Read, name: str, words: Sequence[str]) -> tuple[str, str]:
    """The option that the first word names, with the rest as its reason; else a plain answer."""
    decision = asked(found, name)
    if decision is None:
        return "answered", " ".join(words)
    actor = found.definition.protocol.states[found.state.positions[decision.position].state].actor
    exits = [option.exit for option in actor.options] if isinstance(actor, Human) else []
    if words and words[0] in exits and "answered" not in exits:
        return words[0], " ".join(words[1:])
    if words and words[0] == "stopped" and len(words) == 1:
        return "stopped", ""
    return "answered", " ".join(words)
