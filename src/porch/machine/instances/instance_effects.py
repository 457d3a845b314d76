"""What the states of an instance want: typed questions and moves of branches, with their inputs."""

import json
from typing import Any

from porch.machine import effects as e
from porch.machine.effects import effect_header
from porch.machine.exits.accepted_exits import thread_path
from porch.machine.exits.held_resources import branch_lease, resources_to_hold, worktree_lease
from porch.machine.exits.target_questions import asks_of_clash, confirmed_commits
from porch.machine.instances.git_state_inputs import named_values
from porch.machine.path_values import budgets_payload, input_value, instance_payload, look_up_path
from porch.machine.state import RunState, Standing
from porch.machine.unread_words import unread_words
from porch.model import protocol as p

# What a commit of the engine says where the protocol does not.
MESSAGE = "{id}: the work of an instance"


def ask_agent_request(
    protocol: p.Protocol, state: RunState, standing: Standing, agent: p.Agent, ask: p.Ask
) -> e.AskAgent:
    """A question to an agent, with everything that it gets to see."""
    kind, instance = protocol.states[standing.state], standing.instance
    places = () if ask.workspace == "read" else (worktree_lease(instance, ask.workspace),)
    uses = (*places, *resources_to_hold(state, instance, kind.holds), e.AGENT_SLOT)
    mine = effect_header(state, standing, "agent", agent.role, uses=tuple(dict.fromkeys(uses)))
    resume, fork_of, told = thread_of_question(state, standing, agent, ask)
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
        values=question_values(protocol, state, standing, ask),
        resume=resume,
        fork_of=fork_of,
        told=told,
        unread=() if ask.of_parent else unread_words(protocol, state, standing),
        timeout_s=agent.timeout_s,
    )


def question_values(
    protocol: p.Protocol, state: RunState, standing: Standing, ask: p.Ask
) -> dict[str, Any]:
    """The input of a question by name, with memory and budgets beside it."""
    inputs = {take.name: input_value(protocol, state, standing, take) for take in ask.takes}
    slots = {slot: state.recall(standing, f"memory.{slot}") or {"value": []} for slot in ask.memory}
    return {
        **inputs,
        "memory": {slot: kept["value"] for slot, kept in slots.items()},
        "budget": budgets_payload(protocol, state, standing.instance),
        "instance": instance_payload(state, standing.instance),
    }


def thread_of_question(
    state: RunState, standing: Standing, agent: p.Agent, ask: p.Ask
) -> tuple[str, str, str]:
    """The conversation to go on with, or the one to begin from, and the last words of either."""
    own = state.marked(standing.position, "session")
    if own:
        return str(own), "", ""
    scope = state.instances[standing.instance].parent if ask.of_parent else standing.instance
    memory = state.memory.get((scope, ""), {})
    mine = memory.get(thread_path(agent.role), {})
    known, said = str(mine.get("session", "")), str(mine.get("said", ""))
    from porch.machine.exits.fault_questions import is_conversation_refused

    if is_conversation_refused(state, standing):
        return "", "", said
    if ask.of_parent:
        # The parent may be in the middle of something: its conversation is begun from, not used.
        return "", known, said
    is_retry = standing.because.startswith(f"{standing.state}.")
    if known and is_retry and _is_stalled(state, standing, ask):
        return "", "", _describe_attempts(state, standing, ask)
    if known:
        return known, "", said
    origin = memory.get(thread_path(ask.fork_of), {}) if ask.fork_of else {}
    return "", str(origin.get("session", "")), str(origin.get("said", ""))


def _is_stalled(state: RunState, standing: Standing, ask: p.Ask) -> bool:
    """Two retries in a row that left no fewer of what a retry should shorten."""
    slot, _, field = ask.stalled.partition(".")
    kept = (state.recall(standing, f"memory.{slot}") or {}).get("value", []) if slot else []
    sizes = [len(each.get(field) or ()) for each in kept[-3:]]
    return len(sizes) == 3 and sizes[0] <= sizes[1] <= sizes[2]


def _describe_attempts(state: RunState, standing: Standing, ask: p.Ask) -> str:
    slot = ask.stalled.partition(".")[0]
    kept = (state.recall(standing, f"memory.{slot}") or {}).get("value", [])
    told = "\n".join(json.dumps(each, ensure_ascii=False, default=str) for each in kept)
    return (
        f"This is a new conversation, because the last one made no progress. Tried so far:\n{told}"
    )


def move_branch_request(
    protocol: p.Protocol, state: RunState, standing: Standing, git: p.Git
) -> e.MoveBranch:
    """What the engine does with branches; it waits until nobody else moves them."""
    instance = standing.instance
    known = state.instances[instance]
    main, tests = worktree_lease(instance), worktree_lease(instance, "tests")
    asks = asks_of_clash(protocol, protocol.states[standing.state])
    own = (main, branch_lease(known.branch)) if asks else ()
    uses = {
        "integrate": (main, tests, branch_lease(known.branch)),
        "contract": (main,),
        # Where nothing updates the branch before, the candidate does.
        "candidate": (branch_lease(known.target), *own),
        "publish": (branch_lease(known.target), *_parent_worktree(known.parent, instance)),
        "update": (main, branch_lease(known.branch)),
    }[git.op]
    more = resources_to_hold(state, instance, protocol.states[standing.state].holds)
    mine = effect_header(state, standing, "git", git.op, uses=tuple(dict.fromkeys((*uses, *more))))
    read = {path: look_up_path(protocol, state, standing, path) for path in git.reads}
    seen = {"update": look_up_path(protocol, state, standing, "engine.update")}
    message = (git.message or MESSAGE).replace("{id}", known.key)
    return e.MoveBranch(
        **mine,
        op=git.op,
        instance=instance,
        about=known,
        message=message,
        values={**seen, **read},
        confirmed=confirmed_commits(protocol, state, standing) if git.op == "candidate" else "",
        asks_of_clash=asks,
        **named_values(protocol, state, standing, git),
    )


def _parent_worktree(parent: str, instance: str) -> tuple[str, ...]:
    return (worktree_lease(parent),) if instance else ()
