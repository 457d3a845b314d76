"""What a run came to, and whether journal and agents tell the same story."""

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from porch.git.command import run_git
from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.evolve import fold_records
from porch.machine.records import JournalRecord
from porch.machine.state import RunState
from porch.testing.project import Project
from porch.text.late_pattern import late_pattern

# The last number of an effect is how often it was tried.
_TRY = late_pattern(r"(?m)^(Porch-Effect: .*)/\d+$")
_TOOK = late_pattern(r"\n\*\*Took\*\*: .*")


class Result(Struct, frozen=True):
    """What must be the same however often a run was killed; times and tries are no part of it."""

    outcome: str
    exits: tuple[tuple[str, str], ...]
    positions: tuple[str, ...]
    spent: Mapping[str, int]
    charged: tuple[tuple[str, int], ...]
    gates: Mapping[str, str]
    files: Mapping[str, str]
    commits: tuple[str, ...]
    changes: tuple[str, ...]


def result(project: Project) -> Result:
    records = project.records()
    state = fold_records(RunState(), records)
    return Result(
        outcome=state.outcome,
        exits=tuple(exits(records)),
        positions=tuple(sorted(state.positions)),
        spent=dict(state.spent),
        charged=tuple(
            (move.budget, move.spent)
            for record in records
            for move in record.moves
            if isinstance(move, m.Charged)
        ),
        gates={name: gate.status for name, gate in state.gates.items()},
        files=dict(_files(project.root)),
        commits=tuple(
            _TRY.sub(r"\1", text)
            for text in run_git(project.workplace, "log", "--format=%B%x00").split("\0")
        ),
        changes=tuple(
            line
            for place in (project.root, project.workplace)
            for line in run_git(place, "status", "--porcelain", "-uall").splitlines()
        ),
    )


def exits(records: Sequence[JournalRecord]) -> Iterator[tuple[str, str]]:
    """Every accepted exit: the position that was left, and the word by which."""
    for record in records:
        word = ""
        for move in record.moves:
            if isinstance(move, m.Remembered):
                word = move.path.rpartition(".")[2]
            if isinstance(move, m.Left):
                yield move.position, word


def _files(root: str) -> Iterator[tuple[str, str]]:
    """What people have in the end; pictures of the journal are none of it."""
    for directory, inside, names in os.walk(root):
        inside[:] = [name for name in inside if name != ".git"]
        for name in names:
            path = os.path.join(directory, name)
            if name != ".git" and not name.startswith("status."):
                with open(path, encoding="utf-8") as file:
                    yield os.path.relpath(path, root), _TOOK.sub("", file.read())


def distrust(project: Project) -> list[str]:
    """What journal and witness say against each other; empty if they agree.

    An effect starts at most once under one id; it starts only if the journal had begun it; and
    what the journal has accepted from an agent has really started.
    """
    starts, records = project.starts(), project.records()
    begun = {hand.effect for record in records for hand in record.begun}
    answered = {
        record.fact.effect
        for record in records
        if isinstance(record.fact, f.ExitAccepted | f.TurnEndedSilent | f.ReviewEnded)
    }
    return [
        *(f"{effect} started {count} times" for effect, count in starts.items() if count > 1),
        *(f"{effect} started but never begun" for effect in sorted(starts.keys() - begun)),
        *(f"{effect} answered but never started" for effect in sorted(answered - starts.keys())),
    ]
