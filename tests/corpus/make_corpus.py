"""Keeps journals of finished test runs as a corpus: nothing of the machine, all of the run.

python -m tests.corpus.make_corpus keep NAME RUN_DIRECTORY    one run, under a new name
python -m tests.corpus.make_corpus words                      draw all words.json anew
"""

import shutil
import sys
from pathlib import Path
from typing import Any

from porch.store import chain, payloads
from porch.text.printable import TEXT_REF_KEY
from tests.corpus.run_dump import PAYLOADS, RUNS, Kept, as_text, names

_NEUTRAL = {"host": "host", "boot": "boot", "pid": 1000}


def keep(name: str, directory: Path) -> None:
    """Copy a run, take the machine out of its journal, and say what it means."""
    found, trouble = chain.parse_records((directory / "journal.jsonl").read_bytes())
    if trouble is not None:
        raise SystemExit(f"{directory}: line {trouble.line} {trouble.why}")
    target = RUNS / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    (target / "journal.jsonl").write_bytes(_chained([_neutral(raw) for raw in found.records]))
    for digest in _named(found.records):
        payloads.write_payload(
            str(PAYLOADS), payloads.read_payload(str(directory / "payloads"), digest)
        )
    (target / "dump.json").write_text(as_text(Kept(name).dump()))
    draw_words(name)


def draw_words(name: str) -> None:
    (RUNS / name / "words.json").write_text(as_text(Kept(name).words()))


def _neutral(value: Any) -> Any:
    """Who ran it, wherever that is said: runners, and the owners of prompts."""
    if isinstance(value, list):
        return [_neutral(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _neutral(each) for key, each in value.items()}
    if {"host", "boot"} <= kept.keys():
        kept.update((key, told) for key, told in _NEUTRAL.items() if kept.get(key))
    return kept


def _named(value: Any) -> set[str]:
    """The definitions and long texts that a journal points to."""
    if isinstance(value, list):
        return {digest for each in value for digest in _named(each)}
    if not isinstance(value, dict):
        return set()
    mine = {value["digest"]} if value.get("is") in ("Began", "Pinned") else set()
    if TEXT_REF_KEY in value:
        mine.add(value[TEXT_REF_KEY])
    return mine | _named(list(value.values()))


def _chained(raws: list[dict[str, Any]]) -> bytes:
    data, total = b"", chain.START
    for raw in raws:
        body = {key: value for key, value in raw.items() if key != "sum"}
        line, total = chain.render_record_line(raw["seq"], total, body)
        data += line
    return data


def main(words: list[str]) -> None:
    if words[:1] == ["keep"]:
        keep(words[1], Path(words[2]))
    else:
        for name in names():
            draw_words(name)


if __name__ == "__main__":
    main(sys.argv[1:])
