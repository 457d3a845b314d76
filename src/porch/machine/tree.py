"""What the states of an instance want: typed questions and moves of branches, with their inputs."""

import json
from typing import Any

from porch.machine import effects as e
from porch.machine.answers import thread_path
from porch.machine.heads import head
from porch.machine.holding import branch, held, worktree
from porch.machine.paths import about, budget, look, taken
from porch.machine.state import Standing, State
from porch.model import protocol as p

# What a commit of the engine says where the protocol does not.
MESSAGE = "{id}: the work of an instance"


def asked(
    protocol: p.Protocol, state: State, standing: Standing, agent: p.Agent, ask: p.Ask
) -> e.AskAgent:
    """A question to an agent, with everything that it gets to see."""
    kind, instance = protocol.states[standing.state], standing.instance
    places = () if ask.workspace == "read" else (worktree(instance, ask.workspace),)
    uses = (*places, *held(state, instance, kind.holds), e.AGENT_SLOT)
    mine = head(state, standing, "agent", agent.role, tuple(dict.fromkeys(uses)))
    resume, fork_of, told = thread(state, standing, agent, ask)
    return e.AskAgent(
        **mine,
        state=standing.state,
        instance=instance,
        about=state.instances[instance],
        visit=standing.visit,
        attempt=int(mine["id"].rpartition("/")[2]),
        role=agent.role,
        template=agent.prompt,
        exits=agent.exits,
        ask=ask,
        values=values(protocol, state, standing, ask),
        resume=resume,
        fork_of=fork_of,
        told=told,
        timeout_s=agent.timeout_s,
    )


def values(protocol: p.Protocol, state: State, standing: Standing, ask: p.Ask) -> dict[str, Any]:
    """The input of a question by name, with memory and budgets beside it."""
    inputs = {take.name: taken(protocol, state, standing, take) for take in ask.takes}
    slots = {slot: state.recall(standing, f"memory.{slot}") or {"value": []} for slot in ask.memory}
    names = protocol.budgets
    return {
        **inputs,
        "memory": {slot: kept["value"] for slot, kept in slots.items()},
        "budget": {name: budget(protocol, state, standing.instance, name) for name in names},
        "instance": about(state, standing.instance),
    }


def thread(state: State, standing: Standing, agent: p.Agent, ask: p.Ask) -> tuple[str, str, str]:
    """The conversation to go on with, or the one to begin from, and the last words of either."""
    own = state.marked(standing.position, "session")
    if own:
        return str(own), "", ""
    scope = state.instances[standing.instance].parent if ask.of_parent else standing.instance
    memory = state.memory.get((scope, ""), {})
    mine = memory.get(thread_path(agent.role), {})
    known, said = str(mine.get("session", "")), str(mine.get("said", ""))
    if ask.of_parent:
        # The parent may be in the middle of something: its conversation is begun from, not used.
        return "", known, said
    is_retry = standing.because.startswith(f"{standing.state}.")
    if known and is_retry and _is_stalled(state, standing, ask):
        return "", "", _history(state, standing, ask)
    if known:
        return known, "", said
    origin = memory.get(thread_path(ask.fork_of), {}) if ask.fork_of else {}
    return "", str(origin.get("session", "")), str(origin.get("said", ""))


def _is_stalled(state: State, standing: Standing, ask: p.Ask) -> bool:
    """Two retries in a row that left no fewer of what a retry should shorten."""
    slot, _, field = ask.stalled.partition(".")
    kept = (state.recall(standing, f"memory.{slot}") or {}).get("value", []) if slot else []
    sizes = [len(each.get(field) or ()) for each in kept[-3:]]
    return len(sizes) == 3 and sizes[0] <= sizes[1] <= sizes[2]


def _history(state: State, standing: Standing, ask: p.Ask) -> str:
    slot = ask.stalled.partition(".")[0]
    kept = (state.recall(standing, f"memory.{slot}") or {}).get("value", [])
    told = "\n".join(json.dumps(each, ensure_ascii=False, default=str) for each in kept)
    return f"A fresh conversation, because the last one had come to a stand. Tried so far:\n{told}"


def moved(protocol: p.Protocol, state: State, standing: Standing, git: p.Git) -> e.MoveBranch:
    """What the engine does with branches; it waits until nobody else moves them."""
    instance = standing.instance
    known = state.instances[instance]
    main, tests = worktree(instance), worktree(instance, "tests")
    uses = {
        "integrate": (main, tests, branch(known.branch)),
        "contract": (main,),
        "candidate": (branch(known.target),),
        "publish": (branch(known.target), *_checkout(known.parent, instance)),
        "update": (main, branch(known.branch)),
    }[git.op]
    more = held(state, instance, protocol.states[standing.state].holds)
    mine = head(state, standing, "git", git.op, tuple(dict.fromkeys((*uses, *more))))
    read = {path: look(protocol, state, standing, path) for path in git.reads}
    seen = {"update": look(protocol, state, standing, "engine.update")}
    message = (git.message or MESSAGE).replace("{id}", known.key)
    return e.MoveBranch(
        **mine,
        op=git.op,
        instance=instance,
        about=known,
        message=message,
        values={**seen, **read},
    )


def _checkout(parent: str, instance: str) -> tuple[str, ...]:
    return (worktree(parent),) if instance else ()
