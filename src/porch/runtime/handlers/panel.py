"""Asking reviewers and keeping what they said; a reviewer that fails is an abstention."""

import asyncio
import os
import time

from porch.adapters import atomic, changes
from porch.adapters.agents.base import Outcome, Turn
from porch.adapters.follow import head_and_tail
from porch.errors import PorchError
from porch.machine import facts as f
from porch.machine.effects import AskReviewer, WriteFeedback
from porch.machine.verdicts import read_verdict
from porch.runtime import limits, turns
from porch.runtime.payloading import expand
from porch.runtime.roster import Post
from porch.runtime.world import World
from porch.views import feedback, prompt

# More than this nobody works through in one revision; the transcript has them all.
FINDINGS_KEPT = 50
FILES_TOLD = 200


async def ask(world: World, effect: AskReviewer) -> f.EffectFact:
    """One review; its time is its own, so one slow model does not stop the others."""
    began = time.monotonic()
    limit = effect.timeout_s or world.definition().protocol.limits.review_s
    wall = limit or world.settings.consultation_timeout
    try:
        post = world.roster.reviewer(effect.name)
        turn = _turn(world, post, effect, await _changed(world))
        taken = await turns.take(world, post, turn, wall, world.settings.idle)
    except (PorchError, OSError) as error:
        # A reviewer that cannot even be started must not keep the others from being heard.
        return judged(effect.id, Outcome("crashed", detail=str(error)), time.monotonic() - began)
    if isinstance(taken, turns.Stopped):
        return f.EffectStopped(effect.id, taken.usd, taken.tokens, seconds=taken.seconds)
    return judged(effect.id, taken.outcome, taken.seconds)


def judged(effect: str, outcome: Outcome, seconds: float = 0) -> f.EffectFact:
    """What a reviewer's outcome means: only words that can be read are a verdict."""
    cost = (round(seconds, 3), outcome.usd, outcome.tokens)
    if outcome.kind == "rate_limit":
        wait = outcome.wait_s or turns.RATE_LIMIT_S
        paid = (outcome.usd, outcome.tokens)
        return f.EffectFailed(effect, outcome.kind, outcome.detail, wait, *paid, seconds=seconds)
    if outcome.kind != "ok":
        return f.ReviewEnded(effect, "ABSTAIN", outcome.detail[:300], (), outcome.kind, *cost)
    review = read_verdict(outcome.final)
    findings = _kept(review.findings)
    return f.ReviewEnded(effect, review.verdict, review.summary, findings, review.why, *cost)


def _kept(findings: tuple[str, ...]) -> tuple[str, ...]:
    left = len(findings) - FINDINGS_KEPT
    if left <= 0:
        return findings
    return (*findings[:FINDINGS_KEPT], f"[porch left out {left} more; `porch log` has them]")


async def _changed(world: World) -> str:
    base = world.state().run.base_commit
    if not (world.in_git and base):
        return ""
    return await asyncio.to_thread(changed, world.workspace, base, world.own_paths())


def changed(workspace: str, base: str, own: tuple[str, ...]) -> str:
    """What the run changed so far; measured, for whoever did it might not tell all of it."""
    try:
        rows = changes.counted(workspace, base, own)
    except PorchError as error:
        return f"porch could not measure it: {error}"
    lines = [f"+{added} -{removed} {prompt.one_line(path)}" for added, removed, path in rows]
    left = len(lines) - FILES_TOLD
    note = [f"[porch left out {left} of {len(lines)} files]"] if left > 0 else []
    return "\n".join([*lines[:FILES_TOLD], *note]) or "nothing"


def _turn(world: World, post: Post, effect: AskReviewer, files: str) -> Turn:
    run = world.state().run
    return Turn(
        effect=effect.id,
        prompt=_prompt(world, effect, files),
        request={
            "id": run.id,
            "title": run.title,
            "position": effect.position,
            "state": effect.state,
            "item": effect.item,
            "visit": effect.round,
            "try": int(effect.id.rpartition("/")[2]) + 1,
            "kind": "review",
            "name": effect.name,
            "project_dir": run.project_dir,
            "artifacts": [{"path": os.path.join(run.project_dir, a)} for a in effect.artifacts],
            "review": {"type": effect.review, "round": effect.round},
        },
        workspace=world.workspace,
        directory=world.new_turn_directory(effect.id),
        model=post.model,
        script=world.script,
        permissions=post.permissions,
        max_usd=limits.left_for_a_turn(world, effect.state),
        max_steps=post.max_steps,
        command=post.command,
        env=post.env,
    )


def _prompt(world: World, effect: AskReviewer, files: str) -> str:
    run = world.state().run
    template = world.definition().reviews.get(effect.review, "")
    first = effect.artifacts[0] if effect.artifacts else ""
    variables = {
        "review_type": effect.review,
        "project_id": run.id,
        "title": run.title,
        "project_dir": run.project_dir,
        "artifact": os.path.join(run.project_dir, first) if first else "",
        "round": str(effect.round),
        "model": effect.name,
        "phase": effect.subject,
        "base_commit": run.base_commit,
    }
    texts = {name: _content(world, name) for name in effect.artifacts}
    shown = world.shown(effect.shown)
    return prompt.review(template, effect.review, variables, shown, texts, files)


def _content(world: World, name: str) -> str:
    path = world.project_file(name)
    return head_and_tail(path) if os.path.isfile(path) else "(not written yet)"


def keep(world: World, effect: WriteFeedback) -> f.FeedbackWritten:
    """The round as a file of the project; written again it is the same file."""
    name = feedback.file_name(effect.subject, effect.item, effect.round)
    path = world.project_file(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    title = next(
        (s.title for s in world.definition().protocol.states.values() if s.group == effect.subject),
        effect.subject,
    )
    text = feedback.render(
        title or effect.subject, effect.round, expand(world.payload_directory, effect.reviews)
    )
    atomic.replace(path, text.encode(), sync=True)
    return f.FeedbackWritten(effect.id, os.path.join(world.state().run.project_dir, name))
