"""Journals as earlier releases wrote them: without what came later, in a chain that fits."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from porch.store import chain
from porch.store.journal import scan_journal

# A run in a checkout committed its documents there, and `porch finish` its files.
WITH_COMMITS = ("commits_nothing", "passed_over")


def rewrite_journal(
    directory: Path, without: Collection[str] = WITH_COMMITS, version: int | None = None
) -> None:
    """Only the journal stays of the files of the run; all others are made of it again."""

    def strip(part: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in part.items() if key not in without}

    def change(record: dict[str, Any]) -> dict[str, Any]:
        moves = [*map(strip, record["moves"])]
        v = version or record["v"]
        return {**record, "fact": strip(record["fact"]), "moves": moves, "v": v}

    rewrite_records(directory, change)


def rewrite_records(directory: Path, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
    """As if other records had been written; only the journal stays of the files of the run."""
    total, lines = chain.START, []
    for record in scan_journal(str(directory / "journal.jsonl")).records:
        body = {**change({**record})}
        body.pop("sum")
        line, total = chain.render_record_line(record["seq"], total, body)
        lines.append(line)
    for path in directory.iterdir():
        if path.is_file():
            path.unlink()
    (directory / "journal.jsonl").write_bytes(b"".join(lines))
