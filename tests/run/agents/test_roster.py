"""Who works, and on what terms, by the settings and by what was chosen for the run."""

import pytest

from porch.errors import OutsideError, UsageError
from porch.model.permissions import INSIDE, READ_ONLY, UNLIMITED, Permissions
from porch.run.agents.roster import Roster
from porch.run.settings import Settings

OPUS = {"opus": {"kind": "claude", "model": "opus"}}


def test_a_phase_beats_its_role_and_the_role_the_general_settings() -> None:
    settings = Settings(
        agents=OPUS,
        roles={"builder": {"agent": "codex", "timeout": 5, "idle": 1}},
        phases={"implement": {"agent": "opus", "timeout": 9}},
    )
    roster = Roster(settings, "")
    assert roster.worker("other", "specify").name == "claude"
    assert roster.worker("builder", "specify").name == "codex"
    post = roster.worker("builder", "implement")
    assert (post.name, post.kind, post.model) == ("opus", "claude", "opus")
    assert (post.wall_s, post.idle_s) == (9, 1)


def test_what_was_chosen_for_the_run_beats_the_settings_but_not_their_terms() -> None:
    settings = Settings(roles={"builder": {"agent": "codex", "timeout": 5}})
    post = Roster(settings, "gemini").worker("builder", "specify")
    assert (post.name, post.wall_s) == ("gemini", 5)


def test_reviewers_are_whom_the_protocol_names_and_only_read() -> None:
    settings = Settings(agents=OPUS, trusted=True, roles={"reviewer": {"timeout": 4}})
    post = Roster(settings, "").reviewer("opus")
    assert (post.kind, post.model, post.permissions, post.wall_s) == (
        "claude",
        "opus",
        READ_ONLY,
        4,
    )
    assert Roster(settings, "scripted").reviewer("gemini").kind == "scripted"


@pytest.mark.parametrize(
    "trusted, asked, given",
    [
        (False, (), INSIDE),
        (True, (), UNLIMITED),
        (False, ("all",), INSIDE),
        (True, ("all",), UNLIMITED),
        (True, ("write:src/**",), Permissions(("src/**",), (), ("*",))),
        (False, ("write:a", "bash:make *", "read:b"), Permissions(("a",), ("make *",), ("b",))),
    ],
)
def test_no_protocol_gives_more_than_a_person_trusts(
    trusted: bool, asked: tuple[str, ...], given: Permissions
) -> None:
    assert Roster(Settings(trusted=trusted), "").worker("r", "p", asked).permissions == given


def test_settings_say_more_about_permissions_than_a_protocol() -> None:
    settings = Settings(phases={"p": {"permissions": ("write:docs/**",)}})
    post = Roster(settings, "").worker("r", "p", ("write:src/**",))
    assert post.permissions.write == ("docs/**",)


def test_an_agent_that_nobody_knows_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(UsageError) as caught:
        Roster(Settings(agents=OPUS), "copilot").worker("r", "p")
    assert caught.value.findings[0].code == "unknown-agent"
    assert "opus, claude, codex, gemini, scripted" in str(caught.value.findings[0].fix)
    with pytest.raises(UsageError):
        Roster(Settings(), "command").worker("r", "p")


def test_a_command_of_ones_own_is_an_agent_by_its_words_alone() -> None:
    settings = Settings(agents={"mine": {"command": ("my-agent", "{session}")}})
    post = Roster(settings, "mine").worker("r", "p")
    assert (post.kind, post.command, post.resumes) == ("command", ("my-agent", "{session}"), True)
    with pytest.raises(OutsideError) as caught:
        post.demand_installed()
    assert caught.value.findings[0].code == "agent-missing"


def test_money_is_told_or_reckoned_from_prices() -> None:
    settings = Settings(agents={"codex": {"usd_per_million": (2.0, 0.5, 10.0)}})
    post = Roster(settings, "codex").worker("r", "p")
    assert post.tells_usd
    assert post.cost(0, 1_600_000, 1_000_000, 100_000) == pytest.approx(0.5 * 2 + 0.5 + 1.0)
    assert post.cost(7.0, 1, 0, 0) == 7.0
    blind = Roster(Settings(), "codex").worker("r", "p")
    assert not blind.tells_usd
    assert blind.cost(0, 1000, 0, 0) == 0


def test_the_model_of_one_agent_is_no_model_of_another() -> None:
    settings = Settings(
        roles={"builder": {"model": "opus"}},
        phases={"implement": {"agent": "codex", "model": "gpt"}},
    )
    assert Roster(settings, "").worker("builder", "plan").model == "opus"
    assert Roster(settings, "codex").worker("builder", "plan").model == ""
    assert Roster(settings, "").worker("builder", "implement").model == "gpt"
    assert Roster(settings, "claude").worker("builder", "implement").model == "opus"


def test_a_clock_of_silence_can_be_switched_off_for_a_role() -> None:
    settings = Settings(idle=30, roles={"builder": {"idle": 0}})
    assert Roster(settings, "").worker("builder", "p").idle_s == 0
    assert Roster(settings, "").worker("other", "p").idle_s is None
