"""Settings: the project's over one's own, every fault at its line, every value with its origin."""

import re
from pathlib import Path

import pytest

from porch.errors import DefinitionError, Finding, OutsideError, Place
from porch.run import settings
from porch.run.engine.driver import DriveManner
from porch.run.setting_keys import KEYS


class Places:
    """A project and a person's directory for their settings."""

    def __init__(self, base: Path):
        self.root = base / "project"
        self.own = base / "own"
        (self.root / "codev").mkdir(parents=True)
        self.own.mkdir()

    def write(self, project: str = "", own: str = "") -> None:
        (self.root / "codev" / "config.toml").write_text(project)
        (self.own / "config.toml").write_text(own)

    def load(self, project: str = "", own: str = "") -> settings.Settings:
        self.write(project, own)
        return settings.read_written_settings(str(self.root), str(self.own))

    def faults(self, project: str = "", own: str = "") -> list[Finding]:
        with pytest.raises(DefinitionError) as caught:
            self.load(project, own)
        return list(caught.value.findings)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def test_without_files_the_defaults_hold(tmp_path: Path) -> None:
    found = settings.load_settings(str(tmp_path / "nowhere"), str(tmp_path / "no one"))
    assert found == settings.Settings()
    assert (found.claude_timeout, found.consultation_timeout) == (600, 300)
    assert (found.gate_poll_interval, found.max_gate_wait) == (30, 86400)
    assert (found.idle, found.check, found.back_off, found.max_running) == (0, 600, 1.0, 4)
    assert found.trusted is False
    assert found.origin("timeouts.check") == "default"


@pytest.mark.req("P-147")
def test_a_waiting_runner_looks_at_least_as_often_as_the_settings_ask() -> None:
    assert DriveManner().poll_s <= settings.Settings().gate_poll_interval == 30


def test_the_project_wins_over_ones_own_key_by_key(places: Places) -> None:
    found = places.load(
        project='[commands]\ntest = "pytest"\n\n[timeouts]\ncheck = 5\n',
        own='[commands]\nlint = "ruff"\ntest = "tox"\n\n[timeouts]\ncheck = 7\nidle = 1.5\n',
    )
    assert found.commands == {"lint": "ruff", "test": "pytest"}
    assert (found.check, found.idle) == (5, 1.5)
    assert found.origin("commands.test") == "codev/config.toml:2"
    assert found.origin("timeouts.check") == "codev/config.toml:5"
    assert found.origin("timeouts.idle") == f"{places.own}/config.toml:7"


def test_every_key_is_taken(places: Places) -> None:
    found = places.load(
        own="""
[commands]
build = "make"
"odd.name" = "true"
[timeouts]
claude_timeout = 1
consultation_timeout = 2
gate_poll_interval = 3
max_gate_wait = 4
idle = 0
check = 6
first_check = 7
[checks]
env = ["DATABASE_URL"]
[agent]
name = "scripted"
trusted = true
max_running = 2
back_off = 0
nonce = true
[track]
fix_issues = true
coalesce = "last-task"
unattended = "deny"
[budget]
max_usd = 1.5
max_tokens = 1000
max_turns = 7
max_minutes = 30
[panel]
models = ["gemini"]
[knowledge]
paths = ["docs", "notes"]
[review]
agents = ["gemini", "claude"]
max_rounds = 3
[notify]
desktop = true
webhook = "$HOOK"
command = ["tell-me"]
[finish]
pull_request = ["tick"]
[run]
protocol = "tick"
[af]
max_runs = 8
repositories = ["~/shop"]
[worktree]
setup = ["npm ci"]
copy = [".env"]
link = ["node_modules"]
share_readers = true
"""
    )
    assert found.commands == {"build": "make", "odd.name": "true"}
    assert (found.claude_timeout, found.consultation_timeout) == (1, 2)
    assert (found.gate_poll_interval, found.max_gate_wait, found.check) == (3, 4, 6)
    assert (found.agent, found.trusted, found.max_running, found.back_off) == (
        "scripted",
        True,
        2,
        0,
    )
    assert (found.models, found.setup) == (("gemini",), ("npm ci",))
    assert found.check_env == ("DATABASE_URL",)
    assert (found.copy, found.link) == ((".env",), ("node_modules",))
    assert (found.max_runs, found.repositories) == (8, ("~/shop",))
    assert found.pull_request_protocols == ("tick",)
    assert found.protocol == "tick"
    assert {key for key, _, origin in found.rows() if origin == "default"} == set()


def test_keys_of_worktrees_are_kept_and_there_is_nothing_to_say_about_them(places: Places) -> None:
    found = places.load('[worktree]\nsetup = ["npm ci"]\ncopy = [".env"]\nlink = ["m"]\n')
    assert (found.setup, found.copy, found.link) == (("npm ci",), (".env",), ("m",))
    assert found.notes == ()


def test_a_project_cannot_call_itself_trusted(places: Places) -> None:
    found = places.load("[agent]\ntrusted = true\n")
    assert found.trusted is False
    (note,) = found.notes
    assert note.severity == "warning"
    assert "only in your own settings" in note.message
    assert places.load(own="[agent]\ntrusted = true\n").trusted is True


def test_all_faults_of_both_files_are_told_with_their_lines(places: Places) -> None:
    found = places.faults(
        project='[comands]\nbuild = "make"\n\n[timeouts]\nchek = 5\nidle = "long"\n',
        own="[agent]\nmax_running = 0\n",
    )
    mine = f"{places.own}/config.toml"
    assert [(each.code, each.place, each.fix) for each in found] == [
        ("wrong-type", Place(mine, 2, 1), "write, for example, `max_running = 4`"),
        ("unknown-key", Place("codev/config.toml", 1, 1), "did you mean 'commands'?"),
        ("unknown-key", Place("codev/config.toml", 5, 1), "did you mean 'check'?"),
        ("wrong-type", Place("codev/config.toml", 6, 1), "write, for example, `idle = 600`"),
    ]
    assert found[0].message == "'max_running' must be a whole number of at least 1, not 0"


@pytest.mark.parametrize(
    "text",
    [
        "commands = 1",
        "[commands]\nbuild = 1",
        '[commands]\nbuild = " "',
        "[timeouts]\ncheck = 0",
        "[timeouts]\ncheck = true",
        "[timeouts]\ncheck = inf",
        "[timeouts]\nidle = -1",
        "[agent]\ntrusted = 1",
        "[agent]\nname = []",
        "[agent]\nmax_running = 1.5",
        "[agent]\nmax_running = true",
        '[panel]\nmodels = "gemini"',
        "[panel]\nmodels = [1]",
        '[agents.x]\nkind = ["claude"]',
        "[agents.x]\nkind = 5",
    ],
)
def test_a_value_of_the_wrong_type_is_a_finding(places: Places, text: str) -> None:
    (found,) = places.faults(text)
    assert found.code == "wrong-type"
    assert found.place is not None
    assert found.place.line == text.count("\n") + 1
    # What is suggested can be read.
    line = re.search(r"`(.*)`", found.fix)
    if line:
        places.load(f"{text.rpartition(chr(10))[0]}\n{line[1]}\n")


def test_a_key_that_resembles_nothing_gets_the_list(places: Places) -> None:
    (found,) = places.faults("[panel]\nzzz = 1\n")
    assert found.fix == "known keys: models"


@pytest.mark.parametrize(
    "text",
    [
        "timeouts.check = 5",
        "# [timeouts]\n  timeouts . 'check'  = 5",
        "timeouts = { check = 5 }",
        "\n[ timeouts ] # here\n\ncheck = 5",
    ],
)
def test_a_line_is_found_however_the_key_is_written(places: Places, text: str) -> None:
    found = places.load(text)
    assert found.check == 5
    assert found.origin("timeouts.check") == f"codev/config.toml:{text.count(chr(10)) + 1}"


def test_broken_toml_is_a_finding_with_its_place(places: Places) -> None:
    (found,) = places.faults("[commands]\nbuild = \n")
    assert (found.code, found.place) == ("toml-syntax", Place("codev/config.toml", 2, 9))
    assert found.fix == "fix this line"
    (found,) = places.faults('a = """')
    assert (found.code, found.place) == ("toml-syntax", Place("codev/config.toml"))
    assert "end of the file" in found.fix
    (found,) = places.faults("a = " + "[" * 5000)
    assert found.code == "toml-syntax"


def test_a_file_that_is_not_text_is_a_finding(places: Places) -> None:
    places.write()
    (places.root / "codev" / "config.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(DefinitionError) as caught:
        settings.load_settings(str(places.root), str(places.own))
    assert caught.value.findings[0].code == "not-text"


def test_a_file_that_cannot_be_read_is_nobodys_default(places: Places) -> None:
    (places.root / "codev" / "config.toml").mkdir()
    with pytest.raises(OutsideError, match="cannot be read"):
        settings.load_settings(str(places.root), str(places.own))


def test_rows_show_key_value_and_origin(places: Places) -> None:
    rows = places.load('[commands]\ntest = "pytest -q"\n').rows()
    assert rows[0] == ("commands.test", '"pytest -q"', "codev/config.toml:2")
    assert ("timeouts.claude_timeout", "600", "default") in rows
    assert ("agent.trusted", "false", "default") in rows
    assert ("panel.models", "[]", "default") in rows
    assert len(rows) == 1 + len(KEYS)


def test_ones_own_settings_lie_where_the_desktop_says(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings.user_directory({"XDG_CONFIG_HOME": "/x"}) == "/x/porch"
    assert settings.user_directory({"HOME": "/h"}) == "/h/.config/porch"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(places.own))
    (places.own / "porch").mkdir()
    (places.own / "porch" / "config.toml").write_text("[timeouts]\ncheck = 9\n")
    assert settings.load_settings(str(places.root)).check == 9


def test_a_file_of_the_project_is_never_ones_own_also_without_a_home(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (".config/porch", "porch"):
        (places.root / name).mkdir(parents=True)
        (places.root / name / "config.toml").write_text("[agent]\ntrusted = true\n")
    monkeypatch.chdir(places.root)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("HOME")
    assert not settings.load_settings(str(places.root)).trusted
    monkeypatch.setenv("HOME", "")
    assert not settings.load_settings(str(places.root)).trusted
    monkeypatch.setenv("XDG_CONFIG_HOME", ".")
    assert not settings.load_settings(str(places.root)).trusted


def test_the_reference_page_names_every_key_with_its_default() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
    text = page.read_text()
    for key, value, _ in settings.Settings().rows():
        section, _, name = key.partition(".")
        assert f"| `[{section}]` | `{name}` | `{value}` |" in text
    assert settings.PROJECT_FILE in text


def test_agents_roles_and_phases_have_tables_of_their_own(places: Places) -> None:
    found = places.load(
        """
[agents.opus]
kind = "claude"
model = "opus"
usd_per_million = [3, 0.3, 15.0]
[agents.mine]
command = ["my-agent", "--prompt-file", "{prompt_file}"]
env = ["MY_*"]
[roles.builder]
agent = "opus"
timeout = 1200
[phases.implement]
permissions = ["write:src/**", "bash:make *"]
max_usd = 5
"""
    )
    assert found.agents["opus"] == {
        "kind": "claude",
        "model": "opus",
        "usd_per_million": (3, 0.3, 15.0),
    }
    assert found.agents["mine"]["command"] == ("my-agent", "--prompt-file", "{prompt_file}")
    assert found.roles == {"builder": {"agent": "opus", "timeout": 1200}}
    assert found.phases["implement"]["max_usd"] == 5
    assert found.origin("agents.opus.model") == "codev/config.toml:4"
    assert ("phases.implement.max_usd", "5", "codev/config.toml:14") in found.rows()


@pytest.mark.parametrize(
    "text, said",
    [
        ('[agents.x]\nkind = "copilot"', "'kind' must be one of claude, codex"),
        ("[agents.x]\nmodle = 'm'", "did you mean 'model'?"),
        ("[agents]\nx = 3", "'x' must be a table [agents.NAME]"),
        ('[agents."a b"]\nmodel = "m"', "'a b' must be a table"),
        ("[agents.x]\nusd_per_million = [1, 2]", "three prices"),
        ('[phases.p]\npermissions = ["write:../x"]', "'permissions' must be a list of write:"),
        ("[roles.r]\nmax_usd = 3", "'max_usd' is not a known key of [roles.r]"),
        ("[budget]\nmax_usd = 0", "a number, more than 0"),
    ],
)
def test_what_is_wrong_in_such_a_table_is_said(places: Places, text: str, said: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        places.load(f"{text}\n")
    assert said in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        '[agents.x]\nenv = ["*"]',
        '[roles.reviewer]\nagent = "codex"',
        '[roles.reviewer]\npermissions = ["write:**"]',
    ],
)
def test_what_a_project_cannot_say_is_told_and_not_taken(places: Places, text: str) -> None:
    found = places.load(f"{text}\n")
    assert [note.code for note in found.notes] == ["no-meaning"]
    assert not any(found.agents.values())
    assert not any(found.roles.values())


@pytest.mark.parametrize(
    "text", ['[agents.x]\nkind = "claude"\ncommand = ["a"]', "[phases.p]\npermissions = []"]
)
def test_what_could_not_be_obeyed_is_refused(places: Places, text: str) -> None:
    with pytest.raises(DefinitionError):
        places.load(f"{text}\n")
