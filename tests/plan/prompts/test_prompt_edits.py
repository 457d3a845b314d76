"""Prompts are written, written again, ordered and offered; no mistake in one costs another."""

import os
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from porch.machine.plan.prompt_ids import PromptId, parse_prompt_id
from porch.machine.plan.prompt_lifecycle import Prompt
from porch.plan.claims import prompt_claims
from porch.plan.prompts import plan_document, prompt_edits, prompt_queue
from porch.plan.prompts.dependencies import find_cycles
from porch.plan.prompts.prompt_edits import PromptWords
from porch.store.where import ProjectPaths
from tests.plan.yards import (
    carried_out,
    disagreements,
    facts,
    fields,
    file,
    mark,
    record,
    refused,
    start,
    write,
)

Act = Callable[[], object]


def read(where: ProjectPaths, id_: str) -> dict[str, Any]:
    return dict(to_builtins(prompt_edits.read_prompt(where, parse_prompt_id([id_]))))


def offered(where: ProjectPaths, count: int | None = None) -> list[str]:
    rows = to_builtins(prompt_queue.list_next_prompts(where, count))["prompts"]
    return [f"{row['prompt_num']}{row['variant'] or ''}" for row in rows]


# -- write, read, clear ----------------------------------------------------------------------------


@pytest.mark.req("E-020", "E-081")
def test_a_prompt_is_written_and_read_whole(where: ProjectPaths) -> None:
    write(where, "1")
    told = to_builtins(
        write(
            where,
            "2_A",
            1,
            files=["src/a.py", "./docs//b.md", "src/a.py", " "],
            criteria="two logins,\n---\ntwo lists",
            context="# Approach\n\nDrop the cache.\n\n---\n\nThen: test.",
            requires_testing=True,
            description='say "yes": # no comment',
        )
    )
    assert told == {"id": "2_A", "created": True, "notes": []}
    whole = read(where, "2A")
    assert whole["content"] == "# Approach\n\nDrop the cache.\n\n---\n\nThen: test."
    told = whole["front_matter"]
    planned = told.pop("planned_at")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", planned)
    assert told == {
        "number": 2,
        "variant": "A",
        "description": 'say "yes": # no comment',
        "relevant_files": ["src/a.py", "docs/b.md"],
        "success_criteria": "two logins,\n---\ntwo lists",
        "design_files": [],
        "reviews": [],
        "walkthrough": [],
        "kind": "feature",
        "depends_on": [1],
        "requires_manual_testing": True,
        "status": "unimplemented",
        "in_progress": False,
        "current_iteration": 1,
        "delegated_to": None,
        "worktree_branch_name": None,
        "base_commit": None,
        "started_at": None,
        "owner": None,
        "review": None,
        "review_rounds": 0,
        "rounds_allowed": 0,
        "testing": None,
        "completed_debug_logging": False,
        "variant_solution": None,
        "variant_reason": None,
        "merge_commit_hash": None,
        "documentation_extracted": False,
        "blocked_reason": None,
        "reviewed_tree": None,
        "tested_tree": None,
    }
    assert disagreements(where) == []


def test_a_prompt_without_words_has_a_heading(where: ProjectPaths) -> None:
    write(where, "1")
    assert read(where, "1")["content"] == "# Approach & Plan"


def test_a_prompt_planned_anew_keeps_what_was_done_for_it(where: ProjectPaths) -> None:
    carried_out(where, "1")
    prompt_claims.release_all_prompts(where, force=True)
    mark(where, "1", review="failed", testing="failed")
    before = read(where, "1")["front_matter"]
    told = to_builtins(write(where, "1", context="Another way", criteria="c", debug=True))
    assert told["created"] is False
    after = read(where, "1")
    assert after["content"] == "Another way"
    changed = {name for name, value in after["front_matter"].items() if before[name] != value}
    # Nobody has tried what is asked for now.
    assert changed == {"kind", "planned_at", "success_criteria", "testing"}
    assert len(after["front_matter"]["walkthrough"]) == 1
    assert disagreements(where) == []


def test_what_is_not_given_stays_as_it_was(where: ProjectPaths) -> None:
    write(where, "1")
    given = {"files": ["a"], "criteria": "c", "context": "body", "description": "d"}
    write(where, "2", 1, debug=True, requires_testing=True, **given)
    before = read(where, "2")
    prompt_edits.write_prompt(where, PromptId(2), PromptWords())
    after = read(where, "2")
    for told in (before, after):
        told["front_matter"].pop("planned_at")
    assert after == before


def test_a_file_that_people_wrote_in_keeps_every_line_of_theirs(where: ProjectPaths) -> None:
    write(where, "1", description="old")
    path = file(where, "1")
    text = path.read_text().replace("number: 1\n", "# mine, on top\nnumber: 1   # the first\n\n")
    text = text.replace("status: unimplemented", "status: unimplemented  # soon")
    text = text.replace("\n---\n", "\nmine: {a: [1, 2]}\n# below\n---\n", 1)
    path.write_text(text)
    write(where, "1", description="new")
    for line in text.splitlines():
        if not line.startswith(("description", "planned_at")):
            assert line in path.read_text().splitlines(), line
    assert "description: new\n" in path.read_text()
    prompt_claims.start_prompt(where, PromptId(1), "backend")
    for line in ("# mine, on top", "number: 1   # the first", "mine: {a: [1, 2]}", "# below"):
        assert f"{line}\n" in path.read_text()
    assert "status: unimplemented  # soon" in path.read_text()


def test_a_second_command_that_says_the_same_changes_no_byte(where: ProjectPaths) -> None:
    write(where, "1", context="words")
    mark(where, "1", documentation_extracted=True)
    plan_document.init_plan(where)
    once = file(where, "1").read_bytes()
    plan_document.init_plan(where)
    prompt_claims.release_all_prompts(where, force=True)
    plan_document.write_plan(where, "T", "o", "c")
    assert file(where, "1").read_bytes() == once


@pytest.mark.parametrize(
    "status, code", [({"in_progress": True}, "already-in-progress"), ({}, "already-merged")]
)
def test_a_prompt_that_is_worked_on_or_merged_is_not_planned_anew_without_force(
    where: ProjectPaths, status: dict[str, Any], code: str
) -> None:
    write(where, "1", context="old")
    mark(where, "1", **(status or {"status": "merged", "merge_commit_hash": "f" * 40}))
    plan_document.init_plan(where)
    before = file(where, "1").read_bytes()
    with refused(code):
        write(where, "1", context="new")
    with refused(code):
        prompt_edits.clear_prompt(where, PromptId(1))
    assert file(where, "1").read_bytes() == before
    prompt_edits.write_prompt(
        where, PromptId(1), PromptWords(context="new"), force=True, caller="me"
    )
    assert read(where, "1")["content"] == "new"
    assert (facts(where)[-1]["forced"], facts(where)[-1]["agent"]) == ([code], "me")


def test_a_number_has_one_prompt_or_variants(where: ProjectPaths) -> None:
    write(where, "1")
    write(where, "2_A")
    write(where, "2_B")
    with refused("standalone-exists"):
        write(where, "1_A")
    with refused("variants-exist"):
        write(where, "2")
    assert sorted(os.listdir(file(where, "1").parent)) == ["1.md", "2_A.md", "2_B.md"]
    assert not file(where, "1_A").exists()
    assert len(facts(where, "write-prompt")) == 3


@pytest.mark.parametrize(
    "id_, needs, code",
    [
        ("1", (1,), "self-dependency"),
        ("2_C", (2,), "self-dependency"),
        ("1", (9,), "unknown-dependency"),
        ("1", (0,), "unknown-dependency"),
        ("1", (3,), "dependency-cycle"),
        ("1", (2,), "dependency-cycle"),
    ],
)
def test_dependencies_that_cannot_be_met_are_refused(
    where: ProjectPaths, id_: str, needs: tuple[int, ...], code: str
) -> None:
    write(where, "1")
    write(where, "2_A", 1)
    write(where, "2_B")
    write(where, "3", 2)
    before = len(facts(where))
    with refused(code):
        write(where, id_, *needs)
    if id_ == "1":
        with refused(code):
            prompt_queue.update_dependencies(where, PromptId(1), needs)
    assert len(facts(where)) == before
    assert disagreements(where) == []


def test_numbers_to_depend_on_are_those_of_the_others(where: ProjectPaths) -> None:
    plan_document.init_plan(where)
    with refused("unknown-dependency") as caught:
        write(where, "1", 9)
    assert caught.value.findings[0].fix == "the plan has no other prompts yet; write it first"
    write(where, "1")
    write(where, "2_A")
    with refused("unknown-dependency") as caught:
        write(where, "2_B", 9)
    assert caught.value.findings[0].fix == "other numbers of the plan: 1; write it first"


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "a/../../b", ".git/config", "a\nb", "..", "."]
)
def test_a_path_that_leads_out_of_the_project_is_refused_and_no_prompt_is_made(
    where: ProjectPaths, path: str
) -> None:
    plan_document.init_plan(where)
    with refused("bad-path"):
        write(where, "1", files=["src/a.py", path])
    assert facts(where, "write-prompt") == []
    with refused("not-found"):
        read(where, "1")


def test_a_prompt_that_is_cleared_is_kept_aside(where: ProjectPaths) -> None:
    write(where, "1", context="precious")
    text = file(where, "1").read_bytes()
    told = to_builtins(prompt_edits.clear_prompt(where, PromptId(1)))
    assert told == {
        "id": "1",
        "deleted": True,
        "kept_as": "prompts/_archive/1-1.md",
        "notes": [],
    }
    assert (file(where, "1").parent / "_archive/1-1.md").read_bytes() == text
    with refused("not-found"):
        read(where, "1")
    with refused("not-found"):
        prompt_edits.clear_prompt(where, PromptId(1))
    write(where, "1", context="again")
    assert prompt_edits.clear_prompt(where, PromptId(1)).kept_as == "prompts/_archive/1-2.md"
    assert to_builtins(prompt_queue.list_next_prompts(where, 5))["prompts"] == []


def test_a_prompt_that_others_need_is_cleared_only_by_force(where: ProjectPaths) -> None:
    write(where, "1_A")
    write(where, "1_B")
    write(where, "2", 1)
    prompt_edits.clear_prompt(where, parse_prompt_id(["1A"]))
    with refused("needed-by-others"):
        prompt_edits.clear_prompt(where, parse_prompt_id(["1B"]))
    prompt_edits.clear_prompt(where, parse_prompt_id(["1B"]), force=True)
    assert facts(where)[-1]["forced"] == ["needed-by-others"]
    told = to_builtins(prompt_queue.validate_dependencies(where))
    assert told["missing_dependencies"] == [{"id": "2", "missing": [1]}]


def test_a_prompt_that_is_not_there_is_named_with_those_that_are(where: ProjectPaths) -> None:
    write(where, "1")
    write(where, "3_B")
    with refused("not-found") as caught:
        read(where, "2")
    assert "1, 3_B" in caught.value.findings[0].fix
    with refused("not-found"):
        read(where, "3")


# -- dependencies ----------------------------------------------------------------------------------


def test_dependencies_go_stale_and_are_fresh_again(where: ProjectPaths) -> None:
    write(where, "1_A")
    write(where, "1_B")
    write(where, "2", 1)
    write(where, "3", 2)
    fresh = {
        "valid": True,
        "stale_prompt_ids": [],
        "missing_dependencies": [],
        "cycles": [],
    }
    assert to_builtins(prompt_queue.validate_dependencies(where)) == fresh
    write(where, "1_A")
    told = to_builtins(prompt_queue.validate_dependencies(where))
    assert (told["valid"], told["stale_prompt_ids"]) == (False, ["2"])
    before = read(where, "2")["front_matter"]["planned_at"]
    told = to_builtins(prompt_queue.update_dependencies(where, PromptId(2), [1], caller="planner"))
    assert told["previous_planned_at"] == before
    assert told["planned_at"] > before
    assert told["depends_on"] == [1]
    assert fields(where, "2")["planned_at"] == told["planned_at"]
    assert prompt_queue.validate_dependencies(where).stale_prompt_ids == ["3"]
    prompt_queue.update_dependencies(where, PromptId(3), [2])
    assert to_builtins(prompt_queue.validate_dependencies(where)) == fresh
    assert disagreements(where) == []


def test_a_prompt_that_changes_its_dependencies_must_be_there(where: ProjectPaths) -> None:
    plan_document.init_plan(where)
    with refused("not-found"):
        prompt_queue.update_dependencies(where, PromptId(1), [])


def by_hand(where: ProjectPaths, id_: str, front: str, body: str = "Do it.\n") -> bytes:
    path = file(where, id_)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{front}---\n\n{body}")
    return path.read_bytes()


def test_rings_written_by_hand_are_found(where: ProjectPaths) -> None:
    plan_document.init_plan(where)
    by_hand(where, "1", "depends_on: [2]\n")
    by_hand(where, "2", "depends_on: [3]\n")
    by_hand(where, "3", "depends_on: [1, 9]\n")
    by_hand(where, "4", "depends_on: [4]\n")
    for _ in range(2):  # before and after they are taken into the journal
        told = to_builtins(prompt_queue.validate_dependencies(where))
        assert told["valid"] is False
        assert told["cycles"] == [[1, 2, 3, 1], [4, 4]]
        assert told["missing_dependencies"] == [{"id": "3", "missing": [9]}]
        plan_document.init_plan(where)


@given(
    st.dictionaries(
        st.integers(1, 6), st.lists(st.integers(1, 7), max_size=4, unique=True), max_size=6
    )
)
def test_a_ring_is_found_exactly_where_an_order_is_impossible(ways: dict[int, list[int]]) -> None:
    prompts = {PromptId(n): Prompt(depends_on=tuple(needs)) for n, needs in ways.items()}
    left = {n: {each for each in needs if each in ways} for n, needs in ways.items()}
    while free := [n for n, needs in left.items() if not needs & left.keys()]:
        for number in free:
            del left[number]
    rings = find_cycles(prompts)
    assert bool(rings) == bool(left)
    for ring in rings:
        assert ring[0] == ring[-1] == min(ring)
        assert all(b in ways[a] for a, b in pairwise(ring))


# -- next ------------------------------------------------------------------------------------------


def test_what_can_be_started_is_offered_faults_first_and_variants_together(
    where: ProjectPaths,
) -> None:
    write(where, "1", description="one", files=["a.py"])
    write(where, "2_B")
    write(where, "2_A")
    write(where, "5", debug=True)
    write(where, "6", 1)
    assert offered(where) == ["5"]
    assert offered(where, 2) == ["5", "1"]
    assert offered(where, 3) == ["5", "1", "2A", "2B"]
    assert offered(where, 99) == ["5", "1", "2A", "2B"]
    told = to_builtins(prompt_queue.list_next_prompts(where, 2))
    assert told["prompts"][1] == {
        "prompt_num": 1,
        "variant": None,
        "description": "one",
        "relevant_files": ["a.py"],
        "kind": "feature",
        "status": "unimplemented",
        "interrupted": False,
        "start_with": "envoy plan start-prompt 1 --specialist NAME",
    }
    assert (told["count"], told["requested"], told["all_done"]) == (2, 2, False)
    assert told["blocked"] == [{"id": "6", "waiting_on": [1]}]


def test_a_prompt_is_offered_once_any_variant_of_what_it_needs_is_merged(
    where: ProjectPaths,
) -> None:
    write(where, "1_A")
    write(where, "1_B")
    write(where, "2", 1)
    mark(where, "1_A", status="merged")
    assert offered(where, 9) == ["2"]
    told = to_builtins(prompt_queue.list_next_prompts(where, 9))
    assert (told["blocked"], told["all_done"]) == ([], False)
    mark(where, "2", status="merged")
    told = to_builtins(prompt_queue.list_next_prompts(where, 9))
    assert (told["prompts"], told["count"], told["all_done"]) == ([], 0, True)


def test_what_is_worked_on_or_put_aside_is_not_offered(where: ProjectPaths) -> None:
    for id_ in ("1", "2_A", "2_B", "2_C", "3"):
        write(where, id_)
    start(where, "1")
    mark(where, "2_A", variant_solution="alternative")
    mark(where, "2_B", variant_solution="discard")
    mark(where, "2_C", variant_solution="main")
    assert offered(where, 9) == ["2C", "3"]
    mark(where, "2_C", status="merged")
    assert offered(where, 9) == ["3"]
    assert prompt_queue.list_next_prompts(where, 9).all_done is False


def test_an_implementation_that_waits_for_its_review_is_offered_with_its_status(
    where: ProjectPaths,
) -> None:
    write(where, "1")
    start(where, "1")
    record(where, "1")
    prompt_claims.release_all_prompts(where, force=True)
    assert (
        to_builtins(prompt_queue.list_next_prompts(where, 1))["prompts"][0]["status"]
        == "implemented"
    )


def test_a_dependency_that_does_not_exist_blocks_and_is_said(where: ProjectPaths) -> None:
    plan_document.init_plan(where)
    by_hand(where, "1", "depends_on: [7]\n")
    for _ in range(2):
        told = to_builtins(prompt_queue.list_next_prompts(where, 1))
        assert told["blocked"] == [{"id": "1", "waiting_on": [7]}]
        assert (told["prompts"], told["all_done"]) == ([], False)
        plan_document.init_plan(where)


@pytest.mark.parametrize(
    "text, count",
    [("", 1), ("2", 2), ("0", 1), ("-3", 1), ("many", 1), ("\u00b2", 1), ("9" * 5000, 3)],
)
def test_the_number_of_workers_says_how_many_are_offered(
    where: ProjectPaths, monkeypatch: pytest.MonkeyPatch, text: str, count: int
) -> None:
    for number in "123":
        write(where, number)
    monkeypatch.setenv("N_PARALLEL_WORKERS", text)
    assert len(offered(where)) == count
    assert len(offered(where, 1)) == 1


@pytest.mark.parametrize("count", [0, -1])
def test_no_prompts_cannot_be_asked_for(where: ProjectPaths, count: int) -> None:
    plan_document.init_plan(where)
    with refused("invalid-count"):
        prompt_queue.list_next_prompts(where, count)


def test_a_plan_without_prompts_is_not_done(where: ProjectPaths) -> None:
    plan_document.init_plan(where)
    assert prompt_queue.list_next_prompts(where, 1).all_done is False


# -- files that people wrote -----------------------------------------------------------------------

BROKEN = {
    "no fence": b"status: merged\n",
    "open fence": b"---\nstatus: merged\n",
    "bad yaml": b"---\nstatus: [merged\n---\n\nwords\n",
    "a list": b"---\n- status\n---\n\nwords\n",
    "twice": b"---\nstatus: merged\nstatus: tested\n---\n\nwords\n",
    "no text": b"---\nstatus: \xff\n---\n\nwords\n",
    "nothing": b"",
    "a bell": b"---\nstatus: \x07\n---\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_loses_no_byte_and_keeps_nobody_from_the_others(
    where: ProjectPaths, text: bytes
) -> None:
    write(where, "1")
    write(where, "2", context="fine")
    file(where, "1").write_bytes(text)
    before = len(facts(where))
    acts: tuple[Act, ...] = (
        lambda: read(where, "1"),
        lambda: write(where, "1", context="new"),
        lambda: start(where, "1"),
        lambda: prompt_queue.update_dependencies(where, PromptId(1), []),
    )
    for act in acts:
        with pytest.raises(Exception, match=re.escape("1.md")):
            act()
    assert len(facts(where)) == before, "what is refused is not recorded"
    assert file(where, "1").read_bytes() == text
    assert read(where, "2")["content"] == "fine"
    told = to_builtins(prompt_queue.list_next_prompts(where, 9))
    assert [row["prompt_num"] for row in told["prompts"]] == [2]
    assert any("1.md" in note for note in told["notes"])
    told = to_builtins(start(where, "2"))
    assert any("1.md" in note for note in told["notes"])
    record(where, "2")
    assert [each["id"] for each in to_builtins(plan_document.read_full_plan(where))["prompts"]] == [
        "1",
        "2",
    ]
    assert file(where, "1").read_bytes() == text
    assert prompt_edits.clear_prompt(where, PromptId(1)).kept_as == "prompts/_archive/1-1.md"
    assert (file(where, "1").parent / "_archive/1-1.md").read_bytes() == text


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_that_no_command_wrote_is_no_prompt_yet(
    where: ProjectPaths, text: bytes
) -> None:
    write(where, "2")
    file(where, "1").write_bytes(text)
    told = to_builtins(plan_document.init_plan(where))
    assert any("1.md" in note for note in told["notes"])
    assert facts(where, "adopt-prompt") == []
    assert file(where, "1").read_bytes() == text


@pytest.mark.parametrize(
    "front",
    [
        "walkthrough: none\n",
        "walkthrough: [done]\n",
        "walkthrough:\n- {iteration: first}\n",
        "walkthrough:\n- {approach: x}\n",
        "relevant_files: {a: b}\n",
        "reviews: 3\n",
        "description: [a]\n",
        "success_criteria: {a: b}\n",
    ],
)
def test_words_in_the_wrong_shape_are_refused_and_kept(where: ProjectPaths, front: str) -> None:
    name = front.partition(":")[0]
    write(where, "1")
    start(where, "1")
    path = file(where, "1")
    shaped = re.sub(rf"(?m)^{name}: .*\n", front, path.read_text())
    assert shaped != path.read_text()
    path.write_text(shaped)
    acts: tuple[Act, ...] = (lambda: read(where, "1"), lambda: record(where, "1"))
    for act in acts:
        with refused("bad-front-matter") as caught:
            act()
        assert name in str(caught.value)
        assert "1.md" in str(caught.value)
    assert path.read_text() == shaped
    assert facts(where, "record-implementation") == []


def test_words_that_are_left_empty_are_what_they_are_by_default(where: ProjectPaths) -> None:
    front = "description:\nrelevant_files:\nwalkthrough: null\nreviews: ~\nsuccess_criteria: 5\n"
    plan_document.init_plan(where)
    by_hand(where, "1", front)
    start(where, "1")
    told = read(where, "1")["front_matter"]
    assert (told["description"], told["relevant_files"], told["walkthrough"]) == ("", [], [])
    assert told["success_criteria"] == "5"
    record(where, "1")
    assert len(read(where, "1")["front_matter"]["walkthrough"]) == 1


def test_an_edited_life_counts_for_nothing_and_is_kept_aside(where: ProjectPaths) -> None:
    write(where, "1")
    write(where, "2", 1)
    path = file(where, "1")
    edited = path.read_text().replace("status: unimplemented", "status: merged")
    path.write_text(edited)
    assert read(where, "1")["front_matter"]["status"] == "unimplemented"
    assert offered(where, 9) == ["1"]
    with refused("dependencies-not-merged"):
        start(where, "2")
    assert (path.parent / "_edited/1-1.md").read_text() == edited
    assert fields(where, "1")["status"] == "unimplemented"
    assert disagreements(where) == []
    path.write_text(edited.replace("in_progress: false\n", ""))
    told = to_builtins(start(where, "1"))
    assert any("_edited/1-2.md" in note for note in told["notes"])
    assert disagreements(where) == []


def test_words_are_peoples_and_are_not_kept_aside(where: ProjectPaths) -> None:
    write(where, "1", description="old", context="old")
    path = file(where, "1")
    text = path.read_text().replace("description: old", "description: new")
    path.write_text(f"{text}\nAnd more.\n")
    assert start(where, "1").notes == []
    told = read(where, "1")
    assert told["front_matter"]["description"] == "new"
    assert told["content"] == "old\n\nAnd more."
    assert not (path.parent / "_edited").exists()


def test_a_prompt_written_by_hand_is_planned_like_any_other_and_nothing_was_done_for_it(
    where: ProjectPaths,
) -> None:
    write(where, "1")
    front = (
        "# by Ann\nnumber: 7\ndescription: mine\nkind: debug\ndepends_on: [1]\n"
        "requires_manual_testing: true\nstatus: merged\nin_progress: true\n"
        "merge_commit_hash: abc\ncompleted_debug_logging: true\nnote: mine\n"
    )
    by_hand(where, "2_A", front, "My words.\n")
    told = read(where, "2A")["front_matter"]
    assert (told["kind"], told["depends_on"], told["status"]) == ("debug", [1], "unimplemented")
    notes = plan_document.init_plan(where).notes
    assert any("2_A was written by hand" in note for note in notes)
    told = fields(where, "2_A")
    assert (told["number"], told["variant"], told["note"]) == (2, "A", "mine")
    assert (told["kind"], told["depends_on"]) == ("debug", [1])
    assert told["requires_manual_testing"] is True
    assert (told["status"], told["in_progress"], told["merge_commit_hash"]) == (
        "unimplemented",
        False,
        None,
    )
    assert file(where, "2_A").read_text().startswith("---\n# by Ann\n")
    assert plan_document.init_plan(where).notes == []
    assert disagreements(where) == []


@pytest.mark.parametrize(
    "given, expected",
    [("null", []), ("[]", []), ("[1, 1]", [1]), ("['1']", [1]), ("12", [12]), ("'12'", [12])],
)
def test_dependencies_written_by_hand_are_taken(
    where: ProjectPaths, given: str, expected: list[int]
) -> None:
    write(where, "1")
    by_hand(where, "2", f"depends_on: {given}\n")
    plan_document.init_plan(where)
    assert fields(where, "2")["depends_on"] == expected


@pytest.mark.parametrize(
    "given",
    ["one", "[1, two]", "[.inf]", "[1e400]", "[1.5]", "[true]", "{1: 2}", "[[1]]", "[-1]"],
)
def test_dependencies_that_are_no_numbers_are_not_dropped(where: ProjectPaths, given: str) -> None:
    write(where, "1")
    text = by_hand(where, "2", f"depends_on: {given}\n")
    told = to_builtins(plan_document.init_plan(where))
    assert any("depends_on" in note for note in told["notes"])
    assert offered(where, 9) == ["1"]
    with refused("bad-front-matter"):
        read(where, "2")
    assert file(where, "2").read_bytes() == text
    assert facts(where, "adopt-prompt") == []
    write(where, "2", 1)
    assert fields(where, "2")["depends_on"] == [1]


@pytest.mark.parametrize("name", ["01", "1_a", "1A", "x", "1.2", "0", "_1", ".1", "1_AB"])
def test_a_file_whose_name_is_no_id_is_no_prompt(where: ProjectPaths, name: str) -> None:
    plan_document.init_plan(where)
    by_hand(where, name, "status: unimplemented\n")
    before = file(where, name).read_bytes()
    plan_document.init_plan(where)
    assert to_builtins(plan_document.read_full_plan(where))["prompts"] == []
    assert file(where, name).read_bytes() == before


def test_things_that_are_no_files_are_no_prompts(where: ProjectPaths, tmp_path: Path) -> None:
    write(where, "1")
    file(where, "2").mkdir()
    os.mkfifo(file(where, "3"))
    (tmp_path / "secret.md").write_text("---\nstatus: merged\n---\n\nsecret\n")
    file(where, "4").symlink_to(tmp_path / "secret.md")
    told = to_builtins(start(where, "1"))
    assert len(told["notes"]) == 3
    assert (tmp_path / "secret.md").read_text().endswith("secret\n")
    with refused("unreadable"):
        read(where, "4")
    assert facts(where, "adopt-prompt") == []


def test_a_file_with_the_line_ends_of_another_system_is_kept_and_drawn(where: ProjectPaths) -> None:
    plan_document.init_plan(where)
    path = file(where, "1")
    path.write_bytes(b"---\r\ndescription: mine\r\nstatus: merged\r\n---\r\n\r\nMy words.\r\n")
    start(where, "1")
    assert disagreements(where) == []
    assert path.read_bytes().endswith(b"\r\n\r\nMy words.\r\n")
    assert b"description: mine\r\n" in path.read_bytes()


def test_a_file_that_is_gone_is_told_and_can_be_written_again(where: ProjectPaths) -> None:
    write(where, "1", context="old")
    write(where, "2")
    file(where, "1").unlink()
    told = to_builtins(start(where, "2"))
    assert any("prompt 1 is gone" in note for note in told["notes"])
    with refused("not-found") as caught:
        read(where, "1")
    assert "write-prompt" in caught.value.findings[0].fix
    with refused("not-found"):
        start(where, "1")
    assert facts(where)[-1]["action"] == "start-prompt"
    assert write(where, "1", context="new").created is False
    assert read(where, "1")["content"] == "new"


@pytest.mark.parametrize("text", ["\u2028\u2029\x85", "a\r\nb", "\t tab", "---", "#", "\u529f: |"])
def test_words_of_every_kind_are_read_back(where: ProjectPaths, text: str) -> None:
    write(where, "1", description=text, criteria=f"{text}\n{text}", context=f"x\n{text}\nx")
    told = read(where, "1")
    assert told["front_matter"]["description"] == text
    assert told["front_matter"]["success_criteria"] == f"{text}\n{text}"
    assert told["content"] == f"x\n{text}\nx"
    start(where, "1")
    assert read(where, "1")["content"] == told["content"]
