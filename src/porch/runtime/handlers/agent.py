"""Giving an agent its prompt and reading one exit from its final message, and nowhere else."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from porch.adapters import atomic
from porch.adapters.agents.base import Outcome, Turn
from porch.machine import facts as f
from porch.machine.effects import RunAgent
from porch.machine.signals import LegalSignal, choose, read_signals
from porch.machine.state import State
from porch.model.protocol import Exit
from porch.runtime import conversations, limits, turns
from porch.runtime.payloading import expand
from porch.runtime.roster import Post
from porch.runtime.world import World
from porch.views import prompt, status, status_yaml

# In bytes: what reviewers of the next round read, small enough to travel in a record.
ANSWER_KEPT = 3000


async def run(world: World, effect: RunAgent) -> f.EffectFact:
    """One turn; a crash or a timeout comes back as a failure that charges no attempt."""
    _lay_templates(world, effect)
    post = world.post_of(effect.role, effect.state, effect.permissions)
    turn = _turn(world, post, effect)
    wall = effect.timeout_s or world.definition().protocol.limits.agent_s
    taken = await turns.take(
        world, post, turn, wall or world.settings.claude_timeout, world.settings.idle
    )
    if isinstance(taken, turns.Stopped):
        return f.EffectStopped(effect.id, taken.usd, taken.tokens, taken.session, taken.seconds)
    return answered(effect.id, effect.exits, taken.outcome, taken.seconds, world.nonce(effect.id))


def answered(
    effect: str, exits: tuple[Exit, ...], outcome: Outcome, seconds: float = 0, nonce: str = ""
) -> f.EffectFact:
    """What an outcome means; also asked of a transcript that a dead runner left."""
    if outcome.kind != "ok":
        wait = (outcome.wait_s or turns.RATE_LIMIT_S) if outcome.kind == "rate_limit" else 0
        return f.EffectFailed(
            effect,
            outcome.kind,
            outcome.detail,
            wait,
            outcome.usd,
            outcome.tokens,
            hopeless=outcome.kind in turns.HOPELESS,
            seconds=seconds,
        )
    choice = choose(read_signals(outcome.final, nonce), legal(exits))
    notes = (*choice.notes, *(f"denied: {what}" for what in outcome.denied))
    if choice.exit is None:
        said = outcome.final[-turns.SAID_KEPT :]
        cost = (outcome.session, outcome.usd, outcome.tokens, seconds)
        return f.TurnEndedSilent(effect, notes, said, *cost)
    payload: dict[str, Any] = {"reason": choice.reason} if choice.reason else {}
    return f.ExitAccepted(
        effect,
        choice.exit,
        payload,
        choice.signal,
        notes,
        outcome.session,
        outcome.usd,
        outcome.tokens,
        said=prompt.cut(outcome.final, ANSWER_KEPT),
        seconds=seconds,
    )


def legal(exits: tuple[Exit, ...]) -> dict[str, LegalSignal]:
    return {
        signal: LegalSignal(known.name, known.needs_reason)
        for known in exits
        for signal in (known.signals or (known.name,))
    }


def _turn(world: World, post: Post, effect: RunAgent) -> Turn:
    is_mine = post.resumes and conversations.is_of(world.directory, effect.session, post)
    resume = effect.session if is_mine else ""
    return Turn(
        effect=effect.id,
        prompt=whole_prompt(world, effect, in_conversation=bool(resume)),
        request=_request(world, effect),
        workspace=world.workspace,
        directory=world.new_turn_directory(effect.id),
        resume=resume or None,
        script=world.script,
        model=post.model,
        permissions=post.permissions,
        max_usd=limits.left_for_a_turn(world, effect.state),
        max_steps=post.max_steps,
        command=post.command,
        env=post.env,
    )


def _request(world: World, effect: RunAgent) -> Mapping[str, Any]:
    project = world.state().run.project_dir
    item = _item(world.state(), world, effect)
    return {
        "id": world.state().run.id,
        "title": world.state().run.title,
        "position": effect.position,
        "state": effect.state,
        "item": effect.item,
        "visit": effect.visit,
        "try": effect.attempt + 1,
        "kind": "reminder" if effect.reminder else "agent",
        "name": effect.role,
        "artifacts": [{"path": os.path.join(project, name)} for name in effect.artifacts],
        "project_dir": project,
        "legal": [signal for known in effect.exits for signal in known.signals[:1]],
        "plan_item": {"id": item.id, "title": item.title} if item else None,
    }


def _item(state: State, world: World, effect: RunAgent) -> f.Item | None:
    standing = state.positions.get(effect.position)
    loop = world.definition().protocol.states[effect.state].loop
    item = state.item_of(standing, loop) if standing and loop else None
    return replace(item, text=expand(world.payload_directory, item.text)) if item else None


def whole_prompt(world: World, effect: RunAgent, in_conversation: bool = True) -> str:
    """The phase's own words, then what porch knows, as quoted data.

    A reminder is short only where the agent still knows what it was asked.
    """
    state, definition = world.state(), world.definition()
    template = definition.prompts.get(effect.state, "")
    item = _item(state, world, effect)
    rendered = prompt.render(
        template, effect.prompt or effect.state, _variables(world, effect, item)
    )
    document = status.document(definition.protocol, state)
    brief = {key: value for key, value in document.items() if key not in ("log", "plan_phases")}
    told = status_yaml.render(brief, state.seq).rpartition("# porch seq")[0]
    shown = world.shown(effect.shown)
    word = world.nonce(effect.id)
    whole = prompt.compose(rendered, told, item, shown, effect.exits, False, word)
    if not effect.reminder:
        return whole
    reminder = prompt.compose(rendered, told, item, shown, effect.exits, True, word)
    return reminder if in_conversation else f"{whole}\n{reminder}"


def _variables(world: World, effect: RunAgent, item: f.Item | None) -> dict[str, Any]:
    state = world.state()
    run = state.run
    artifact = os.path.join(run.project_dir, effect.artifacts[0]) if effect.artifacts else ""
    variables: dict[str, Any] = {
        "project_id": run.id,
        "title": run.title,
        "current_state": effect.position.rpartition("#")[0],
        "protocol": run.protocol,
        "project_dir": run.project_dir,
        "artifact": artifact,
        "iteration": str(state.turns),
        "base_commit": run.base_commit,
        "subject_text": world.subject_text,
        "inputs": run.inputs,
    }
    if item is not None:
        variables |= {
            "plan_phase_id": item.id,
            "plan_phase_title": item.title,
            "plan_phase_text": item.text,
        }
    return variables


def _lay_templates(world: World, effect: RunAgent) -> None:
    """A new artifact begins from the protocol's template; one that exists is never touched."""
    templates = world.definition().templates
    run = world.state().run
    for name in effect.artifacts:
        path = world.project_file(name)
        text = templates.get(os.path.basename(name))
        if text is None or os.path.exists(path):
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        words = {"project_id": run.id, "title": run.title}
        # All at once: half a template, left by a crash, would never be touched again.
        atomic.replace(path, prompt.render(text, name, words).encode(), sync=False)
