"""Panels: the real gemini, codex and claude together, and reviewers who fail in every way."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.real_agents import MODELS, Room
from tests.standin.vendors import Vendors
from tests.whole.agents.jury import NOTE, REBUTTAL, Start, Story, Troubled, witness
from tests.whole.agents.shop import Shop, living, opened
from tests.whole.agents.yard import Yard, fenced

THREE = {"claude", "codex", "gemini"}
# Which variables each needs to be itself, of those that all three together would have.
KEYS = {
    "claude": {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"},
    "codex": {"OPENAI_API_KEY", "CODEX_HOME"},
    "gemini": {"GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"},
}
RESUMING = {"--resume", "-r", "--continue", "resume", "--fork-session", "--session-file"}
PHASE: dict[str, Any] = {
    "id": "write",
    "signals": {"DONE": "complete"},
    "consultation": {"models": ["a", "b", "c"], "type": "generic"},
}
GOOD = 'print("VERDICT: APPROVE\\nSUMMARY: fine\\nFINDINGS:\\n- none")'


@pytest.mark.req("P-098", "P-099", "P-166", "P-168", "P-169")
def test_three_real_reviewers_ask_for_changes_are_answered_and_approve(
    tmp_path: Path, cli: Callable[[str], str], vendor: Vendors, clean_room: Room
) -> None:
    for name in THREE:
        cli(name)
    seen = witness(clean_room, tmp_path / "notes")
    room = replace(clean_room, environ={**clean_room.environ, "SHOP_SECRET": "hunter2"})
    shop = opened(tmp_path, room, vendor)
    shop.write("hall.txt", NOTE + "\n")
    story = Story(shop.root, tmp_path / "outside")
    story.outside.mkdir()
    vendor.default = story
    head = shop.git("rev-parse", "HEAD")
    told = shop.porch("run", "spider", "0007", "--here", "--agent", "claude", code=3, timeout_s=240)
    assert shop.entered()[-1] == "specify:gate", told
    _were_together_and_changed_nothing(shop, story)
    assert shop.git("rev-parse", "HEAD") == head
    _heard_what_was_said_before(story)
    _is_kept_in_files(shop)

    shop.porch("approve", "0007", "specify_approval")
    shop.porch("resume", "0007", code=3)
    assert shop.entered()[-1] == "blocked:plan:draft"
    _began_afresh_with_little_of_the_environment(seen.starts(), clean_room)
    assert not living(clean_room)


def _were_together_and_changed_nothing(shop: Shop, story: Story) -> None:
    assert story.there == dict.fromkeys(THREE, THREE), "each ended after all had begun"
    assert story.tried == dict.fromkeys(THREE, 4)
    assert story.quoted == dict.fromkeys(THREE, NOTE), "untracked files are seen"
    assert not [path for path in shop.root.parent.rglob("planted*") if "room" not in path.parts]


def _heard_what_was_said_before(story: Story) -> None:
    for name in THREE:
        first, second = story.prompts[(name, 1)], story.prompts[(name, 2)]
        assert "Findings of the reviewers" not in first
        assert "It is written." not in first, "what an author says of the draft sways nobody"
        for other in THREE:
            assert f"> - {other} read: {NOTE}" in second
        assert "## What specify:revise answered\n\n" in second
        assert f"> {REBUTTAL}\n" in second
        assert re.search(r"> \+\d+ -\d+ codev/projects/0007-greeting/spec\.md\n", second)
        assert "-0 hall.txt" not in second, "it lay there before the run"
        assert "of at most 80 letters" in second


def _is_kept_in_files(shop: Shop) -> None:
    where = shop.root / "codev/projects/0007-greeting"
    first = (where / "consultation-specify-round-1.md").read_text()
    second = (where / "consultation-specify-round-2.md").read_text()
    assert first.count("**Verdict**: REQUEST_CHANGES") == 3
    assert second.count("**Verdict**: APPROVE") == 3
    assert f"- gemini read: {NOTE}" in first
    took = [line for line in (first + second).splitlines() if line.startswith("**Took**: ")]
    assert len(took) == 6
    assert all(" s, " in line and " tokens" in line for line in took)
    assert sum(" USD" in line for line in took) == 2, "claude alone tells money"
    reviews = shop.facts("ReviewEnded")
    assert all(fact["seconds"] > 0 and fact["tokens"] > 0 for fact in reviews)


def _began_afresh_with_little_of_the_environment(starts: list[Start], room: Room) -> None:
    count = {name: sum(start.name == name for start in starts) for name in THREE}
    assert count == {"claude": 5, "codex": 2, "gemini": 2}
    for start in starts:
        assert not RESUMING & set(start.argv)
        assert "SHOP_SECRET" not in start.environ
        assert start.environ["HOME"] == room.environ["HOME"]
        others = set().union(*(keys for name, keys in KEYS.items() if name != start.name))
        assert KEYS[start.name] <= set(start.environ)
        assert not others & set(start.environ)


def test_real_reviewers_who_are_not_logged_in_or_limited_do_not_stop_the_others(
    tmp_path: Path, cli: Callable[[str], str], vendor: Vendors, clean_room: Room
) -> None:
    """One of them goes by a name of its owner's own."""
    for name in THREE:
        cli(name)
    vendor.default = model = Troubled()
    with fenced(tmp_path, clean_room.environ) as yard:
        yard.protocol(PHASE)
        yard.agent("writer", 'print("<signal>DONE</signal>")')
        yard.settings(
            '[agents.writer]\ncommand = ["writer"]\n'
            f'[agents.swift]\nkind = "gemini"\nmodel = "{MODELS["gemini"]}"\n'
            f'[agents.claude]\nmodel = "{MODELS["claude"]}"\n'
            '[panel]\nmodels = ["swift", "codex", "claude"]\n'
        )
        told = yard.run("writer", timeout_s=120)
        assert yard.outcome == "complete", told
        assert model.asked == {"swift": 2, "codex": 1, "claude": 1}
        failed = [(fact["why"], fact.get("wait_s", 0)) for fact in yard.facts("EffectFailed")]
        assert sorted(failed) == [("auth", 0), ("rate_limit", 1)]
        verdicts = {fact["effect"].split("/")[2]: fact for fact in yard.facts("ReviewEnded")}
        assert verdicts["swift"]["verdict"] == verdicts["codex"]["verdict"] == "APPROVE"
        text = feedback(yard)
        assert "## Claude\n**Verdict**: ABSTAIN (auth" in text
        assert "log in" in text
        assert not living(clean_room)


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    with fenced(tmp_path) as found:
        found.agent("writer", 'print("<signal>DONE</signal>")')
        found.agent("good", GOOD)
        found.protocol(PHASE)
        yield found


def panel(yard: Yard, *names: str, more: str = "") -> None:
    """Each is a command of one's own; `good` and `fine` are the same one twice."""
    programs = {name: "good" if name == "fine" else name for name in ("writer", *names)}
    agents = "".join(f'[agents.{n}]\ncommand = ["{p}"]\n' for n, p in programs.items())
    listed = ", ".join(f'"{name}"' for name in names)
    yard.settings(f"{agents}[panel]\nmodels = [{listed}]\n[roles.reviewer]\ntimeout = 2\n{more}")


def feedback(yard: Yard, round_: int = 1) -> str:
    place = yard.workplace / "codev/projects/0001-x"
    return (place / f"consultation-write-round-{round_}.md").read_text()


@pytest.mark.parametrize(
    "body,why,words,calls",
    [
        ('tell(type="failed", kind="auth", text="log in first")', "auth", "log in first", 1),
        ("sys.exit('no memory left')", "crashed", "no memory left", 2),
        ('tell(type="failed", kind="refused", text="not this")', "refused", "not this", 1),
        ("pass", "crashed", "printed nothing", 2),
        ('print("VERDICT: APPROVE, if you must")', "not a clear verdict: 'APPROVE, if", "", 2),
        ('print("VERDICT: ABSTAIN")', "the reviewer did not decide", "", 1),
        ("print(PROMPT)", "the reply repeats the instructions", "", 2),
    ],
    ids=["auth", "crash", "refusal", "silence", "half an approval", "no decision", "echo"],
)
def test_one_reviewer_who_fails_abstains_and_two_of_three_decide(
    body: str, why: str, words: str, calls: int, yard: Yard
) -> None:
    """Who crashes or cannot be read is asked once more; whom only a person can help, is not."""
    yard.agent("bad", body)
    panel(yard, "bad", "good", "fine", more="[agent]\nback_off = 0.01\n")
    yard.run("writer")
    assert yard.outcome == "complete"
    said = [fact for fact in yard.facts("ReviewEnded") if "/bad/" in fact["effect"]]
    assert all(fact["verdict"] == "ABSTAIN" for fact in said)
    told = feedback(yard).partition("## Bad\n**Verdict**: ABSTAIN (")[2]
    assert why in told.partition("## ")[0]
    assert words in told
    assert len(yard.calls("bad")) == calls
    assert not yard.living()


def test_a_reviewer_who_hangs_holds_up_nobody_and_is_over_by_its_own_clock(yard: Yard) -> None:
    yard.agent("bad", "time.sleep(99)")
    panel(yard, "bad", "good", "fine", more="[agent]\nback_off = 0.01\n")
    yard.run("writer")
    assert sorted(f["effect"].split("/")[2] for f in yard.facts("ReviewEnded")) == ["fine", "good"]
    late = [fact for fact in yard.facts("EffectFailed") if "/bad/" in fact["effect"]]
    assert [fact["why"] for fact in late] == ["timeout"]
    told = feedback(yard).partition("## Bad\n**Verdict**: ABSTAIN (")[2]
    assert "timeout" in told
    assert yard.outcome == "complete"
    assert not yard.living()


def test_a_reviewer_at_its_limit_waits_and_is_asked_again(yard: Yard) -> None:
    limit = 'tell(type="failed", kind="rate_limit", text="too many", wait_s=0.3)'
    yard.agent("busy", f"{limit} if TURN == 1 else {GOOD}")
    panel(yard, "busy", "good", "fine")
    yard.run("writer")
    assert yard.outcome == "complete"
    first, second = yard.calls("busy")
    assert second["at"] - first["at"] >= 0.3
    assert "3 of 3" in str(yard.moves("Remembered"))
    assert len(yard.calls("good")) == 2, "who has answered is not asked again"


def test_a_reviewer_who_is_not_installed_is_named_before_the_start_and_abstains(
    yard: Yard,
) -> None:
    panel(yard, "ghost", "good", "fine")
    told = yard.run("writer")
    notice = "the reviewer ghost is not installed and will abstain"
    assert notice in told
    assert told.index(notice) < told.index("porch started")
    terms = yard.porch("explain", "1", "--verbose")
    assert "the reviewer good: nothing is enforced" in terms, "a command can write all the same"
    assert yard.outcome == "complete"
    assert "## Ghost\n**Verdict**: ABSTAIN (" in feedback(yard)
    assert "ABSTAIN (not-installed: not asked, because `ghost` is not on PATH)" in feedback(yard)


def test_a_reviewer_whom_nobody_knows_is_refused_before_anything_begins(yard: Yard) -> None:
    yard.settings('[agents.writer]\ncommand = ["writer"]\n[panel]\nmodels = ["nobody"]\n')
    told = yard.run("writer", code=2)
    assert "there is no agent 'nobody'" in told
    assert not yard.records()


def test_with_two_of_three_missing_nothing_is_decided_and_a_person_is_asked(yard: Yard) -> None:
    yard.agent("bad", "sys.exit(1)")
    panel(yard, "ghost", "bad", "good")
    yard.run("writer", code=3)
    assert not yard.moves("Ended")
    told = yard.porch("pending")
    assert "too few reviewers gave a verdict" in told
    assert "the reviewers gave no verdict" not in told, "one of them gave one"
    assert "1 of 3 reviewers gave a verdict" in told + yard.porch("status", "0001")
    yard.agent("bad", GOOD)
    yard.porch("retry", "0001")
    yard.porch("resume", "0001")
    assert yard.outcome == "complete"
    assert "(Round 2)" in feedback(yard, 2)


def test_answers_of_all_rounds_reach_the_next_one_and_what_is_cut_is_said(yard: Yard) -> None:
    yard.agent("strict", "found = 'no' if TURN > 2 else 'yes'\n" + _STRICT)
    make = "for n in range(248): open(f'made-{n:03}.txt', 'w').write('x')\n"
    said = 'print("answer", TURN, "a" * 5000, "\\n<signal>DONE</signal>")'
    yard.agent("writer", make + said)
    panel(yard, "strict", "good", "fine")
    yard.run("writer")
    assert yard.outcome == "complete"
    first, second, third = (call["prompt"] for call in yard.calls("strict"))
    assert "revise answered" not in first
    assert re.search(r"\[\d+ of \d+ files are not shown; see them: ", first)
    assert "> - mend 1\n" in second
    assert "> answer 2 aaa" in second
    assert "> [porch cut " in second
    assert "> - mend 2\n" in third
    # Between the two stands what those who approved remarked; no word of a reviewer is dropped.
    assert "> round 1 asked for:\n> strict:\n> - mend 1\n" in third
    assert "> and was answered:\n> answer 2 a" in third
    assert "> answer 3 aaa" in third
    reviser = yard.calls("writer")[2]["prompt"]
    assert "> and was answered:\n> answer 2 aaa" in reviser, "who mends knows what it said before"


_STRICT = """
verdict = "REQUEST_CHANGES" if found == "yes" else "APPROVE"
print(f"VERDICT: {verdict}\\nSUMMARY: s\\nFINDINGS:\\n- mend {TURN}")
"""


def test_an_answer_that_cannot_be_read_is_asked_for_once_more_with_the_reason(yard: Yard) -> None:
    """E6"""
    yard.agent("bad", f"print('looks fine to me') if TURN == 1 else {GOOD}")
    panel(yard, "bad", "good", "fine")
    yard.run("writer")
    assert yard.outcome == "complete"
    first, second = (call["prompt"] for call in yard.calls("bad"))
    assert "could not be read" not in first
    assert "## Your last reply could not be read" in second
    assert "> no verdict line" in second
    assert "3 of 3 reviewers gave a verdict" in str(yard.moves("Remembered"))
    told = yard.porch("log", "0001")
    assert "review by bad: ABSTAIN (no verdict line): looks fine to me; asked once more" in told


def test_a_reviewer_without_a_login_is_named_before_the_start_and_no_turn_is_begun(
    yard: Yard,
) -> None:
    """Q9"""
    (yard.home / ".codex" / "auth.json").unlink()
    yard.agent("codex", "time.sleep(99)")
    yard.settings(
        '[agents.writer]\ncommand = ["writer"]\n[agents.good]\ncommand = ["good"]\n'
        '[agents.fine]\ncommand = ["good"]\n[panel]\nmodels = ["codex", "good", "fine"]\n'
    )
    told = yard.run("writer")
    assert yard.outcome == "complete"
    assert "note: the reviewer codex is not logged in and will abstain" in told
    assert yard.calls("codex") == []
    assert (
        "## Codex\n**Verdict**: ABSTAIN (auth: not asked, because `codex login status`"
        in feedback(yard)
    )


def test_without_a_login_for_enough_reviewers_nothing_begins(yard: Yard) -> None:
    """Q9"""
    (yard.home / ".codex" / "auth.json").unlink()
    yard.agent("codex", GOOD)
    yard.settings(
        '[agents.writer]\ncommand = ["writer"]\n[agents.good]\ncommand = ["good"]\n'
        '[panel]\nmodels = ["codex", "ghost", "good"]\n[agents.ghost]\ncommand = ["ghost"]\n'
    )
    told = yard.run("writer", code=2)
    assert "only 1 can be reached: codex is not logged in; ghost is not installed" in told
    assert not yard.calls("writer")


def test_a_reviewer_that_said_it_has_no_login_is_asked_again_only_after_a_person_decided(
    yard: Yard,
) -> None:
    """Q9"""
    yard.agent("bad", 'tell(type="failed", kind="auth", text="log in first")')
    yard.agent("strict", "found = 'yes' if TURN in (1, 3) else 'no'\n" + _STRICT)
    gate = {**PHASE, "gate": {"name": "go", "next": None}}
    yard.protocol(gate)
    panel(yard, "bad", "strict", "good")
    yard.run("writer", code=3)
    assert len(yard.calls("strict")) == 2
    assert len(yard.calls("bad")) == 1, "the second round knows it"
    assert "## Bad\n**Verdict**: ABSTAIN (auth: log in first)" in feedback(yard, 2)
    yard.porch("reject", "0001", "go", "--reason", "more")
    yard.porch("resume", "0001", code=3)
    assert len(yard.calls("strict")) == 4
    assert len(yard.calls("bad")) == 2, "a person may have logged in"


def test_a_round_without_a_quorum_is_not_charged_and_the_person_is_told_why(yard: Yard) -> None:
    """E6"""
    yard.agent("slow", "time.sleep(99) if TURN <= 2 else 0\n" + GOOD)
    late = "sys.exit('no memory') if TURN <= 4 else 0\nfound = 'yes' if TURN == 5 else 'no'\n"
    yard.agent("bad", late + _STRICT)
    yard.agent("strict", GOOD)
    phase = {**PHASE, "consultation": {**PHASE["consultation"], "max_rounds": 2}}
    yard.protocol(phase)
    panel(yard, "slow", "bad", "strict", more="[agent]\nback_off = 0.01\n")
    yard.run("writer", code=3)
    assert [len(yard.calls(name)) for name in ("slow", "bad", "strict")] == [1, 2, 1]
    told = " ".join(yard.porch("pending").split())
    assert (
        "1 of 3 reviewers gave a verdict; 2 of 3 reviewers could not answer: slow: timeout" in told
    )
    assert "bad: failed 2 times; last error: crashed: ended without a final message" in told
    assert "ask the reviewers again; no round is charged" in told
    yard.porch("retry", "0001")
    yard.porch("resume", "0001", code=3)
    assert [len(yard.calls(name)) for name in ("slow", "bad", "strict")] == [2, 4, 1]
    assert not yard.moves("Charged")
    # Of the same files nobody has to say the same twice, and nobody pays for it.
    assert [
        f.get("reused", False) for f in yard.facts("ReviewEnded") if "/strict/" in f["effect"]
    ] == [
        False,
        True,
    ]
    assert "review of write, round 1 of 2" in " ".join(yard.porch("pending").split())
    yard.porch("retry", "0001")
    yard.porch("resume", "0001")
    # The third asking is the first round that is charged, and there is one more.
    assert [move["spent"] for move in yard.moves("Charged")][:1] == [1]
    assert "VERDICT: REQUEST_CHANGES" in feedback(yard, 3)
    assert [len(yard.calls(name)) for name in ("slow", "bad", "strict")] == [4, 6, 2]
    assert yard.outcome == "complete"
    # Two rounds repeated nothing but words that were paid for before.
    assert json.loads(yard.porch("status", "0001", "--json"))["cost"]["reviews"] == 4 + 6 + 2


def test_a_verdict_that_was_given_for_other_files_is_asked_for_again(yard: Yard) -> None:
    yard.agent("bad", f"sys.exit('no memory') if TURN <= 2 else 0\n{GOOD}")
    phase = {**PHASE, "consultation": {**PHASE["consultation"], "quorum": 2}}
    yard.protocol(phase)
    panel(yard, "bad", "good", more="[agent]\nback_off = 0.01\n")
    yard.run("writer", code=3)
    (yard.workplace / "more.txt").write_text("a person was here\n")
    yard.porch("retry", "0001")
    yard.porch("resume", "0001")
    assert len(yard.calls("good")) == 2
    assert not any(fact.get("reused") for fact in yard.facts("ReviewEnded"))
    assert yard.outcome == "complete"
