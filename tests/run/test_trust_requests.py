"""What settings ask of a person, and what counts without a grant."""

from pathlib import Path

import pytest

from porch.errors import Place
from porch.run.grants import add_grant
from porch.run.settings import Settings, load_settings, read_written_settings
from porch.run.trust_requests import (
    AskingSetting,
    UntrustedSettingsError,
    make_trust_request,
    require_trust,
)

ASKING = [
    ('[checks]\nenv = ["*"]', "checks.env", "check_env"),
    ('[worktree]\nsetup = ["true"]', "worktree.setup", "setup"),
    ('[worktree]\ncopy = [".env"]', "worktree.copy", "copy"),
    ('[worktree]\nlink = ["m"]', "worktree.link", "link"),
    ('[agents.mine]\ncommand = ["x"]', "agents.mine.command", "agents"),
    ('[roles.planner]\npermissions = ["write:**"]', "roles.planner.permissions", "roles"),
    ('[phases.plan]\npermissions = ["write:**"]', "phases.plan.permissions", "phases"),
]
OWN = [
    *ASKING,
    ('[notify]\ncommand = ["x"]', "notify.command", "notify_command"),
    ("[agent]\ntrusted = true", "agent.trusted", "trusted"),
    ('[agents.codex]\nenv = ["X"]', "agents.codex.env", "agents"),
]


class Files:
    """A project and a person's own directory."""

    def __init__(self, base: Path):
        self.root, self.own = base / "project", base / "own"
        (self.root / "codev").mkdir(parents=True)
        self.own.mkdir()

    def load(self, project: str = "", own: str = "", trust: tuple[str, ...] = ()) -> Settings:
        (self.root / "codev/config.toml").write_text(project)
        (self.own / "config.toml").write_text(own)
        return load_settings(str(self.root), str(self.own), trust)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.mark.parametrize("text, key, attribute", ASKING)
def test_a_project_setting_that_needs_trust_does_not_count_without_it(
    files: Files, text: str, key: str, attribute: str
) -> None:
    """X2, X4."""
    known = files.load(project=text)
    (request,) = known.untrusted
    assert [each.key for each in request.settings] == [key]
    assert request.file == "codev/config.toml"
    assert not getattr(known, attribute)
    assert known.origin(key) == "default"
    trusted = files.load(project=text, trust=(request.digest,))
    assert getattr(trusted, attribute)
    assert trusted.untrusted == ()


@pytest.mark.parametrize("text, key, attribute", OWN)
def test_a_setting_of_a_persons_own_file_needs_trust_too(
    files: Files, text: str, key: str, attribute: str
) -> None:
    """X6: an agent can write that file."""
    known = files.load(own=text)
    (request,) = known.untrusted
    assert request.file == str(files.own / "config.toml")
    assert not getattr(known, attribute)
    add_grant(str(files.own), request.digest, request.file, "ann")
    assert getattr(files.load(own=text), attribute)


@pytest.mark.parametrize(
    "text",
    [
        '[commands]\ntest = "rm -rf /"',
        "[worktree]\nsetup = []",
        "[worktree]\nshare_readers = true",
        '[agents.fast]\nkind = "claude"\nmodel = "m"',
        '[notify]\ndesktop = true\nwebhook = "$X"',
        "[agent]\ntrusted = false",
        '[roles.planner]\nmodel = "m"',
    ],
)
def test_other_settings_need_no_trust(files: Files, text: str) -> None:
    assert files.load(own=text).requests == ()


def test_what_a_project_may_not_say_at_all_asks_for_nothing(files: Files) -> None:
    known = files.load(project='[notify]\ncommand = ["x"]\n[agent]\ntrusted = true')
    assert known.requests == ()
    assert {note.code for note in known.notes} == {"no-meaning"}


def test_only_the_settings_that_ask_are_left_out(files: Files) -> None:
    known = files.load('[commands]\ntest = "true"\n[worktree]\nsetup = ["x"]\nshare_readers = true')
    assert known.commands == {"test": "true"}
    assert known.share_readers
    assert known.setup == ()


def test_one_file_is_not_trusted_with_the_other(files: Files) -> None:
    project, own = '[checks]\nenv = ["A"]', '[notify]\ncommand = ["x"]'
    mine, ours = files.load(project, own).untrusted
    known = files.load(project, own, trust=(mine.digest,))
    assert known.untrusted == (ours,)
    assert (known.check_env, known.notify_command) == ((), ("x",))


def test_the_digest_is_of_keys_and_values_wherever_they_are() -> None:
    def digest(*pairs: tuple[str, object], file: str = "a") -> str:
        asking = [AskingSetting(key, value, Place(file, 1, 1)) for key, value in pairs]
        request = make_trust_request(asking)
        assert request is not None
        return request.digest

    one, two = ("checks.env", ["A"]), ("worktree.setup", ["b", "c"])
    assert digest(one, two) == digest(two, one, file="b")
    others = [
        digest(one),
        digest(one, ("worktree.setup", ["c", "b"])),
        digest(one, ("worktree.setup", ["b,c"])),
        digest(("checks.env", ["A", "b"]), ("worktree.setup", ["c"])),
        digest(("agents.x.env", ["A"]), two),
    ]
    assert len({digest(one, two), *others}) == 6
    assert make_trust_request([]) is None


def test_a_clone_with_the_same_settings_is_trusted_too(files: Files, tmp_path: Path) -> None:
    text = '[worktree]\nsetup = ["npm ci"]\n'
    (request,) = files.load(text).untrusted
    add_grant(str(files.own), request.digest, request.file, "ann")
    (tmp_path / "clone/codev").mkdir(parents=True)
    (tmp_path / "clone/codev/config.toml").write_text(f"# as there\n\n{text}")
    assert load_settings(str(tmp_path / "clone"), str(files.own)).setup == ("npm ci",)


def test_the_refusal_names_each_setting_with_its_place_and_the_command(files: Files) -> None:
    known = files.load('[checks]\nenv = ["*"]\n[worktree]\nsetup = ["x"]\n')
    with pytest.raises(UntrustedSettingsError) as caught:
        require_trust(known.untrusted)
    first, second = caught.value.findings
    assert caught.value.exit_code == 2
    assert first.code == second.code == "untrusted-settings"
    assert 'checks.env = ["*"]' in first.message
    assert (str(first.place), str(second.place)) == (
        "codev/config.toml:2:1",
        "codev/config.toml:4:1",
    )
    assert f"porch trust {known.untrusted[0].digest}" in second.fix


def test_what_is_written_can_be_shown_without_trust(files: Files) -> None:
    files.load('[worktree]\nsetup = ["x"]')
    written = read_written_settings(str(files.root), str(files.own))
    assert written.setup == ("x",)
    assert written.origin("worktree.setup") == "codev/config.toml:2"
