"""Giving an agent its prompt and reading one exit from its final message, and nowhere else."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from porch.agents.port import Outcome, Turn
from porch.claims.legal_signal import legal_signals
from porch.claims.signals import choose_signal, read_signals
from porch.machine import facts as f
from porch.machine.effects import RunAgent
from porch.model.artifact_names import has_wildcard
from porch.model.protocol import Exit
from porch.run.agents import budget_limits, conversations
from porch.run.agents import turn as turns
from porch.run.agents.agent_prompt import find_item, render_whole_prompt
from porch.run.agents.roster import EmployedAgent
from porch.run.agents.turn_record import has_lost_worktree
from porch.run.agents.world import World
from porch.run.engine import run_commits
from porch.run.engine.artifacts import name_artifact_file
from porch.run.handlers import protected_files
from porch.run.handlers.written_files import render_artifact_template
from porch.show import prompt
from porch.system import atomic

# In bytes: what reviewers of the next round read, small enough to travel in a record.
ANSWER_KEPT = 3000


async def run_agent(world: World, effect: RunAgent) -> f.EffectFact:
    """One turn; a crash or a timeout comes back as a failure that charges no attempt."""
    _write_templates(world, effect)
    await protected_files.note_phase_entry(world, effect)
    post = world.post_of(effect.role, effect.state, effect.permissions)
    turn = _agent_turn(world, post, effect)
    wall = effect.timeout_s or world.definition().protocol.limits.agent_s
    taken = await turns.run_turn(
        world, post, turn, wall_s=wall or world.settings.claude_timeout, idle_s=world.settings.idle
    )
    if isinstance(taken, turns.StoppedTurn):
        return f.EffectStopped(
            effect=effect.id,
            usd=taken.usd,
            tokens=taken.tokens,
            session=taken.session,
            seconds=taken.seconds,
        )
    fact = read_agent_outcome(
        effect.id, effect.exits, taken.outcome, seconds=taken.seconds, nonce=world.nonce(effect.id)
    )
    return await asyncio.to_thread(settle_agent_work, world, effect.position, fact)


def settle_agent_work(world: World, position: str, fact: f.EffectFact) -> f.EffectFact:
    """What an agent left behind: files that it should not touch are named, its work is kept."""
    fact = _refuse_lost_work(world, fact)
    fact = _add_touched_files(world, position, fact)
    if not isinstance(fact, f.ExitAccepted):
        return fact
    places = run_commits.WorkPlaces(world.workspace, world.directory, world.worktree)
    kept = run_commits.commit_exit_work(places, world.state(), position, fact.effect)
    return replace(fact, commit=kept.commit, notes=(*fact.notes, *kept.notes))


def _refuse_lost_work(world: World, fact: f.EffectFact) -> f.EffectFact:
    """Whatever an agent said, of a worktree that was deleted meanwhile nothing is left."""
    if not isinstance(fact, (f.ExitAccepted, f.TurnEndedSilent)):
        return fact
    is_own = world.state().run.own_worktree
    if not (is_own and has_lost_worktree(world.turn_directory(fact.effect))):
        return fact
    return f.EffectFailed(
        effect=fact.effect,
        why="its worktree was deleted",
        detail=f"{world.workspace} was gone before the agent had ended, and its work with it; "
        "this turn does not count",
        usd=fact.usd,
        tokens=fact.tokens,
        seconds=fact.seconds,
    )


def _add_touched_files(world: World, position: str, fact: f.EffectFact) -> f.EffectFact:
    """What decides a measurement and was changed, told with whatever the agent said."""
    if isinstance(fact, (f.ExitAccepted, f.TurnEndedSilent)):
        return protected_files.add_touched_files(world, position, fact)
    return fact


def read_agent_outcome(
    effect: str, exits: tuple[Exit, ...], outcome: Outcome, *, seconds: float = 0, nonce: str = ""
) -> f.EffectFact:
    """What an outcome means; also asked of a transcript that a dead runner left."""
    if outcome.kind != "ok":
        wait = (outcome.wait_s or turns.RATE_LIMIT_S) if outcome.kind == "rate_limit" else 0
        return f.EffectFailed(
            effect=effect,
            why=outcome.kind,
            detail=outcome.detail,
            wait_s=wait,
            usd=outcome.usd,
            tokens=outcome.tokens,
            hopeless=outcome.kind in turns.HOPELESS,
            seconds=seconds,
        )
    choice = choose_signal(read_signals(outcome.final, nonce), legal_signals(exits))
    notes = (*choice.notes, *(f"{f.DENIED}{what}" for what in outcome.denied))
    if choice.exit is None:
        notes = (*notes, outcome.detail) if outcome.detail else notes
        said = outcome.final[-turns.SAID_KEPT :]
        return f.TurnEndedSilent(
            effect=effect,
            notes=notes,
            said=said,
            session=outcome.session,
            usd=outcome.usd,
            tokens=outcome.tokens,
            seconds=seconds,
        )
    payload: dict[str, Any] = {"reason": choice.reason} if choice.reason else {}
    return f.ExitAccepted(
        effect=effect,
        exit=choice.exit,
        payload=payload,
        signal=choice.signal,
        notes=notes,
        session=outcome.session,
        usd=outcome.usd,
        tokens=outcome.tokens,
        said=prompt.cut_middle(outcome.final, ANSWER_KEPT),
        seconds=seconds,
    )


def _agent_turn(world: World, post: EmployedAgent, effect: RunAgent) -> Turn:
    is_mine = post.resumes and conversations.belongs_to_agent(world.directory, effect.session, post)
    resume = effect.session if is_mine else ""
    return Turn(
        effect=effect.id,
        prompt=render_whole_prompt(world, effect, in_conversation=bool(resume)),
        request=_turn_request(world, effect),
        workspace=world.workspace,
        directory=world.new_turn_directory(effect.id),
        resume=resume or None,
        script=world.script,
        model=post.model,
        permissions=post.permissions,
        max_usd=budget_limits.money_left_for_turn(world, effect.state),
        max_steps=post.max_steps,
        command=post.command,
        env=post.env,
    )


def _turn_request(world: World, effect: RunAgent) -> Mapping[str, Any]:
    project = world.state().run.project_dir
    item = find_item(world.state(), world, effect)
    run = world.state().run
    paths = [
        name_artifact_file(world.workspace, run, name, effect.item) for name in effect.artifacts
    ]
    # A signal that needs a reason says that something is wrong.
    usual = sorted(effect.exits, key=lambda known: known.needs_reason)
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
        "artifacts": [{"path": path} for path in paths if not has_wildcard(path)],
        "project_dir": project,
        "legal": [signal for known in usual for signal in known.signals[:1]],
        "plan_item": {"id": item.id, "title": item.title} if item else None,
    }


def _write_templates(world: World, effect: RunAgent) -> None:
    """A new artifact begins from the protocol's template; one that exists is never touched."""
    for name in effect.artifacts:
        named = name_artifact_file(world.workspace, world.state().run, name, effect.item)
        path = world.workspace_file(named)
        text = render_artifact_template(world, name)
        if not text or has_wildcard(named) or os.path.exists(path):
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # All at once: half a template, left by a crash, would never be touched again.
        atomic.replace_file(path, text.encode(), sync=False)
