"""E4: a variant that is given up is decided by a person, and blocks its siblings no longer."""

import pytest

from porch.machine.plan.prompt_ids import parse_prompt_id
from porch.plan.claims import prompt_claims
from porch.run.verbs import overview
from porch.store.where import ProjectPaths
from tests.plan.gatehouse import answered, ask, block, file, fill, log, say, tried
from tests.plan.yards import carried_out, fields, git, mark, refused, start, write

NAME = "unfinished:2"


def release(where: ProjectPaths, id_: str, reason: str = "gave up") -> None:
    prompt_claims.release_prompt(where, parse_prompt_id([id_]), reason)


def give_up(where: ProjectPaths) -> None:
    """2_A is ready, and whoever worked on 2_B stops."""
    tried(where, "2_A")
    write(where, "2_B")
    start(where, "2_B")
    release(where, "2_B")


def names(where: ProjectPaths) -> list[str]:
    """What `porch pending` lists."""
    rows = overview.list_all_runs(where).rows.values()
    return [each["name"] for picture in rows for each in picture["decisions"]]


def test_e4_who_gives_a_variant_up_leaves_a_question_for_a_person(where: ProjectPaths) -> None:
    give_up(where)
    assert names(where) == [NAME]
    told = ask(where, "variants")
    assert told["decision"] == f"{NAME}#1"
    assert told["waiting_on"] == ["2_B"]
    assert "a person decides" in told["message"]
    form = file(where, "2_unfinished.yaml").read_text()
    assert told["file"] == str(file(where, "2_unfinished.yaml"))
    assert "nobody works on it any more: gave up" in form
    assert "alone" in form


@pytest.mark.parametrize("way", ["option", "words", "form"])
def test_e4_the_only_variant_that_is_left_is_main(where: ProjectPaths, way: str) -> None:
    give_up(where)
    if way == "option":
        say(where, NAME, "", "alone")
    elif way == "words":
        say(where, NAME, "alone")
    else:
        fill(where, "2_unfinished.yaml", ("decision:", "alone"))
    told = answered(where, "variants")
    assert told["variant_solution"] == "main"
    assert fields(where, "2_B")["variant_solution"] == "alternative"
    assert fields(where, "2_B")["variant_reason"] == "gave up"
    assert "decision: alone" in log(where)
    with refused("variant-put-aside"):
        start(where, "2_B")


def test_e4_a_discarded_variant_is_put_away(where: ProjectPaths) -> None:
    made = carried_out(where, "2_B")
    mark(where, "2_B", requires_manual_testing=True)
    release(where, "2_B")
    tried(where, "2_A")
    assert names(where) == []
    ask(where, "variants")
    say(where, NAME, "", "discard")
    assert answered(where, "variants")["variant_solution"] == "main"
    assert fields(where, "2_B")["worktree_branch_name"].startswith("archive/")
    assert "archive/" in git(where.base, "branch", "--list", "archive/*")
    assert not made.path.exists()


def test_e4_who_waits_is_asked_again_only_after_work_that_ended_again(where: ProjectPaths) -> None:
    give_up(where)
    say(where, NAME, "", "wait")
    told = ask(where, "variants")
    assert (told["waiting_on"], told["decision"], names(where)) == (["2_B"], None, [])
    start(where, "2_B")
    release(where, "2_B", "again")
    assert ask(where, "variants")["decision"] == f"{NAME}#2"


def test_e4_the_question_goes_when_the_variant_is_taken_up_again(where: ProjectPaths) -> None:
    give_up(where)
    start(where, "2_B")
    assert names(where) == []
    assert ask(where, "variants")["decision"] is None


def test_e4_of_two_that_are_left_a_person_chooses(where: ProjectPaths) -> None:
    tried(where, "2_C")
    give_up(where)
    say(where, NAME, "", "alone")
    ask(where, "variants")
    assert "B:" not in file(where, "variants").read_text()
    fill(where, "variants", ("A:", "decision:", "main"), ("C:", "decision:", "discard"))
    assert answered(where, "variants")["variant_solution"] == "main"
    assert fields(where, "2_B")["variant_solution"] == "alternative"


def test_e4_words_that_are_no_decision_are_refused(where: ProjectPaths) -> None:
    give_up(where)
    with refused("bad-form"):
        say(where, NAME, "go on")
    assert names(where) == [NAME]
    assert block(where, "variants").is_pending


def test_e4_a_variant_that_was_never_begun_waits_its_turn(where: ProjectPaths) -> None:
    tried(where, "2_A")
    write(where, "2_B")
    assert ask(where, "variants")["decision"] is None
