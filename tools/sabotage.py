"""Switches off one guard at a time in a copy of the sources; a named test must then go red.

A guard is a piece of text that stands exactly once in one module. If the text is gone, the row
is out of date and that is a failure too: a guard that nobody can switch off proves nothing.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Guard:
    """What to cut out of which module, and the test that must notice, wherever it stands."""

    name: str
    module: str
    text: str
    without: str
    test: str


GUARDS: tuple[Guard, ...] = (
    Guard(
        "late facts",
        "machine/route.py",
        "    hand = state.in_hand.get(fact.effect)\n    if hand is None:\n        return ()\n",
        "    hand = state.in_hand.get(fact.effect) or InHand(fact.effect, next(iter("
        'state.positions), ""), fact.effect.split("/")[-3], fact.effect.split("/")[-2])\n',
        "test_a_fact_of_an_effect_that_nobody_holds_moves_nothing",
    ),
    Guard(
        "late facts of positions that are gone",
        "machine/route.py",
        "    if standing is None:\n        return (settled, *plans.heard(protocol, hand, fact))\n",
        "    if standing is None:\n        standing = next(iter(state.positions.values()))\n",
        "test_a_fact_of_an_effect_whose_position_is_gone_only_settles_it",
    ),
    Guard(
        "wish ids",
        "runtime/wishing.py",
        "if wish.id not in self._book.state.wishes:",
        "if True:",
        "test_an_approval_killed_on_its_way_counts_once",
    ),
    Guard(
        "compare-and-swap of the journal",
        "adapters/journal.py",
        "if now.st_size != self.length:",
        "if False:",
        "test_a_second_writer_is_noticed_by_the_first",
    ),
    Guard(
        "the next number only",
        "adapters/journal.py",
        "if expected_seq != self.seq + 1:",
        "if False:",
        "test_both_journals_write_the_same_bytes_and_refuse_the_same",
    ),
    Guard(
        "reaping of marked processes",
        "runtime/takeover.py",
        'marks.reap(world.mark + ":")',
        "pass",
        "test_the_agent_of_a_killed_runner_is_stopped_before_a_new_one_starts",
    ),
    Guard(
        "digest fence of decisions",
        "machine/wishes.py",
        "if wish.digest and wish.digest != digest:",
        "if False:",
        "test_approving_what_was_shown_is_refused_once_it_has_changed",
    ),
    Guard(
        "the chain",
        "adapters/chain.py",
        "if text != body + _KEY + total + b'\"}':",
        "if False:",
        "test_a_last_line_with_a_wrong_sum_and_its_end_is_damage",
    ),
    Guard(
        "cutting a torn tail",
        "adapters/journal.py",
        "        if found.torn:\n",
        "        if False:\n",
        "test_a_journal_cut_at_any_byte_is_opened_cut_and_written_on",
    ),
    Guard(
        "the lock",
        "adapters/lock.py",
        "        fcntl.flock(fd, kind | fcntl.LOCK_NB)\n    except BlockingIOError:\n"
        "        return False\n",
        "        pass\n    except BlockingIOError:\n        return False\n",
        "test_a_held_lock_keeps_others_out_until_it_is_given_back",
    ),
    Guard(
        "a lock on a file that is gone is none",
        "adapters/lock.py",
        "return os.path.samestat(there, os.fstat(fd))",
        "return True",
        "test_a_lock_on_a_file_that_is_no_longer_there_is_none",
    ),
    Guard(
        "the quorum",
        "machine/evidence.py",
        "if not real or len(real) < actor.quorum:",
        "if not real:",
        "test_a_panel_counts_real_verdicts_and_an_abstention_is_none",
    ),
    Guard(
        "an abstention is no verdict",
        "machine/evidence.py",
        'if r["verdict"] != "ABSTAIN"]',
        "]",
        "test_a_panel_counts_real_verdicts_and_an_abstention_is_none",
    ),
    Guard(
        "a doubtful verdict is an abstention",
        "machine/verdicts.py",
        "    if len({claim.verdict for claim in meant}) > 1:\n",
        "    if False:\n",
        "test_whatever_is_doubtful_is_an_abstention_with_its_reason",
    ),
    Guard(
        "budgets run out",
        "machine/leave.py",
        "if spent >= leaving.protocol.budgets[edge.charges].limit:",
        "if False:",
        "test_rounds_are_counted_and_when_they_are_spent_a_person_decides_over_the_findings",
    ),
    Guard(
        "uncharged cycles",
        "model/validate.py",
        "for target in edge.spent if edge.charges else edge.targets:",
        "for target in ():",
        "test_going_round_without_a_charge_or_a_person_is_refused_with_the_way",
    ),
    Guard(
        "control characters",
        "views/text.py",
        "unicodedata.category(char) in _UNSAFE or _INVISIBLE.match(char)",
        "False",
        "test_nothing_that_moves_a_terminal_is_left",
    ),
    Guard(
        "ids that are paths",
        "operations/names.py",
        'if not _ID.fullmatch(text) or ".." in text or text.lower().startswith(".git"):',
        "if False:",
        "test_an_id_that_could_leave_its_directory_is_refused",
    ),
    Guard(
        "agents do not decide",
        "operations/wishing.py",
        "    if seen:\n        raise UsageError(",
        "    if False:\n        raise UsageError(",
        "test_an_agent_is_not_a_person",
    ),
    Guard(
        "unmeasured never passes",
        "machine/evidence.py",
        'exit_ = "failed" if failed else "unmeasured" if missing else "passed"',
        'exit_ = "failed" if failed else "passed"',
        "test_only_binding_checks_decide_and_what_was_not_measured_never_passes",
    ),
    Guard(
        "evidence expires with its content",
        "runtime/handlers/check.py",
        "if effect.tree and effect.tree == before:",
        "if effect.tree:",
        "test_an_approval_needs_fresh_evidence",
    ),
    Guard(
        "one reminder before anything else",
        "machine/route.py",
        'if state.marked(standing.position, "reminded"):',
        "if True:",
        "test_a_silent_turn_gets_one_reminder_in_its_conversation_and_then_a_person_decides",
    ),
    Guard(
        "what was begun elsewhere needs a word",
        "runtime/takeover.py",
        "if not state.in_hand or take_over or not isinstance(last, dict):",
        "if True:",
        "test_what_was_begun_elsewhere_is_only_taken_over_when_a_person_says_so",
    ),
    Guard(
        "an edited status file is kept",
        "runtime/pictures.py",
        'aside = "" if is_ours else self.keep_edits(state)',
        'aside = ""',
        "test_an_edited_status_file_is_kept_aside_reported_and_redrawn",
    ),
    Guard(
        "paths of others",
        "runtime/tree/accepting.py",
        "        if is_within(change.path, denied):\n",
        "        if False:\n",
        "test_tests_and_interface_are_not_the_implementers",
    ),
    Guard(
        "tests that are seen to be red",
        "runtime/tree/measuring.py",
        "    reasons, notes = suites.not_red(new, old, known)\n",
        "    reasons, notes = list[str](), list[str]()\n",
        "test_a_test_that_passes_already_is_refused",
    ),
    Guard(
        "compare-and-swap of a merge",
        "adapters/merging.py",
        '    words = ("update-ref", "-m", "move (porch)", ref, new, old)\n',
        '    words = ("update-ref", "-m", "move (porch)", ref, new)\n',
        "test_a_swap_that_is_lost_at_the_last_moment_is_noticed",
    ),
    Guard(
        "what a position holds",
        "runtime/queue.py",
        "            if self._holders.get(name, request.position) != request.position:\n",
        "            if False:\n",
        "test_a_stopped_run_keeps_what_was_held_and_another_runner_respects_it",
    ),
    Guard(
        "an exit at its limit",
        "machine/leave.py",
        "    if edge.spent_as and targets is edge.spent:\n",
        "    if False:\n",
        "test_a_retry_at_the_fifth_attempt_becomes_a_stuck_that_keeps_the_diagnosis",
    ),
    Guard(
        "no progress",
        "machine/answers.py",
        "    is_same = ",
        "    is_same = False and ",
        "test_the_same_answer_on_the_same_content_twice_in_a_row_is_no_progress",
    ),
    Guard(
        "budgets that restore each other",
        "model/rounds.py",
        " - _reset(inside)",
        "",
        "test_two_budgets_that_restore_each_other_go_round_for_ever",
    ),
    Guard(
        "trust that only a person gives",
        "runtime/roster.py",
        "return INSIDE if said.unlimited and not self.settings.trusted else said",
        "return said",
        "test_no_protocol_gives_more_than_a_person_trusts",
    ),
    Guard(
        "reviewers only read",
        "runtime/roster.py",
        "return replace(_on_terms(post, terms), permissions=READ_ONLY)",
        "return _on_terms(post, terms)",
        "test_reviewers_are_whom_the_protocol_names_and_only_read",
    ),
    Guard(
        "a budget asks before work begins",
        "runtime/limits.py",
        "    for limit in fresh:\n",
        "    for limit in ():\n",
        "test_before_the_turn_that_would_go_beyond_it_a_person_is_asked",
    ),
    Guard(
        "a grant is the answer's, not the question's",
        "machine/budgets.py",
        'if standing.state == STATE and exit_ == "retry":',
        "if standing.state == STATE:",
        "test_whoever_says_stop_is_granted_nothing",
    ),
    Guard(
        "the environment of an agent",
        "adapters/agents/environment.py",
        "if any(fnmatchcase(name, pattern) for pattern in patterns)",
        "if patterns",
        "test_scrubbed_keeps_only_what_an_agent_needs",
    ),
    Guard(
        "totals of a conversation",
        "runtime/usage.py",
        "mine = told.less(before) if post.agent.COUNTS_ALL else told",
        "mine = told",
        "test_of_totals_a_turn_is_what_came_since_and_told_again_it_is_the_same",
    ),
    Guard(
        "answers before a tool are not final",
        "adapters/agents/events.py",
        'return replace(self, said="", is_cut=False, answer=None, tools=steps, is_over=False)',
        "return replace(self, tools=steps, is_over=False)",
        "test_what_was_answered_before_a_tool_is_no_final_word",
    ),
    Guard(
        "a nonce that is another turn's",
        "machine/signals.py",
        'if attributes is not None and attributes.get("nonce", "") != nonce:',
        "if False:",
        "test_without_the_nonce_of_the_turn_no_signal_counts_and_that_is_noted",
    ),
    Guard(
        "one worker for one prompt",
        "operations/plans/working.py",
        "if not prompt.in_progress or not owners.is_present(prompt.owner):",
        "if True:",
        "test_of_two_workers_that_start_one_prompt_one_gets_it",
    ),
    Guard(
        "the rules of a prompt's life",
        "operations/plans/prompting.py",
        "if broken and not force:",
        "if False:",
        "test_what_the_protocol_asks_for_is_asked_for_and_force_is_logged",
    ),
    Guard(
        "exactly one main variant",
        "machine/plan_forms.py",
        'if words.count("main") != 1:',
        "if False:",
        "test_exactly_one_variant_is_main_and_every_one_has_a_decision",
    ),
    Guard(
        "answers that are outdated",
        "machine/plans.py",
        "    yield from _outdated(state, fact)\n",
        "",
        "test_an_answer_stands_until_what_it_was_about_changes",
    ),
    Guard(
        "uncommitted work at a merge",
        "operations/plans/homecoming.py",
        "        _demand_committed(where, branch)\n",
        "",
        "test_work_that_is_not_committed_is_not_left_behind",
    ),
    Guard(
        "whoever could not be heard has not passed",
        "operations/plans/review_turns.py",
        '("failed", "error") if v in verdicts',
        '("failed",) if v in verdicts',
        "test_one_objection_is_enough_and_one_silence_keeps_it_from_passing",
    ),
    Guard(
        "rounds of reviews",
        "operations/plans/review_rounds.py",
        "if spent >= usual + granted or _is_stopped(held, wanted):",
        "if False:",
        "test_rounds_end_and_a_person_allows_more",
    ),
    Guard(
        "agents do not answer gates",
        "surfaces/cli/plan_gates.py",
        "    refuse_agents(os.environ, args.as_person)\n",
        "",
        "test_an_agent_asks_and_does_not_decide",
    ),
    Guard(
        "what a person typed is not written over",
        "adapters/feedback_files.py",
        "    if os.path.lexists(path):\n        return False\n",
        "    if os.path.lexists(path):\n        os.unlink(path)\n",
        "test_what_a_person_typed_is_never_written_over",
    ),
    Guard(
        "an edited life is drawn again",
        "operations/plans/settling.py",
        "    papers.draw_all(desk, desk.prompts)\n",
        "",
        "test_an_edited_life_counts_for_nothing_and_is_kept_aside",
    ),
)


def sabotaged(guard: Guard, into: Path) -> str:
    """Copies the sources without the guard; the answer is what went wrong, or nothing."""
    shutil.copytree(ROOT / "src", into / "src", ignore=shutil.ignore_patterns("__pycache__"))
    module = into / "src" / "porch" / guard.module
    text = module.read_text(encoding="utf-8")
    if text.count(guard.text) != 1:
        return f"its text stands {text.count(guard.text)} times in {guard.module}"
    module.write_text(text.replace(guard.text, guard.without), encoding="utf-8")
    return ""


def located(test: str) -> str:
    """The node id of a test by its name; a name that stands nowhere, or twice, is a mistake."""
    found = [
        path.relative_to(ROOT)
        for path in sorted(ROOT.glob("tests/**/test_*.py"))
        if f"def {test}(" in path.read_text(encoding="utf-8")
    ]
    if len(found) != 1:
        raise SystemExit(f"{test} stands in {len(found)} files, so nothing is proved")
    return f"{found[0]}::{test}"


def outcome(tests: Iterable[str], sources: Path) -> tuple[int, str]:
    """Exit status and words of pytest; PYTHONPATH reaches the processes that a test starts."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:randomly"]
    command += [
        "-p",
        "no:cacheprovider",
        "--tb=no",
        "-o",
        f"pythonpath={sources}",
        *map(located, tests),
    ]
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def verdict(guard: Guard) -> str:
    """Why this guard is not proved, or nothing. Only 'tests failed' (1) counts as noticing."""
    with tempfile.TemporaryDirectory() as scratch:
        complaint = sabotaged(guard, Path(scratch))
        if complaint:
            return complaint
        status, _ = outcome([guard.test], Path(scratch) / "src")
    return "" if status == 1 else f"{guard.test} did not notice (pytest said {status})"


def chosen(names: Iterable[str]) -> list[Guard]:
    wanted = set(names)
    return [guard for guard in GUARDS if not wanted or guard.name in wanted]


def main(argv: list[str]) -> int:
    guards = chosen(argv)
    if not guards:
        print("no such guard is listed in tools/sabotage.py, so nothing is proved")
        return 1
    status, said = outcome(dict.fromkeys(guard.test for guard in guards), ROOT / "src")
    if status:
        print(f"{said}\nthe tests do not pass on the whole sources, so nothing is proved")
        return 1
    failures = 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        for guard, complaint in zip(guards, pool.map(verdict, guards), strict=True):
            failures += bool(complaint)
            print(f"{guard.name}: {complaint or 'noticed by ' + guard.test}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
