"""Transcripts: found by the effect, read in order, half a line only when nobody writes on."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from porch.agents import transcripts
from porch.agents.transcripts import TranscriptPart
from porch.run.agents.world import World


@pytest.mark.parametrize(
    "effect",
    ["write#1/agent/write/0", "a/b/impl:x y#2/review/modèle/1", "a_b#1/agent/x/0", "x" * 300],
)
def test_a_turn_lies_where_the_runner_puts_it(tmp_path: Path, effect: str) -> None:
    world = cast(World, SimpleNamespace(directory=str(tmp_path)))
    made = World.turn_directory(world, effect) if len(effect) < 200 else ""
    name = transcripts.turn_directory_name(effect)
    assert made in ("", str(tmp_path / "turns" / name))
    assert "/" not in name


def _write(home: Path, name: str, agent: str = "") -> None:
    (home / name).mkdir(parents=True, exist_ok=True)
    (home / name / "transcript.jsonl").write_text("x\n")
    if agent:
        (home / name / "agent").write_text(f"{agent}\n")


def test_the_parts_of_a_turn_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    home = tmp_path / "turns" / transcripts.turn_directory_name("plan#1/agent/plan/0")
    for number in (10, 2, 1):
        _write(home, f"turn-{number}", "claude" if number == 2 else "")
    (home / "turn-3").mkdir()
    (home / "turn-x").mkdir()
    found = transcripts.list_transcript_parts(str(tmp_path), "plan#1/agent/plan/0")
    assert [(Path(p.directory).name, p.agent) for p in found] == [
        ("turn-1", "scripted"), ("turn-2", "claude"), ("turn-10", "scripted"),
    ]  # fmt: skip
    assert transcripts.list_transcript_parts(str(tmp_path), "other#1/agent/plan/0") == []


def test_half_a_line_counts_once_the_turn_is_over(tmp_path: Path) -> None:
    _write(tmp_path, "t")
    part = TranscriptPart(str(tmp_path / "t"), "scripted")
    (tmp_path / "t" / "transcript.jsonl").write_text("one\ntwo\nhal")
    assert [line.text for line in transcripts.read_transcript_lines(part, False)] == ["one", "two"]
    assert [line.text for line in transcripts.read_transcript_lines(part, True)] == [
        "one",
        "two",
        "hal",
    ]
