"""`codev init` and `codev adopt`: a usable project, and not one byte of anybody's overwritten."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from porch.cli.dispatch import run_words
from porch.run.settings import load_settings
from tests.cli.conftest import Terminal
from tests.repositories import make_repository, sh

CODEV = (sys.executable, "-c", "from porch.cli.dispatch import codev; exit(codev())")
HOOK = ".claude/hooks/porch-notify.sh"
# All that earlier releases wrote without being asked.
ALL = ("--with", "claude,claude-commands,envoy,agents-md,protocols")


class Newcomer:
    """Somebody who types `codev` in a directory of theirs."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]):
        self.root = root
        self._capsys = capsys

    def codev(self, *words: str, code: int = 0) -> str:
        self._capsys.readouterr()
        left = run_words("codev", list(words))
        out, err = self._capsys.readouterr()
        assert left == code, out + err
        return out + err

    def porch(self, *words: str, code: int = 0) -> str:
        left = run_words("porch", list(words))
        out, err = self._capsys.readouterr()
        assert left == code, out + err
        return out + err

    def files(self) -> dict[str, bytes]:
        found = (path for path in self.root.rglob("*") if path.is_file())
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in found
            if ".git" not in path.relative_to(self.root).parts
        }


@pytest.fixture
def empty(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Newcomer:
    root = tmp_path / "empty"
    root.mkdir()
    monkeypatch.chdir(root)
    return Newcomer(root, capsys)


@pytest.fixture
def old(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Newcomer:
    """A project with files of its own wherever porch would like to write."""
    files = {
        "Makefile": "test:\n\ttrue\n",
        "AGENTS.md": "# Mine\n",
        "codev/config.toml": '[commands]\nbuild = "true"\n',
        "codev/protocols/spider/protocol.md": "# Our own way\n",
        ".claude/settings.json": '{"model": "opus"}\n',
        ".claude/commands/plan.md": "mine\n",
    }
    root = make_repository(tmp_path / "old", files)
    monkeypatch.chdir(root)
    return Newcomer(root, capsys)


@pytest.mark.req("P-050")
def test_an_empty_directory_becomes_a_project_in_which_porch_runs(empty: Newcomer) -> None:
    said = empty.codev("init", "--yes")
    assert "made a git repository" in said
    assert "first commit, by Ann" in said
    assert sh(empty.root, "status", "--porcelain") == ""
    (empty.root / "codev" / "config.toml").write_text('[commands]\ntest = "true"\n')
    sh(empty.root, "commit", "-qam", "a command")
    told = empty.porch("run", "spider", "0001", "--title", "kettle", "--no-claude", code=3)
    assert "specify_approval" in told


def test_little_is_written_and_each_file_is_listed(empty: Newcomer) -> None:
    (empty.root / "Makefile").write_text("test:\n\ttrue\n")
    said = empty.codev("init", "--yes")
    written = sorted(set(empty.files()) - {"Makefile"})
    assert len(written) <= 12
    assert "codev/config.toml" in written
    assert [path for path in written if f"new         {path}\n" not in said] == []
    assert {path.split("/")[0] for path in written} == {"codev"}
    found = said.partition("new  ")[0].splitlines()
    assert len(found) <= 5, "what it found fits five lines"
    assert said.endswith('next: codev doctor\nthen: porch run "what you want"\n')


@pytest.mark.req("P-006")
def test_the_default_protocol_can_be_followed_without_any_tool(empty: Newcomer, home: Path) -> None:
    own = home / ".config" / "porch" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[run]\nprotocol = "tick"\n')
    empty.codev("init", "--yes")
    there = empty.root / "codev" / "protocols"
    assert [path.name for path in there.iterdir()] == ["tick"]
    assert "What happens, in order" in (there / "tick" / "protocol.md").read_text()
    assert "new  codev/protocols/bugfix/protocol.md" in empty.porch("protocols", "copy", "bugfix")
    assert (there / "bugfix" / "protocol.md").read_text().startswith("# BUGFIX\n")


@pytest.mark.req("P-006")
def test_every_protocol_can_be_followed_without_any_tool(empty: Newcomer) -> None:
    empty.codev("init", "--yes", "--with", "protocols")
    there = empty.root / "codev" / "protocols"
    names = sorted(path.name for path in there.iterdir())
    assert names == ["bugfix", "change", "spider", "tick", "v3"]
    for name in names:
        guide = (there / name / "protocol.md").read_text()
        assert guide.startswith(f"# {name.upper()}\n")
        assert "What happens, in order" in guide
    assert (there / "spider" / "templates" / "spec.md").exists()
    assert (there / "spider" / "prompts" / "specify.md").exists()


@pytest.mark.req("P-047", "P-046")
def test_the_hook_is_registered_and_tells_of_an_open_gate(empty: Newcomer) -> None:
    empty.codev("init", "--yes", "--with", "claude")
    settings = json.loads((empty.root / ".claude" / "settings.json").read_text())
    (group,) = settings["hooks"]["UserPromptSubmit"]
    command = group["hooks"][0]["command"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environ = {**os.environ, "CLAUDE_PROJECT_DIR": str(empty.root), "PATH": path}

    def call(**more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", command], cwd="/", env={**environ, **more}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    assert (call().returncode, call().stdout) == (0, "")
    (empty.root / "codev" / "config.toml").write_text('[commands]\ntest = "true"\n')
    sh(empty.root, "commit", "-qam", "a command")
    empty.porch("run", "spider", "0001", "--title", "kettle", "--no-claude", code=3)
    assert call().stdout == "Gate pending: 0001 specify_approval\n"
    # Exit code 2 would hold the prompt back; nothing that is wrong here may do that.
    assert call(PATH="/bin:/usr/bin").returncode == 0
    assert call(CLAUDE_PROJECT_DIR="/nowhere", PATH=path).returncode in (0, 127)


def test_outside_git_it_is_said_what_to_do(empty: Newcomer) -> None:
    said = empty.codev("init", code=2)
    assert "not a git repository" in said
    assert "`codev init --yes`" in said
    assert "git init" in empty.codev("adopt", code=2)
    assert empty.files() == {}


@pytest.mark.parametrize("leftover", ["directory", "file"])
def test_a_leftover_that_is_no_repository_is_refused_before_anything_is_written(
    empty: Newcomer, leftover: str
) -> None:
    git = empty.root / ".git"
    git.mkdir() if leftover == "directory" else git.write_text("gitdir: /nowhere/at/all\n")
    before = empty.files()
    for command in ("init", "adopt"):
        said = empty.codev(command, "--yes", code=2)
        assert "but it is not a git repository" in said
        assert "mv .git old.git" in said
    assert empty.files() == before
    git.rename(empty.root / "old.git")
    empty.codev("init", "--yes")


def test_nobody_is_told_to_move_away_a_repository_that_git_refuses(
    old: Newcomer, command: Callable[[str, str], Path]
) -> None:
    refusal = "echo fatal: detected dubious ownership >&2; exit 128"
    real = shutil.which("git")
    command("git", f'case "$*" in *--git-dir*) {refusal} ;; esac\nexec {real} "$@"')
    said = old.codev("adopt", "--yes", code=6)
    assert "dubious ownership" in said
    assert "mv .git" not in said


def test_what_was_found_is_said_with_its_file_and_written(empty: Newcomer) -> None:
    (empty.root / "package.json").write_text('{"scripts": {"test": "vitest run"}}')
    said = empty.codev("init", "--yes")
    assert "language    JavaScript (package.json)" in said
    assert "npm run test   (found in package.json)" in said
    assert load_settings(str(empty.root)).commands == {"test": "npm run test"}
    assert "# test: from package.json\n" in (empty.root / "codev/config.toml").read_text()


def test_a_command_with_any_characters_is_written_as_it_is(empty: Newcomer) -> None:
    (empty.root / "justfile").write_text("test:\n  true\n")
    empty.codev("init", "--yes")
    assert load_settings(str(empty.root)).commands == {"test": "just test"}


def test_the_second_time_changes_nothing(empty: Newcomer) -> None:
    empty.codev("init", "--yes")
    before, head = empty.files(), sh(empty.root, "rev-parse", "HEAD")
    assert "nothing was changed" in empty.codev("init", "--yes")
    assert "nothing was changed" in empty.codev("adopt", "--yes")
    assert (empty.files(), sh(empty.root, "rev-parse", "HEAD")) == (before, head)


@pytest.mark.req("P-051")
def test_an_existing_project_keeps_every_byte_of_its_own(old: Newcomer) -> None:
    before = old.files()
    said = old.codev("adopt", "--yes", *ALL)
    after = old.files()
    for path in ("codev/config.toml", "codev/protocols/spider/protocol.md",
                 ".claude/commands/plan.md", "Makefile"):  # fmt: skip
        assert after[path] == before[path]
    assert after["AGENTS.md"].startswith(b"# Mine\n\n<!-- porch: begin -->\n")
    assert json.loads(after[".claude/settings.json"])["model"] == "opus"
    assert after[HOOK].startswith(b"#!/bin/sh")
    assert os.access(old.root / HOOK, os.X_OK)
    assert "left alone  .claude/commands/plan.md" in said
    assert "codev/config.toml has no test command; Makefile has: make test" in said
    # A protocol of the project's own gets no files of ours beside its own.
    assert [p for p in after if p.startswith("codev/protocols/spider/")] == [
        "codev/protocols/spider/protocol.md"
    ]
    assert "left alone  codev/protocols/spider: it is not the packaged one" in said
    assert "codev/protocols/tick/protocol.json" in after
    assert re.search(r"git add \.claude (\.mcp\.json )?AGENTS\.md codev && git commit", said)
    assert sh(old.root, "log", "--format=%s") == "first"


def test_a_dry_run_lists_what_would_be_written_and_writes_nothing(old: Newcomer) -> None:
    before = old.files()
    said = old.codev("adopt", "--dry-run", *ALL)
    assert f"new         {HOOK}" in said
    assert "added to    AGENTS.md" in said
    assert old.files() == before
    told = json.loads(old.codev("adopt", "--dry-run", "--json"))
    fates = {each["path"]: each["fate"] for each in told["files"]}
    assert fates["codev/config.toml"] == "kept"


def test_without_a_yes_an_agent_gets_no_permissions(old: Newcomer) -> None:
    said = old.codev("adopt", "--with", "envoy", "--as-person")
    assert "codev adopt --with envoy --yes" in said
    assert "permissions" not in json.loads((old.root / ".claude/settings.json").read_text())
    old.codev("adopt", "--with", "envoy", "--yes")
    assert "permissions" in json.loads((old.root / ".claude/settings.json").read_text())


def test_an_agent_cannot_say_yes(old: Newcomer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "not-a-person" in old.codev("adopt", "--yes", code=2)


def test_a_settings_file_that_is_no_json_is_left_alone_and_named(old: Newcomer) -> None:
    (old.root / ".claude" / "settings.json").write_text("{")
    said = old.codev("adopt", "--yes", "--with", "hooks")
    assert "left alone  .claude/settings.json: .claude/settings.json is not JSON" in said
    assert (old.root / ".claude" / "settings.json").read_text() == "{"


def test_no_link_leads_a_file_out_of_the_project(old: Newcomer, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (old.root / ".claude" / "hooks").symlink_to(tmp_path / "elsewhere")
    assert "outside-the-project" in old.codev("adopt", "--yes", "--with", "hooks", code=5)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_page_for_agents_that_is_a_link_to_another_page_gets_the_section_there(
    old: Newcomer,
) -> None:
    (old.root / "CLAUDE.md").write_text("# Ours\n")
    (old.root / "AGENTS.md").unlink(missing_ok=True)
    (old.root / "AGENTS.md").symlink_to("CLAUDE.md")
    said = old.codev("adopt", "--yes", "--with", "agents-md")
    assert "added to    CLAUDE.md" in said
    assert "git add CLAUDE.md" in said
    assert (old.root / "AGENTS.md").is_symlink()
    assert (old.root / "CLAUDE.md").read_text().startswith("# Ours\n\n<!-- porch: begin -->")
    assert "to    CLAUDE.md" not in old.codev("adopt", "--yes", "--with", "agents-md")


def test_a_page_for_agents_that_leads_out_of_the_project_is_refused(
    old: Newcomer, tmp_path: Path
) -> None:
    (tmp_path / "page.md").write_text("theirs\n")
    (old.root / "AGENTS.md").unlink(missing_ok=True)
    (old.root / "AGENTS.md").symlink_to(tmp_path / "page.md")
    assert "not-a-regular-file" in old.codev("adopt", "--yes", "--with", "agents-md", code=5)
    assert (tmp_path / "page.md").read_text() == "theirs\n"


def test_a_file_in_the_place_of_a_directory_is_named(old: Newcomer) -> None:
    (old.root / ".claude" / "agents").write_text("")
    assert ".claude/agents is a file" in old.codev("adopt", "--yes", "--with", "envoy", code=6)


def test_a_full_disk_leaves_no_half_file(old: Newcomer, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", full)
    before = set(old.files())
    assert "the disk is full" in old.codev("adopt", "--yes", *ALL, code=6)
    assert set(old.files()) == before


@pytest.mark.req("P-207")
def test_an_agent_that_meets_an_old_project_is_told_the_steps(empty: Newcomer) -> None:
    empty.codev("init", "--yes", "--with", "claude,agents-md")
    for path in ("AGENTS.md", ".claude/skills/porch/SKILL.md"):
        text = (empty.root / path).read_text()
        for word in (".builders/", "codev/specs/NNNN-*.md", "codev migrate --dry-run",
                     "codev/projects/NNNN-name/", "status", "verified"):  # fmt: skip
            assert word in text, (path, word)


def test_on_a_terminal_little_is_asked(empty: Newcomer) -> None:
    (empty.root / ".claude").mkdir()
    terminal = Terminal((*CODEV, "init"), empty.root, columns=120)
    try:
        terminal.until("Make one? [y/N]")
        terminal.type("y\r")
        terminal.until("The command that runs all tests [none found]:")
        terminal.type("true\r")
        terminal.until("Add claude: a skill")
        terminal.type("\r")
        terminal.until("Add envoy: the steps")
        terminal.type("y\r")
        terminal.until("without asking? [Y/n]")
        terminal.type("n\r")
        terminal.until("as the first one? [Y/n]")
        terminal.type("\r")
        terminal.until("next: codev doctor")
        assert terminal.leave() == 0
    finally:
        terminal.close()
    assert load_settings(str(empty.root)).commands == {"test": "true"}
    assert (empty.root / ".claude/agents/backend.md").exists()
    assert not (empty.root / ".claude/settings.json").exists()
    assert sh(empty.root, "log", "--format=%s") == "Set up codev"


def test_a_bare_repository_is_not_set_up(
    empty: Newcomer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sh(tmp_path, "init", "-q", "--bare", "bare.git")
    monkeypatch.chdir(tmp_path / "bare.git")
    assert "git worktree add" in empty.codev("init", "--yes", code=2)
    assert "bare-repository" in empty.codev("adopt", "--yes", code=2)
    assert not (tmp_path / "bare.git" / ".git").exists()


def test_settings_with_errors_are_left_alone_and_said(old: Newcomer) -> None:
    (old.root / "codev" / "config.toml").write_text("[agnet]\n")
    assert "`codev doctor` lists: 'agnet' is not a known key" in old.codev("adopt", "--yes")
    assert (old.root / "codev" / "config.toml").read_text() == "[agnet]\n"


def test_whoever_has_no_name_for_git_is_told(empty: Newcomer, home: Path) -> None:
    (home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    assert "git config user.name" in empty.codev("init", "--yes")


def test_from_below_the_top_the_top_is_set_up(
    old: Newcomer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (old.root / "deep").mkdir()
    monkeypatch.chdir(old.root / "deep")
    old.codev("adopt", "--yes", "--with", "hooks")
    assert (old.root / HOOK).exists()
    assert list((old.root / "deep").iterdir()) == []


def test_a_file_in_the_place_of_a_directory_is_named_itself(empty: Newcomer) -> None:
    (empty.root / "codev").write_text("mine")
    said = empty.codev("init", "--yes", code=6)
    assert "codev is a file, and a directory is needed there" in said


def test_a_mistyped_option_is_answered_with_the_help_of_its_own_command(empty: Newcomer) -> None:
    assert "see `codev init --help`" in empty.codev("init", "--bogus", code=2)
