"""What Claude Code gets installed names only commands, inputs and specialists that there are."""

import re
from functools import cache
from pathlib import Path

import pytest

from porch.dialects.steps.file_records import StepProtocol
from porch.fleet.setup import package_files
from porch.plan.files import front_matter
from porch.run.definitions import step_protocols
from porch.run.definitions.step_files import PACKAGED
from porch.store import where as places
from tests.envoy_texts import calls, named, refused

ROOT = Path(__file__).resolve().parents[3]
PAGE = "docs/how-to/envoy.md"
SPECIALISTS = ("backend", "frontend", "fullstack", "research")
PATHS = (
    *(f"agents/{name}.md" for name in SPECIALISTS), "commands/continue.md", "commands/plan.md",
    "skills/porch/SKILL.md",
)  # fmt: skip
# Deciding, publishing: nothing that a command of ours may be allowed without a person being asked.
FOR_PEOPLE = (
    "envoy gate answer 1", "porch approve 1", "porch reject 1", "porch answer 1 2",
    "envoy plan complete", "envoy git create-pr", "git push",
)  # fmt: skip

_DELEGATION = re.compile(
    r"Run `envoy protocol ([\w-]+)` and follow the steps\. INPUTS: (\{.*\})$", re.MULTILINE
)


@cache
def text(path: str) -> str:
    return package_files.load_claude_files()[path].decode("utf-8")


def fields(path: str) -> dict[str, object]:
    return dict(front_matter.read_page(text(path), path).fields)


def body(path: str) -> str:
    return front_matter.read_page(text(path), path).body


@cache
def sources() -> dict[str, str]:
    return {**{path: body(path) for path in PATHS}, PAGE: (ROOT / PAGE).read_text("utf-8")}


def test_every_file_has_its_place_below_the_directory_of_claude_code() -> None:
    assert tuple(package_files.load_claude_files()) == PATHS


def test_the_files_are_those_of_the_package() -> None:
    home = ROOT / "src" / "porch" / "integration" / "claude"
    assert {path: (home / path).read_bytes() for path in PATHS} == package_files.load_claude_files()


def test_every_command_that_is_named_exists() -> None:
    missing = {
        " ".join(call[:3]) for t in sources().values() for call in calls(t) if not named(call)
    }
    assert sorted(missing) == []


@pytest.mark.parametrize("source", [*PATHS, PAGE])
def test_every_call_has_arguments_that_its_command_takes(source: str) -> None:
    found = list(calls(sources()[source]))
    assert found
    assert [" ".join(call) for call in found if named(call) and refused(call)] == []


@pytest.mark.parametrize(
    "line, is_refused",
    [
        ("envoy protocol <name> [--explain]", False),
        ("envoy protocol <name> --no-such-flag", True),
        ("envoy protocol one two", True),
        ("porch reject <N>", True),
        ("porch reject <N> --reason '<two words>'", False),
        ("porch reject", False),
    ],
)
def test_a_wrong_call_would_be_noticed(line: str, is_refused: bool) -> None:
    assert any(refused(call) for call in calls(f"`{line}`")) is is_refused


def test_a_command_that_is_not_there_would_be_noticed() -> None:
    assert [named(call) for call in calls("`envoy plan no-such-thing 1`")] == [None, None]


@cache
def protocol(name: str) -> StepProtocol:
    return step_protocols.load_steps(places.find_project(PACKAGED), name).chain.demand()


def delegations(path: str) -> list[tuple[str, list[str]]]:
    """Each protocol that is handed on, with the names of the inputs that go along."""
    found = _DELEGATION.findall(body(path))
    return [
        (name, re.findall(r"(\w+):", re.sub(r"\[\{.*\}\]", "", given))) for name, given in found
    ]


@pytest.mark.parametrize("path", ["commands/plan.md", "commands/continue.md"])
def test_inputs_are_those_that_the_protocol_declares(path: str) -> None:
    assert delegations(path)
    for name, given in delegations(path):
        declared = protocol(name).inputs
        required = {each.name for each in declared if not each.optional}
        assert required <= set(given) <= {each.name for each in declared}, (name, given)


@pytest.mark.parametrize("path", ["commands/plan.md", "commands/continue.md"])
def test_every_input_of_a_protocol_is_given_somewhere(path: str) -> None:
    for name in {name for name, _ in delegations(path)}:
        given = {each for n, inputs in delegations(path) if n == name for each in inputs}
        assert given == {each.name for each in protocol(name).inputs}


@pytest.mark.parametrize("path", PATHS)
def test_every_mention_of_inputs_is_a_delegation_that_was_checked(path: str) -> None:
    assert body(path).count("INPUTS: {") == len(delegations(path))


@pytest.mark.req("E-083")
def test_continue_chooses_debugging_for_debug_prompts_and_implementation_otherwise() -> None:
    inputs = ["prompt_num", "variant", "feature_branch"]
    assert delegations("commands/continue.md") == [
        ("debugging", inputs),
        ("implementation", inputs),
    ]
    before, _, after = body("commands/continue.md").partition("`envoy protocol debugging`")
    assert "If `kind` is `debug`:" in before.splitlines()[-3]
    assert "Otherwise:" in after.partition("`envoy protocol implementation`")[0]


@pytest.mark.req("E-084")
def test_plan_gives_each_segment_a_discovery_with_its_context() -> None:
    first = ["agent_name", "segment_context"]
    again = [*first, "approach_references"]
    assert delegations("commands/plan.md") == [
        ("discovery", first),
        ("bug-discovery", first),
        ("discovery", again),
        ("bug-discovery", again),
    ]
    assert "Give each segment to its specialist" in body("commands/plan.md")


def test_plan_takes_its_steps_in_an_order_that_the_commands_allow() -> None:
    order = (
        "plan check", "plan init", "append-user-input", "envoy protocol discovery",
        "block-findings-gate", "write-plan", "write-prompt", "validate-dependencies",
        "block-plan-gate",
    )  # fmt: skip
    steps_ = body("commands/plan.md").partition("## Steps")[2]
    places_ = [steps_.index(name) for name in order]
    assert places_ == sorted(places_)


def test_continue_ends_only_when_nothing_is_left() -> None:
    order = ("plan check", "release-all-prompts", "plan next", "`all_done` is true: go to step 6",
             "Then go to step 3", "6. ", "mark-prompt-extracted", "plan complete")  # fmt: skip
    steps_ = body("commands/continue.md").partition("## Steps")[2]
    places_ = [steps_.index(name) for name in order]
    assert places_ == sorted(places_)


@pytest.mark.req("E-082")
@pytest.mark.parametrize("name", SPECIALISTS)
def test_a_specialist_is_told_to_run_its_protocol_and_follow_the_steps(name: str) -> None:
    told = body(f"agents/{name}.md")
    assert "Run `envoy protocol <name>` and follow the steps" in told
    assert f"where they have none it is `{name}`" in told
    assert "output object of the protocol" in told.rstrip().splitlines()[-1]


@pytest.mark.parametrize("path", PATHS)
def test_gates_are_left_to_people(path: str) -> None:
    told = body(path)
    assert re.search(r"People answer gates, never you\b", told)
    assert re.search(r"Do not run `envoy gate answer`", told)
    assert "`.claude/plans`" in told
    assert "gate answer" not in re.sub(r"Do not run `envoy gate answer`", "", told)


@pytest.mark.parametrize("name", SPECIALISTS)
def test_the_fields_of_a_specialist_are_those_that_claude_code_reads(name: str) -> None:
    found = fields(f"agents/{name}.md")
    assert list(found) == ["name", "description", "tools"]
    assert found["name"] == name
    assert all(value and isinstance(value, str) for value in found.values())


def test_only_specialists_that_build_may_write() -> None:
    writers = [n for n in SPECIALISTS if "Write" in str(fields(f"agents/{n}.md")["tools"])]
    assert writers == ["backend", "frontend", "fullstack"]


@pytest.mark.parametrize("name", ["plan", "continue"])
def test_the_fields_of_a_command_are_those_that_claude_code_reads(name: str) -> None:
    found = fields(f"commands/{name}.md")
    assert list(found) == ["description", "argument-hint", "allowed-tools"]
    assert all(value and isinstance(value, str) for value in found.values())
    assert "$ARGUMENTS" in body(f"commands/{name}.md")


def allowed(name: str) -> list[str]:
    return re.findall(r"Bash\(([^)]*):\*\)", str(fields(f"commands/{name}.md")["allowed-tools"]))


@pytest.mark.parametrize("name", ["plan", "continue"])
@pytest.mark.parametrize("line", FOR_PEOPLE)
def test_nothing_that_decides_or_publishes_is_allowed_beforehand(name: str, line: str) -> None:
    assert "Bash" not in re.split(r"[, ]+", str(fields(f"commands/{name}.md")["allowed-tools"]))
    assert [prefix for prefix in allowed(name) if line.startswith(prefix)] == []


@pytest.mark.parametrize("name", ["plan", "continue"])
def test_what_is_allowed_beforehand_is_what_the_steps_call(name: str) -> None:
    told = body(f"commands/{name}.md").partition("## Steps")[2]
    called = {" ".join(call[:3]) for call in calls(told) if call[:2] != ["envoy", "protocol"]}
    assert called - {"envoy plan complete"} == set(allowed(name))


@pytest.mark.parametrize("path", [*PATHS, PAGE])
def test_no_path_of_a_machine_is_named(path: str) -> None:
    whole = text(path) if path in PATHS else sources()[path]
    assert re.findall(r"(?<![\w.~<>/-])/(?:\w+/|tmp\b)", whole) == []
    assert "~/" not in whole


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_executed_or_read_while_a_command_is_loaded(path: str) -> None:
    # Claude Code runs what stands between !` and ` and pulls in files behind an @.
    assert "!`" not in text(path)
    assert "@" not in text(path)


def test_the_example_of_the_page_is_beyond_doubt(tmp_path: Path) -> None:
    example = sources()[PAGE].partition("```yaml\n")[2].partition("```")[0]
    own = tmp_path / ".claude" / "protocols" / "careful.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(example, encoding="utf-8")
    where = places.find_project(str(tmp_path))
    assert step_protocols.check_steps(where, "careful") == []
    told = step_protocols.show_steps(where, "careful").text
    assert "8: Add a line to CHANGELOG.md" in told
    assert "\n16: " in told
