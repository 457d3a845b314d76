"""A run that the first release began goes on: its base is its commit, its settings are pinned."""

import json
from typing import TYPE_CHECKING, Any

from porch.store import chain

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

LATER = ("base_tree", "settings")


def make_old(desk: "Desk") -> None:
    """The journal as the first release would have written it."""
    total, lines = chain.START, []
    for record in desk.records():
        body = {**record, "v": 1, "fact": _without_later(record["fact"])}
        body["moves"] = [_without_later(move) for move in record["moves"]]
        body.pop("sum")
        line, total = chain.render_record_line(record["seq"], total, body)
        lines.append(line)
    directory = desk.run_dir()
    for path in directory.iterdir():
        if path.is_file():
            path.unlink()
    (directory / "journal.jsonl").write_bytes(b"".join(lines))


def _without_later(part: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key not in LATER}


def test_a_run_of_release_1_goes_on_with_its_commit_and_with_settings_pinned_now(
    desk: "Desk",
) -> None:
    desk.write("codev/config.toml", '[commands]\ntest = "true"\n')
    check = {"tests": {"setting": "test"}, "fix": {"changed": True}}
    first = {"id": "one", "gate": {"name": "look"}}
    desk.begin(first, {"id": "two", "checks": check}, agents={"two": [{}]}, code=3)
    make_old(desk)
    assert [record["v"] for record in desk.records()] == [1] * len(desk.records())
    desk.porch("approve", "1", "look", code=None)
    said = desk.porch("resume", "1", code=0)
    assert "keeps the settings as they are now" in said.out
    (pinned,) = desk.facts("SettingsPinned")
    kept = json.loads((desk.run_dir() / "payloads" / pinned["digest"]).read_text())
    assert kept["commands.test"] == "true"
    # The files of this test were never committed: against a commit all of them are new.
    assert "changed: codev/config.toml" in {f["report"][:26] for f in desk.facts("CheckEnded")}
