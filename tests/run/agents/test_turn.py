"""What a turn leaves behind, however it ended."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from porch.run.agents import turn
from porch.run.agents.roster import Roster
from porch.run.agents.world import World
from porch.run.settings import Settings


@dataclass(frozen=True)
class Corner:
    """As much of a world as looking at a transcript needs."""

    directory: Path
    roster: Roster = Roster(Settings(), "scripted")


def corner(tmp_path: Path, *events: dict[str, object]) -> World:
    lines = "".join(json.dumps(event) + "\n" for event in events)
    (tmp_path / "transcript.jsonl").write_text(lines)
    return cast(World, Corner(tmp_path))


def test_half_a_character_in_a_final_message_can_be_written_to_any_file(tmp_path: Path) -> None:
    world = corner(tmp_path, {"type": "final", "text": "half \ud83d of one"})
    outcome = turn.read_left_outcome(world, str(tmp_path))
    assert outcome is not None
    assert outcome.final == "half ? of one"


def test_a_transcript_without_an_end_tells_its_cost_and_conversation(tmp_path: Path) -> None:
    used = {"type": "usage", "usd": 0.5, "tokens": 7}
    world = corner(tmp_path, {"type": "session", "id": "s-1"}, used)
    assert turn.read_left_outcome(world, str(tmp_path)) is None
    seen = turn.read_stopped_turn(world, str(tmp_path))
    assert (seen.usd, seen.tokens, seen.session) == (0.5, 7, "s-1")


def test_nothing_is_left_behind_where_nothing_was_begun(tmp_path: Path) -> None:
    assert turn.read_left_outcome(cast(World, Corner(tmp_path)), str(tmp_path)) is None


def test_pieces_of_an_answer_are_not_kept_once_the_turn_is_over(tmp_path: Path) -> None:
    """E2: they are signs of life, and fill a transcript whose ends are kept for people."""
    whole = '{"type":"assistant","message":{"content":[{"type":"text","text":"Hi"}]}}\n'
    pieces = '{"type":"stream_event","event":{"type":"message_start"}}\n' * 3
    (tmp_path / "transcript.jsonl").write_text(pieces + whole + pieces)
    (tmp_path / "agent").write_text("claude\n")
    turn.read_stopped_turn(cast(World, Corner(tmp_path)), str(tmp_path))
    assert (tmp_path / "transcript.jsonl").read_text() == whole
