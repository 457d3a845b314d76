"""`codev remove` takes back what porch wrote, byte for byte, and nothing that is anybody's."""

import base64
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from porch.cli.dispatch import run_words
from porch.fleet.setup import package_files
from porch.run.engine.session import lock_run
from porch.run.grants import add_grant
from porch.run.settings import user_directory
from tests.cli.conftest import Desk, Terminal
from tests.repositories import make_repository, sh

CODEV = (sys.executable, "-c", "from porch.cli.dispatch import codev; exit(codev())")
EVERYTHING = "claude,claude-commands,codex,envoy,hooks,agents-md,protocols"
ADD_ALL = ("init", "--yes", "--with", EVERYTHING, "--mcp", "claude")
SPIDER = package_files.load_protocol_copies("spider")
# Projects of several people, with files of their own wherever porch would like to write.
STARTS: dict[str, dict[str, str]] = {
    "nothing": {"a.txt": "one\n"},
    "pages": {"AGENTS.md": "# Mine, without an end of line", "CLAUDE.md": "# Ours\n"},
    "an-empty-page": {"AGENTS.md": "", ".mcp.json": "", ".claude/settings.json": "{}"},
    "own-settings": {
        ".claude/settings.json": '{"model":"opus",  "permissions":'
        '{"allow":["Bash(git status:*)"]}}',
        ".mcp.json": '{\t"mcpServers": {"x": {"command": "y", "args": ["é"]}}}',
        ".claude/commands/plan.md": "mine\n",
    },
    "own-protocols": {
        "codev/config.toml": '[commands]\ntest = "true"\n',
        "codev/protocols/spider/protocol.md": "# Our own way\n",
        "codev/protocols/mine/protocol.json": "{}",
        ".claude/agents/backend.md": "mine\n",
    },
    "a-copy-of-ones-own": {path: data.decode() for path, data in SPIDER.items()},
    "settings-that-cannot-be-read": {".claude/settings.json": "{", ".mcp.json": "[]"},
}


class Place:
    """A project, and a person who types `codev` in it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]):
        self.root = root
        self._capsys = capsys

    def codev(self, *words: str, code: int = 0) -> str:
        self._capsys.readouterr()
        left = run_words("codev", list(words))
        out, err = self._capsys.readouterr()
        assert left == code, out + err
        return out + err

    def content(self) -> dict[str, bytes]:
        """Every file and directory, also empty ones."""
        found = (p for p in self.root.rglob("*") if ".git" not in p.relative_to(self.root).parts)
        return {str(p.relative_to(self.root)): b"" if p.is_dir() else p.read_bytes() for p in found}

    @property
    def record(self) -> Path:
        return self.root / ".git" / "porch" / "setup.json"


@pytest.fixture
def place(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], Place]:
    def make(start: str) -> Place:
        root = make_repository(tmp_path / start, STARTS[start])
        monkeypatch.chdir(root)
        return Place(root, capsys)

    return make


@pytest.mark.parametrize("start", STARTS)
def test_with_everything_added_and_removed_the_tree_is_as_it_was(
    place: Callable[[str], Place], start: str
) -> None:
    project = place(start)
    (project.root / "empty").mkdir()
    before = project.content()
    project.codev(*ADD_ALL)
    project.codev("adopt", "--yes", "--with", EVERYTHING)
    assert len(project.content()) > len(before) + 30
    project.codev("remove", "--yes")
    assert project.content() == before
    assert not project.record.exists()


@pytest.mark.parametrize("start", ["nothing", "pages", "own-settings"])
def test_what_was_added_in_several_calls_goes_in_one(
    place: Callable[[str], Place], start: str
) -> None:
    project = place(start)
    before = project.content()
    for names in ("hooks", "agents-md", "envoy", "claude,protocols"):
        project.codev("adopt", "--yes", "--with", names)
    run_words("porch", ["protocols", "copy", "debugging"])
    project.codev("remove", "--yes")
    assert project.content() == before


def test_files_that_people_changed_stay_and_are_named(place: Callable[[str], Place]) -> None:
    project = place("own-settings")
    project.codev(*ADD_ALL)
    config = project.root / "codev/config.toml"
    config.write_text(config.read_text() + "# mine\n")
    page = project.root / "AGENTS.md"
    page.write_text(f"# Ours\n\n{page.read_text()}\nMore of ours.\n")
    settings = project.root / ".claude/settings.json"
    document = json.loads(settings.read_text())
    document["permissions"]["allow"].append("Bash(ls:*)")
    settings.write_text(json.dumps(document))
    said = project.codev("remove", "--yes")
    assert "left alone  codev/config.toml: it was changed" in said
    assert config.exists()
    assert page.read_text() == "# Ours\n\nMore of ours.\n"
    assert json.loads(settings.read_text()) == {
        "model": "opus",
        "permissions": {"allow": ["Bash(git status:*)", "Bash(ls:*)"]},
    }


def test_entries_that_people_changed_stay(place: Callable[[str], Place]) -> None:
    project = place("nothing")
    project.codev("adopt", "--yes", "--with", "hooks,agents-md", "--mcp", "claude")
    server = {"command": "porch", "args": ["mcp", "--mine"]}
    (project.root / ".mcp.json").write_text(json.dumps({"mcpServers": {"porch": server}}))
    page = project.root / "AGENTS.md"
    page.write_text(page.read_text().replace("## Porch", "## Our porch"))
    said = project.codev("remove", "--yes")
    assert "left alone  AGENTS.md: its section of porch was changed" in said
    assert "## Our porch" in page.read_text()
    assert json.loads((project.root / ".mcp.json").read_text())["mcpServers"]["porch"] == server


def test_it_is_shown_first_and_without_a_yes_nothing_goes(place: Callable[[str], Place]) -> None:
    project = place("nothing")
    project.codev("init", "--yes")
    before = project.content()
    said = project.codev("remove", code=3)
    assert "remove      codev/protocols/spider/protocol.json" in said
    assert "to do it: codev remove --yes" in said
    assert json.loads(project.codev("remove", "--json", code=3))["done"] == []
    assert project.content() == before


def test_a_person_is_asked_on_a_terminal(place: Callable[[str], Place]) -> None:
    project = place("nothing")
    project.codev("init", "--yes")
    for answer, is_there in (("\r", True), ("y\r", False)):
        terminal = Terminal((*CODEV, "remove"), project.root, columns=200)
        try:
            terminal.until("remove      codev/config.toml")
            terminal.until("[y/N]")
            terminal.type(answer)
            terminal.until("nothing was removed" if is_there else "removed 12 files")
            assert terminal.leave() == 0
        finally:
            terminal.close()
        assert (project.root / "codev").exists() is is_there


def test_what_is_committed_is_to_be_committed_again(place: Callable[[str], Place]) -> None:
    project = place("nothing")
    project.codev("init", "--yes", "--with", "agents-md")
    sh(project.root, "add", "codev")
    sh(project.root, "commit", "-qm", "codev")
    said = project.codev("remove", "--yes")
    assert "now commit it: git add -A codev && git commit -m 'Remove codev'" in said
    assert "there is nothing to remove" in project.codev("remove", "--yes")


def test_of_a_project_that_an_earlier_release_set_up_what_is_packaged_goes(
    place: Callable[[str], Place],
) -> None:
    project = place("own-settings")
    before = project.content()
    project.codev(*ADD_ALL)
    project.record.unlink()
    (project.root / ".claude/agents/backend.md").write_text("ours by now\n")
    (project.root / "codev/protocols/spider/script.yaml").write_bytes(
        package_files.load_protocol_files()["codev/protocols/spider/script.yaml"]
    )
    said = project.codev("remove", "--yes")
    assert "left alone  .claude/agents/backend.md: it differs from the packaged file" in said
    assert "left alone  .claude/commands/plan.md: it differs" in said
    after = project.content()
    assert set(after) - set(before) == {".claude/agents", ".claude/agents/backend.md"}
    assert json.loads(after[".mcp.json"]) == json.loads(before[".mcp.json"])
    assert b"hooks" not in after[".claude/settings.json"]


def test_an_adopted_project_of_an_earlier_release_gets_nothing_twice(
    place: Callable[[str], Place],
) -> None:
    project = place("pages")
    project.codev(*ADD_ALL)
    project.record.unlink()
    before = project.content()
    project.codev("init", "--yes", "--with", EVERYTHING)
    project.codev("adopt", "--yes")
    assert project.content() == before
    assert not project.record.exists(), "nothing was written, so nothing is recorded"


def test_files_older_than_the_record_are_named_and_go_with_the_next_call(
    place: Callable[[str], Place],
) -> None:
    project = place("a-copy-of-ones-own")
    project.codev("init", "--yes", "--with", "hooks")
    assert f"{len(SPIDER)} files more: like packaged ones" in project.codev("remove", "--yes")
    assert (project.root / "codev/protocols/spider/protocol.json").exists()
    project.codev("remove", "--yes")
    assert not (project.root / "codev").exists()


def test_while_a_process_works_on_a_run_nothing_is_removed(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.begin({"id": "one"}, agents={"one": [{"signal": "BLOCKED", "reason": "x"}]})
    desk.porch("protocols", "copy", "tick")
    with lock_run(str(desk.run_dir()), "0001-x", "porch run", 1.0):
        assert run_words("codev", ["remove", "--yes"]) == 4
    assert "fix: stop it first: porch stop 0001-x" in capsys.readouterr().err
    assert (desk.root / "codev/protocols/tick/protocol.json").exists()
    assert run_words("codev", ["remove", "--yes"]) == 0
    said = capsys.readouterr().out
    assert "left alone  0001-x, a run that has not ended" in said
    assert "without these settings it may fail" in said
    assert not (desk.root / "codev/protocols/tick").exists()
    assert (desk.root / "codev/projects").exists()


def test_what_stays_is_listed_with_how_it_goes_also_the_second_time(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.begin({"id": "one"}, agents={"one": [{"signal": "BLOCKED", "reason": "x"}]})
    digest = "a" * 32
    add_grant(user_directory(os.environ), digest, str(desk.root / "codev/config.toml"), "ann")
    desk.porch("protocols", "copy", "tick")
    for _ in range(2):
        assert run_words("codev", ["remove", "--yes"]) == 0
        said = " ".join(capsys.readouterr().out.split())
        for told in (
            "what stays, and how it goes:",
            "documents of runs delete codev/projects",
            "worktrees and branches of runs af cleanup ID, for each run of `af status`",
            "files that runs merged they are yours; git log shows them",
            "the state of porch in .git/porch last of all: rm -r .git/porch",
            "lines in .git/info/exclude delete /codev/projects/*/status*.yaml*",
            f"your trust in codev/config.toml porch trust --revoke {digest}",
        ):
            assert told in said, said
    assert "there is nothing to remove" in said


def test_a_project_without_runs_is_not_told_of_what_they_leave(
    place: Callable[[str], Place],
) -> None:
    project = place("nothing")
    project.codev("init", "--yes")
    assert "runs" not in project.codev("remove", "--yes")


def tamper(project: Place, path: str, **entry: Any) -> None:
    """What an agent that can write there may do to the record."""
    record = json.loads(project.record.read_text())
    record["files"][path] = entry
    project.record.write_text(json.dumps(record))


def digest(path: Path) -> str:
    from porch.fleet.setup.additions import hash_content

    return hash_content(path.read_bytes())


@pytest.mark.parametrize(
    "path",
    ["../victim.txt", "a.txt", "/etc/hostname", ".git/config", "codev/../a.txt", ".claude/x"],
)
def test_a_record_cannot_name_files_that_porch_does_not_write(
    place: Callable[[str], Place], tmp_path: Path, path: str
) -> None:
    (tmp_path / "victim.txt").write_text("theirs\n")
    project = place("nothing")
    project.codev("init", "--yes")
    before = project.content()
    tamper(project, path, digest=digest(project.root / path) if "x" not in path else "0")
    said = project.codev("remove", "--yes", code=5)
    assert "setup-record" in said
    assert (tmp_path / "victim.txt").exists()
    assert project.content() == before
    project.record.unlink()
    project.codev("remove", "--yes")
    assert "codev" not in project.content()


def test_a_record_cannot_name_directories_elsewhere(place: Callable[[str], Place]) -> None:
    project = place("nothing")
    project.codev("init", "--yes")
    (project.root / "empty").mkdir()
    record = json.loads(project.record.read_text())
    project.record.write_text(json.dumps({**record, "directories": ["empty"]}))
    assert "setup-record" in project.codev("remove", "--yes", code=5)
    assert (project.root / "empty").exists()


def test_a_record_cannot_make_porch_remove_what_people_wrote_beside_its_files(
    place: Callable[[str], Place],
) -> None:
    project = place("own-settings")
    project.codev("init", "--yes", "--with", "hooks,envoy")
    mine = project.root / ".claude/agents/mine.md"
    mine.write_text("mine\n")
    tamper(project, ".claude/agents/mine.md", digest=digest(mine))
    settings = project.root / ".claude/settings.json"
    evil = base64.b64encode(b'{"hooks": {"Stop": [{"hooks": [{"command": "evil"}]}]}}').decode()
    tamper(project, ".claude/settings.json", digest=digest(settings), before=evil)
    said = project.codev("remove", "--yes")
    assert "left alone  .claude/agents/mine.md: this release of porch has no such file" in said
    assert mine.read_text() == "mine\n"
    assert "evil" not in settings.read_text()
    assert json.loads(settings.read_text())["model"] == "opus"


def test_no_link_is_followed(place: Callable[[str], Place], tmp_path: Path) -> None:
    project = place("nothing")
    project.codev("init", "--yes", "--with", "hooks")
    spider, hooks = project.root / "codev/protocols/spider", project.root / ".claude/hooks"
    for directory, name in ((spider, "spider"), (hooks, "hooks")):
        directory.rename(tmp_path / name)
        directory.symlink_to(tmp_path / name)
    config = project.root / "codev/config.toml"
    config.rename(tmp_path / "config.toml")
    config.symlink_to(tmp_path / "config.toml")
    said = project.codev("remove", "--yes")
    assert "left alone  codev/config.toml: it is a link" in said
    assert "left alone  .claude/hooks/porch-notify.sh: it lies behind a link" in said
    assert (tmp_path / "config.toml").exists()
    assert (tmp_path / "hooks" / "porch-notify.sh").exists()
    assert len([p for p in (tmp_path / "spider").rglob("*") if p.is_file()]) == len(SPIDER)


def test_a_file_that_changes_between_the_question_and_the_answer_stays(
    place: Callable[[str], Place],
) -> None:
    from porch.fleet.setup.removal import carry_out_removal, plan_removal

    project = place("pages")
    project.codev("init", "--yes", "--with", "agents-md")
    plan = plan_removal(str(project.root))
    (project.root / "codev/config.toml").write_text("# mine\n")
    (project.root / "AGENTS.md").unlink()
    left = carry_out_removal(str(project.root), plan)
    assert [each.path for each in left] == ["codev/config.toml", "AGENTS.md"]
    assert (project.root / "codev/config.toml").read_text() == "# mine\n"


def test_a_record_that_is_none_is_said_with_what_to_do(place: Callable[[str], Place]) -> None:
    project = place("nothing")
    project.codev("init", "--yes")
    project.record.write_text("{")
    said = project.codev("remove", "--yes", code=5)
    assert f"rm {project.record}" in said


def test_what_porch_wrote_for_codex_is_of_all_projects_and_stays(
    place: Callable[[str], Place], home: Path
) -> None:
    project = place("nothing")
    project.codev("init", "--yes", "--mcp", "codex")
    said = project.codev("remove", "--yes")
    assert f"left alone  {home}/.codex/config.toml: [mcp_servers.porch] is for all" in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_file_that_cannot_be_removed_is_named(place: Callable[[str], Place]) -> None:
    project = place("nothing")
    project.codev("init", "--yes")
    directory = project.root / "codev/protocols/spider/prompts"
    directory.chmod(0o555)
    try:
        said = project.codev("remove", "--yes")
    finally:
        directory.chmod(0o755)
    assert "it changed meanwhile, or cannot be written" in said
