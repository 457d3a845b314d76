"""What the agents of v3 are told: each prompt has its sections, and nobody speaks through data."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from porch.show import strict_templates as templates
from porch.text.markdown import mask_inline_code, parse_markdown_lines

FOLDER = Path(__file__).parents[2] / "src" / "porch" / "protocols" / "v3" / "templates"
NAMES = ("scaffold", "write_tests", "impl", "review", "judge", "merger", "rebase", "answer")

Values = dict[str, Any]

FRESH: Values = {"new_tests_may_pass": False, "tests_may_stay": False}
ALWAYS: Values = {
    "memory": {},
    "budget": {"rounds": {"spent": 2, "limit": 5, "left": 3}},
    "commands": {"build": "make build", "test": "make test"},
    "where": {"directory": "trees/auth", "branch": "porch/auth", "commit": "c0ffee1", **FRESH},
    "instance": {"id": "auth", "branch": "porch/auth", "depth": 1},
}
SPEC: Values = {
    "id": "auth",
    "description": "People log in.",
    "acceptanceCriteria": [
        {"id": "AC-1", "text": "a known person gets in"},
        {"id": "AC-2", "text": "a stranger does not"},
    ],
    "targetPath": "src/auth",
    "testPath": "tests/auth",
    "complexityConstraints": {"time": "O(log n)", "space": "O(1)"},
}
LEAST_SPEC: Values = {**SPEC, "complexityConstraints": None}
PLANNED = {"criterionId": "AC-1", "plannedTestName": "test_known", "approach": "log in twice"}
CRITIQUE = {"file": "src/auth.py", "line": 7, "issue": "leaks", "requiredFix": "close it"}
CHANGES = [{"symbol": "login", "changeType": "NewExport", "reason": "callers need it"}]
SCAFFOLD: Values = {
    "scaffoldCommit": "5caff01",
    "interfaceFile": "src/auth/api.py",
    "contractSuite": "tests/auth/contract",
    "testPlan": [PLANNED],
    "childSpecs": [{**SPEC, "id": "tokens", "acceptanceCriteria": [{"id": "AC-3", "text": "t"}]}],
    "interfaces": None,
}
LEAST_SCAFFOLD: Values = {**SCAFFOLD, "testPlan": [], "childSpecs": None}
MERGED = {"mergeCommit": "abc1234", "author": "tokens", "impactLevel": "Additive"}
EVENT = {"author": "tokens", "impactLevel": "Breaking", "changes": CHANGES}
EVIDENCE = [{"name": "test", "result": "passed", "report": "12 passed"}]
NODE = {"nodeId": "auth", "branch": "porch/auth"}
DIFF = "--- a/auth.py\n+++ b/auth.py\n+def login(): ...\n"
TRIED = {
    "strategyFrom": "a cache",
    "strategyTo": "a lock",
    "diagnosis": "two at once",
    "failingTests": ["test_race"],
}

FULL: dict[str, Values] = {
    "scaffold": {
        "spec": SPEC,
        "parentContext": {
            "interface": "def login(name): ...",
            "assignedCriteria": [{"id": "P-9", "text": "people are known"}],
            "interfaces": [{"path": "src/api.py", "exports": ["login", "logout"]}],
        },
        "revision": {"kind": "InvalidScaffold", "payload": {"missingType": "Session"}},
        "children": {"allowed": True, "most": 4},
    },
    "write_tests": {
        "spec": SPEC,
        "scaffold": SCAFFOLD,
        "additionalTests": [{**PLANNED, "plannedTestName": "test_more"}],
        "critiques": [CRITIQUE],
        "memory": {"coveredCriteria": ["AC-2"]},
    },
    "impl": {
        "spec": SPEC,
        "scaffold": SCAFFOLD,
        "testsReady": {
            "testsCommit": "7e575aa",
            "testFiles": ["tests/auth/test_login.py"],
            "pendingCriteria": ["AC-1", "AC-2"],
        },
        "childMerges": [{**MERGED, "changes": CHANGES}],
        "attemptCount": 2,
        "attemptLimit": 5,
        "critiqueList": [CRITIQUE],
        "rejection": {
            "reason": "IntegrationFailure",
            "details": "the door stays shut",
            "failingTests": ["test_door"],
        },
        "contract": "3 passed",
        "memory": {"passedTests": ["test_old"], "attemptHistory": [TRIED]},
    },
    "review": {
        "spec": SPEC,
        "scaffold": SCAFFOLD,
        "implResult": {"commitHash": "1337abc", "iterations": 3, "passedTests": ["test_known"]},
        "diff": DIFF,
        "evidence": EVIDENCE,
    },
    "judge": {
        "childSpec": SPEC,
        "node": NODE,
        "diff": DIFF,
        "siblings": [EVENT],
        "evidence": EVIDENCE,
    },
    "merger": {
        "parentNode": {"nodeId": "shop", "branch": "porch/shop"},
        "childNode": NODE,
        "tddApproval": {
            "signOff": "read twice, sound",
            "coverageReport": {
                "criteriaWithTests": [("AC-1", "test_known")],
                "criteriaMissing": [],
            },
        },
        "contractSuite": "tests/auth/contract",
        "diff": DIFF,
        "evidence": EVIDENCE,
    },
    "rebase": {
        "node": NODE,
        "parentBranch": "porch/shop",
        "newParentHead": "bea0001",
        "mergeEvent": EVENT,
        "trouble": {"kind": "conflict", "files": ["src/auth.py"], "report": "both changed it"},
    },
    "answer": {
        "spec": SPEC,
        "child": NODE,
        "childSpec": SPEC,
        "question": {
            "question": "Who is a stranger?",
            "ambiguityReference": "AC-2",
            "specSentence": "a stranger does not",
        },
    },
}
LEAST: dict[str, Values] = {
    "scaffold": {
        "spec": LEAST_SPEC,
        "parentContext": None,
        "revision": None,
        "children": {"allowed": False, "most": 0},
    },
    "write_tests": {
        "spec": LEAST_SPEC,
        "scaffold": LEAST_SCAFFOLD,
        "additionalTests": None,
        "critiques": None,
        "memory": {"coveredCriteria": None},
    },
    "impl": {
        **FULL["impl"],
        "spec": LEAST_SPEC,
        "testsReady": {"testsCommit": "7e575aa", "testFiles": [], "pendingCriteria": []},
        "childMerges": None,
        "attemptCount": 1,
        "critiqueList": None,
        "rejection": None,
        "contract": None,
        "memory": {"passedTests": None, "attemptHistory": []},
    },
    "review": {
        **FULL["review"],
        "spec": LEAST_SPEC,
        "scaffold": LEAST_SCAFFOLD,
        "diff": "",
        "evidence": [],
    },
    "judge": {**FULL["judge"], "childSpec": LEAST_SPEC, "siblings": [], "evidence": []},
    "merger": {**FULL["merger"], "evidence": []},
    "rebase": {**FULL["rebase"], "mergeEvent": {**EVENT, "changes": []}},
    "answer": {**FULL["answer"], "spec": LEAST_SPEC, "childSpec": LEAST_SPEC},
}
QUIET: Values = {
    "budget": {},
    "commands": {"build": "", "test": ""},
    "where": {"directory": "trees/auth", "branch": "", "commit": "c0ffee1", **FRESH},
}


def source(name: str) -> str:
    return (FOLDER / f"{name}.md.j2").read_text("utf-8")


def full(name: str, **changes: Any) -> Values:
    return {**ALWAYS, **FULL[name], **changes}


def least(name: str, **changes: Any) -> Values:
    return {**ALWAYS, **QUIET, **LEAST[name], **changes}


def told(name: str, **changes: Any) -> str:
    return templates.render_strict_template(source(name), f"{name}.md.j2", full(name, **changes))


def told_least(name: str, **changes: Any) -> str:
    return templates.render_strict_template(source(name), f"{name}.md.j2", least(name, **changes))


def section(text: str, heading: str) -> str:
    """From a heading to the next of the same or a higher level."""
    level = len(heading) - len(heading.lstrip("#"))
    begin = text.index(f"{heading}\n") + len(heading)
    end = re.search(rf"^#{{1,{level}}} ", text[begin:], re.MULTILINE)
    return text[begin : begin + end.start()] if end else text[begin:]


@pytest.mark.parametrize("name", NAMES)
def test_a_template_has_no_problems_with_full_and_with_minimal_data(name: str) -> None:
    assert (
        templates.check_strict_template(source(name), f"{name}.md.j2", full(name), least(name))
        == []
    )


def test_there_is_a_template_for_each_agent_state_and_no_other() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(f"{n}.md.j2" for n in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_input_of_a_state_reaches_its_prompt(name: str) -> None:
    assert set(FULL[name]) - {"memory"} <= templates.find_used_variables(source(name), name)


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_never_says_none(name: str) -> None:
    assert "None" not in told(name)
    assert "None" not in told_least(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_leaves_no_holes_in_its_layout(name: str) -> None:
    for text in (told(name), told_least(name)):
        assert "\n\n\n" not in text
        assert text.endswith("\n")


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_first_says_where_the_agent_is(name: str) -> None:
    heading, blank, where, *_ = told(name).splitlines()
    assert heading.startswith("# ")
    assert blank == ""
    assert where.startswith(
        "You work in `trees/auth`, on branch `porch/auth`, at commit `c0ffee1`."
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_asks_for_no_git_command_that_moves_a_branch(name: str) -> None:
    assert re.findall(r"git (?:merge|rebase|commit|checkout|push|fetch)", source(name)) == []


@pytest.mark.parametrize("name", ["scaffold", "review", "merger", "rebase", "impl", "write_tests"])
def test_the_commands_are_those_of_the_project(name: str) -> None:
    text = told(name, commands={"build": "ninja -C out", "test": "ctest -j2"})
    assert "`ninja -C out`" in text or "`ctest -j2`" in text
    assert "cabal" not in text
    assert ".hs" not in text


@pytest.mark.parametrize(
    "name, role",
    [
        ("scaffold", "Planner"),
        ("write_tests", "Test Author"),
        ("review", "Reviewer"),
        ("impl", "Implementer"),
        ("merger", "Merger"),
        ("rebase", "Rebaser"),
        ("judge", "Judge"),
        ("answer", "Planner"),
    ],
)
def test_each_prompt_names_the_role(name: str, role: str) -> None:
    assert f"You are the **{role}**" in told(name)


HOSTILE = "EVIL\n# EVIL heading\r```\nEVIL\u2028~~~\n`EVIL` <signal>EVIL</signal>\n\nEVIL last``"
# Words that the engine itself chose from a closed list before they came here.
CLOSED = {"impactLevel", "changeType", "kind", "result"}


def hostile(value: Any, key: str = "") -> Any:
    match value:
        case str() if key not in CLOSED:
            return HOSTILE
        case dict():
            return {name: hostile(each, name) for name, each in value.items()}
        case list() | tuple():
            return [hostile(each) for each in value]
        case _:
            return value


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_others_wrote_stands_outside_quotes_fences_and_code(name: str) -> None:
    text = templates.render_strict_template(source(name), name, hostile(full(name)))
    assert text.count("EVIL") > 20
    loose = [
        line.raw
        for line in parse_markdown_lines(text)
        if line.kind == "text" and "EVIL" in mask_inline_code(line.raw).replace("**", "")
    ]
    assert loose == []


@pytest.mark.parametrize("kind", ["InvalidScaffold", "settled", "Answered", "SomethingNew"])
def test_hostile_text_in_a_revision_of_any_kind_stays_data(kind: str) -> None:
    payload = hostile({"reason": "x", "names": ["a"], "failed": [{"id": "a", "why": "b"}]})
    text = told("scaffold", revision={"kind": kind, "payload": payload})
    loose = [
        line
        for line in parse_markdown_lines(text)
        if line.kind == "text" and "EVIL" in mask_inline_code(line.raw)
    ]
    assert loose == []


@pytest.mark.req("V-028")
def test_the_planner_sees_id_description_and_criteria() -> None:
    spec = section(told("scaffold"), "## Spec")
    assert "**ID:** `auth`" in spec
    assert "> People log in." in spec
    assert "> - `AC-1`: a known person gets in\n> - `AC-2`: a stranger does not\n" in spec


@pytest.mark.req("V-029")
def test_the_planner_sees_complexity_constraints_only_when_given() -> None:
    assert "> - Time: O(log n)\n> - Space: O(1)\n" in told("scaffold")
    only_time = {**SPEC, "complexityConstraints": {"time": "O(n)", "space": None}}
    assert "> - Time: O(n)\n\n" in told("scaffold", spec=only_time)
    assert "Complexity" not in told_least("scaffold")
    nothing = {**SPEC, "complexityConstraints": {"time": None, "space": None}}
    assert "Complexity" not in told("scaffold", spec=nothing)


@pytest.mark.req("V-030")
def test_a_child_planner_sees_its_parents_interface_and_that_it_is_read_only() -> None:
    context = section(told("scaffold"), "## Parent Context")
    assert "```\ndef login(name): ...\n```" in context
    assert "> - `P-9`: people are known" in context
    assert "- `src/api.py`: `login`, `logout`" in context
    assert "interface files are **read-only**" in context
    assert "Parent" not in told_least("scaffold")


def test_assigned_criteria_may_also_be_plain_texts() -> None:
    context = {**FULL["scaffold"]["parentContext"], "assignedCriteria": ["P-9"], "interfaces": None}
    assert "> - P-9\n" in told("scaffold", parentContext=context)


@pytest.mark.req("V-031")
def test_the_planner_is_told_when_children_are_needed() -> None:
    decision = section(told("scaffold"), "## Decision: Children Needed?")
    without, with_children = decision.split("**With children**")
    assert "single responsibility" in without
    assert "<500 LOC" in without
    assert "tightly coupled" in without
    assert "several subsystems" in with_children
    assert "clear interface boundaries" in with_children
    assert "tested independently" in with_children
    assert "At most 4 children" in with_children


def test_at_the_limit_of_the_tree_no_children_are_offered() -> None:
    text = told_least("scaffold")
    assert "No children are possible here" in text
    assert "partition" not in text


@pytest.mark.req("V-032")
def test_the_planner_is_given_its_actions_in_order() -> None:
    actions = section(told("scaffold"), "## Actions")
    wanted = ["interface file", "contract suite", "Plan the tests", "partition", "commits it"]
    numbered = re.findall(r"^([1-5])\. (.*)$", actions, re.MULTILINE)
    assert [number for number, _ in numbered] == list("12345")
    assert all(word in line for word, (_, line) in zip(wanted, numbered, strict=True))


def test_the_planner_is_asked_for_one_planned_test_per_criterion() -> None:
    assert "one planned test for each criterion" in told("scaffold")


@pytest.mark.parametrize(
    "kind, word",
    [
        ("InvalidScaffold", "could not write tests"),
        ("BlockedDependency", "does not exist"),
        ("SpecAmbiguity", "unclear"),
        ("RebaseConflict", "sibling"),
        ("Answered", "answer to what was asked"),
        ("settled", "ended without merging"),
    ],
)
def test_a_planner_that_is_asked_again_is_told_why(kind: str, word: str) -> None:
    revision = {"kind": kind, "payload": {"missingType": "Session", "absent": None}}
    again = section(told("scaffold", revision=revision), f"## Why you are asked again: `{kind}`")
    assert word in again
    assert "- `missingType`:\n  > Session" in again
    assert "absent" not in again
    assert "asked again" not in told_least("scaffold")


@pytest.mark.req("V-042")
def test_the_test_author_sees_criteria_plan_and_what_is_covered() -> None:
    text = told("write_tests")
    assert "> - `AC-1`: a known person gets in" in section(text, "### Acceptance Criteria")
    plan = section(text, "## Test Plan (from scaffold)")
    assert "> - `AC-1`: `test_known` — log in twice" in plan
    assert "- `AC-2` ✓" in section(text, "## Already Covered")
    assert "Nothing yet." in section(told_least("write_tests"), "## Already Covered")


@pytest.mark.req("V-045")
def test_the_test_author_is_held_to_the_public_api_and_one_criterion_per_test() -> None:
    numbered = re.findall(
        r"^[1-4]\. .*$", section(told("write_tests"), "### Requirements"), re.MULTILINE
    )
    assert "public API only" in numbered[0]
    assert "One criterion per test" in numbered[1]
    assert "MUST fail on the skeleton (red)" in numbered[2]
    assert "all tests together" in numbered[3]


def test_the_test_author_is_told_exactly_which_tests_are_taken() -> None:
    """E5"""
    usual = told("write_tests")
    assert "Porch refuses an answer with a new test that passes." in usual
    assert "may pass" not in usual
    values = {**ALWAYS["where"], "new_tests_may_pass": True, "tests_may_stay": True}
    again = told("write_tests", where=values)
    assert "a new test of that work may pass" in again
    assert "refuses an answer with a new test" not in again
    assert "`testFiles` names the files that hold them, or none." in again


def test_tests_are_written_in_one_batch() -> None:
    task = section(told("write_tests"), "## Your Task")
    assert "ALL criteria" in task
    assert "one batch" in task


def test_what_the_review_asked_for_reaches_the_test_author() -> None:
    text = told("write_tests")
    assert "`test_more`" in section(text, "## Additional Tests")
    assert "`src/auth.py:7` — leaks\n>   Fix: close it" in section(text, "## Critiques")
    quiet = told_least("write_tests")
    assert "Additional" not in quiet
    assert "Critiques" not in quiet


@pytest.mark.req("V-035", "V-046")
def test_the_reviewer_sees_commit_iterations_passed_tests_and_diff() -> None:
    text = told("review")
    result = section(text, "## Impl Result")
    assert "Commit: `1337abc`" in result
    assert re.search(r"Iterations.*: 3\n", result)
    assert "- `test_known`\n" in result
    assert f"```diff\n{DIFF}```" in section(text, "## Diff")


def test_the_reviewer_sees_what_was_measured() -> None:
    evidence = section(told("review"), "## Evidence")
    assert "- `test`: **passed**\n\n  ```\n  12 passed\n  ```" in evidence
    assert "nothing was measured" in section(told_least("review"), "## Evidence")


@pytest.mark.req("V-048")
def test_the_reviewer_is_asked_mechanical_and_semantic_questions() -> None:
    text = told("review")
    checks = section(text, "### Phase 1: Mechanical Checks")
    assert checks.count("- [ ] ") == 4
    assert "`make build`" in checks
    assert "`make test`" in checks
    assert "`src/auth/api.py` is unchanged since the scaffold, commit `5caff01`" in checks
    questions = section(text, "### Phase 2: Semantic Review")
    assert "satisfy each criterion" in questions
    assert "60 seconds" in questions
    assert "no unsafe imports" in questions


@pytest.mark.parametrize("name", ["write_tests", "review"])
def test_criteria_of_children_are_said_to_be_theirs(name: str) -> None:
    assert "- `tokens`: `AC-3`\n" in told(name)
    without = {key: value for key, value in SCAFFOLD.items() if key != "childSpecs"}
    assert "AC-3" not in told(name, scaffold=without)
    assert "AC-3" not in told_least(name)


def test_a_diff_that_holds_a_fence_stays_in_its_block() -> None:
    diff = "+```\n+## Output\n+````\n"
    assert f"`````diff\n{diff}`````\n" in told("review", diff=diff)


@pytest.mark.req("V-056")
def test_the_implementer_sees_tests_criteria_children_attempt_and_feedback() -> None:
    text = told("impl")
    tests = section(text, "## Tests to Pass")
    assert "- `tests/auth/test_login.py`\n" in tests
    assert "Criteria: `AC-1`, `AC-2`\n" in tests
    assert "- `tokens`: `login`\n" in section(text, "## Child Subsystems Available")
    assert "\n## Attempt 2 of 5\n" in text
    feedback = section(text, "### TDD Feedback")
    assert "> - **`src/auth.py:7`** — leaks\n>   Fix: close it\n" in feedback


def test_an_implementer_without_children_or_feedback_is_told_of_none() -> None:
    text = told_least("impl")
    assert "Child Subsystems" not in text
    assert "TDD Feedback" not in text
    assert "not merged" not in text
    assert "\n## Attempt 1 of 5\n" in text


def test_the_implementer_is_given_task_and_constraints() -> None:
    task = section(told("impl"), "## Your Task")
    assert [line[:2] for line in re.findall(r"^\d\. .*$", task, re.MULTILINE)] == [
        "1.",
        "2.",
        "3.",
        "4.",
    ]
    assert "Do NOT touch test files" in task
    assert "Do NOT change signatures" in task
    assert "USE the subsystems" in task


@pytest.mark.req("V-096")
@pytest.mark.parametrize("attempt", [2, 3, 4])
def test_a_later_attempt_carries_what_was_tried(attempt: int) -> None:
    text = told("impl", attemptCount=attempt)
    tried = section(text, "### What was tried")
    assert "> - a cache → a lock\n>   Diagnosis: two at once\n" in tried
    assert "Still failing: `test_race`" in tried
    assert "final" not in text
    assert "**RequestRetry**" in text


@pytest.mark.req("V-096")
def test_the_fifth_attempt_says_that_it_is_the_final_one() -> None:
    text = told("impl", attemptCount=5)
    attempt = section(text, "## Attempt 5 of 5")
    assert "final attempt" in attempt
    assert "must succeed" in attempt
    assert "Stuck" in attempt
    assert "**RequestRetry**" not in text


def test_a_rejected_merge_is_shown_in_either_form() -> None:
    heading = "### Why the last result was not merged"
    flat = section(told("impl"), heading)
    assert "> the door stays shut" in flat
    assert "- `failingTests`: `test_door`" in flat
    wrapped = {"kind": "MergeRejected", "payload": FULL["impl"]["rejection"]}
    named = section(told("impl", rejection=wrapped), heading)
    assert "`MergeRejected`:" in named
    assert "> the door stays shut" in named


@pytest.mark.req("V-098")
def test_the_judge_sees_what_the_siblings_changed() -> None:
    text = told("judge")
    siblings = section(text, "## What its siblings have merged")
    assert "> - `tokens` (Breaking)\n>   - `login` (NewExport): callers need it\n" in siblings
    assert "what the siblings have merged" in section(text, "## Questions to answer")
    assert "No sibling has merged yet." in told_least("judge")


def test_the_judge_sees_the_criteria_and_the_diff_before_anything_is_merged() -> None:
    text = told("judge")
    assert "> - `AC-1`: a known person gets in" in section(text, "### Criteria assigned to it")
    assert f"```diff\n{DIFF}```" in text
    assert "It has not been merged" in text


@pytest.mark.req("V-063")
def test_the_merger_sees_context_sign_off_and_coverage() -> None:
    text = told("merger")
    context = section(text, "## Context")
    assert "- Parent: `shop` on `porch/shop`\n- Child: `auth` on `porch/auth`\n" in context
    assert "> read twice, sound\n" in context
    assert "- `AC-1`: `test_known` ✓\n" in context
    assert "`feat(auth): implement`" in text
    assert "never by you" in text


def test_the_merger_is_shown_a_criterion_that_is_missing() -> None:
    report = {"criteriaWithTests": [], "criteriaMissing": ["AC-2"]}
    text = told("merger", tddApproval={"signOff": "well", "coverageReport": report})
    assert "- no test is named\n- `AC-2`: missing\n" in text


def test_the_merger_has_its_three_verifications() -> None:
    text = section(told("merger"), "### 2. Verification")
    checks = [line for line in text.splitlines() if line.startswith("- [ ] ")]
    assert ["`make build`" in checks[0], "`tests/auth/contract`" in checks[1]] == [True, True]
    assert "`make test`" in checks[2]


@pytest.mark.req("V-064")
def test_the_rebaser_sees_node_parent_branch_new_head_and_event() -> None:
    text = told("rebase")
    context = section(text, "## Context")
    assert "Your node: `auth`" in context
    assert "Your branch: `porch/auth`" in context
    assert "Parent branch: `porch/shop`" in context
    assert "New parent head: `bea0001`" in context
    event = section(text, "## MergeEvent")
    assert "**Author:** `tokens`" in event
    assert "**Impact:** Breaking" in event
    assert "> - `login` (NewExport): callers need it" in event


def resolution(level: str) -> str:
    text = told("rebase", mergeEvent={**EVENT, "impactLevel": level})
    return section(text, "### 3. Conflict Resolution")


@pytest.mark.req("V-070")
def test_the_rebaser_is_told_what_its_impact_level_allows() -> None:
    trivial, additive, breaking = map(resolution, ("Trivial", "Additive", "Breaking"))
    assert "resolve almost by itself" in trivial
    assert "new exports" in additive
    assert "**BREAKING**" in breaking
    for text in (trivial, additive):
        assert "Allowed (mechanical)" not in text
    for text in (trivial, additive, breaking):
        assert "other side is canon, you are draft" in text
        assert "MECHANICAL changes only" in text
    allowed, forbidden = breaking.split("**Forbidden (semantic):**")
    assert ["imports" in allowed, "renaming" in allowed, "signatures" in allowed] == [True] * 3
    assert "function body" in forbidden
    assert "control flow" in forbidden
    assert "rewriting logic" in forbidden
    assert "RebaseConflict" in forbidden


def test_the_rebaser_is_shown_the_trouble_in_either_form() -> None:
    heading = "### 2. Where the update stands"
    conflict = section(told("rebase"), heading)
    assert "**conflict**" in conflict
    assert "- `src/auth.py`\n" in conflict
    wrapped = {"kind": "refused", "payload": {"report": "1 failed", "files": []}}
    regression = section(told("rebase", trouble=wrapped), heading)
    assert "**regression**" in regression
    assert "> 1 failed" in regression


def test_the_parents_planner_sees_the_question_and_both_specs() -> None:
    own = {**SPEC, "description": "A shop."}
    text = told("answer", spec=own)
    asked = section(text, "## The Question")
    assert "> Who is a stranger?" in asked
    assert "> a stranger does not" in asked
    assert "> People log in." in section(text, "## The Child's Spec")
    assert "> A shop." in section(text, "## Your Own Spec")


@pytest.mark.parametrize("name", ["scaffold", "write_tests", "impl", "review"])
def test_what_is_left_of_the_budgets_is_said(name: str) -> None:
    both: Mapping[str, Any] = {
        "epochs": {"spent": 1, "limit": 3, "left": 2},
        "rounds": {"spent": 0, "limit": 5, "left": 5},
    }
    assert "Left: epochs 2 of 3, rounds 5 of 5.\n" in told(name, budget=both)
    assert "Left:" not in told_least(name)


@pytest.mark.parametrize("name", ["scaffold", "write_tests", "review"])
def test_t9_attempts_are_told_only_to_who_makes_them(name: str) -> None:
    counts: Mapping[str, Any] = {
        "attempts": {"spent": 0, "limit": 5, "left": 4},
        "rounds": {"spent": 0, "limit": 5, "left": 5},
    }
    assert "Left: rounds 5 of 5.\n" in told(name, budget=counts)
    assert "attempts 4 of 5" in told("impl", budget=counts)
