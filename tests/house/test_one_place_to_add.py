"""CONTRIBUTING says where each kind of thing is added; here each is added, whole and in part.

What is whole must pass the suite that it joins by itself; what is in part must be noticed.
"""

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.house.scratch import ROOT, Scratch, copy_project

# Where things are; nothing below names a path of the project.
DIALECTS = "src/porch/dialects/registry.py"
DIALECT = "src/porch/dialects/echo.py"
DIALECT_SUITE = "tests/dialects/test_dialect_contract.py"
DIALECT_SAMPLE = "tests/corpus/echo/hello.yaml"
AGENTS = "src/porch/agents/__init__.py"
AGENT_MODEL = "src/porch/agents/claude/__init__.py"
AGENT = "src/porch/agents/parrot.py"
AGENT_PACKAGE = "porch.agents"
AGENT_SAMPLES = "tests/agents/samples.py"
AGENT_SUITE = "tests/agents/test_agent_contract.py"
EFFECTS = "src/porch/machine/effects.py"
FACTS = "src/porch/machine/facts.py"
FACTS_ROOM = "src/porch/machine"
HANDLERS = "src/porch/run/handlers/__init__.py"
HANDLERS_SUITE = "tests/cli/test_handlers_table.py"
ROWS = "src/porch/cli/rows.py"
COMMAND = "src/porch/cli/hello.py"
COMMAND_PACKAGE = "porch.cli"
COMMAND_SUITE = "tests/cli/test_rows.py"
COMMANDS_TOOL = "tools/cli_reference.py"
PROTOCOLS = "src/porch/protocols"
PROTOCOL_SUITE = "tests/protocols/test_packaged_contract.py"
FINDING_GIVER = "src/porch/dialects/registry.py"
ERRORS_PAGE = "docs/reference/errors.md"
ERRORS_TOOL = "tools/error_codes.py"
GUARDS = "tools/guards.py"
GUARDED = "agents/environment.py"
SABOTAGE = "tools.sabotage"

_TABLE = re.compile(r"^## One place to add a thing$(.*?)^## ", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"`(?P<name>[A-Za-z_]+)` in `(?P<file>[\w/.]+\.py)`")


def rows() -> dict[str, str]:
    """What can be added, by CONTRIBUTING, to the whole line that says where."""
    found = _TABLE.search((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert found
    lines = [line for line in found[1].splitlines() if line.startswith("| ")][1:]
    return {line.split("|")[1].strip(): line for line in lines}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the checker knows of the project already, if it was asked before."""
    place = tmp_path_factory.mktemp("mypy")
    known = ROOT / ".mypy_cache"
    if known.is_dir():
        shutil.copytree(known, place, dirs_exist_ok=True)
    return place


@pytest.fixture
def scratch(tmp_path: Path, cache: Path) -> Scratch:
    return copy_project(tmp_path / "project", cache)


ECHO = '''\
"""A dialect of one word, which stands for one protocol."""

from porch.dialects import phases
from porch.dialects.result import ProtocolReading, refused_reading
from porch.errors import Finding
from porch.text import formats
from porch.text.nodes import MapNode, Node

_MEANT = '{"name": "echo", "phases": [{"id": "say", "name": "Say", "signals": {"D": "complete"}}]}'


def recognises(root: Node) -> bool:
    return isinstance(root, MapNode) and root.get("echo") is not None
'''
ECHO_READ = """

def read(root: Node) -> ProtocolReading:
    word = root.get("echo") if isinstance(root, MapNode) else None
    if word is None or getattr(word, "text", "") != "hello":
        return refused_reading([Finding("wrong-type", "it says only hello", root.place)])
    return phases.read(formats.read_tree(_MEANT, root.place.file))
"""


def add_a_dialect(scratch: Scratch) -> None:
    scratch.write(DIALECT, ECHO)
    scratch.edit(DIALECTS, "import graph, phases", "import echo, graph, phases")
    row = '    "echo": Dialect(echo.recognises, lambda root, _: echo.read(root)),\n}\n'
    scratch.edit(DIALECTS, "steps.read),\n}\n", f"steps.read),\n{row}")
    half = scratch.mypy(DIALECTS)
    assert half.code == 1, half.text
    assert 'no attribute "read"' in half.text
    scratch.append(DIALECT, ECHO_READ)
    assert scratch.mypy(DIALECTS).code == 0
    unknown = scratch.pytest(DIALECT_SUITE, "-k", "echo")
    assert "dialect echo has no sample" in unknown.text
    scratch.write(DIALECT_SAMPLE, "# One word is all that it says.\necho: hello\n")
    sample = f'    "echo": Sample("{DIALECT_SAMPLE}", "hello", "hallo", "steps"),\n}}\n'
    scratch.edit(DIALECT_SUITE, '"steps:", "steppes:", "steps"),\n}\n', _after_steps(sample))
    whole = scratch.pytest(DIALECT_SUITE)
    assert whole.code == 0, whole.text


def _after_steps(row: str) -> str:
    return f'"steps:", "steppes:", "steps"),\n{row}'


REPLACE = "from msgspec.structs import replace\n"
PARROT_ROW = f"""def _parrot() -> "AgentPort":
    from {AGENT_PACKAGE} import parrot

    return parrot


AGENTS = AgentTable(
    {{
        "parrot": _parrot,
"""


def add_an_agent(scratch: Scratch) -> None:
    model = scratch.path(AGENT_MODEL).read_text(encoding="utf-8")
    parrot = model.replace('EXECUTABLE = "claude"', 'EXECUTABLE = "parrot"')
    scratch.write(AGENT, parrot.replace("def judge(", "def judged("))
    scratch.edit(AGENTS, "AGENTS = AgentTable(\n    {\n", PARROT_ROW)
    half = scratch.mypy(AGENTS)
    assert half.code == 1, half.text
    assert "judge" in half.text
    scratch.write(AGENT, parrot)
    assert scratch.mypy(AGENTS).code == 0
    unknown = scratch.pytest(AGENT_SUITE, "-k", "parrot and a_signal_arrives")
    assert "agent kind parrot has no samples" in unknown.text
    sample = 'replace(CLAUDE, arrange=on_path("parrot"))'
    scratch.edit(AGENT_SAMPLES, "SAMPLES: Mapping[str, Samples] = {\n", _with_parrot(sample))
    scratch.edit(AGENT_SAMPLES, "import Struct\n", "import Struct\n" + REPLACE)
    whole = scratch.pytest(AGENT_SUITE, "-k", "parrot and keeps_the_contract or nobody_else")
    assert whole.code == 0, whole.text
    scratch.write(AGENT, parrot.replace('return "ok", ""', "return None"))
    hopeless = scratch.pytest(AGENT_SUITE, "-k", "parrot and a_signal_arrives")
    assert hopeless.code == 1, hopeless.text


def _with_parrot(sample: str) -> str:
    return f'SAMPLES: Mapping[str, Samples] = {{\n    "parrot": {sample},\n'


BELL = '''class RingBell(Effect, frozen=True, kw_only=True):
    """Ring a bell."""


Request = (
    RingBell
    | RunAgent
'''
RUNG = """def _rung(_: World, effect: e.RingBell) -> EffectFact:
    from porch.machine.facts import EffectFailed

    return EffectFailed(effect=effect.id, why="bell", detail="there is no bell")


"""
BELL_RUNG = '''class BellRung(Tagged, frozen=True, kw_only=True, tag="BellRung"):
    """A bell was rung."""

    effect: str = ""


EffectFact = (
    BellRung
    | ExitAccepted
'''


def add_an_effect(scratch: Scratch) -> None:
    scratch.edit(EFFECTS, "Request = (\n    RunAgent\n", BELL)
    half = scratch.pytest(HANDLERS_SUITE)
    assert half.code == 1, half.text
    assert "no handler in HANDLERS for ['RingBell']" in half.text
    scratch.edit(HANDLERS, "HANDLERS: Mapping", f"{RUNG}HANDLERS: Mapping")
    row = "        handler_row(e.RingBell, _rung),\n"
    scratch.edit(HANDLERS, "= dict(\n    (\n", f"= dict(\n    (\n{row}")
    whole = scratch.pytest(HANDLERS_SUITE)
    assert whole.code == 0, whole.text
    assert scratch.mypy(FACTS_ROOM).code == 0
    scratch.edit(FACTS, "EffectFact = (\n    ExitAccepted\n", BELL_RUNG)
    shown = scratch.mypy(FACTS_ROOM)
    assert shown.code == 1, shown.text
    assert 'expected "Never"' in shown.text
    assert "BellRung" in shown.text


HELLO = f'''\
"""A greeting."""

from {COMMAND_PACKAGE}.verbs import Args, Verb, Verbs, View


def _hello(_: Args) -> View:
    return View("hello")


COMMANDS: Verbs = {{"hello": Verb(_hello)}}
'''
CALL = (
    f"from {COMMAND_PACKAGE}.dispatch import run_words;"
    "raise SystemExit(run_words('porch', ['hello']))"
)


def add_a_command(scratch: Scratch) -> None:
    scratch.write(COMMAND, HELLO)
    half = scratch.pytest(COMMAND_SUITE, "-k", "no_verb_is_without_a_row")
    assert half.code == 1, half.text
    assert "hello" in half.text
    row = f'CommandRow("hello", "greet whoever asks", "{COMMAND_PACKAGE}.hello")'
    scratch.edit(ROWS, "PORCH = (\n", f"PORCH = (\n    {row},\n")
    lagging = scratch.python(COMMANDS_TOOL, "--check")
    assert lagging.code == 1, lagging.text
    assert scratch.python(COMMANDS_TOOL).code == 0
    assert scratch.python(COMMANDS_TOOL, "--check").code == 0
    whole = scratch.pytest(COMMAND_SUITE, "-k", "no_verb or hello and (every_row or every_command)")
    assert whole.code == 0, whole.text
    called = scratch.python("-c", CALL)
    assert (called.code, called.text) == (0, "hello\n")


GREET = """\
{"name": "greet", "version": "1.0.0", "description": "Say hello", "initial": "say",
 "phases": [{"id": "say", "name": "Say", "prompt": "prompts/say.md",
             "signals": {"SAID": "complete"}}]}
"""


def add_a_packaged_protocol(scratch: Scratch) -> None:
    scratch.write(f"{PROTOCOLS}/greet/prompts/say.md", "Say hello, then <signal>SAID</signal>.\n")
    empty = scratch.pytest(PROTOCOL_SUITE, "-k", "every_directory")
    assert "a directory without a definition" in empty.text
    scratch.write(f"{PROTOCOLS}/greet/protocol.json", GREET)
    whole = scratch.pytest(PROTOCOL_SUITE, "-k", "every_directory or greet")
    assert "2 passed" in whole.text, whole.text
    assert whole.code == 0, whole.text
    scratch.path(f"{PROTOCOLS}/greet/prompts/say.md").unlink()
    half = scratch.pytest(PROTOCOL_SUITE, "-k", "greet")
    assert half.code == 1, half.text
    assert "prompts/say.md" in half.text


def add_a_finding(scratch: Scratch) -> None:
    given = "def late(place: Place) -> Finding:\n    return Finding('never-heard-of', 'x', place)\n"
    scratch.append(FINDING_GIVER, f"\n\n{given}")
    half = scratch.python(ERRORS_TOOL)
    assert half.code == 1, half.text
    assert "code 'never-heard-of' has no heading" in half.text
    scratch.append(ERRORS_PAGE, "\n## never-heard-of\n\nNobody has heard of it. Say it again.\n")
    whole = scratch.python(ERRORS_TOOL)
    assert whole.code == 0, whole.text


GUARD = """\
GUARDS: tuple[Guard, ...] = (
    Guard(
        "a door",
        "{module}",
        "fnmatchcase(name, pattern) for pattern in patterns",
        "{without}",
        "{test}",
    ),
"""
NOTICED = "test_scrubbed_keeps_only_what_an_agent_needs"


def add_a_guard(scratch: Scratch) -> None:
    told = {"module": GUARDED, "test": NOTICED}
    lost = GUARD.format(without="fnmatchcase(name, each) for each in patterns", **told)
    scratch.edit(GUARDS, "GUARDS: tuple[Guard, ...] = (\n", lost)
    half = scratch.python("-m", SABOTAGE, "a door")
    assert half.code == 1, half.text
    assert "did not notice" in half.text
    scratch.edit(GUARDS, "fnmatchcase(name, each) for each in patterns", "True for _ in patterns")
    whole = scratch.python("-m", SABOTAGE, "a door")
    assert whole.code == 0, whole.text


TRIALS: Mapping[str, Callable[[Scratch], None]] = {
    "a dialect": add_a_dialect,
    "an agent": add_an_agent,
    "an effect": add_an_effect,
    "a command": add_a_command,
    "a packaged protocol": add_a_packaged_protocol,
    "a finding": add_a_finding,
    "a guard that must never be lost": add_a_guard,
}


CHECKED = ("a dialect", "an agent", "an effect")


def test_every_row_of_the_table_has_its_trial() -> None:
    assert set(rows()) == set(TRIALS)


@pytest.mark.parametrize("thing", rows())
def test_a_row_names_tables_that_are_where_it_says(thing: str) -> None:
    named = _NAMED.findall(rows()[thing])
    for name, file in named:
        found = [path for path in (ROOT / file, ROOT / "src" / "porch" / file) if path.is_file()]
        assert found, file
        assert re.search(rf"^(class )?{name}\b", found[0].read_text(encoding="utf-8"), re.MULTILINE)


def _grouped(thing: str) -> Any:
    """Trials that ask the checker run beside each other's cache, in one process after another."""
    group = pytest.mark.xdist_group("mypy")
    return pytest.param(thing, id=thing, marks=group if thing in CHECKED else ())


# Checkers and whole suites run in a copy of the project, on whatever else the machine does.
@pytest.mark.timeout(600)
@pytest.mark.parametrize("thing", [_grouped(thing) for thing in TRIALS])
def test_what_is_added_whole_passes_and_what_is_added_in_part_is_noticed(
    thing: str, scratch: Scratch
) -> None:
    TRIALS[thing](scratch)
