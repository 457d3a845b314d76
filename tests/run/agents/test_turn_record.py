"""What is written down of a turn before it starts, and what is left of it after a crash."""

from pathlib import Path

import pytest

from porch.run.agents import turn_record
from porch.run.agents.roster import Roster
from porch.run.agents.turn_record import TurnTerms
from porch.run.agents.usage import Usage
from porch.run.settings import Settings

ROSTER = Roster(Settings(), "scripted")
WHOLE = TurnTerms(
    stamp="1 2",
    kind="codex",
    name="mine",
    model="m",
    place="/w",
    fork="f",
    max_usd=1.5,
    prices=(1.0, 0.1, 2.0),
    permissions=("write:**",),
    before=Usage(0, 100, 10, 5),
    hidden=("OPENAI_API_KEY",),
)


def test_terms_are_read_as_they_were_written(tmp_path: Path) -> None:
    turn_record.write_terms(str(tmp_path), WHOLE)
    assert turn_record.read_terms(str(tmp_path)) == WHOLE
    post = WHOLE.post(ROSTER)
    assert (post.name, post.kind, post.prices) == ("mine", "codex", (1.0, 0.1, 2.0))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"prices": 5, "before": [], "max_usd": "x"}'])
def test_a_torn_file_takes_nothing_of_the_other_with_it(tmp_path: Path, text: str) -> None:
    turn_record.write_terms(str(tmp_path), WHOLE)
    (tmp_path / turn_record.FILE).write_text(text)
    found = turn_record.read_terms(str(tmp_path))
    assert found == TurnTerms(kind="codex")
    assert found.post(ROSTER).kind == "codex"


def test_without_any_terms_the_agent_of_the_run_is_meant(tmp_path: Path) -> None:
    assert turn_record.read_terms(str(tmp_path)).post(ROSTER).kind == "scripted"


def test_secrets_are_known_by_the_names_of_what_was_given(tmp_path: Path) -> None:
    assert turn_record.secret_names(["PATH", "MY_TOKEN", "HOME"]) == ("MY_TOKEN",)
    environ = {"OPENAI_API_KEY": "sk-something", "DEPLOY_KEY_NAME": "production"}
    assert WHOLE.secrets(environ) == ("sk-something",)
