"""The real codex, driven as a run drives it, against a stand-in for its vendor."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from porch.agents import codex, port
from porch.agents.events import Answered, Denied, Said, ToolEnded, ToolStarted, Warned
from porch.model.permissions import INSIDE, READ_ONLY, UNLIMITED, Permissions, parse_permissions
from tests.agents.driving import Driver, mark_for
from tests.agents.slow_answers import SlowAnswer, slow_answers
from tests.real_agents import MODELS, Room
from tests.standin.steps import (
    answer,
    drop,
    edit_file,
    hang,
    refusal,
    run_command,
    say,
    status,
    tries,
)
from tests.standin.vendors import Vendors

PICK = {
    "type": "object",
    "properties": {
        "exit": {"type": "string", "enum": ["Done", "Stuck"]},
        "payload": {"type": "object"},
    },
    "required": ["exit", "payload"],
}


def git(place: Path, *words: str) -> str:
    name = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    done = subprocess.run(
        ["git", *name, *words], cwd=place, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    """A linked worktree, whose repository lies elsewhere, as porch makes them."""
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    (main / "a.txt").write_text("one\n")
    git(main, "add", "-A")
    git(main, "commit", "-qm", "first")
    git(main, "worktree", "add", "-q", "-b", "work", str(tmp_path / "work"))
    return tmp_path / "work"


@pytest.fixture
def driver(
    clean_room: Room, worktree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Driver:
    for name, value in clean_room.environ.items():
        monkeypatch.setenv(name, value)
    # Where a run keeps its turns: inside the shared directory of the repository.
    place = tmp_path / "main" / ".git" / "porch" / "run"
    return Driver(codex, worktree, place, mark_for(tmp_path))


def heard(driver: Driver, kind: type) -> list[Any]:
    return [event for event in driver.events if isinstance(event, kind)]


def test_plain_turn_says_its_text_and_its_tokens(driver: Driver, vendor: Vendors) -> None:
    vendor.script("HELLO", say("well done").usage(100, 20))
    outcome = driver.play("HELLO", model=MODELS["codex"])
    assert (outcome.kind, outcome.final.strip()) == ("ok", "well done")
    assert (outcome.tokens, outcome.output, outcome.usd) == (120, 20, 0)
    assert outcome.session
    assert vendor.asked("HELLO")[0].model == MODELS["codex"]


def test_files_are_edited_and_commands_run_in_the_workspace(
    driver: Driver, vendor: Vendors, worktree: Path
) -> None:
    steps = (edit_file(worktree / "b.txt", "two\n"), run_command("cat b.txt > c.txt; echo ran"))
    vendor.script("WORK", *steps, say("both done"))
    outcome = driver.play("WORK")
    assert (outcome.kind, outcome.final.strip(), outcome.denied) == ("ok", "both done", ())
    assert (worktree / "c.txt").read_text() == "two\n"
    edit, ran = (event.name for event in heard(driver, ToolStarted))
    assert edit == f"edit {worktree / 'b.txt'}"
    assert ran == "$ cat b.txt > c.txt; echo ran"
    assert heard(driver, ToolEnded)[-1].output == "ran\n"


def test_prompt_of_any_size_arrives_whole(driver: Driver, vendor: Vendors) -> None:
    vendor.script("LARGE", say("read"))
    outcome = driver.play("LARGE -x 'ü' {n} " + "x" * 300_000 + " END")
    assert outcome.kind == "ok"
    assert vendor.asked("LARGE")[0].prompt.strip().endswith("x END")


def test_resumed_turn_knows_the_first_and_counts_both(driver: Driver, vendor: Vendors) -> None:
    vendor.script("FIRST", say("one").usage(100, 20), say("two").usage(1000, 200))
    first = driver.play("FIRST")
    second = driver.play("and then", resume=first.session)
    assert (second.final.strip(), second.session) == ("two", first.session)
    assert (first.tokens, second.tokens) == (120, 1320)
    assert len(vendor.requests[-1].users) == 2


def test_forks_are_conversations_of_their_own_that_count_their_origin(
    driver: Driver, vendor: Vendors
) -> None:
    vendor.script("ORIGIN", say("one").usage(100, 20), say("two").usage(1000, 200))
    origin = driver.play("ORIGIN")
    forks = [driver.play(f"fork {name}", fork=origin.session) for name in "ab"]
    assert [fork.kind for fork in forks] == ["ok", "ok"]
    assert len({origin.session, *(fork.session for fork in forks)}) == 3
    assert [fork.tokens for fork in forks] == [1320, 1320]
    assert [len(request.users) for request in vendor.requests] == [1, 2, 2]


def test_conversation_that_is_gone_is_told(driver: Driver, vendor: Vendors) -> None:
    missing = "01a1e278-570f-7cd2-934e-320646f5e4ff"
    outcome = driver.play("anything", resume=missing)
    assert (outcome.kind, vendor.requests) == ("bad_request", [])
    assert missing in outcome.detail


def test_answer_of_a_schema_is_an_exit_with_its_payload(driver: Driver, vendor: Vendors) -> None:
    vendor.script("PICK", answer({"exit": "Done", "payload": '{"files": ["a.txt"]}'}))
    outcome = driver.play("PICK", schema=PICK)
    assert outcome.answer == Answered("Done", {"files": ["a.txt"]})
    asked = vendor.asked("PICK")[0].schema
    assert asked is not None
    assert asked["properties"]["payload"]["type"] == "string"
    assert (asked["required"], asked["additionalProperties"]) == (["exit", "payload"], False)


GIT = "git -c user.name=A -c user.email=a@b.c"


def test_sandbox_lets_a_worktree_be_written_but_not_its_repository(
    driver: Driver, vendor: Vendors, worktree: Path, tmp_path: Path
) -> None:
    common = tmp_path / "main" / ".git"
    attempts = {
        "wrote": "echo x > new.txt",
        "committed": f"{GIT} commit -qam mine",
        "hooked": f"touch {common}/hooks/post-commit",
        "forged": f"touch {common}/porch/run/journal",
        "moved": "echo gitdir: elsewhere > .git",
        "removed": "mv .git gone",
        "escaped": f"touch {tmp_path}/outside",
        "configured": "mkdir -p .codex && touch .codex/config.toml",
        "scratch": "mktemp >/dev/null",
    }
    # Into a file: codex joins the two outputs of a command as they arrive.
    said = (f"{{ {do}; }} ; echo {word} $? >> said.txt" for word, do in attempts.items())
    vendor.script("TRY", *map(run_command, said), say("tried all"))
    outcome = driver.play("TRY")
    assert outcome.final.strip() == "tried all"
    told = [line.split() for line in (worktree / "said.txt").read_text().splitlines()]
    assert [word for word, _ in told] == list(attempts)
    assert [word for word, code in told if code == "0"] == ["wrote", "scratch"]
    assert (worktree / "new.txt").exists()
    assert git(worktree, "log", "--format=%s") == "first"
    assert not (tmp_path / "outside").exists()


def test_sandbox_guards_the_repository_of_a_main_checkout(
    driver: Driver, vendor: Vendors, tmp_path: Path
) -> None:
    main = tmp_path / "main"
    attempts = ("echo x > new.txt; mktemp >/dev/null", f"{GIT} commit -qam mine")
    said = (f"{attempt}; echo $? >> said.txt" for attempt in attempts)
    vendor.script("MAIN", *map(run_command, said), say("tried"))
    driver.workspace = main
    driver.play("MAIN")
    assert (main / "said.txt").read_text().split() == ["0", "128"]
    assert git(main, "log", "--format=%s") == "first"
    assert (main / "new.txt").exists()


def test_only_the_named_folders_can_be_written(
    driver: Driver, vendor: Vendors, worktree: Path
) -> None:
    tried = run_command("touch src/in; touch top; echo tried")
    vendor.script("FOLDER", tried, edit_file(worktree / "b.txt", "two\n"), say("tried"))
    driver.play("FOLDER", permissions=parse_permissions(["write:src/**", "bash:*"]))
    assert (worktree / "src" / "in").exists()
    assert not (worktree / "top").exists()
    assert not (worktree / "b.txt").exists()


def test_reviewer_can_read_and_write_nothing(
    driver: Driver, vendor: Vendors, worktree: Path
) -> None:
    tried = run_command("cat a.txt; touch b.txt; echo tried")
    vendor.script("REVIEW", tried, edit_file(worktree / "a.txt", "changed\n"), say("seen"))
    outcome = driver.play("REVIEW", permissions=READ_ONLY)
    assert outcome.final.strip() == "seen"
    assert "one" in heard(driver, ToolEnded)[0].output.splitlines()
    assert git(worktree, "status", "--porcelain") == ""


def test_command_that_fails_late_in_the_sandbox_is_a_denial(
    driver: Driver, vendor: Vendors, tmp_path: Path
) -> None:
    vendor.script("LATE", run_command(f"sleep 1.5; touch {tmp_path}/outside"), say("failed"))
    outcome = driver.play("LATE")
    assert len(outcome.denied) == len(heard(driver, Denied)) == 1
    assert "outside" in outcome.denied[0]


def test_person_s_own_rule_does_not_open_the_sandbox(
    driver: Driver, vendor: Vendors, clean_room: Room, tmp_path: Path
) -> None:
    rules = Path(clean_room.environ["CODEX_HOME"]) / "rules"
    rules.mkdir()
    (rules / "default.rules").write_text('prefix_rule(pattern=["touch"], decision="allow")\n')
    vendor.script("RULE", run_command(f"touch {tmp_path}/outside"), say("tried"))
    assert driver.play("RULE").kind == "ok"
    assert not (tmp_path / "outside").exists()


def test_unlimited_turn_has_no_sandbox(driver: Driver, vendor: Vendors, tmp_path: Path) -> None:
    vendor.script("ALL", run_command(f"touch {tmp_path}/outside"), say("written"))
    driver.play("ALL", permissions=UNLIMITED)
    assert (tmp_path / "outside").exists()


@pytest.mark.parametrize("permissions", [INSIDE, UNLIMITED])
def test_settings_of_the_person_stay_as_they_are(
    driver: Driver, vendor: Vendors, clean_room: Room, permissions: Permissions
) -> None:
    settings = Path(clean_room.environ["CODEX_HOME"]) / "config.toml"
    before = settings.read_text()
    vendor.script("TRUST", run_command("true"), say("done"))
    assert driver.play("TRUST", permissions=permissions).kind == "ok"
    assert settings.read_text() == before


@pytest.mark.parametrize(
    "code, kind",
    [(400, "bad_request"), (401, "auth"), (403, "auth"), (429, "rate_limit"), (500, "server")],
)
def test_status_of_the_vendor_is_told_apart(
    driver: Driver, vendor: Vendors, code: int, kind: str
) -> None:
    vendor.script("ASK", status(code))
    outcome = driver.play("ASK")
    assert (outcome.kind, outcome.final) == (kind, "")
    assert outcome.detail


def test_retry_of_codex_itself_is_a_warning(
    driver: Driver, vendor: Vendors, clean_room: Room
) -> None:
    settings = Path(clean_room.environ["CODEX_HOME"]) / "config.toml"
    said = settings.read_text()
    settings.write_text(said.replace("stream_max_retries = 0", "stream_max_retries = 1"))
    vendor.script("AGAIN", tries(drop(), say("at last")))
    outcome = driver.play("AGAIN")
    assert (outcome.kind, outcome.final.strip()) == ("ok", "at last")
    assert any("Reconnecting" in event.text for event in heard(driver, Warned))


def test_refusal_is_an_outcome_though_codex_calls_it_a_success(
    driver: Driver, vendor: Vendors
) -> None:
    vendor.script("BAD", refusal("I will not"))
    assert driver.play("BAD").kind == "refused"


def test_refusal_after_a_tool_is_not_the_word_before_it(driver: Driver, vendor: Vendors) -> None:
    vendor.script("HALF", run_command("true").saying("<signal>DONE</signal>"), refusal("no"))
    outcome = driver.play("HALF")
    assert heard(driver, Said)
    assert (outcome.kind, outcome.final) == ("refused", "")


def test_stream_that_is_cut_is_the_server_s_fault(driver: Driver, vendor: Vendors) -> None:
    vendor.script("CUT", drop("middle"))
    outcome = driver.play("CUT")
    assert (outcome.kind, outcome.final) == ("server", "")


@slow_answers
def test_slow_answer_is_waited_for(
    slow: SlowAnswer, idle_s: float, driver: Driver, vendor: Vendors
) -> None:
    """E2: codex prints no piece of an answer, so its silence says nothing."""
    vendor.script("KEY", slow("All is well, and all will be well."))
    outcome = driver.play("KEY", idle_s=idle_s)
    assert (outcome.kind, outcome.final) == ("ok", "All is well, and all will be well.")
    assert len(vendor.asked("KEY")) == 1


def test_hanging_turn_ends_at_its_limit_and_leaves_nobody(driver: Driver, vendor: Vendors) -> None:
    vendor.script("HANG", hang("middle"))
    outcome = driver.play("HANG", wall_s=3)
    assert outcome.kind == "timeout"
    assert driver.left() == []


@pytest.mark.parametrize("prefix", ["", "setsid "])
def test_turn_stopped_in_a_command_leaves_nobody(
    driver: Driver, vendor: Vendors, prefix: str
) -> None:
    # A length that only this process asks for tells our sleep from everybody else's.
    sleeping = f"sleep 300.{os.getpid()}"

    def runs() -> bool:
        return sleeping in _commands()

    vendor.script("SLEEP", run_command(f"{prefix}{sleeping}"))
    outcome = driver.play("SLEEP", stop_when=runs)
    assert outcome.kind in ("crashed", "interrupted")
    assert outcome.session
    assert driver.left() == []
    assert not runs()


def _commands() -> list[str]:
    done = subprocess.run(["ps", "axww", "-o", "args="], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_fork_works_where_it_is_told_to_and_not_where_its_origin_did(
    driver: Driver, vendor: Vendors, worktree: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    git(worktree, "worktree", "add", "-q", "-b", "other", str(other))
    tried = run_command(f"pwd > here.txt; touch {worktree}/there; echo tried")
    vendor.script("PARENT", say("planned"), tried, say("done"))
    origin = driver.play("PARENT")
    driver.workspace = other
    assert driver.play("child", fork=origin.session).kind == "ok"
    assert (other / "here.txt").read_text().strip() == str(other)
    assert not (worktree / "there").exists()


def test_missing_key_is_told_with_what_to_do(
    driver: Driver, vendor: Vendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    outcome = driver.play("anything")
    assert (outcome.kind, vendor.requests) == ("auth", [])
    assert "codex login" in outcome.detail


def test_settings_that_cannot_be_read_are_told(
    driver: Driver, vendor: Vendors, clean_room: Room
) -> None:
    (Path(clean_room.environ["CODEX_HOME"]) / "config.toml").write_text("model = [broken\n")
    outcome = driver.play("anything")
    assert (outcome.kind, vendor.requests) == ("bad_request", [])
    assert "unclosed array" in outcome.detail


def test_probe_tells_the_version(driver: Driver, clean_room: Room) -> None:
    told = clean_room.run("codex", "--version", cwd=driver.workspace)
    assert codex.probe() == port.Probe(True, told.stdout.split()[-1])
