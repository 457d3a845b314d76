"""Guards of approvals and of what was decided: rows for the table of `make sabotage`.

Each row: what is guarded, its module, the text to cut out, what stands there instead, and the test
that must notice.
"""

CONSENT: tuple[tuple[str, str, str, str, str], ...] = (
    (
        "approved files are compared before work begins",
        "run/engine/approved_artifacts.py",
        "            if now != known.artifacts:\n",
        "            if False:\n",
        "test_k1_an_edit_behind_an_approval_opens_the_gate_again",
    ),
    (
        "nothing begins while an approval is asked again",
        "run/engine/approved_artifacts.py",
        "    if approvals.open_questions(state):\n        return False\n",
        "",
        "test_k1_no_effect_begins_while_an_approved_file_differs",
    ),
    (
        "a commit looks itself",
        "run/handlers/project.py",
        "    if is_changed_since_approval(world.state(), known):\n",
        "    if False:\n",
        "test_k1_a_commit_looks_itself_at_what_it_commits",
    ),
    (
        "a difference is seen before it is approved",
        "machine/wishes.py",
        "    if _is_unseen(state, decision, wish, digest):\n",
        "    if False:\n",
        "test_k1_a_second_edit_is_shown_before_it_can_be_approved",
    ),
    (
        "a script has not seen what changed",
        "run/drive/script_answers.py",
        "name = standing.label if standing.state == CHANGED else decision.name",
        "name = decision.name",
        "test_k1_an_agent_that_edits_what_was_approved_earlier_is_noticed",
    ),
    (
        "the phases of the approved plan",
        "run/handlers/project.py",
        "    if approved is not None:\n",
        "    if False:\n",
        "test_k2_the_phases_are_those_of_the_approved_bytes",
    ),
    (
        "an approved plan is read again only when it is approved again",
        "run/engine/taken_wish.py",
        "    if not gate or gate not in protocol.gates:\n",
        "    if True:\n",
        "test_k2_replan_after_the_approval_asks_before_it_counts",
    ),
    (
        "gates of a new definition",
        "run/engine/taken_wish.py",
        "    return f.WishTaken(wish=wish, gates=asked)\n\n\ndef _take_replan",
        "    return f.WishTaken(wish=wish)\n\n\ndef _take_replan",
        "test_k2_an_upgrade_asks_only_gates_that_it_adds_or_changes",
    ),
    (
        "gates from a status file",
        "run/verbs/adopt.py",
        "    if passed and not adopt:\n",
        "    if False:\n",
        "test_k3_a_plain_file_behind_a_gate_is_adopted_only_when_asked_for",
    ),
    (
        "a journal that is gone",
        "run/verbs/adopt.py",
        "    if name in known_runs.list_known_runs(where.state_dir) and not adopt:\n",
        "    if False:\n",
        "test_k3_a_run_whose_journal_is_gone_is_said_to_be_gone",
    ),
    (
        "a waived gate says waived",
        "machine/wishes.py",
        '    if is_approval and wish.exit == "waived":\n',
        "    if False:\n",
        "test_k7_a_waived_gate_says_waived",
    ),
    (
        "nothing to waive at a healthy gate",
        "machine/wishes.py",
        "    if option.needs_failure and not _has_failure(protocol, state, decision):\n",
        "    if False:\n",
        "test_k7_a_healthy_gate_offers_no_waiver_and_takes_none",
    ),
    (
        "a gate in front of which somebody works again",
        "machine/approvals.py",
        "        if name in asked or known.status in APPROVED:\n",
        "        if False:\n",
        "test_k11_after_a_refused_commit_and_a_retry_skip_leads_to_the_gate",
    ),
    (
        "the last measurement",
        "dialects/phases/compiler/__init__.py",
        "    draw_last_checks(draft, atlas, definition.place)\n",
        "",
        "test_k12_a_review_that_breaks_the_tests_does_not_complete_the_run",
    ),
    (
        "what changed behind an approval is said where a run ends",
        "run/engine/session.py",
        "        self.tell_late_changes(answer)\n",
        "",
        "test_k1_what_the_last_step_changes_is_said_when_the_run_ends",
    ),
    (
        "behind the end nobody is asked",
        "machine/approvals.py",
        "    if fact.gate in state.approvals and not state.outcome:\n",
        "    if fact.gate in state.approvals:\n",
        "test_k1_a_run_that_has_ended_asks_nobody_and_says_it_once",
    ),
)
