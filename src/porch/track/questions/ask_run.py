"""The implicit run of a round of questions: found by what is asked, begun once, and never driven.

Each asking is a run. Questions that were answered and are asked once more begin another one, so
that what somebody said the first time stays what it was.
"""

import os
from functools import cache

import msgspec
from msgspec import Struct, to_builtins

from porch.claims.questions.question import QuestionRound
from porch.claims.questions.text_form import render_question, render_round
from porch.machine import facts as f
from porch.machine.ask.human_questions import NAME, build_ask_protocol
from porch.machine.ask.run_rules import recall_posed
from porch.machine.state import RunState
from porch.model.definition import Definition, serialize_definition
from porch.run.engine.caller import find_user_name
from porch.run.engine.run_places import payload_directory
from porch.run.engine.session import assemble_held_run, hold_run, lock_run
from porch.run.verbs.read_run import read_run
from porch.store import payloads
from porch.store.journal import Journal
from porch.store.large_payloads import expand_payloads
from porch.store.where import ProjectPaths
from porch.system import atomic
from porch.system.clock import Clock
from porch.text.sha256 import sha256

PATIENCE_S = 10.0
_DIGITS = 12
_TITLE = 80


class AskRun(Struct, frozen=True):
    """One asking of a round; `number` counts the times that it was asked, from 1."""

    where: ProjectPaths
    digest: str
    number: int = 1

    @property
    def name(self) -> str:
        return f"{NAME}_{self.digest}{self._behind}"

    @property
    def id(self) -> str:
        return f"{NAME}/{self.digest}{self._behind}"

    @property
    def _behind(self) -> str:
        return f"_{self.number}" if self.number > 1 else ""

    def next(self) -> "AskRun":
        return AskRun(self.where, self.digest, self.number + 1)


def digest_round(round_: QuestionRound) -> str:
    """By what is asked, not by how its file is written."""
    return sha256(msgspec.json.encode(round_)).hexdigest()[:_DIGITS]


def find_latest_run(where: ProjectPaths, round_: QuestionRound) -> AskRun:
    """The last asking of these questions; it need not have begun yet."""
    found = AskRun(where, digest_round(round_))
    while where.has_begun(found.next().name):
        found = found.next()
    return found


def pose_questions(run: AskRun, round_: QuestionRound) -> RunState:
    """The run with its questions asked, whoever came first."""
    if not run.where.has_begun(run.name):
        _begin_run(run, round_)
    state = read_run(run.where, run.name).state
    if recall_posed(state):
        return state
    with hold_run(run.where, run.name, "porch ask", PATIENCE_S) as found:
        found.drain()
        found.book.record(_make_question(round_))
        return found.book.state


def _begin_run(run: AskRun, round_: QuestionRound) -> None:
    """The first records; whoever comes second finds them there."""
    directory = run.where.run_dir(run.name)
    atomic.ensure_directory(directory)
    with lock_run(directory, run.name, "porch ask", PATIENCE_S):
        journal, scan = Journal.open(os.path.join(directory, "journal.jsonl"))
        with journal:
            if scan.records:
                return
            found = assemble_held_run(
                run.where,
                run.name,
                journal=journal,
                state=RunState(),
                definition=make_ask_definition(),
                clock=Clock(),
            )
            found.book.record(_first_fact(run, round_))
            found.book.record(_make_question(round_))
            found.draw_late()


def _first_fact(run: AskRun, round_: QuestionRound) -> f.RunStarted:
    store = payload_directory(run.where, run.name)
    return f.RunStarted(
        run=run.name,
        id=run.id,
        title=" ".join(round_.questions[0].text.split())[:_TITLE],
        protocol=NAME,
        digest=payloads.write_payload(store, serialize_definition(make_ask_definition())),
        by=find_user_name(),
    )


def _make_question(round_: QuestionRound) -> f.QuestionPosed:
    """With the text of each question, so that what is left can be shown alone."""
    told = to_builtins(round_)
    payload = {
        "reason": render_round(round_, round_.ids),
        "questions": told["questions"],
        "language": round_.language,
        "blocks": {each.id: render_question(round_, each) for each in round_.questions},
    }
    return f.QuestionPosed(state="questions", payload=payload)


@cache
def make_ask_definition() -> Definition:
    return Definition(build_ask_protocol())


def recall_round(where: ProjectPaths, name: str, state: RunState) -> QuestionRound:
    """The questions as they were posed, with long texts whole again."""
    posed = expand_payloads(payload_directory(where, name), recall_posed(state))
    told = {"questions": posed.get("questions", ()), "language": posed.get("language", "en")}
    return msgspec.convert(told, QuestionRound)
