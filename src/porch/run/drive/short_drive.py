"""Driving a run in which only agents and people are wanted: that needs no event loop.

An agent that reports its work mostly waits for nothing but the next prompt or a person's answer.
What the engine has to do itself (checks, reviews, commits) is the business of `drive`.
"""

import os

from porch.machine import outside
from porch.machine.budgets import DRIVERLESS
from porch.machine.state import CHANGED, RunState
from porch.model.definition import Definition
from porch.run.engine.drive_options import DriveResult, DriveWatch
from porch.run.engine.run_places import payload_directory, workspace_of
from porch.run.engine.session import HeldRun
from porch.store import payloads


def drive_without_loop(found: HeldRun, watch: DriveWatch) -> DriveResult | None:
    """To where the run rests, with the records and words of a drive; None if it takes more."""
    book = found.book
    if _needs_driver(book.definition, book.state) or _lost_worktree(found) or _may_decide(found):
        return None
    if book.state.outcome:
        found.drain()
        watch.notice(f"{found.name} is already {book.state.outcome}; nothing was changed")
        return DriveResult(found.name, "ended", book.state)
    # Who has come to the end needs nothing of this.
    from porch.run.drive.question_drive import QuestionDrive

    drive = QuestionDrive(found, watch)
    return drive.run() if drive.has_only_questions() else None


def _needs_driver(definition: Definition, state: RunState) -> bool:
    """Plans have none, which is said there; trees, commits and what was left in hand need one."""
    protocol = definition.protocol
    # Whether changed files were put back is looked at there, too; and what waits for a question.
    is_asked_again = any(each.state == CHANGED for each in state.positions.values())
    is_asked_again = is_asked_again or outside.is_open(state)
    is_busy = bool(state.paused or state.in_hand or is_asked_again)
    return bool(protocol.subject in DRIVERLESS or protocol.spec or is_busy)


def _lost_worktree(found: HeldRun) -> bool:
    """A worktree that somebody deleted is made again by whoever drives."""
    state = found.book.state
    is_there = os.path.isdir(workspace_of(found.where, state))
    return state.run.own_worktree and not state.outcome and not is_there


def _may_decide(found: HeldRun) -> bool:
    """Whether the run's script may have decisions; a key can be spelled in several ways."""
    script = found.book.state.run.script
    if not script:
        return False
    text = payloads.read_payload(payload_directory(found.where, found.name), script)
    return any(word in text for word in (b"decisions", b"\\"))
