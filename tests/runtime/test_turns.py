"""What a turn leaves behind, however it ended."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from porch.adapters.agents import scripted
from porch.runtime import turns
from porch.runtime.world import World


@dataclass(frozen=True)
class Corner:
    """As much of a world as looking at a transcript needs."""

    directory: Path
    agent: Any = scripted

    def turn_directory(self, _effect: str) -> str:
        return str(self.directory)


def corner(tmp_path: Path, *events: dict[str, object]) -> World:
    lines = "".join(json.dumps(event) + "\n" for event in events)
    (tmp_path / "transcript.jsonl").write_text(lines)
    return cast(World, Corner(tmp_path))


def test_half_a_character_in_a_final_message_can_be_written_to_any_file(tmp_path: Path) -> None:
    world = corner(tmp_path, {"type": "final", "text": "half \ud83d of one"})
    outcome = turns.left_behind(world, "one#1/agent/one/0")
    assert outcome is not None
    assert outcome.final == "half ? of one"


def test_a_transcript_without_an_end_tells_its_cost_and_conversation(tmp_path: Path) -> None:
    used = {"type": "usage", "usd": 0.5, "tokens": 7}
    world = corner(tmp_path, {"type": "session", "id": "s-1"}, used)
    assert turns.left_behind(world, "x") is None
    seen = turns.seen(world, "x")
    assert (seen.usd, seen.tokens, seen.session) == (0.5, 7, "s-1")


def test_nothing_is_left_behind_where_nothing_was_begun(tmp_path: Path) -> None:
    assert turns.left_behind(cast(World, Corner(tmp_path)), "x") is None
