"""What `envoy` makes of words that are wrong, begin with a dash, are too long or no ASCII."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.cli import arguments, dashed_texts
from porch.cli.command import CliCommand, View, make_argument, make_text_arguments
from porch.cli.dispatch import run_words as run_command
from porch.cli.rows import ENVOY
from porch.cli.table import load_command
from porch.errors import UsageError

Told = dict[str, Any]
Envoy = Callable[..., Told]
HOME = Path(".claude/plans/feat~x")
START = "from porch.cli.dispatch import {0}; exit({0}())"


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ann@example.org")
    home = tmp_path / "repo"
    home.mkdir()
    git(home, "init", "-q", "-b", "main")
    git(home, "commit", "-q", "--allow-empty", "-m", "first")
    git(home, "switch", "-qc", "feat/x")
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def envoy(root: Path, capsys: pytest.CaptureFixture[str]) -> Envoy:
    def type_(*words: str, code: int = 0) -> Told:
        capsys.readouterr()
        left = run_command("envoy", words)
        told: Told = json.loads(capsys.readouterr().out)
        assert left == code, told
        return dict(told["error"] if code else told["data"])

    return type_


def really(
    program: str, root: Path, *words: str, **more: Any
) -> subprocess.CompletedProcess[bytes]:
    environ = {**os.environ, **more.pop("environ", {})}
    return subprocess.run(
        [sys.executable, "-c", START.format(program), *words],
        cwd=root,
        check=False,
        capture_output=True,
        timeout=60,
        env=environ,
        **more,
    )


WRONG: list[tuple[tuple[str, ...], str]] = [
    (("nope",), "invalid choice: 'nope'"),
    (("--nope",), "unrecognized arguments: --nope"),
    (("plan",), "WHAT"),
    (("plan", "nope"), "invalid choice: 'nope'"),
    (("plan", "read-prompt"), "required: number"),
    (("plan", "read-prompt", "1", "A", "B"), "unrecognized arguments: B"),
    (("plan", "init", "--nope"), "unrecognized arguments: --nope"),
    (("plan", "next", "-n", "x"), "invalid int value: 'x'"),
    (("plan", "start-prompt", "1"), "required: --specialist"),
    (("plan", "append-user-input"), "one of text and --file is required"),
    (("plan", "append-user-input", "\udcff"), "not UTF-8"),
    (("git", "create-pr"), "required: --title, --body"),
    (("knowledge", "search"), "required: phrase"),
]


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["", "json"])
@pytest.mark.parametrize("words, message", WRONG)
def test_wrong_words_are_told_to_programs_and_to_people(
    root: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    message: str,
    more: tuple[str, ...],
) -> None:
    assert run_command("envoy", [*words, *more]) == 2
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert set(told) == {"status", "error"}
    assert (told["status"], told["error"]["type"]) == ("error", "usage")
    assert set(told["error"]) == {"type", "message", "suggestion", "findings"}
    assert message in told["error"]["message"]
    assert told["error"]["suggestion"]
    (finding,) = told["error"]["findings"]
    assert (finding["code"], finding["fix"]) == ("usage", told["error"]["suggestion"])
    assert err == f"error[usage]: {finding['message']}\n  fix: {finding['fix']}\n"
    assert not (root / ".claude").exists()


@pytest.mark.parametrize("front", [("protocol",), ("plan", "protocol")])
def test_the_steps_of_a_protocol_stay_text_unless_json_is_wanted(
    root: Path, capsys: pytest.CaptureFixture[str], front: tuple[str, ...]
) -> None:
    assert run_command("envoy", [*front, "--nope"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error[usage]: unrecognized arguments: --nope\n")
    assert run_command("envoy", [*front, "--nope", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["type"] == "usage"


@pytest.mark.parametrize("program", ["porch", "codev"])
def test_other_programs_complain_in_text_and_where_it_is_asked_for_in_json_too(
    root: Path, program: str
) -> None:
    done = really(program, root, "zzz")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error[usage]: argument COMMAND: invalid choice: 'zzz'")
    again = really(program, root, "zzz", "--json")
    assert (again.returncode, again.stderr) == (2, done.stderr)
    assert json.loads(again.stdout)["error"]["findings"][0]["code"] == "usage"


def test_the_command_itself_answers_wrong_words(root: Path) -> None:
    done = really("envoy", root, "git", "diff-base", "--max-bytes", "x")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["message"].endswith("invalid int value: 'x'")
    assert done.stderr.startswith(b"error[usage]")


def test_help_is_no_error(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("envoy", ["plan", "next", "--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: envoy plan next")
    assert run_command("envoy", []) == 2
    assert capsys.readouterr().out.startswith("usage: envoy")


@pytest.mark.parametrize(
    "value",
    ["-x", "-h is a flag", "-hello", "---\nfoo", "--unknown", "- a\n- b", "-1", "--x=y"],
)
def test_a_flag_takes_a_text_that_begins_with_a_dash(envoy: Envoy, value: str) -> None:
    envoy("plan", "write-prompt", "1", "--context", value, "--description", value)
    told = envoy("plan", "read-prompt", "1")
    assert told["content"].strip("\n") == value
    assert told["front_matter"]["description"] == value


@pytest.mark.parametrize("words", [("--walkthrough", "-"), ("--walkthrough=-",)])
def test_n6_a_dash_in_place_of_a_text_is_standard_input(
    envoy: Envoy, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    command = load_command(next(row for row in ENVOY if row.words == "plan record-implementation"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"# All of it\n")))
    argv = ["plan", "record-implementation", "1", "--iteration", "1", *words]
    assert arguments.read_command_arguments("envoy", command, argv).walkthrough == "# All of it\n"


def test_n6_only_one_text_is_standard_input(envoy: Envoy) -> None:
    words = ("plan", "write-finding", "web", "--notes", "-", "--approaches-file", "-")
    assert "only one text can come from standard input" in envoy(*words, code=2)["message"]


def test_a_flag_is_never_taken_for_the_text_of_another(envoy: Envoy) -> None:
    for value in ("--force", "--json", "--files=a", "--help"):
        error = envoy("plan", "write-prompt", "1", "--context", value, code=2)
        assert "expected one argument" in error["message"]
        assert "--flag=TEXT" in error["suggestion"]
    envoy("plan", "write-prompt", "1", "--context=--force")
    assert envoy("plan", "read-prompt", "1")["content"].strip() == "--force"


def test_the_end_of_flags_is_no_text(envoy: Envoy) -> None:
    for words in (("--context=--",), ("--context", "--")):
        error = envoy("plan", "write-prompt", "1", *words, code=2)
        assert error["message"] == "argument --context: expected one argument"


@pytest.mark.parametrize("value", ["-hello", "-x", "--hello"])
def test_a_loose_text_with_a_dash_is_refused_with_the_way_to_write_it(
    root: Path, envoy: Envoy, value: str
) -> None:
    error = envoy("plan", "append-user-input", value, code=2)
    assert "`envoy plan append-user-input -- TEXT`" in error["suggestion"]
    envoy("plan", "append-user-input", "--agent", "-a", "--", value)
    assert value in (root / HOME / "user_input.md").read_text()


def test_advice_about_dashes_is_given_only_where_one_is(envoy: Envoy) -> None:
    for words in (("next", "-n", "x"), ("read-prompt",), ("init", "--nope")):
        assert "dash" not in envoy("plan", *words, code=2)["suggestion"]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_any_text_behind_a_flag_arrives_unless_it_is_a_flag(value: str) -> None:
    command = CliCommand(
        "say",
        "",
        lambda _: View(),
        (make_argument("--it"), make_argument("-v", action="store_true")),
    )
    if dashed_texts._is_flag(command, value):
        with pytest.raises(UsageError):
            arguments.read_arguments("p", [command], ["say", "--it", value])
    else:
        assert arguments.read_arguments("p", [command], ["say", "--it", value]).it == value


LONG = "ä line of a long text\n" * 10_000


def test_texts_that_no_command_line_can_hold_come_from_files(root: Path, envoy: Envoy) -> None:
    assert len(LONG.encode()) > 128 * 1024
    Path("long.md").write_text(LONG, encoding="utf-8")
    words = ("--title", "T", "--objective", "o")
    envoy("plan", "write-plan", *words, "--context-file", "long.md")
    assert LONG.strip() in envoy("plan", "get-full-plan")["plan"]["content"]
    envoy("plan", "write-prompt", "1", "--context-file", "long.md")
    assert envoy("plan", "read-prompt", "1")["content"].strip() == LONG.strip()
    envoy("plan", "append-user-input", "--file", "long.md", "--agent", "hook")
    assert LONG.strip() in (root / HOME / "user_input.md").read_text(encoding="utf-8")
    envoy("plan", "start-prompt", "1", "--specialist", "web", "--force")
    rest = ("--walkthrough-file", "long.md", "--iteration", "1", "--force")
    envoy("plan", "record-implementation", "1", *rest)
    told = envoy("plan", "get-prompt-walkthrough", "1")["walkthrough"]
    assert told[0]["approach"].strip() == LONG.strip()


def test_findings_come_from_files(envoy: Envoy) -> None:
    Path("notes.md").write_text("Only SQLite", encoding="utf-8")
    Path("approach.md").write_text("All of it", encoding="utf-8")
    list_ = [{"number": 1, "description": "d", "context": "ü"}]
    Path("list.json").write_text(json.dumps(list_), encoding="utf-8")
    files = ("--notes-file", "notes.md", "--approaches-file", "list.json")
    envoy("plan", "write-finding", "web", *files)
    words = ("--description", "d", "--context-file", "approach.md")
    envoy("plan", "write-approach", "web", "2", *words)
    (found,) = envoy("plan", "get-findings", "--full")["specialists"]
    assert found["notes"] == "Only SQLite"
    assert [each["approach_detail"] for each in found["approaches"]] == ["ü", "All of it"]
    Path("notes.md").write_text("Also Redis", encoding="utf-8")
    envoy("plan", "write-notes", "web", "--notes-file", "notes.md")
    assert envoy("plan", "get-findings", "--full")["specialists"][0]["notes"] == "Also Redis"


def test_a_text_comes_through_a_pipe(root: Path) -> None:
    words = ("plan", "append-user-input", "--file", "-")
    done = really("envoy", root, *words, input="größer".encode(), environ={"LC_ALL": "C"})
    assert done.returncode == 0, done.stdout
    assert "größer" in (root / HOME / "user_input.md").read_text(encoding="utf-8")


def test_a_closed_input_is_no_text(root: Path) -> None:
    script = f"import os; os.close(0); os.execv({sys.executable!r}, {[sys.executable, '-c']!r}"
    script += f" + [{START.format('envoy')!r}, 'plan', 'append-user-input', '--file', '-'])"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert json.loads(done.stdout)["error"]["type"] == "unreadable"


NEITHER_NOR_BOTH: list[tuple[str, ...]] = [
    ("write-plan", "--title", "T", "--objective", "o"),
    ("write-plan", "--title", "T", "--objective", "o", "--context", "", "--context-file", "a.md"),
    ("write-prompt", "1", "--context", "c", "--context-file", "a.md"),
    ("record-implementation", "1", "--iteration", "1"),
    (
        "record-implementation",
        "1",
        "--iteration",
        "1",
        "--walkthrough=w",
        "--walkthrough-file=a.md",
    ),
    ("append-user-input", "--agent", "x"),
    ("append-user-input", "said", "--file", "a.md"),
    ("append-user-input", "--file", "a.md", "said"),
    ("write-notes", "web", "--notes", "n", "--notes-file", "a.md"),
    ("write-finding", "web", "--approaches", "[]", "--approaches-file", "a.md"),
    ("write-finding", "web", "--approaches-file", "-", "--notes-file", "-"),
    ("write-approach", "web", "1", "--context", "c", "--context-file", "a.md"),
]


@pytest.mark.parametrize("words", NEITHER_NOR_BOTH, ids=" ".join)
def test_a_text_is_given_once(root: Path, envoy: Envoy, words: tuple[str, ...]) -> None:
    Path("a.md").write_text("a")
    error = envoy("plan", *words, code=2)
    assert error["type"] == "usage"
    assert error["suggestion"]
    assert not (root / ".claude").exists()


@pytest.mark.parametrize("path", ["nowhere.md", ".", "", "latin.md", "zero.md"])
def test_a_file_that_is_no_text_is_named(root: Path, envoy: Envoy, path: str) -> None:
    Path("latin.md").write_bytes(b"caf\xe9")
    Path("zero.md").write_bytes(b"a\0b")
    error = envoy("plan", "write-prompt", "1", "--context-file", path, code=2)
    assert error["type"] == "unreadable"
    assert error["message"].startswith(f"--context-file: '{path}' cannot be read")
    assert "UTF-8" in error["suggestion"]
    assert not (root / ".claude").exists()


def test_somebody_who_leaves_while_a_text_is_awaited_is_let_go(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Left(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Left()))
    assert run_command("envoy", ["plan", "append-user-input", "--file", "-"]) == 130
    assert capsys.readouterr() == ("", "")


def test_a_text_has_its_default_where_none_is_given() -> None:
    command = CliCommand("say", "", lambda _: View(), make_text_arguments("--it", default="d"))
    assert arguments.read_arguments("p", [command], ["say"]).it == "d"
    assert arguments.read_arguments("p", [command], ["say", "--it", ""]).it == ""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "ascii:strict"])
def test_a_stream_that_is_not_utf8_shows_what_it_can(root: Path, encoding: str) -> None:
    branch = "feat/ü→😀"
    git(root, "switch", "-qc", branch)
    environ = {"PYTHONIOENCODING": encoding}
    done = really("envoy", root, "plan", "init", environ=environ)
    assert (done.returncode, done.stderr) == (0, b"")
    codec = encoding.partition(":")[0]
    assert json.loads(done.stdout.decode(codec))["data"]["branch"] == branch
    done = really("porch", root, "status", environ=environ)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u2192\\ud83d\\ude00" in done.stdout
    done = really("porch", root, "status", "→", environ=environ)
    assert done.returncode == 2
    assert b"\\u2192" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_stream_of_utf8_is_left_as_it_was(root: Path) -> None:
    git(root, "switch", "-qc", "feat/ü")
    done = really("envoy", root, "plan", "init", environ={"PYTHONIOENCODING": "UTF8"})
    assert "feat/ü" in done.stdout.decode()
