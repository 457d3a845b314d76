"""The planner's way in, for an agent that is already running and asks what to do."""

import asyncio
from typing import Any

from porch.adapters import settings
from porch.adapters.where import Where
from porch.errors import FailedError, UsageError
from porch.machine import effects as e
from porch.machine import facts as f
from porch.machine.signals import LegalSignal
from porch.machine.state import Standing, State
from porch.machine.wanted import wanted
from porch.machine.wishes import refusal
from porch.model.protocol import Agent, Check, Protocol
from porch.operations.reading import Read, read
from porch.operations.runs import Driven, Wanted, Watch, resume
from porch.operations.session import held
from porch.operations.worlds import world_of
from porch.runtime.driver import Manner
from porch.runtime.handlers import agent, check
from porch.runtime.queue import PATIENT
from porch.runtime.world import World


def _world(where: Where, found: Read) -> World:
    known = settings.load(where.root)
    return world_of(where, found.name, known, lambda: found.state, lambda: found.definition)


def following(where: Where, run: str) -> dict[str, Any]:
    """What `run` would do now, effect by effect, with whole prompts."""
    found = read(where, run)
    world = _world(where, found)
    protocol = found.definition.protocol
    effects = [
        _described(world, request)
        for position in found.state.positions
        for request in wanted(protocol, found.state, position)
        if request.kind != PATIENT
    ]
    decisions = found.picture()["decisions"]
    return {
        "run": run,
        "outcome": found.state.outcome or None,
        "paused": found.state.paused,
        "positions": list(found.state.positions),
        "effects": effects,
        "decisions": decisions,
    }


def _described(world: World, request: e.Request) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": request.id,
        "position": request.position,
        "kind": request.kind,
        "name": request.name,
    }
    match request:
        case e.RunAgent():
            told["prompt"] = agent.whole_prompt(world, request)
            told["signals"] = sorted(agent.legal(request.exits))
        case e.RunCheck(command=command):
            told["command"] = command.shell or f"settings: {command.setting}"
        case e.AskReviewer(review=review, round=round_):
            told |= {"review": review, "round": round_}
        case e.StartTimer(seconds=seconds):
            told["seconds"] = seconds
        case _:
            pass
    return told


def done(where: Where, run: str, signal: str, expect: str, reason: str, watch: Watch) -> Driven:
    """Take the caller's word as an agent's exit, then do all that is not an agent's work."""
    with held(where, run, "porch done") as found:
        found.drain()
        state, protocol = found.book.state, found.book.definition.protocol
        if state.outcome:
            watch.notice(f"{run} is already {state.outcome}; nothing was changed")
            return Driven(run, "ended", state)
        standing = _expected(protocol, state, expect)
        exit_ = _exit(protocol, standing, signal)
        id_ = f"done-{state.seq + 1}"
        wish = f.Wish(id_, "done", standing.position, exit_, reason, who="agent", channel="done")
        refused = refusal(protocol, state, wish)
        if refused is not None:
            raise FailedError(f"{run}: {refused.reason}", code="wish-refused")
        found.book.record(f.WishTaken(wish))
    return resume(where, run, Wanted("", hands_off=("agent",)), Manner(), watch)


def _expected(protocol: Protocol, state: State, expect: str) -> Standing:
    agents = [s for s in state.positions.values() if _is_agent(protocol, s)]
    here = ", ".join(state.positions)
    if expect:
        fits = [s for s in agents if expect in (s.position, s.label)]
        if fits:
            return fits[0]
        raise FailedError(
            f"the run does not stand at {expect}", fix=f"it stands at {here}", code="moved"
        )
    if len(agents) == 1:
        return agents[0]
    raise UsageError(
        "there is no work of an agent to finish here" if not agents else "several agents work here",
        fix=f"the run stands at {here}; name one with --expect",
        code="not-an-agent",
    )


def _is_agent(protocol: Protocol, standing: Standing) -> bool:
    return isinstance(protocol.states[standing.state].actor, Agent)


def _exit(protocol: Protocol, standing: Standing, signal: str) -> str:
    actor = protocol.states[standing.state].actor
    exits = actor.exits if isinstance(actor, Agent) else ()
    legal: dict[str, LegalSignal] = agent.legal(exits)
    if not signal:
        return next(iter(legal.values())).exit
    found = {name.upper(): known.exit for name, known in legal.items()}.get(signal.upper())
    if found is None:
        raise UsageError(
            f"'{signal}' is not a signal of {standing.label}",
            fix=f"signals here: {', '.join(sorted(legal))}",
            code="unknown-signal",
        )
    return found


def checks(where: Where, run: str) -> list[dict[str, Any]]:
    """Run the checks of the current phases now, for the eye only: nothing moves."""
    found = read(where, run)
    world = _world(where, found)
    return asyncio.run(_measured(world, list(_commands(found))))


def _commands(found: Read) -> list[e.RunCheck]:
    protocol, requests = found.definition.protocol, {}
    for standing in found.state.positions.values():
        group = protocol.states[standing.state].group
        for state in protocol.states.values():
            if state.group == group and isinstance(state.actor, Check):
                for command in state.actor.commands:
                    id_ = f"{standing.position}/look/{command.name}/{found.state.seq}"
                    requests[command.name] = e.RunCheck(
                        id=id_,
                        position=standing.position,
                        kind="check",
                        name=command.name,
                        command=command,
                        item=standing.item,
                    )
    return list(requests.values())


async def _measured(world: World, requests: list[e.RunCheck]) -> list[dict[str, Any]]:
    told = []
    for request in requests:
        fact = await check.run(world, request)
        if isinstance(fact, f.CheckEnded):
            told.append({"check": request.name, "result": fact.result, "report": fact.report})
    return told
