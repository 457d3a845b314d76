"""The four protocols of steps in the box: numbered, linted, and naming only commands that are."""

import re
from functools import cache
from pathlib import Path

import pytest

from porch.dialects.steps.file_records import MergedStep, StepProtocol
from porch.run.definitions import step_protocols as operation
from porch.run.definitions.step_files import PACKAGED
from porch.show import steps as view
from porch.store import where as places
from tests.envoy_texts import calls, named, refused

NAMES = ("implementation", "debugging", "discovery", "bug-discovery")
COUNTS = {"implementation": 15, "debugging": 18, "discovery": 6, "bug-discovery": 6}


@cache
def merged(name: str) -> StepProtocol:
    return operation.load_steps(places.find_project(PACKAGED), name).chain.demand()


@cache
def printed(name: str) -> str:
    return view.render_steps(merged(name))


def step(name: str, source: str) -> MergedStep:
    return next(each for each in merged(name).steps if each.source == source)


def told(name: str, source: str) -> str:
    return view.render_step_text(step(name, source), merged(name))


@pytest.mark.req("E-013")
@pytest.mark.parametrize("name", NAMES)
def test_steps_are_printed_with_sequential_numbers(name: str) -> None:
    # A numbered list inside a step has dots, the steps have colons.
    numbers = [int(number) for number in re.findall(r"^([0-9]+): ", printed(name), re.MULTILINE)]
    assert numbers == list(range(1, COUNTS[name] + 1))


@pytest.mark.parametrize("name", NAMES)
def test_every_reference_is_beyond_doubt(name: str, tmp_path: Path) -> None:
    assert operation.check_steps(places.find_project(str(tmp_path)), name) == []
    assert "{step:" not in printed(name)


@pytest.mark.req("E-005", "E-007", "E-014")
@pytest.mark.parametrize("name", NAMES)
def test_inputs_and_outputs_are_printed(name: str) -> None:
    head = printed(name).partition("## Steps")[0]
    assert merged(name).inputs
    assert merged(name).outputs
    for declared in merged(name).inputs:
        need = "optional" if declared.optional else "required"
        assert f"- {declared.name}: {declared.type} ({need}) - {declared.description}\n" in head
    for output in merged(name).outputs:
        assert f"- {output.value}\n  {output.description}\n" in head


@pytest.mark.parametrize("name", NAMES)
def test_only_commands_that_exist_are_named(name: str) -> None:
    found = list(calls(printed(name)))
    assert found
    assert [" ".join(call) for call in found if named(call) is None] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_call_has_arguments_that_its_command_takes(name: str) -> None:
    assert [" ".join(call) for call in calls(printed(name)) if refused(call)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_call_with_its_inputs_filled_in_is_taken_too(name: str, tmp_path: Path) -> None:
    values = {"integer": "2", "string": "A", "array": '[{"specialist_name": "a"}]'}
    given = {each.name: values[each.type] for each in merged(name).inputs}
    told = operation.show_steps(
        places.find_project(str(tmp_path)), name, form="text", given=given
    ).text
    found = list(calls(told))
    assert [" ".join(call) for call in found if named(call) is None or refused(call)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_failure_has_an_output(name: str) -> None:
    values = [output.value for output in merged(name).outputs]
    assert any("success: true" in value for value in values)
    assert any("success: false" in value for value in values)


@pytest.mark.parametrize("name", NAMES)
def test_fields_are_called_as_the_commands_return_them(name: str) -> None:
    text = printed(name)
    assert "pending_refinement" not in text
    assert not re.search(r"\brefinements\b", text)
    assert not re.search(r"\baccepted\b", text)
    assert "<FEATURE_BRANCH>/implementation" not in text


def test_the_example_of_the_reference_page_is_beyond_doubt(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "steps.md").read_text("utf-8")
    example = page.partition("```yaml\n")[2].partition("```")[0]
    own = tmp_path / ".claude" / "protocols" / "debugging-ours.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(example, encoding="utf-8")
    where = places.find_project(str(tmp_path))
    assert operation.check_steps(where, "debugging-ours") == []
    told = operation.show_steps(where, "debugging-ours").text
    assert "12: Ask a colleague to read the fix. If it is not clear, go back to step 9.\n" in told


@pytest.mark.req("E-017")
def test_implementation_has_15_steps() -> None:
    assert [each.source for each in merged("implementation").steps] == [
        str(n) for n in range(1, 16)
    ]


@pytest.mark.req("E-018")
def test_inputs_of_implementation() -> None:
    rows = [(p.name, p.type, p.optional) for p in merged("implementation").inputs]
    assert rows == [
        ("prompt_num", "integer", False), ("variant", "string", True),
        ("feature_branch", "string", False),
    ]  # fmt: skip


@pytest.mark.req("E-019")
def test_outputs_of_implementation() -> None:
    values = [output.value for output in merged("implementation").outputs]
    assert values[:2] == [
        "{ success: true, merged: true }",
        '{ success: true, merged: false, reason: "rejected" }',
    ]


@pytest.mark.req("E-087")
def test_a_todo_list_is_made_and_then_worked_through() -> None:
    assert [step("implementation", source).number for source in ("6", "7")] == [6, 7]
    assert told("implementation", "6").startswith("Turn the prompt into a todo list")
    assert told("implementation", "7").startswith("Work through the todo list")


@pytest.mark.parametrize("name", ["implementation", "debugging"])
def test_whoever_waits_for_a_person_is_told_what_to_do_meanwhile(name: str) -> None:
    texts = [view.render_step_text(each, merged(name)) for each in merged(name).steps]
    waiting = [text for text in texts if re.search(r": `envoy (?:plan block-|gemini)", text)]
    assert len(waiting) == {"implementation": 3, "debugging": 5}[name]
    silent = [text for text in waiting if "Exit code 3 means" not in text]
    assert [text.splitlines()[0] for text in silent] == []


@pytest.mark.req("E-027")
@pytest.mark.parametrize("name", ["implementation", "debugging"])
def test_whoever_goes_on_with_earlier_work_knows_its_iteration_first(name: str) -> None:
    at, review = step(name, "5").number, step(name, "9").number
    assert told(name, "5").startswith('Set **ITERATION = 1** and **REFINEMENT_REASON = ""**.')
    assert f"After step {at}, go on at the first step" in told(name, "4")
    assert f"recorded that is step {review}." in told(name, "4")


@pytest.mark.req("E-034", "E-051")
def test_a_failed_test_leads_back_to_the_work() -> None:
    assert "Go to step 7" in told("implementation", "12")
    assert not told("debugging", "12").startswith("If ")
    assert "Go to step 9" in told("debugging", "12")
    assert step("debugging", "7").number == 9


@pytest.mark.req("E-043")
def test_debugging_has_the_inputs_of_implementation() -> None:
    assert merged("debugging").inputs == merged("implementation").inputs


@pytest.mark.req("E-044")
def test_debugging_has_outputs_of_its_own() -> None:
    assert "the fix is on the feature branch" in printed("debugging")
    assert "the work is on the feature branch" not in printed("debugging")


@pytest.mark.req("E-045", "E-053")
def test_debugging_has_18_steps_in_order() -> None:
    sources = " ".join(each.source for each in merged("debugging").steps)
    assert sources == "1 2 3 4 5 6 6.1 6.2 7 8 9 10 11 12 13 13.1 14 15"
    assert "cleanup-debug-logs" in told("debugging", "13.1")


@pytest.mark.req("E-046")
def test_logging_comes_first_in_the_todo_list() -> None:
    assert told("debugging", "6").endswith("\n* Tasks that add logging come first.")


@pytest.mark.req("E-047")
def test_markers_are_described_with_their_form() -> None:
    text = told("debugging", "6.1")
    assert "`// [DEBUG-TEMP]`" in text
    assert "`# [DEBUG-TEMP]`" in text
    assert "blank line" in text
    assert "line by line" in text


@pytest.mark.req("E-049", "E-054")
@pytest.mark.parametrize(
    "source, words",
    [("7", ["hypothesis", "logs", "thoughts"]), ("8", ["record-implementation"]),
     ("14", ["merge the fix", "`envoy git merge-worktree <PROMPT_NUM> [<VARIANT>]`"])],
)  # fmt: skip
def test_debugging_replaces_steps(source: str, words: list[str]) -> None:
    assert step("debugging", source).operation == "replace"
    assert step("debugging", source).origin == "debugging"
    assert all(word in told("debugging", source) for word in words)
    assert told("implementation", source) not in told("debugging", source)


@pytest.mark.req("E-050")
def test_a_walkthrough_of_debugging_is_the_first_or_follows_a_test() -> None:
    text = told("debugging", "8")
    assert re.findall(r"`([a-z]+(?:-refinement)?)`", text) == ["initial", "testing-refinement"]


def test_a_new_attempt_passes_the_logging_gate_again() -> None:
    gate = step("debugging", "6.2").number
    assert f"gate of step {gate} again" in told("debugging", "12")


def test_the_code_is_reviewed_once_more_without_its_logs() -> None:
    text = told("debugging", "13.1")
    assert text.index("cleanup-debug-logs") < text.index("gemini review")


def test_a_gate_for_variants_can_be_called_without_one() -> None:
    for name in ("implementation", "debugging"):
        assert "block-prompt-variants-gate <PROMPT_NUM> [<VARIANT>]`" in told(name, "13")
        assert all(word in told(name, "13") for word in ("`main`", "`alternative`", "`discard`"))


@pytest.mark.req("E-055")
def test_inputs_of_discovery() -> None:
    rows = [(p.name, p.type, p.optional) for p in merged("discovery").inputs]
    assert rows == [
        ("agent_name", "string", False), ("segment_context", "string", False),
        ("approach_references", "array", True),
    ]  # fmt: skip


@pytest.mark.req("E-056")
def test_outputs_of_discovery() -> None:
    assert merged("discovery").outputs[0].value == "{ success: true }"


@pytest.mark.req("E-062")
def test_repomix_is_named_only_for_agents_that_have_it() -> None:
    assert "repomix extraction skill if your agent has that skill" in told("discovery", "4")


@pytest.mark.req("E-067")
def test_bug_discovery_has_inputs_and_outputs_of_its_own() -> None:
    assert "symptoms" in merged("bug-discovery").inputs[1].description
    assert "hypotheses" in merged("bug-discovery").outputs[0].description


@pytest.mark.req("E-016", "E-070")
def test_bug_discovery_inherits_step_3() -> None:
    assert step("bug-discovery", "3").origin == "discovery"
    assert told("bug-discovery", "3") == told("discovery", "3")


@pytest.mark.req("E-071")
def test_bug_discovery_appends_to_step_4() -> None:
    assert told("bug-discovery", "4") == (
        told("discovery", "4") + "\nover the areas where the bug is suspected"
    )


@pytest.mark.req("E-068", "E-069", "E-072", "E-073")
@pytest.mark.parametrize(
    "source, words",
    [
        ("1", ["knowledge search docs", "suspected", "symptoms"]),
        ("2", ["compiler", "linters"]),
        ("5", ["write-notes", "Error messages", "stack traces", "interfaces"]),
        ("6", ["write-approach", "hypothesis", "analysis", "log statements", "possible fixes"]),
    ],
)
def test_bug_discovery_replaces_steps(source: str, words: list[str]) -> None:
    assert step("bug-discovery", source).operation == "replace"
    assert all(word in told("bug-discovery", source) for word in words)
    assert told("discovery", source) not in told("bug-discovery", source)
