"""`codev doctor`: what is broken is named with its fix, and the exit code says if porch can run."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.cli.dispatch import run_words as run_command
from porch.git import repository
from tests import commands
from tests.trust import trust_settings

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

Put = Callable[[str, str], Path]
Doctor = Callable[..., dict[str, Any]]


@pytest.fixture
def claude(command: Put, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default agent is here, and so are a key for it and another reviewer."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-value-that-is-nobodys-business")
    command("codex", "echo 'codex-cli 9.9.9'")
    return command("claude", "echo '9.9.9 (Claude Code)'")


@pytest.fixture
def doctor(desk: "Desk", claude: Path, capsys: pytest.CaptureFixture[str]) -> Doctor:
    def examine(*words: str, code: int = 0) -> dict[str, Any]:
        capsys.readouterr()
        left = run_command("codev", ["doctor", "--json", *words])
        out, err = capsys.readouterr()
        assert left == code, out + err
        told = json.loads(out)
        assert told["can_run"] is (code == 0)
        found = {line["what"]: line for line in told["lines"]}
        found["closing"] = told["closing"]
        found["fixed"] = told["fixed"]
        return found

    return examine


def one(lines: dict[str, Any], word: str) -> dict[str, Any]:
    kept = {what: line for what, line in lines.items() if isinstance(line, dict)}
    (found,) = [line for what, line in kept.items() if word in what]
    assert isinstance(found, dict)
    assert found["status"] == "ok" or found["fix"], found
    return found


def codev(desk: "Desk", *words: str) -> subprocess.CompletedProcess[str]:
    return commands.run("codev", words, desk.root, os.environ)


@pytest.mark.req("P-052")
def test_a_sound_project_can_run_porch(doctor: Doctor) -> None:
    told = doctor()
    for word in ("Python", "git version", "is writable", "file locks", "codev/config.toml"):
        assert one(told, word)["status"] == "ok"
    assert one(told, "agent scripted")["status"] == "ok"
    assert told["closing"] == "porch can run here"


def test_a_look_at_the_project_leaves_nothing_in_it(desk: "Desk", doctor: Doctor) -> None:
    """But for what porch keeps beside its runs: how the commands went."""
    kept = desk.root / ".git" / "porch"

    def list_files() -> list[Path]:
        found = sorted(desk.root.rglob("*"))
        return [each for each in found if each != kept and kept not in each.parents]

    before = list_files()
    doctor()
    assert list_files() == before
    assert list(kept.glob("command-trials/*.json"))


@pytest.mark.req("P-052")
def test_without_git_porch_cannot_run(
    doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    told = doctor(code=6)
    assert told["git"]["status"] == told["node"]["status"] == "missing"
    assert told["git"]["fix"]


def test_an_old_git_is_a_warning(doctor: Doctor, command: Put) -> None:
    real = shutil.which("git")
    command(
        "git", f'case "$*" in *version*) echo git version 2.30.1 ;; *) exec {real} "$@" ;; esac'
    )
    assert one(doctor(), "git version 2.30.1")["status"] == "warning"


def test_a_git_that_fails_counts_as_none(doctor: Doctor, command: Put) -> None:
    command("git", "exit 1")
    assert doctor(code=6)["git"]["status"] == "missing"


def test_a_repository_that_git_refuses_stops_porch(doctor: Doctor, command: Put) -> None:
    """As git does with a repository of another user."""
    refusal = "echo fatal: detected dubious ownership >&2; exit 128"
    real = shutil.which("git")
    command("git", f'case "$*" in *--git-dir*) {refusal} ;; esac\nexec {real} "$@"')
    assert one(doctor(code=6), "dubious ownership")["stops"]


def test_a_place_that_cannot_be_written_stops_porch(desk: "Desk", doctor: Doctor) -> None:
    shutil.rmtree(desk.root / ".git")
    # In /proc not even root makes directories.
    (desk.root / ".git").symlink_to("/proc/self/fdinfo")
    told = doctor(code=6)
    assert one(told, "is not writable")["stops"]


def test_faults_of_the_settings_are_named_with_their_lines(desk: "Desk", doctor: Doctor) -> None:
    desk.write("codev/config.toml", '[agent]\nnmae = "claude"\n[timeouts]\ncheck = "soon"\n')
    # With such a file no run begins.
    told = doctor(code=6)
    assert "did you mean 'name'" in one(told, "codev/config.toml:2:1")["fix"]
    assert one(told, "codev/config.toml:4:1")["status"] == "warning"


def test_a_word_of_the_project_that_only_a_person_may_say_is_a_warning(
    desk: "Desk", doctor: Doctor
) -> None:
    desk.write("codev/config.toml", "[agent]\ntrusted = true\n")
    assert one(doctor(), "agent.trusted")["status"] == "warning"


def test_settings_of_ones_own_are_found_too(home: Path, doctor: Doctor) -> None:
    own = home / ".config" / "porch" / "config.toml"
    assert "no file" in one(doctor(), str(own))["what"]
    own.parent.mkdir(parents=True)
    own.write_text("[agent]\ntrusted = true\n")
    trust_settings(home)
    told = doctor()
    assert one(told, str(own))["status"] == "ok"
    assert "allowed by default: all" in one(told, "agent scripted")["more"]


def test_an_agent_is_told_with_what_it_gets_and_cannot_be_held_to(doctor: Doctor) -> None:
    line = one(doctor(), "agent claude (default) 9.9.9")
    assert line["status"] == "ok"
    assert any("ANTHROPIC_API_KEY" in more for more in line["more"])
    assert any(more.startswith("cannot be enforced: ") for more in line["more"])
    assert "nobodys-business" not in str(line)


def only_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "git").symlink_to(shutil.which("git") or "")
    monkeypatch.setenv("PATH", str(tmp_path / "only"))
    return tmp_path / "only"


@pytest.mark.req("P-052")
def test_w3_without_any_agent_the_scripted_one_runs_and_it_is_said_what_is_missing(
    doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_git(tmp_path, monkeypatch)
    told = doctor(code=0)
    line = one(told, "agent claude")
    assert line["status"] == "missing"
    assert "npm install" in line["fix"]
    assert told["closing"] == (
        "porch can run here, but:\n  only with `--no-claude`, the scripted agent: no claude"
    )


def test_q5_the_doctor_does_not_advise_to_install_what_serves_no_private_person(
    desk: "Desk", doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = only_git(tmp_path, monkeypatch)
    line = one(doctor(), "agent gemini")
    assert (line["status"], line["fix"]) == ("ok", "")
    assert "private accounts no longer" in " ".join(line["more"])
    desk.write("codev/config.toml", '[roles.builder]\nagent = "gemini"\n')
    line = one(doctor(), "agent gemini (role builder)")
    assert "npm install" in line["fix"], "whoever names it wants it"
    (there / "gemini").write_text("#!/bin/sh\necho 0.61.0\n")
    (there / "gemini").chmod(0o755)
    line = one(doctor(), "agent gemini (role builder) 0.61.0")
    assert "private accounts no longer" in " ".join(line["more"])
    assert "the account of a company" in line["fix"]


def test_w3_an_agent_that_is_not_logged_in_is_no_way_out(
    doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = only_git(tmp_path, monkeypatch)
    (there / "codex").write_text('#!/bin/sh\necho "Not logged in"\nexit $(($# - 1))\n')
    (there / "codex").chmod(0o755)
    told = doctor()
    assert "--agent codex" not in told["closing"]
    line = one(told, "agent codex")
    assert "not logged in: `codex login status` says so" in line["what"]
    assert line["fix"].startswith("run `codex login`")


def test_r10_with_another_agent_it_is_said_how_to_use_that(
    desk: "Desk", doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = only_git(tmp_path, monkeypatch)
    (there / "codex").write_text("#!/bin/sh\necho codex-cli 1.2.3\n")
    (there / "codex").chmod(0o755)
    told = doctor()
    assert "only with `--agent codex`: claude is not installed" in told["closing"]
    fix = one(told, "agent claude")["fix"]
    assert '[agent] name = "codex"' in fix
    desk.write("codev/config.toml", '[agent]\nname = "codex"\n[commands]\ntest = "true"\n')
    assert "claude" not in doctor()["closing"]


@pytest.mark.req("P-052")
def test_r10_an_agent_without_any_sign_of_a_login_is_no_ok(
    desk: "Desk", doctor: Doctor, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "signs of a login: ANTHROPIC_API_KEY is set" in one(doctor(), "agent claude")["more"]
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    told = doctor()
    line = one(told, "agent claude")
    assert line["status"] == "warning"
    assert "`porch agents test claude`" in line["fix"]
    assert "claude only if it is logged in" in told["closing"]
    (home / ".claude").mkdir()
    (home / ".claude" / ".credentials.json").write_text("{}")
    assert one(doctor(), "agent claude")["status"] == "ok"


def run_fix(line: dict[str, Any]) -> None:
    """Type what stands between the first two backticks."""
    command = line["fix"].split("`")[1]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-c", command], env={**os.environ, "PATH": path}, check=False, capture_output=True
    )
    assert done.returncode == 0, (command, done.stderr)


@pytest.mark.req("P-052")
def test_r10_outside_git_porch_cannot_run_and_each_fix_brings_it_further(
    doctor: Doctor, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bare").mkdir()
    monkeypatch.chdir(tmp_path / "bare")
    (home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    told = doctor(code=6)
    assert "not in a git repository" in told["closing"]
    run_fix(one(told, "is not in a git repository"))
    told = doctor(code=6)
    # Of a repository the name is asked once in a process, and this one has just been made.
    repository._IDENTITIES.clear()
    run_fix(one(told, "git knows no name"))
    repository._IDENTITIES.clear()
    run_fix(one(told, "has no commit yet"))
    told = doctor()
    assert not [what for what in told if "git knows" in what or "no commit" in what]
    assert list((tmp_path / "bare").iterdir()) == [tmp_path / "bare" / ".git"]


def test_r10_the_fix_of_a_missing_test_command_is_what_the_project_says(
    desk: "Desk", doctor: Doctor
) -> None:
    (desk.root / "codev" / "config.toml").unlink()
    assert 'test = "your command"' in one(doctor(), "[commands] test")["fix"]
    desk.write("Makefile", "test:\n\ttrue\n")
    told = doctor()
    assert "they need [commands] test" in told["closing"]
    run_fix(one(told, "[commands] test is not set"))
    told = doctor()
    assert one(told, "test does not pass in a new worktree: make test")["status"] == "warning"
    assert "not committed" in one(told, "test does not pass")["fix"]
    assert "a run asks you first: test does not pass" in told["closing"]
    desk.git("add", "-A")
    desk.git("commit", "-qm", "set up")
    assert one(doctor(), "test passes in a new worktree: make test")["status"] == "ok"


def test_a_command_that_cannot_run_is_told_with_its_exit_code_and_the_line_that_says_why(
    desk: "Desk", doctor: Doctor, tmp_path: Path
) -> None:
    """Q10: the command was only repeated, and called ok."""
    count = tmp_path / "count"
    broken = f"echo x >> {count}; echo No module named pytest >&2; exit 1"
    desk.write("codev/config.toml", f'[commands]\ntest = "{broken}"\nlint = "true"\n')
    line = one(doctor(), "test does not pass in a new worktree")
    assert line["status"] == "warning"
    assert line["more"] == ["exit code 1: No module named pytest"]
    assert "[worktree] setup" in line["fix"]
    doctor()
    # What failed is not believed the next time; what passed is.
    assert count.read_text() == "x\nx\n"
    assert "on the same files" in one(doctor(), "lint passes")["more"][0]


def test_the_commands_run_behind_the_set_up_of_a_worktree(desk: "Desk", doctor: Doctor) -> None:
    words = '[worktree]\nsetup = ["touch ready"]\n[commands]\ntest = "test -e ready"\n'
    desk.write("codev/config.toml", words)
    desk.write(".gitignore", "ready\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "set up")
    assert one(doctor(), "test passes in a new worktree")["status"] == "ok"
    desk.write("codev/config.toml", words.replace("touch ready", "false"))
    told = doctor()
    assert "the set-up command `false` failed" in one(told, "set-up command")["what"]
    assert "no run in a worktree" in told["closing"]


def test_a_command_is_not_tried_while_settings_that_it_may_need_are_not_trusted(
    desk: "Desk", doctor: Doctor
) -> None:
    path = desk.root / "codev" / "config.toml"
    path.write_text('[worktree]\nlink = [".venv"]\n[commands]\ntest = "exit 127"\n')
    told = doctor(code=6)
    assert "porch trust" in one(told, "test was not tried: exit 127")["fix"]
    assert not [what for what in told if "does not pass" in what]


def test_files_of_the_set_up_are_not_counted_as_what_a_test_may_need(
    desk: "Desk", doctor: Doctor
) -> None:
    (desk.root / "codev" / "config.toml").unlink()
    desk.git("add", "-A")
    desk.git("commit", "-qm", "no settings")
    assert run_command("codev", ["adopt", "--yes", "--test", "false"]) == 0
    assert "committed" not in one(doctor(), "test does not pass")["fix"]
    desk.write("needed.txt", "x")
    assert "commit what it needs (1 file is not" in one(doctor(), "test does not pass")["fix"]


def test_r10_the_safe_fixes_are_applied_and_said(desk: "Desk", doctor: Doctor) -> None:
    (desk.root / "codev" / "config.toml").unlink()
    desk.write("Makefile", "test:\n\ttrue\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "tests")
    desk.write(".claude/settings.json", '{"model": "opus"}')
    desk.write(".claude/hooks/porch-notify.sh", "#!/bin/sh\n").chmod(0o755)
    desk.git("worktree", "add", "-q", str(desk.root.parent / "gone"))
    shutil.rmtree(desk.root.parent / "gone")
    told = doctor("--fix")
    assert told["fixed"] == [
        "ran `git worktree prune`",
        "wrote codev/config.toml",
        "added to .claude/settings.json",
    ]
    assert told["closing"] == "porch can run here"
    assert "permissions" not in (desk.root / ".claude/settings.json").read_text()
    (desk.root / ".claude/hooks/porch-notify.sh").chmod(0o644)
    assert doctor("--fix")["fixed"] == ["made .claude/hooks/porch-notify.sh executable"]
    assert doctor("--fix")["fixed"] == []


def test_r10_each_other_fix_works_as_printed(desk: "Desk", doctor: Doctor) -> None:
    hook = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/porch-notify.sh'
    group = {"hooks": [{"type": "command", "command": hook}]}
    text = json.dumps({"hooks": {"UserPromptSubmit": [group]}})
    desk.write(".claude/settings.json", text)
    desk.git("worktree", "add", "-q", str(desk.root.parent / "gone"))
    shutil.rmtree(desk.root.parent / "gone")
    for word in ("directories are gone", "is missing"):
        run_fix(one(doctor(), word))
    (desk.root / ".claude/hooks/porch-notify.sh").chmod(0o644)
    run_fix(one(doctor(), "is not executable"))
    assert doctor()["closing"] == "porch can run here"


def test_a_project_whose_people_did_not_ask_for_the_hook_is_not_told_of_it(
    desk: "Desk", doctor: Doctor
) -> None:
    desk.write(".claude/settings.json", '{"model": "opus"}')
    assert not [what for what in doctor() if "hook" in what]


def test_r10_settings_of_claude_that_cannot_be_read_are_fixed_by_hand(
    desk: "Desk", doctor: Doctor
) -> None:
    desk.write(".claude/hooks/porch-notify.sh", "").chmod(0o755)
    desk.write(".claude/settings.json", '{"hooks": ')
    line = one(doctor("--fix"), "settings.json cannot be read")
    assert line["fix"].startswith("fix it by hand")
    assert (desk.root / ".claude/settings.json").read_text() == '{"hooks": '


def test_a_channel_for_notices_is_tested_when_asked(
    doctor: Doctor, home: Path, tmp_path: Path
) -> None:
    own = home / ".config" / "porch" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'[notify]\ncommand = ["touch", "{tmp_path}/told"]\n')
    trust_settings(home)
    assert one(doctor(), "notices by command")["status"] == "ok"
    assert not (tmp_path / "told").exists()
    assert "sent just now" in one(doctor("--notify"), "notices by command")["what"]
    assert (tmp_path / "told").exists()
    own.write_text('[notify]\nwebhook = "$NO_SUCH_VARIABLE"\n')
    line = one(doctor("--notify"), "notices by webhook")
    assert line["status"] == "warning"
    assert "[notify] webhook" in line["fix"]


def test_a_bare_repository_is_no_place_to_work(
    doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare.git")], check=True)
    monkeypatch.chdir(tmp_path / "bare.git")
    assert "is a bare repository" in doctor(code=6)["closing"]


def test_a_protocol_with_errors_and_an_old_shape_are_named(desk: "Desk", doctor: Doctor) -> None:
    desk.write("codev/protocols/mine/protocol.json", "{")
    desk.write("codev/specs/0001-a.md", "# A\n")
    told = doctor()
    assert "not mine: it has errors" in told["closing"]
    assert "codev migrate --dry-run" in one(told, "old shape")["fix"]


def test_r10_copies_that_differ_from_the_packaged_protocols_are_named(
    desk: "Desk", doctor: Doctor
) -> None:
    from porch.fleet.setup.package_files import load_protocol_files, load_step_files

    for path, data in {**load_protocol_files(), **load_step_files()}.items():
        if path.startswith(("codev/protocols/tick/", ".claude/protocols/discovery")):
            desk.write(path, data.decode())
    assert not [what for what in doctor() if "your copy" in what]
    desk.write("codev/protocols/tick/prompts/verify.md", "Something else.\n")
    desk.write(".claude/protocols/discovery.yaml", "name: discovery\n")
    tick = one(doctor(), "protocol tick differs")
    assert (tick["status"], tick["stops"]) == ("warning", False)
    assert "in prompts/verify.md; runs use yours" in tick["what"]
    assert tick["more"][0].endswith("codev/protocols/tick")
    for name in ("tick", "discovery"):
        run_fix(one(doctor(), f"protocol {name} differs"))
    assert not [what for what in doctor() if "your copy" in what]


def test_a_run_that_cannot_be_read_is_named(desk: "Desk", doctor: Doctor) -> None:
    desk.begin({"id": "one"}, agents={"one": [{"say": "x"}]})
    (desk.run_dir() / "journal.jsonl").write_text("no record\n")
    for name in ("picture.json", "row.json", "snapshot"):
        (desk.run_dir() / name).unlink(missing_ok=True)
    assert "not with: " in doctor()["closing"]


def test_an_agent_that_does_not_answer_is_a_warning(doctor: Doctor, command: Put) -> None:
    command("claude", "exit 3")
    line = one(doctor(), "agent claude")
    assert line["status"] == "warning"
    assert "--version" in line["fix"]


def test_a_name_of_the_settings_that_is_nobodys_is_said(desk: "Desk", doctor: Doctor) -> None:
    desk.write("codev/config.toml", '[roles.builder]\nagent = "cluade"\n')
    assert one(doctor(), "agent cluade (role builder)")["status"] == "missing"


def test_a_person_reads_a_line_for_each_thing_and_its_fix(desk: "Desk") -> None:
    desk.write("codev/config.toml", '[agent]\nname = "mine"\n')
    done = codev(desk, "doctor")
    assert done.returncode == 6, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("ok       Python 3.")
    at = lines.index("missing  agent mine (default): unknown agent")
    assert lines[at + 1].startswith("         fix: ")
    assert lines[-2:] == ["porch cannot run here:", "  agent mine (default): unknown agent"]


def test_codev_alone_prints_its_help(desk: "Desk") -> None:
    done = codev(desk)
    assert done.returncode == 2
    assert "doctor" in done.stdout
    assert codev(desk, "--help").returncode == 0


@pytest.mark.req("P-001")
def test_codev_porch_is_no_command(desk: "Desk") -> None:
    done = codev(desk, "porch")
    assert done.returncode == 2
    assert "error[usage]" in done.stderr


def test_codev_is_a_command_of_the_package() -> None:
    root = Path(__file__).resolve().parents[3]
    scripts = tomllib.loads((root / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts["codev"] == "porch.cli.scripts:codev"


def test_the_lock_of_a_killed_porch_is_named_and_removed_and_that_of_a_git_is_not(
    desk: "Desk", doctor: Doctor
) -> None:
    """R2: the line in it says whose it was, and nobody holds it any more."""
    lock = desk.root / ".git" / "index.lock"
    lock.write_text("porch 4242\n")
    for name in ("index.porch", "index.porch.lock"):
        (desk.root / ".git" / name).touch()  # of that porch, and of its git
    assert one(doctor(), "index.lock")["fix"].startswith("run `codev doctor --fix`")
    assert lock.exists()
    (said,) = [line for line in doctor("--fix")["fixed"] if "lock" in line]
    assert "a porch that was killed" in said
    assert not list((desk.root / ".git").glob("index.*"))
    lock.write_text("")
    assert not [line for line in doctor("--fix")["fixed"] if "lock" in line]
    assert lock.exists()
