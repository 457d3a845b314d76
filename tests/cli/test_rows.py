"""One row per command: what it says is what is called, and a call loads no more than it needs."""

import argparse
import ast
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import porch
from porch import cli
from porch.cli import arguments, help_page
from porch.cli.dispatch import run_words
from porch.cli.envoy.plan_arguments import FORCE
from porch.cli.rows import PROGRAMS, CommandRow
from porch.cli.table import load_all_commands, load_command

ROWS = [(program, row) for program, rows in PROGRAMS.items() for row in rows]
IDS = [f"{program} {row.words}" for program, row in ROWS]
GROUPS = sorted({(p, r.words.split()[0]) for p, r in ROWS if " " in r.words})
# The least words that the parser of a deciding command takes.
DECISIONS = {
    "approve": ("1",),
    "reject": ("1", "--reason", "r"),
    "answer": ("1", "q", "yes"),
    "retry": ("1",),
    "skip": ("1", "--reason", "r"),
    "stop": ("1",),
    "cancel": ("1", "T1.1", "--reason", "r"),
    "reopen": ("1", "T1.1", "--reason", "r"),
    "ask-again": ("1", "T1.1-after", "--reason", "r"),
    "plan archive": ("t",),
    "rollback": ("1", "s"),
    "replan": ("1",),
    "upgrade": ("1",),
    "repair": ("1",),
    "cleanup": ("1",),
    "finish": ("1",),
    "dashboard": (),
    "kickoff": ("1",),
    "remove": (),
    "af resume": ("1",),
    "trust": (),
    "gate answer": ("plan", "--form", "a: b"),
}
# The commands that agents may call, and why; whatever is missing here is for people.
_LOOKS, _WORKS, _ASKS = "it only shows", "it is an agent's own work", "it asks and waits"
AGENTS_MAY: dict[str, dict[str, tuple[str, ...]]] = {
    "porch": {
        _LOOKS: (
            *("status", "pending", "log", "explain", "settings", "next", "protocols list"),
            *("protocols show", "protocols graph", "protocols lint", "protocols schema"),
            *("plan phases", "plan show", "plan lint", "plan repair", "agents list", "wait"),
        ),
        _WORKS: ("done", "check"),
        _ASKS: ("ask",),
        "a run without a script decides nothing": ("run", "resume"),
        "it works in a temporary repository": ("demo", "agents test"),
        "it adds files that porch has anyway": ("protocols copy",),
        "it offers no command that decides": ("mcp",),
    },
    "af": {
        _LOOKS: ("status", "wait", "logs", "open"),
    },
    "codev": {
        _LOOKS: ("completion",),
        "it only shows; --fix adds what is missing": ("doctor",),
        "without --yes nothing is allowed": ("init", "adopt"),
        "it moves files, and approves and removes nothing": ("migrate",),
    },
    "envoy": {
        _LOOKS: (
            *("protocol", "plan protocol", "plan status", "plan check", "plan get-full-plan"),
            *(
                "plan read-prompt",
                "plan validate-dependencies",
                "plan audit",
                "plan next",
                "plan verify-prompt",
            ),
            *("plan get-prompt-walkthrough", "plan get-all-walkthroughs", "plan get-findings"),
            *("plan get-finding-approach", "plan read-design-manifest", "git get-base-branch"),
            *("git is-base-branch", "git diff-base", "knowledge search", "knowledge status"),
        ),
        _WORKS: (
            *("plan init", "plan write-plan", "plan append-user-input", "plan write-prompt"),
            *("plan clear-prompt", "plan update-prompt-dependencies", "plan start-prompt"),
            "plan worktree",
            *("plan record-implementation", "plan complete-prompt", "plan release-all-prompts"),
            *("plan release-prompt", "plan mark-prompt-extracted", "plan mark-all-documented"),
            *("git merge-worktree", "plan complete", "plan write-finding", "plan write-notes"),
            *("plan write-approach", "plan clear-approach", "plan cleanup-debug-logs"),
            *("git checkout-base", "git create-pr", "git cleanup-worktrees"),
            *("knowledge reindex", "knowledge reindex-all", "knowledge reindex-from-changes"),
        ),
        _ASKS: (
            *("plan block-findings-gate", "plan block-plan-gate", "plan block-prompt-testing-gate"),
            *("plan block-prompt-variants-gate", "plan block-debugging-logging-gate"),
            *("review", "claude review", "codex review", "gemini review", "oracle review"),
        ),
    },
}
# Of those, the calls that decide or steer all the same.
PEOPLES_CALLS = {
    ("porch", "run", "p", "1", "--script", "s.yaml"),
    ("porch", "run", "p", "1", "--adopt"),
    ("porch", "run", "p", "1", "--take-over"),
    ("porch", "resume", "1", "--script", "s.yaml"),
    ("porch", "resume", "1", "--adopt"),
    ("porch", "resume", "1", "--take-over"),
    ("porch", "run", "p", "--trust", "d"),
    ("porch", "resume", "1", "--trust", "d"),
    ("porch", "ask", "q.yaml", "--reply", "-"),
    ("porch", "plan", "repair", "t", "--write"),
    ("codev", "init", "--yes"),
    ("codev", "init", "--mcp", "claude"),
    ("codev", "adopt", "--mcp", "codex"),
    ("codev", "init", "--with", "claude"),
    ("codev", "adopt", "--with", "hooks"),
    ("codev", "adopt", "--yes"),
    ("codev", "migrate", "--adopt"),
    ("codev", "migrate", "--clean"),
    ("envoy", "review", "1", "--script", "s.yaml"),
    ("envoy", "claude", "review", "1", "--script", "s.yaml"),
    ("envoy", "codex", "review", "1", "--script", "s.yaml"),
    ("envoy", "gemini", "review", "1", "--script", "s.yaml"),
    ("envoy", "oracle", "review", "1", "--script", "s.yaml"),
    ("envoy", "review", "1", "--force"),
    ("envoy", "claude", "review", "1", "--force"),
    ("envoy", "codex", "review", "1", "--force"),
    ("envoy", "gemini", "review", "1", "--force"),
    ("envoy", "oracle", "review", "1", "--force"),
    ("envoy", "plan", "write-prompt", "1", "--context", "c", "--force"),
    ("envoy", "plan", "clear-prompt", "1", "--force"),
    ("envoy", "plan", "update-prompt-dependencies", "1", "--depends-on", "2", "--force"),
    ("envoy", "plan", "start-prompt", "1", "--specialist", "web", "--force"),
    ("envoy", "plan", "worktree", "1", "--specialist", "web", "--force"),
    (
        "envoy",
        "plan",
        "record-implementation",
        "1",
        "--iteration",
        "1",
        "--walkthrough",
        "w",
        "--force",
    ),
    ("envoy", "plan", "complete-prompt", "1", "--force"),
    ("envoy", "plan", "release-all-prompts", "--force"),
    ("envoy", "plan", "release-prompt", "1", "--force"),
    ("envoy", "plan", "complete", "--force"),
    ("envoy", "plan", "block-prompt-testing-gate", "1", "--force"),
    ("envoy", "plan", "block-prompt-variants-gate", "1", "--force"),
    ("envoy", "plan", "block-debugging-logging-gate", "1", "--force"),
    ("envoy", "git", "merge-worktree", "1", "--force"),
}
LOOK = """
import sys
from porch.cli import dispatch
sys.argv = sys.argv[1:]
try:
    code = getattr(dispatch, sys.argv[0])()
except SystemExit as left:
    code = left.code
sys.stderr.write("\\nLOADED " + " ".join(sys.modules))
raise SystemExit(code)
"""
# What no help needs, and what no command needs that only reads or answers.
HELP = {"asyncio", "dataclasses", "jinja2", "json", "msgspec", "rich", "subprocess", "yaml"}
# A package with nothing but a docstring is a place; what lies in it is counted.
SOURCES = Path(porch.__file__).parent
PLACES = {
    ".".join(("porch", *file.parent.relative_to(SOURCES).parts))
    for file in SOURCES.rglob("__init__.py")
    if len(ast.parse(file.read_text("utf-8")).body) == 1
}
READING = {"asyncio", "jinja2", "logging", "rich", "tempfile", "yaml", "porch.run.engine.driver"}
CALLS = {
    ("porch", "explain", "1"): (READING | {"subprocess"}, 120),
    ("porch", "next", "1"): (READING | {"subprocess"}, 130),
    ("porch", "settings"): (READING | {"subprocess"}, 40),
    ("porch", "stop", "1"): (READING, 125),
    ("porch", "approve", "1", "go", "--as-person"): (READING, 130),
    ("porch", "protocols", "lint", "spider"): (READING | {"difflib", "subprocess"}, 100),
}


def loaded(place: Path, *call: str) -> set[str]:
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("COVERAGE", "PYTHON"))}
    done = subprocess.run(
        [sys.executable, "-I", "-c", LOOK, *call],
        cwd=place,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.rpartition("LOADED ")[2].split())


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a run that waits at a gate."""
    phases: list[dict[str, object]] = [{"id": "one", "gate": {"name": "go", "next": None}}]
    return begun(tmp_path_factory.mktemp("waiting"), phases)


def begun(root: Path, phases: list[dict[str, object]], script: str = "{}") -> Path:
    file = root / "codev" / "protocols" / "p" / "protocol.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"name": "p", "phases": phases}))
    (root / "script.yaml").write_text(script)
    (root / "codev" / "config.toml").write_text("[agent]\nback_off = 0.01\n")
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), (*who, "commit", "-qm", "begin")):
        subprocess.run(["git", *words], cwd=root, check=True)
    start = "from porch.cli.dispatch import porch; exit(porch())"
    call = ("run", "p", "0001", "--title", "x", "--here", "--script", "script.yaml")
    done = subprocess.run([sys.executable, "-c", start, *call], cwd=root, check=False)
    assert done.returncode == 3
    return root


@pytest.mark.parametrize("program, row", ROWS, ids=IDS)
def test_every_row_names_a_module_that_has_its_command(program: str, row: CommandRow) -> None:
    command = load_command(row)
    assert (command.name, command.help) == (row.words, row.help)
    assert 1 <= len(row.words.split()) <= 2
    assert [r.words for r in PROGRAMS[program]].count(row.words) == 1


@pytest.mark.parametrize("module", sorted({row.module for _, row in ROWS}))
def test_every_command_of_a_module_has_a_row(module: str) -> None:
    named = {row.words for _, row in ROWS if row.module == module}
    assert set(__import__(module, fromlist=["COMMANDS"]).COMMANDS) == named


def test_no_verb_is_without_a_row() -> None:
    rows = {(row.module, row.words) for _, row in ROWS}
    verbs = set()
    for found in walk_packages(cli.__path__, f"{cli.__name__}."):
        commands = getattr(import_module(found.name), "COMMANDS", {})
        verbs |= {(found.name, words) for words in commands}
    assert sorted(verbs - rows) == [], "no row in rows.py"


def test_what_stands_for_a_group_alone_takes_no_arguments() -> None:
    for program in PROGRAMS:
        for command in load_all_commands(program):
            assert not command.name.endswith(" list") or not command.arguments


@pytest.mark.parametrize("program, row", ROWS, ids=IDS)
def test_a_command_for_people_refuses_agents_and_no_other_asks(
    program: str,
    row: CommandRow,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = DECISIONS.get(f"{program} {row.words}", DECISIONS.get(row.words))
    assert (told is not None) == row.for_people
    if told is None:
        return
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAUDECODE", "1")
    assert run_words(program, [*row.words.split(), *told, "--json"]) == 2
    assert "not-a-person" in capsys.readouterr().out


@pytest.mark.parametrize("program", PROGRAMS)
def test_k2_of_every_command_it_is_said_whether_agents_may_call_it(program: str) -> None:
    allowed = [words for each in AGENTS_MAY[program].values() for words in each]
    assert sorted(allowed) == sorted(r.words for r in PROGRAMS[program] if not r.for_people)


@pytest.mark.parametrize("call", sorted(PEOPLES_CALLS), ids=" ".join)
def test_k2_an_option_that_decides_makes_a_call_one_for_people(
    call: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEMINI_CLI", "1")
    assert run_words(call[0], [*call[1:], "--json"]) == 2
    assert "not-a-person" in capsys.readouterr().out
    if call[0] == "envoy":  # which always answers in one shape
        assert run_words("envoy", call[1:]) == 2
        assert json.loads(capsys.readouterr().out)["error"]["type"] == "not_a_person"


def test_k2_every_option_for_people_has_a_call_above() -> None:
    told = {(p, r.words, option) for p, r in ROWS for option in r.people_options}
    options = {option for _, _, option in told}
    seen = {
        (call[0], " ".join(w for w in call[1:] if w in words.split()), option)
        for call in PEOPLES_CALLS
        for _, words, _ in told
        for option in options
        if f"--{option.replace('_', '-')}" in call and all(w in call for w in words.split())
    }
    assert told <= seen


def test_k2_wherever_a_rule_of_a_plan_can_be_set_aside_only_people_do_it() -> None:
    forced = {row.words for _, row in ROWS if FORCE in load_command(row).arguments}
    assert {row.words for _, row in ROWS if "force" in row.people_options} == forced


@pytest.mark.parametrize("program, row", ROWS, ids=IDS)
def test_k6_what_agents_read_does_not_name_the_way_around(
    program: str, row: CommandRow, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_words(program, [*row.words.split(), "--help"]) == 0
    assert "as-person" not in capsys.readouterr().out
    if row.for_people:
        assert any("--as-person" in each.names for each in load_command(row).arguments)


@pytest.mark.parametrize("program, group", GROUPS)
@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_the_page_of_a_group_says_what_argparse_would(
    program: str, group: str, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    parser = arguments._make_parser(program, load_all_commands(program))
    (verbs,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    theirs = (parser.format_help(), verbs.choices[group].format_help())
    rows = PROGRAMS[program]
    ours = (
        help_page.render_program_page(program, rows),
        help_page.render_group_page(program, rows, group),
    )
    for mine, other in zip(ours, theirs, strict=True):
        assert "".join(mine.split()) == "".join(other.split())
        wide = [line for line in mine.splitlines()[1:] if len(line) >= int(columns)]
        assert not [line for line in wide if " " in line.strip()]


@pytest.mark.parametrize(
    "argv, meant",
    [
        (["staus"], "`porch status`"),
        (["staus", "--json"], "`porch status --json`"),
        (["protocols", "lintt"], "`porch protocols lint`"),
        (["lint"], "`porch protocols lint`"),
    ],
)
def test_a_word_that_is_nearly_a_command_is_told_which(
    argv: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_words("porch", argv) == 2
    told = capsys.readouterr().err
    assert "invalid choice" in told
    assert f"did you mean {meant}?" in told


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("word", ["--version", "--help"])
def test_help_and_version_of_a_program_load_no_command(
    tmp_path: Path, program: str, word: str
) -> None:
    found = loaded(tmp_path, program, word)
    assert not found & {"argparse", "re", "typing"}
    assert {name for name in found if name.startswith("porch.cli.")} == {
        "porch.cli.dispatch",
        "porch.cli.help_page",
        "porch.cli.rows",
    }


@pytest.mark.parametrize("module", sorted({row.module for _, row in ROWS}))
def test_the_help_of_a_command_loads_its_own_module_and_nothing_below(
    tmp_path: Path, module: str
) -> None:
    program, row = next((p, r) for p, r in ROWS if r.module == module)
    found = loaded(tmp_path, program, *row.words.split(), "--help")
    assert not found & HELP
    rooms = {name for name in found if name.count(".") == 1 and name.startswith("porch.")}
    assert rooms <= {"porch.cli", "porch.text"}
    assert {r.module for _, r in ROWS} & found == {module}


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_a_command_loads_no_more_than_it_needs(waiting: Path, call: tuple[str, ...]) -> None:
    forbidden, most = CALLS[call]
    found = loaded(waiting, *call)
    assert not found & forbidden
    assert len([name for name in found if name.startswith("porch.") and name not in PLACES]) <= most


def test_a_claim_that_leaves_nothing_for_the_engine_needs_no_event_loop(tmp_path: Path) -> None:
    script = json.dumps({"agents": {"one": [{"crash": 1}]}})
    root = begun(tmp_path, [{"id": "one"}, {"id": "two"}], script)
    loaded(root, "porch", "retry", "1", "--as-person")
    found = loaded(root, "porch", "done", "1")
    assert not found & (READING | {"subprocess"})
    assert len([name for name in found if name.startswith("porch.") and name not in PLACES]) <= 140


def test_protocols_are_listed_from_what_was_kept_until_a_file_changes(waiting: Path) -> None:
    call = ("porch", "protocols", "list")
    loaded(waiting, *call)
    assert not loaded(waiting, *call) & {"jinja2", "yaml", "porch.dialects", "porch.model"}
    file = waiting / "codev" / "protocols" / "p" / "protocol.json"
    before = file.read_text()
    file.write_text(before.replace('"name"', '"description": "It is new.", "name"'))
    assert "porch.dialects" in loaded(waiting, *call)
    assert "porch.dialects" not in loaded(waiting, *call)
    file.write_text(before)
