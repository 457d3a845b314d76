"""The checks and reviews of a run, as its journal has them: how each ended, and what it said."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from porch.machine.state import effect_parts
from porch.store.journal import scan_journal
from porch.store.where import ProjectPaths
from porch.text.printable import TEXT_REF_KEY, describe_clipped_text


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


def list_ended_work(where: ProjectPaths, name: str) -> list[EndedWork]:
    """In the order in which they ended."""
    path = os.path.join(where.run_dir(name), "journal.jsonl")
    records = scan_journal(path).records
    kinds = ("CheckEnded", "ReviewEnded")
    return [_make_work(each) for each in records if each["fact"].get("is") in kinds]


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
        said=_tell(fact.get("report" if is_check else "summary", "")),
        findings=tuple(_tell(each) for each in fact.get("findings", ())),
        notes=tuple(_list_notes(fact)),
    )


def _list_notes(fact: Mapping[str, Any]) -> Iterator[str]:
    if fact.get("reused"):
        yield "no file changed since"
    if fact.get("flaky"):
        yield "failed and then passed on the same files"
    if fact.get("why"):
        yield _tell(fact["why"])


def _tell(value: Any) -> str:
    """A long text is kept elsewhere; then how it begins."""
    is_kept = isinstance(value, Mapping) and TEXT_REF_KEY in value
    return describe_clipped_text(value) if is_kept else str(value)
