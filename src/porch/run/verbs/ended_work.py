"""The checks and reviews of a run, as its journal has them: how each ended, and what it said."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from porch.machine.state import effect_parts
from porch.store import run_rows
from porch.store.journal import scan_journal
from porch.store.journal_look import find_records
from porch.store.journal_tail import read_window
from porch.store.where import ProjectPaths
from porch.text.printable import describe_text


class EndedWork(Struct, frozen=True):
    """One check or review; `said` is its report or its summary."""

    seq: int
    at: str
    kind: str
    position: str
    name: str
    result: str
    seconds: float
    said: str = ""
    findings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


_FACTS = {"check": "CheckEnded", "review": "ReviewEnded"}


class _FactKind(Struct, frozen=True, gc=False):
    kind: str = field(name="is")


class _NumberedFact(Struct, frozen=True):
    seq: int
    fact: _FactKind


def list_ended_numbers(where: ProjectPaths, name: str, kind: str) -> list[int]:
    """The numbers of the records in which checks or reviews ended, oldest first."""
    path, fact = os.path.join(where.run_dir(name), "journal.jsonl"), _FACTS[kind]
    found = find_records(path, [f'"{fact}"'.encode()], _NumberedFact)
    if found is not None:
        return [each.seq for each in found if each.fact.kind == fact]
    return [r["seq"] for r in scan_journal(path).records if r["fact"].get("is") == fact]


def read_ended_work(where: ProjectPaths, name: str, numbers: Sequence[int]) -> list[EndedWork]:
    """These, in the order of the numbers; a record that cannot be believed is left out."""
    known = run_rows.known_seam(where.run_dir(name))
    path = os.path.join(where.run_dir(name), "journal.jsonl")
    found = (read_window(path, number, number, known) for number in numbers)
    return [_make_work(records[0]) for records in found if records]


def _make_work(record: Mapping[str, Any]) -> EndedWork:
    fact = record["fact"]
    position, _, name = effect_parts(str(fact["effect"]))
    is_check = fact["is"] == "CheckEnded"
    return EndedWork(
        seq=int(record["seq"]),
        at=str(record["at"]),
        kind="check" if is_check else "review",
        position=position,
        name=name,
        result=str(fact["result" if is_check else "verdict"]),
        seconds=float(fact.get("seconds", 0)),
        said=describe_text(fact.get("report" if is_check else "summary", "")),
        findings=tuple(describe_text(each) for each in fact.get("findings", ())),
        notes=tuple(_list_notes(fact)),
    )


def _list_notes(fact: Mapping[str, Any]) -> Iterator[str]:
    if fact.get("reused"):
        yield "no file changed since"
    if fact.get("flaky"):
        yield "failed and then passed on the same files"
    if fact.get("why"):
        yield describe_text(fact["why"])
