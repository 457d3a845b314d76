"""Reviewers: rounds, quorum, what is kept of them and what reaches the agent."""

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

MODELS = ["gemini", "codex", "claude"]
NO = {"verdict": "REQUEST_CHANGES", "summary": "Too vague", "findings": ["No limits are named"]}
YES = {"verdict": "APPROVE", "summary": "Good"}
# Before reviewers are asked, porch looks for the document that they are to read.
DRAFTED = ["specify:draft", "specify:draft:checks"]


def specify(**panel: Any) -> dict[str, Any]:
    return {
        "id": "specify",
        "name": "Specify",
        "artifact": "spec.md",
        "substates": ["draft", "consult", "revise"],
        "signals": {"SPEC_DRAFTED": "specify:consult"},
        "consultation": {
            "on": "consult",
            "models": MODELS,
            "type": "spec-review",
            "parallel": True,
            "next": "specify:revise",
            **panel,
        },
        "gate": {"after": "revise", "type": "human", "next": None},
    }


def overlap(desk: "Desk") -> int:
    """The largest number of reviewers that were in hand at once."""
    most = now = 0
    for record in desk.records():
        now -= record["fact"]["is"] == "ReviewEnded"
        now += sum(hand["kind"] == "review" for hand in record.get("begun", ()))
        most = max(most, now)
    return most


@pytest.mark.req("P-065", "P-066", "P-067", "P-100", "P-102", "P-103", "P-109", "P-110", "P-131")
@pytest.mark.req("F-020", "F-036")
def test_a_request_for_changes_leads_through_a_revision_to_another_round(desk: "Desk") -> None:
    reviews = {"specify:consult": {"codex": [NO, YES], "*": [YES]}}
    said = desk.begin(specify(), reviews=reviews, code=3)
    assert desk.entered() == [
        *DRAFTED,
        "specify:consult",
        "specify:revise",
        "specify:revise:checks",
        "specify:consult",
        "specify:gate",
    ]
    assert "waiting for your decision: specify_approval" in said.out
    project = desk.root / "codev/projects/0001-x"
    first = (project / "consultation-specify-round-1.md").read_text()
    summary, mark, replies = first.partition("\n## Gemini: the whole reply\n")
    assert re.sub(r"[0-9]+\.[0-9] s", "0.1 s", summary) == (
        "# Consultation: Specify Phase (Round 1)\n\n"
        "## Gemini\n**Verdict**: APPROVE\n**Summary**: Good\n**Took**: 0.1 s\n\n"
        "## Codex\n**Verdict**: REQUEST_CHANGES\n**Summary**: Too vague\n"
        "**Findings**:\n- No limits are named\n**Took**: 0.1 s\n\n"
        "## Claude\n**Verdict**: APPROVE\n**Summary**: Good\n**Took**: 0.1 s\n"
    )
    assert mark
    assert "\n## Codex: the whole reply\n\n```text\nVERDICT: REQUEST_CHANGES\n" in replies
    second = (project / "consultation-specify-round-2.md").read_text()
    assert second.startswith("# Consultation: Specify Phase (Round 2)\n")
    assert second.count("**Verdict**: APPROVE") == 3
    assert "> codex:\n> - No limits are named" in desk.prompts()[1]
    asked = desk.started("review")
    assert [effect.split("/")[-2] for effect in asked] == MODELS * 2
    assert overlap(desk) == 3
    assert "spec-review" in desk.prompt(asked[0])


def test_reviewers_that_are_not_parallel_take_turns(desk: "Desk") -> None:
    desk.begin(specify(parallel=False, models=["gemini", "codex"]), code=3)
    assert overlap(desk) == 1


@pytest.mark.req("P-104", "P-105", "F-037")
@pytest.mark.parametrize(
    "limit, rounds", [({}, 3), ({"max_rounds": 1}, 1), ({"max_consultation_rounds": 2}, 2)]
)
def test_after_the_last_round_a_person_sees_the_open_findings(
    desk: "Desk", limit: dict[str, int], rounds: int
) -> None:
    phase = specify(models=["codex"], **limit)
    desk.begin(phase, reviews={"specify:consult": {"*": [NO]}}, code=3)
    assert len(desk.facts("ReviewEnded")) == rounds
    assert desk.entered()[-1] == "specify:gate"
    assert "codex: No limits are named" in desk.porch("pending").out
    decision = desk.porch("pending", "--json").json["decisions"][0]
    assert decision["findings"] == [{"by": "codex", "finding": "No limits are named"}]


@pytest.mark.req("P-131", "P-133")
@pytest.mark.parametrize("agree", [True, False])
def test_revision_complete_leads_to_another_round_and_a_rejected_gate_too(
    desk: "Desk", agree: bool
) -> None:
    plan = {**specify(models=["codex"], next="plan:revise"), "id": "plan"}
    plan["signals"] = {"PLAN_DRAFTED": "plan:consult"}
    answers = {"plan:revise": [{"signal": "REVISION_COMPLETE"}]}
    reviews = {"plan:consult": {"codex": [YES] if agree else [NO, YES]}}
    desk.begin(plan, agents=answers, reviews=reviews, code=3)
    once = ["plan:draft", "plan:draft:checks", "plan:consult"]
    again = ["plan:revise", "plan:revise:checks", "plan:consult"]
    assert desk.entered() == [*once, *([] if agree else again), "plan:gate"]
    desk.porch("reject", "1", "plan_approval", "--reason", "Where are the risks?")
    desk.porch("resume", "1", code=3)
    assert desk.entered()[-4:] == [*again, "plan:gate"]
    assert "> Where are the risks?" in desk.prompts()[-1]


@pytest.mark.req("P-108")
@pytest.mark.parametrize("signal", ["READY_FOR_REVIEW", "SPEC_READY"])
def test_other_words_for_a_ready_draft(desk: "Desk", signal: str) -> None:
    answers = {"specify:draft": [{"signal": signal, "write": {"{project_dir}/spec.md": "# A\n"}}]}
    desk.begin(specify(models=["codex"]), agents=answers, code=3)
    assert desk.entered() == [*DRAFTED, "specify:consult", "specify:gate"]


@pytest.mark.req("P-149", "P-151", "P-152")
def test_one_reviewer_that_hangs_is_marked_and_two_verdicts_are_enough(desk: "Desk") -> None:
    reviews = {"specify:consult": {"gemini": [{"hang": True}], "*": [YES]}}
    desk.begin(specify(), top={"config": {"consultation_timeout": 2}}, reviews=reviews, code=3)
    assert desk.entered() == [*DRAFTED, "specify:consult", "specify:gate"]
    text = (desk.root / "codev/projects/0001-x/consultation-specify-round-1.md").read_text()
    assert "## Gemini\n**Verdict**: ABSTAIN (timeout: it was still working" in text
    (failed,) = desk.facts("EffectFailed")
    assert failed["why"] == "timeout", "it is not asked again in this round"


def test_v9_a_reviewer_that_fails_once_is_tried_again_and_heard(desk: "Desk") -> None:
    reviews = {"specify:consult": {"codex": [{"tries": [{"crash": 1}, NO]}, YES], "*": [YES]}}
    desk.begin(specify(), reviews=reviews, code=3)
    (failed,) = desk.facts("EffectFailed")
    assert failed["effect"].startswith("specify:consult#1/review/codex/")
    assert desk.entered()[:4] == [*DRAFTED, "specify:consult", "specify:revise"]
    assert "codex: No limits are named" in desk.prompts()[1].replace("\n> - ", " ")


@pytest.mark.parametrize("top", [{}, {"protected": ["@tests", "@configuration"]}])
def test_v4_what_a_reviewer_writes_is_named_at_the_gate(desk: "Desk", top: dict[str, Any]) -> None:
    """And a person who edits a file at that gate is not asked about it at the end."""
    tests = {"id": "more", "checks": {"tests": {"command": "true # pytest"}}}
    reviews = {"specify:consult": {"*": [{**YES, "write": {"conftest.py": "x = 1\n"}}]}}
    desk.begin(specify(), tests, top=top, reviews=reviews, code=3)
    told = " ".join(desk.porch("pending").out.split())
    assert "what measured this was changed during this phase: conftest.py" in told
    desk.write("notes.txt", "mine\n")
    desk.porch("approve", "1")
    desk.porch("resume", "1", code=0)


def test_v9_a_reviewer_that_is_given_up_abstains_aloud_wherever_somebody_looks(
    desk: "Desk",
) -> None:
    reviews = {"specify:consult": {"codex": [{"crash": 1}], "*": [YES]}}
    desk.begin(specify(), reviews=reviews, code=3)
    assert desk.entered() == [*DRAFTED, "specify:consult", "specify:gate"]
    assert len(desk.facts("EffectFailed")) == 2
    told = (
        "2 of 3 reviewers gave a verdict; 1 of 3 reviewers could not answer: "
        "codex: failed 2 times; last error: crashed"
    )
    asked = desk.porch("pending", "--json").json["decisions"][0]
    assert asked["reviews"][0].startswith(f"specify:consult: {told}")
    for command in (("pending",), ("status", "1")):
        assert told in " ".join(desk.porch(*command).out.split())
    assert "codex abstains" in desk.porch("log", "1").out
    desk.porch("approve", "1")
    assert told in " ".join(desk.porch("resume", "1").out.split())
    assert told in " ".join(desk.porch("status", "1").out.split())


def test_one_verdict_of_three_is_not_enough_and_nobody_approves_by_silence(desk: "Desk") -> None:
    raw = {"raw": "HTTP 429 Too Many Requests"}
    reviews = {"specify:consult": {"gemini": [raw], "codex": [raw], "claude": [YES]}}
    desk.begin(specify(), reviews=reviews, code=3)
    assert desk.entered()[-1] == "undecided:specify"
    said = desk.porch("pending").out
    assert "1 of 3 reviewers gave a verdict" in said
    name = desk.porch("pending", "--json").json["decisions"][0]["name"]
    desk.porch("answer", "1", name, "retry")
    script = desk.script(reviews={"specify:consult": {"*": [YES]}})
    desk.porch("resume", "1", "--script", script, code=3)
    assert desk.entered()[-2:] == ["specify:consult", "specify:gate"]


@pytest.mark.parametrize(
    "raw",
    [
        "**VERDICT**: REQUEST_CHANGES\nSUMMARY: no",
        "## VERDICT: REQUEST_CHANGES",
        "VERDICT: REQUEST CHANGES",
        "VERDICT: REJECT",
    ],
)
def test_a_no_in_any_spelling_is_never_a_yes(desk: "Desk", raw: str) -> None:
    desk.begin(
        specify(models=["codex"], max_rounds=1),
        reviews={"specify:consult": {"*": [{"raw": raw}]}},
        code=3,
    )
    assert desk.facts("ReviewEnded")[0]["verdict"] == "REQUEST_CHANGES"


def test_the_projects_own_reviewers_stand_in_for_the_files(desk: "Desk") -> None:
    desk.write("codev/config.toml", '[panel]\nmodels = ["opus"]\n')
    desk.begin(specify(), code=3)
    assert [effect.split("/")[-2] for effect in desk.started("review")] == ["opus"]
