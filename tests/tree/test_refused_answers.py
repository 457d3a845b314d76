"""A refused answer: the next try knows of it and begins clean; the same one ends the trying."""

from typing import Any

import pytest
from msgspec.structs import replace

from porch.errors import DefinitionError, Finding
from porch.git.moves.checkout_repair import SALVAGE, name_salvage_ref
from porch.machine import facts as f
from porch.show import strict_templates
from tests.tree.conftest import IMPL, SCAFFOLD, TO_TESTS, Bench

RUBBISH = {"junk.txt": "junk\n", "README.md": "overwritten\n"}


def bad(exit_: str, **more: Any) -> dict[str, Any]:
    return {**SCAFFOLD, "exit": exit_, "write": RUBBISH, **more}


def again(request: Any, number: int) -> Any:
    return replace(request, id=f"{request.id[:-1]}{number}", attempt=number)


def refuse(bench: Bench, state: str, *exits: str) -> Any:
    """One try whose answers are all refused; they differ."""
    entry: dict[str, Any] = {}
    for exit_ in reversed(exits):
        entry = {**bad(exit_), **({"refused": entry} if entry else {})}
    bench.script(state, entry)
    return bench.perform(bench.wanted(state))


def test_t4_the_next_try_is_told_what_was_refused_and_why(bench: Bench) -> None:
    asked = bench.wanted("scaffold")
    assert refuse(bench, "scaffold", "Approved", "Reject", "Stuck").why == "refused"
    bench.script("scaffold", SCAFFOLD)
    assert isinstance(bench.perform(again(asked, 1)), f.ExitAccepted)
    prompt = bench.prompt(again(asked, 1))
    for exit_ in ("Approved", "Reject", "Stuck"):
        assert f"'{exit_}' is not an exit of scaffold" in prompt
    assert "What was refused before" not in bench.prompt(asked)


def test_t4_the_next_try_works_on_the_files_as_they_were_accepted_last(bench: Bench) -> None:
    asked = bench.wanted("scaffold")
    refuse(bench, "scaffold", "Approved", "Reject", "Stuck")
    assert (bench.root / bench.main / "junk.txt").exists()
    bench.script("scaffold", SCAFFOLD)
    fact = bench.perform(again(asked, 1))
    names = bench.git("show", "--format=", "--name-only", fact.payload["scaffoldCommit"])
    assert names.split() == ["api.txt", "tests/sum/contract.sh"]
    ref = "refs/porch/salvage/porch/v3_sum@scaffold-1-try-1"
    assert bench.git("show", f"{ref}:junk.txt") == "junk"
    assert f"`{ref}`" in bench.prompt(again(asked, 1))


def test_t4_a_repository_of_a_refused_try_is_kept_and_is_not_in_the_way_of_the_next(
    bench: Bench,
) -> None:
    asked = bench.wanted("scaffold")
    made = {**SCAFFOLD, "run": [["git", "init", "-q", "deep/inner"]]}
    made["run"].append(["sh", "-c", "echo precious > deep/inner/file"])
    bench.script("scaffold", made)
    assert bench.perform(asked).why == "refused"
    bench.script("scaffold", SCAFFOLD)
    assert isinstance(bench.perform(again(asked, 1)), f.ExitAccepted)
    kept = bench.turn(asked).parent / "repositories" / "deep" / "inner"
    assert (kept / "file").read_text() == "precious\n"
    assert f"`{kept}`" in bench.prompt(again(asked, 1))


def test_t4_what_only_a_refused_try_told_git_to_ignore_is_not_taken_for_later_work(
    bench: Bench,
) -> None:
    asked = bench.wanted("scaffold")
    files = {".gitignore": "build\n", "build/made.txt": "made\n"}
    bench.script("scaffold", {**SCAFFOLD, "exit": "Approved", "write": files})
    assert bench.perform(asked).why == "refused"
    bench.script("scaffold", SCAFFOLD)
    fact = bench.perform(again(asked, 1))
    names = bench.git("show", "--format=", "--name-only", fact.payload["scaffoldCommit"])
    assert names.split() == ["api.txt", "tests/sum/contract.sh"]


def test_t4_own_commits_of_a_refused_try_are_kept_and_left_behind(bench: Bench) -> None:
    bench.until(*TO_TESTS)
    asked, before = bench.wanted("impl"), bench.git("rev-parse", "porch/v3_sum")
    bench.script("impl", {**IMPL, "write": {"tests/sum/there.sh": "true\n"}})
    assert bench.perform(asked).why == "refused"
    bench.git("commit", "-q", "-a", "-m", "mine", at=bench.main)
    bench.script("impl", IMPL)
    assert isinstance(bench.perform(again(asked, 1)), f.ExitAccepted)
    assert bench.git("log", "--format=%s", f"{before}..porch/v3_sum") == "impl(sum): TestsPassed"
    kept = bench.git("log", "--format=%s", "refs/porch/salvage/porch/v3_sum@impl-1-try-1", "-2")
    assert "mine" in kept


def test_t4_the_same_refused_answer_ends_the_try_and_then_asks_a_person(bench: Bench) -> None:
    asked = bench.wanted("scaffold")
    bench.script("scaffold", bad("Approved"))
    first = bench.perform(asked)
    assert (first.why, first.hopeless) == ("refused", False)
    assert "the same answer was refused 2 times" in first.detail
    assert not bench.turn(asked, 3).exists(), "it would have said the same"
    second = bench.perform(again(asked, 1))
    assert second.hopeless
    assert not bench.turn(again(asked, 1), 2).exists()
    bench.rig.tell(replace(second, effect=asked.id))
    assert bench.wanted("scaffold:fault").kind == "ask", "here, where nothing else is paid again"


def test_a_rule_that_refuses_in_two_tries_asks_a_person_whatever_files_are_named(
    bench: Bench,
) -> None:
    """E5: four turns in all, and not three in each of five tries."""
    bench.until(*TO_TESTS)
    asked = bench.wanted("impl")

    def outside(*numbers: int) -> dict[str, Any]:
        entry: dict[str, Any] = {}
        for number in reversed(numbers):
            write = {f"elsewhere-{number}.txt": "x\n"}
            entry = {**IMPL, "write": write, **({"refused": entry} if entry else {})}
        return entry

    bench.script("impl", outside(1, 2, 3))
    first = bench.perform(asked)
    assert (first.why, first.hopeless, first.fault) == ("refused", False, False)
    assert bench.turn(asked, 3).exists()
    bench.script("impl", outside(4, 5, 6))
    second = bench.perform(again(asked, 1))
    assert (second.why, second.hopeless, second.fault) == ("refused", True, True)
    assert not bench.turn(again(asked, 1), 2).exists()
    assert second.detail.startswith("refused in two tries by the same rule (paths): ")
    assert "'elsewhere-4.txt' was changed, but you may change only " in second.detail
    bench.rig.tell(replace(second, effect=asked.id))
    assert bench.wanted("impl:fault").kind == "ask"


def test_a_rule_that_was_broken_once_on_the_way_does_not_end_a_later_try(bench: Bench) -> None:
    """E5: only what ended a try counts, for an agent may have mended the rest."""
    asked = bench.wanted("scaffold")
    uncovered = {**SCAFFOLD, "payload": {**SCAFFOLD["payload"], "testPlan": []}}
    bench.script("scaffold", {**bad("Stuck"), "refused": {**uncovered, "refused": uncovered}})
    assert bench.perform(asked).why == "refused"
    bench.script("scaffold", {**bad("Reject"), "refused": SCAFFOLD})
    assert isinstance(bench.perform(again(asked, 1)), f.ExitAccepted)


def test_t4_the_same_words_over_other_files_are_another_answer(bench: Bench) -> None:
    bench.script("scaffold", bad("Approved", refused=bad("Approved", write={"more.txt": "more"})))
    fact = bench.perform(bench.wanted("scaffold"))
    assert bench.turn(bench.wanted("scaffold"), 3).exists()
    assert "the same answer was refused 2 times" in fact.detail


@pytest.mark.parametrize(
    "error",
    [
        DefinitionError([Finding("template", "'x' is undefined")]),
        FileNotFoundError("templates/gone.md.j2"),
    ],
)
def test_t4_a_fault_that_stays_asks_a_person_at_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: Any) -> str:
        raise error

    monkeypatch.setattr(strict_templates, "render_strict_template", fail)
    fact = bench.do("scaffold")
    assert fact.hopeless
    assert bench.wanted("scaffold:fault").kind == "ask"


def test_t4_files_that_cannot_be_measured_are_a_reason_and_no_failure(bench: Bench) -> None:
    """A repository inside hides its files; the agent is told, and may remove it."""
    made = {**SCAFFOLD, "run": ["git", "init", "-q", "inner"]}
    bench.script("scaffold", {**made, "refused": {**SCAFFOLD, "run": ["rm", "-rf", "inner"]}})
    asked = bench.wanted("scaffold")
    fact = bench.perform(asked)
    assert isinstance(fact, f.ExitAccepted), fact
    assert "inner" in bench.prompt(asked, 2)


def test_t4_what_was_refused_is_kept_beside_what_was_kept_of_its_branch() -> None:
    """Git has no ref below another one, so these names never nest."""
    branch, unfinished = "porch/v3_sum", name_salvage_ref("porch/v3_sum", "neg/impl:x#2")
    assert unfinished == f"{SALVAGE}{branch}@neg-impl-x-2"
    names = [f"{SALVAGE}{branch}", unfinished, f"{unfinished}-try-1"]
    assert not any(one.startswith(f"{other}/") for one in names for other in names)
