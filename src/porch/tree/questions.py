"""A typed question to an agent: prompt, turns, nudges and refusals, until one answer holds."""

import asyncio
import os
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.agents.events import Answered
from porch.agents.port import Outcome, Turn
from porch.errors import DefinitionError, PorchError, UsageError
from porch.git.moves.checkout_repair import name_salvage_ref, salvage_uncommitted
from porch.machine import facts as f
from porch.machine.effects import AskAgent
from porch.machine.exits.fault_questions import is_fault
from porch.model.permissions import READ_ONLY
from porch.run.agents import budget_limits, conversations
from porch.run.agents import turn as turns
from porch.run.agents.roster import EmployedAgent
from porch.run.agents.world import World
from porch.show.records.timeline import UNCONTINUED
from porch.text.late_pattern import late_pattern
from porch.tree import instance_worktrees, question_text
from porch.tree.answers import answer_sources
from porch.tree.answers.answer_acceptance import AcceptedAnswer, RefusedAnswer, accept_answer
from porch.tree.claim import InstancePlace
from porch.tree.prompts.question_prompt import make_answer_schema, prepare_first_prompt
from porch.tree.prompts.refusals import (
    KeptRefusal,
    begin_where_all_was_well,
    digest_answer,
    end_refused_try,
    find_repeated_rules,
    keep_refusal,
    list_refusals,
)

MOST_REFUSALS = 3
JUDGED_FILE = "judged"
_TURN_NAME = late_pattern(r"turn-[0-9]{1,9}")


class QuestionTalk(Struct):
    """One effect's conversation: what it cost so far, and how often it had to be put right."""

    session: str = ""
    fork: str = ""
    note: str = ""  # why a conversation that the protocol continues is not continued
    first: str = ""
    usd: float = 0
    tokens: int = 0
    nudges: int = 0
    refusals: int = 0
    turn: int = 0

    seconds: float = 0

    def took(self, taken: turns.EndedTurn | turns.StoppedTurn) -> None:
        told = taken if isinstance(taken, turns.StoppedTurn) else taken.outcome
        self.usd += told.usd
        self.tokens += told.tokens
        self.session = told.session or self.session
        self.seconds = round(self.seconds + taken.seconds, 3)

    def begin_anew(self, why: str) -> None:
        self.session, self.fork = "", ""
        self.note = UNCONTINUED + " ".join(why.split())

    def failed(self, effect: str, why: str, detail: str) -> f.EffectFailed:
        return f.EffectFailed(
            effect=effect,
            why=why,
            detail=detail,
            usd=self.usd,
            tokens=self.tokens,
            seconds=self.seconds,
            fault=is_fault(why),
        )


async def run_question(world: World, effect: AskAgent) -> f.EffectFact:
    """Until an answer holds; what cannot be had without a restart is a failure, not an attempt."""
    world.new_turn_directory(effect.id)
    async with instance_worktrees.open_instance_place(world, effect) as place:
        return await _ask_question(world, effect, place)


async def _ask_question(world: World, effect: AskAgent, place: InstancePlace) -> f.EffectFact:
    talk = QuestionTalk()
    try:
        post = _choose_agent(world, effect)
        talk.session, talk.fork = effect.resume, effect.fork_of
        if why := _why_not_continued(world, effect, place, post):
            talk.begin_anew(why)
        return await _converse_until_accepted(world, effect, place, post, talk)
    except asyncio.CancelledError:
        # While an answer was measured: what was paid for is told all the same.
        await asyncio.to_thread(salvage_unfinished_work, effect, place)
        return f.EffectStopped(
            effect=effect.id,
            usd=talk.usd,
            tokens=talk.tokens,
            session=talk.session,
            seconds=talk.seconds,
        )
    except (PorchError, OSError) as error:
        failed = talk.failed(effect.id, "outside", str(error))
        return replace(failed, hopeless=_is_hopeless(error))


def _is_hopeless(error: Exception) -> bool:
    """A template that cannot be rendered or a file that is missing is so at the next try, too."""
    return isinstance(error, (DefinitionError, UsageError, FileNotFoundError))


async def _converse_until_accepted(
    world: World, effect: AskAgent, place: InstancePlace, post: EmployedAgent, talk: QuestionTalk
) -> f.EffectFact:
    waiting = find_left_behind_turn(world, effect)
    prepare = partial(_prepare_question, world, effect, place, post=post, talk=talk)
    said = await asyncio.to_thread(prepare, is_answered=waiting is not None)
    talk.first, kind = said, "agent"
    is_carried = bool(talk.session or talk.fork)
    while True:
        talk.turn += 1
        taken = waiting or await _take_turn(world, effect, place, talk, said=said, kind=kind)
        waiting = None
        talk.took(taken)
        if isinstance(taken, turns.StoppedTurn):
            await asyncio.to_thread(salvage_unfinished_work, effect, place)
            return f.EffectStopped(
                effect=effect.id,
                usd=talk.usd,
                tokens=talk.tokens,
                session=talk.session,
                seconds=talk.seconds,
            )
        outcome = taken.outcome
        if outcome.kind == "bad_request" and is_carried and talk.turn == 1:
            # If the conversation was not the reason, the next try says so again.
            talk.begin_anew(outcome.detail)
            said = talk.first = await asyncio.to_thread(prepare, is_answered=False)
            continue
        answer = answer_sources.find_answer(world, effect, post, outcome)
        if answer is None:
            failed = _judge_silence(world, effect, talk, outcome)
            if failed is not None:
                return failed
            said, kind = question_text.REMINDER, "reminder"
            continue
        judged = await accept_answer(world, effect, place, answer)
        if isinstance(judged, AcceptedAnswer):
            accepted = _make_acceptance(effect, talk, judged, outcome)
            return await asyncio.to_thread(_add_target_head, world, effect, accepted)
        world.progress(effect.id, f"refused: {judged.reasons[0]}")
        _mark_judged(world, effect)
        talk.refusals += 1
        again = await asyncio.to_thread(_note_refusal, world, effect, place, answer, judged)
        repeated = find_repeated_rules(world, effect, judged.rules)
        if again or repeated or talk.refusals >= MOST_REFUSALS:
            return _end_refused(world, effect, talk, judged, again=again, repeated=repeated)
        said, kind = question_text.render_refusal(judged.reasons), "refused"
        if budget_limits.is_out_of_money(world, effect.state, talk.usd):
            return talk.failed(effect.id, "budget", said)


def _prepare_question(
    world: World,
    effect: AskAgent,
    place: InstancePlace,
    *,
    post: EmployedAgent,
    talk: QuestionTalk,
    is_answered: bool,
) -> str:
    """The first prompt; behind a refused try also what was refused, over files as they were.

    What an answer that waits to be judged has left is part of that answer.
    """
    kept = [] if is_answered else begin_where_all_was_well(world, effect, place)
    said = prepare_first_prompt(world, effect, place, post, not talk.session and not talk.fork)
    earlier = [(each.exit, each.reasons) for each in list_refusals(world, effect)]
    return said + (question_text.render_earlier_refusals(earlier, kept) if earlier else "")


def _note_refusal(
    world: World,
    effect: AskAgent,
    place: InstancePlace,
    answer: Answered,
    judged: RefusedAnswer,
) -> int:
    """Keep it for the next try; how often this very answer was refused at this visit before."""
    digest = digest_answer(world, place, answer)
    before = [each.digest for each in list_refusals(world, effect)].count(digest)
    keep_refusal(world, effect, KeptRefusal(answer.exit, judged.reasons, digest, judged.rules))
    return before


def _end_refused(
    world: World,
    effect: AskAgent,
    talk: QuestionTalk,
    judged: RefusedAnswer,
    *,
    again: int,
    repeated: tuple[str, ...],
) -> f.EffectFailed:
    """What the same rule refuses again, in spite of being told, no other try would change.

    Neither would another plan of the parent: a person is asked here. The rule is compared, because
    the words name files, and those differ each time.
    """
    end_refused_try(world, effect)
    why = "; ".join(judged.reasons)
    said = f"the same answer was refused {again + 1} times: {why}" if again else why
    if repeated:
        said = f"refused in two tries by the same rule ({', '.join(repeated)}): {why}"
    is_over = bool(repeated) or again > 1
    return replace(talk.failed(effect.id, "refused", said), hopeless=is_over, fault=is_over)


def _judge_silence(
    world: World, effect: AskAgent, talk: QuestionTalk, outcome: Outcome
) -> f.EffectFailed | None:
    """No answer: nothing but a nudge where the turn ended or fell silent, else a failure."""
    ended = outcome.kind in ("ok", "schema_missing")
    can_go_on = ended or (outcome.kind == "timeout" and bool(talk.session))
    _mark_judged(world, effect)
    talk.nudges += 1
    if can_go_on and talk.nudges <= world.definition().protocol.nudges:
        return None
    if outcome.kind == "ok":
        said = f"no exit after {talk.nudges - 1} reminders"
        outcome = replace(outcome, kind="crashed", detail=said)
    return _make_failure(effect, talk, outcome)


def find_last_turn(world: World, effect: str) -> str:
    """The directory of the latest turn of an effect; its own if it came to none."""
    return next(reversed(list_turn_directories(world, effect)), world.turn_directory(effect))


def list_turn_directories(world: World, effect: str) -> list[str]:
    """The directories of all turns of an effect, each of which was paid for."""
    directory = world.turn_directory(effect)
    found = [name for name in os.listdir(directory) if _TURN_NAME.fullmatch(name)]
    found.sort(key=lambda name: int(name.partition("-")[2]))
    return [os.path.join(directory, name) for name in found]


def find_left_behind_turn(world: World, effect: AskAgent) -> turns.EndedTurn | None:
    """What the agent of the try before said after its runner had died; paid for, so not lost."""
    front, _, number = effect.id.rpartition("/")
    if not int(number):
        return None
    directory = find_last_turn(world, f"{front}/{int(number) - 1}")
    if os.path.exists(os.path.join(directory, JUDGED_FILE)):
        return None
    found = turns.read_left_outcome(world, directory)
    # It was paid for when it was found interrupted.
    return turns.EndedTurn(replace(found, usd=0.0, tokens=0), 0) if found else None


def _make_failure(effect: AskAgent, talk: QuestionTalk, outcome: Outcome) -> f.EffectFailed:
    wait = (outcome.wait_s or turns.RATE_LIMIT_S) if outcome.kind == "rate_limit" else 0
    failed = talk.failed(effect.id, outcome.kind, outcome.detail)
    return replace(failed, wait_s=wait, hopeless=outcome.kind in turns.HOPELESS)


def _make_acceptance(
    effect: AskAgent, talk: QuestionTalk, judged: AcceptedAnswer, outcome: Outcome
) -> f.ExitAccepted:
    return f.ExitAccepted(
        effect=effect.id,
        exit=judged.exit,
        payload=judged.payload,
        signal=judged.exit,
        notes=(*judged.notes, *filter(None, [talk.note])),
        session=talk.session,
        usd=talk.usd,
        tokens=talk.tokens,
        said=outcome.final[-turns.SAID_KEPT :],
        tree=judged.tree,
        evidence=judged.evidence,
        envelope=judged.envelope,
        seconds=talk.seconds,
    )


def _add_target_head(world: World, effect: AskAgent, accepted: f.ExitAccepted) -> f.ExitAccepted:
    """Between two states is the time to hear that the target has moved."""
    head = instance_worktrees.find_missing_target_head(world, effect.instance, effect.about)
    return replace(accepted, target_head=head) if head else accepted


def _choose_agent(world: World, effect: AskAgent) -> EmployedAgent:
    """Who is asked; whoever only reads may do nothing else, whatever the settings permit."""
    post = world.post_of(effect.role, effect.state, ())
    return replace(post, permissions=READ_ONLY) if effect.ask.workspace == "read" else post


def _why_not_continued(
    world: World, effect: AskAgent, place: InstancePlace, post: EmployedAgent
) -> str:
    """Why who is asked cannot go on with a conversation; its last words are quoted instead."""
    session = effect.resume or effect.fork_of
    if not post.resumes:
        return f"{post.name} keeps no conversations"
    if not session:
        return ""
    if not conversations.belongs_to_agent(world.directory, session, post):
        return f"the one before was held with another agent than {post.name}"
    if effect.fork_of and not post.agent.FORKS:
        return f"{post.name} cannot begin one from another"
    is_here = conversations.read_place(world.directory, session) == place.path
    if is_here or post.agent.can_carry(session):
        return ""
    return f"{post.name} does not find the one before, which was held in another directory"


async def _take_turn(
    world: World,
    effect: AskAgent,
    place: InstancePlace,
    talk: QuestionTalk,
    *,
    said: str,
    kind: str,
) -> turns.EndedTurn | turns.StoppedTurn:
    directory = os.path.join(world.turn_directory(effect.id), f"turn-{talk.turn}")
    os.makedirs(directory, mode=0o700, exist_ok=True)
    post = _choose_agent(world, effect)
    resume = talk.session if post.resumes else ""
    turn = Turn(
        effect=effect.id,
        prompt=said if resume or said == talk.first else f"{talk.first}\n\n{said}",
        request=_make_request(world, effect, talk, kind),
        workspace=place.path,
        directory=directory,
        resume=resume or None,
        script=world.script,
        fork="" if talk.session else talk.fork,
        model=post.model,
        permissions=post.permissions,
        schema=make_answer_schema(world, effect),
        max_usd=budget_limits.money_left_for_turn(world, effect.state, talk.usd),
        max_steps=post.max_steps,
        command=post.command,
        env=post.env,
        note=talk.note if said == talk.first else "",
    )
    protocol = world.definition().protocol
    wall = effect.timeout_s or protocol.limits.agent_s or world.settings.claude_timeout
    return await turns.run_turn(
        world, post, turn, wall_s=wall, idle_s=world.settings.idle or protocol.silence_s
    )


def _mark_judged(world: World, effect: AskAgent) -> None:
    """What was said and found wanting must not be taken up again by the next try."""
    front, _, number = effect.id.rpartition("/")
    for known in (effect.id, f"{front}/{int(number) - 1}") if int(number) else (effect.id,):
        with open(os.path.join(find_last_turn(world, known), JUDGED_FILE), "w", encoding="utf-8"):
            pass


def _make_request(world: World, effect: AskAgent, talk: QuestionTalk, kind: str) -> dict[str, Any]:
    run = world.state().run
    return {
        "id": run.id,
        "title": run.title,
        "position": effect.position,
        "instance": effect.instance,
        "state": effect.state,
        "visit": effect.visit,
        "try": effect.attempt + 1,
        "turn": talk.refusals + 1 if kind == "refused" else talk.turn,
        "kind": kind,
        "name": effect.role,
        "legal": [known.name for known in effect.exits],
        "exit_file": answer_sources.exit_file_path(world, effect),
        "schema": make_answer_schema(world, effect),
    }


def salvage_unfinished_work(effect: AskAgent, place: InstancePlace) -> None:
    """Half done work of a question that nobody waits for is kept under a ref of its own."""
    if place.is_own:
        ref = name_salvage_ref(place.branch, effect.position)
        salvage_uncommitted(place.path, ref, f"Left uncommitted at {effect.position}")
