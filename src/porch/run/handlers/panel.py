"""Asking reviewers and keeping what they said; only words that can be read are a verdict."""

import asyncio
import os

from msgspec.structs import replace

from porch.agents.port import Outcome, Turn
from porch.claims.issue_reports import read_issue_report
from porch.claims.verdicts import read_verdict
from porch.errors import PorchError
from porch.git import measured_tree, tree_changes
from porch.git.diff_budget import is_generated_name
from porch.machine import facts as f
from porch.machine.effects import AskReviewer, WriteFeedback
from porch.machine.exits import absences
from porch.model.protocol import ReviewForm
from porch.run.agents import budget_limits
from porch.run.agents import turn as turns
from porch.run.agents.roster import EmployedAgent
from porch.run.agents.world import World
from porch.run.engine.artifacts import list_artifact_paths, name_documents
from porch.run.handlers import check_traces
from porch.show import prompt, review_feedback
from porch.show.issue_variables import list_issue_variables
from porch.store.large_payloads import expand_payloads
from porch.system import atomic
from porch.system.growing_file import read_head_and_tail

# More than this stand together in one text.
FINDINGS_APART = 100
FILES_TOLD = 200
# Far more than is shown, so that what a cut leaves out can be counted.
ARTIFACT_READ = 4 << 20


async def ask_reviewer(world: World, effect: AskReviewer) -> f.EffectFact:
    """One review; its time is its own, so one slow model does not stop the others."""
    limit = effect.timeout_s or world.definition().protocol.limits.review_s
    wall = limit or world.settings.consultation_timeout
    post = world.roster.reviewer(effect.name)
    missing = await asyncio.to_thread(lambda: post.missing_login)
    if not post.is_installed or missing:
        # Nothing is started: it would cost the time of a turn, and end without a verdict.
        return _not_asked(effect.id, post, missing)
    before = await asyncio.to_thread(check_traces.look_at_files, world)
    if effect.given and before and effect.given["tree"] == before:
        return _repeat_verdict(world, effect, effect.given)
    turn = _review_turn(world, post, effect, await _describe_work(world, before))
    taken = await turns.run_turn(world, post, turn, wall_s=wall, idle_s=world.settings.idle)
    if isinstance(taken, turns.StoppedTurn):
        return f.EffectStopped(
            effect=effect.id, usd=taken.usd, tokens=taken.tokens, seconds=taken.seconds
        )
    fact = read_review_outcome(effect.id, taken.outcome, taken.seconds, effect.form)
    if isinstance(fact, f.ReviewEnded):
        fact = fact if fact.cause else replace(fact, tree=before)
        return await asyncio.to_thread(check_traces.note_traces, world, effect, fact, before)
    return fact


def _repeat_verdict(world: World, effect: AskReviewer, given: f.Payload) -> f.ReviewEnded:
    """What was said of the same files in a round that came to no decision; nobody is paid."""
    known = expand_payloads(world.payload_directory, given)
    return f.ReviewEnded(
        effect=effect.id,
        verdict=known["verdict"],
        summary=known["summary"],
        findings=tuple(known["findings"]),
        why=known["why"],
        reply=known.get("reply", ""),
        tree=known["tree"],
        reused=True,
    )


def _not_asked(effect: str, post: EmployedAgent, login: str) -> f.EffectFailed:
    if login:
        why, detail = absences.NO_LOGIN, f"not asked, because {login}; to do: {post.agent.LOGIN}"
    else:
        why, detail = (
            absences.NOT_INSTALLED,
            f"not asked, because `{post.executable}` is not on PATH",
        )
    return f.EffectFailed(effect=effect, why=why, detail=detail, hopeless=True)


def read_review_outcome(
    effect: str, outcome: Outcome, seconds: float = 0, form: ReviewForm = "verdict"
) -> f.EffectFact:
    """What a reviewer's outcome means; one that failed is tried again, as an agent is."""
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
            seconds=round(seconds, 3),
        )
    review = (read_issue_report if form == "issues" else read_verdict)(outcome.final)
    return f.ReviewEnded(
        effect=effect,
        verdict=review.verdict,
        cause=absences.UNREADABLE if review.is_unreadable else "",
        summary=review.summary,
        findings=_bound_findings(review.findings),
        why=review.why,
        seconds=round(seconds, 3),
        usd=outcome.usd,
        tokens=outcome.tokens,
        reply=outcome.final,
    )


def _bound_findings(findings: tuple[str, ...]) -> tuple[str, ...]:
    """Not too many entries for a record; none is lost, for a long text is kept beside it."""
    rest = " - ".join(findings[FINDINGS_APART - 1 :])
    return (*findings[: FINDINGS_APART - 1], rest) if len(findings) > FINDINGS_APART else findings


async def _describe_work(world: World, now: str) -> str:
    """Of the files as they were looked at; where that failed, the second try says why."""
    base = world.state().run.base
    if not (world.in_git and base):
        return ""
    own, room = world.own_paths(), world.tree_room
    return await asyncio.to_thread(describe_changes, world.workspace, base, own, room=room, now=now)


def describe_changes(
    workspace: str, base: str, own: tuple[str, ...], *, room: str = "", now: str = ""
) -> str:
    """What the run changed so far; measured, for whoever did it might not tell all of it."""
    try:
        now = now or measured_tree.measure_tree(workspace, own, room)
        rows = tree_changes.count_changed_lines(workspace, base, now, own)
    except PorchError as error:
        return f"porch could not count the changes: {error}"
    # What tools wrote stands last, so that it is what a cut takes.
    rows = sorted(rows, key=lambda row: is_generated_name(row[2]))
    lines = [f"+{added} -{removed} {prompt.one_line(path)}" for added, removed, path in rows]
    left = len(lines) - FILES_TOLD
    # Not the base: that is a tree of our own git directory, which no command of theirs knows.
    see = "see them: git status --short (not committed), git log --stat (committed)"
    note = [f"[{left} of {len(lines)} files are not shown; {see}]"] if left > 0 else []
    return "\n".join([*lines[:FILES_TOLD], *note]) or "nothing"


def _review_turn(world: World, post: EmployedAgent, effect: AskReviewer, files: str) -> Turn:
    run = world.state().run
    return Turn(
        effect=effect.id,
        prompt=_render_prompt(world, effect, files),
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
            "artifacts": [{"path": path} for path in _list_reviewed_files(world, effect)],
            "review": {"type": effect.review, "round": effect.round, "form": effect.form},
        },
        workspace=world.workspace,
        directory=world.new_turn_directory(effect.id),
        model=post.model,
        script=world.script,
        permissions=post.permissions,
        max_usd=budget_limits.money_left_for_turn(world, effect.state),
        max_steps=post.max_steps,
        command=post.command,
        env=post.env,
    )


def _render_prompt(world: World, effect: AskReviewer, files: str) -> str:
    run, protocol = world.state().run, world.definition().protocol
    template = world.definition().reviews.get(effect.review, "")
    paths = _list_reviewed_files(world, effect)
    variables: prompt.Variables = {
        "review_type": effect.review,
        "project_id": run.id,
        "title": run.title,
        "project_dir": run.project_dir,
        "artifact": paths[0] if paths else "",
        "round": effect.round,
        "model": effect.name,
        "phase": effect.subject,
        "base_commit": run.base_commit,
        "artifact_name": name_documents(world.workspace, run, effect.artifacts, protocol),
        "subject_text": world.subject_text,
        "issue": list_issue_variables(run, protocol.subject, world.subject_text),
        "workspace_dir": world.workspace,
        "track_dir": os.path.join(world.workspace, run.project_dir),
    }
    texts = {path: _read_artifact(world, path) for path in paths}
    shown = world.shown(effect.shown)
    return prompt.compose_review_prompt(
        template,
        effect.review,
        variables,
        shown=shown,
        artifact_texts=texts,
        changed=files,
        form=effect.form,
    )


def _list_reviewed_files(world: World, effect: AskReviewer) -> list[str]:
    names = effect.artifacts
    return list_artifact_paths(world.workspace, world.state().run, names, effect.item)


def _read_artifact(world: World, name: str) -> str:
    path = world.workspace_file(name)
    return read_head_and_tail(path, ARTIFACT_READ) if os.path.isfile(path) else "(not written yet)"


def write_feedback(world: World, effect: WriteFeedback) -> f.FeedbackWritten:
    """The round as a file of the project; written again it is the same file."""
    name = review_feedback.feedback_file_name(effect.subject, effect.item, effect.round)
    path = world.project_file(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    title = next(
        (s.title for s in world.definition().protocol.states.values() if s.group == effect.subject),
        effect.subject,
    )
    text = review_feedback.render_feedback(
        title or effect.subject,
        effect.round,
        expand_payloads(world.payload_directory, effect.reviews),
    )
    atomic.replace_file(path, text.encode(), sync=True)
    return f.FeedbackWritten(
        effect=effect.id, path=os.path.join(world.state().run.project_dir, name)
    )
