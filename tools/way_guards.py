"""Guards of the way in and the way out: requests, what is looked at before the start, `af`."""

from tools.guard import Guard

WAY_GUARDS: tuple[Guard, ...] = (
    Guard(
        "R1: a run keeps what it was asked",
        "run/requests/run_request.py",
        "    if wanted.request:\n",
        "    if False:\n",
        "test_r1_a_request_for_a_run_that_exists_is_refused_with_the_way_to_speak_to_it",
    ),
    Guard(
        "R6: a required command that is not set",
        "run/drive/start_requirements.py",
        "    if missing:\n",
        "    if False:\n",
        "test_r6_a_required_command_that_is_not_set_is_refused_with_the_line_to_write",
    ),
    Guard(
        "R6: a panel that can never decide",
        "run/drive/start_requirements.py",
        "    if len(here) >= panel.quorum:\n",
        "    if True:\n",
        "test_r6_a_panel_that_can_never_decide_is_refused_with_the_line_to_write",
    ),
    Guard(
        "Q5: whoever cannot be asked is not chosen",
        "run/agents/default_panel.py",
        "    return tuple(name for name, absence in find_absences(roster).items() if not absence)",
        "    return KNOWN",
        "test_q5_who_is_installed_and_not_logged_in_is_not_chosen_and_named",
    ),
    Guard(
        "Q9: what hangs says nothing of a login",
        "agents/login_check.py",
        "    clock = Timer(LIMIT_S, stop)\n",
        "    clock = Timer(10_000, stop)\n",
        "test_what_takes_too_long_is_ended_and_says_nothing",
    ),
    Guard(
        "R6: an agent without a login",
        "run/drive/start_requirements.py",
        "        _require_login(post, list_reachable(roster))\n",
        "        pass\n",
        "test_r6_an_agent_without_a_login_is_refused_with_the_way_to_log_in",
    ),
    Guard(
        "R14: no agent where there is no commit",
        "run/drive/start_requirements.py",
        "    _require_commit(where)\n",
        "",
        "test_r14_a_real_agent_is_not_started_where_there_is_no_commit",
    ),
    Guard(
        "only people finish by af",
        "cli/rows.py",
        "        _FINISHING,\n        for_people=True,\n    ),\n    CommandRow(\n"
        '        "cleanup",\n',
        '        _FINISHING,\n    ),\n    CommandRow(\n        "cleanup",\n',
        "test_k2_of_every_command_it_is_said_whether_agents_may_call_it",
    ),
    Guard(
        "only people approve by af",
        "cli/rows.py",
        '"approve a gate; the run goes on by itself", _AF_RUNS, for_people=True',
        '"approve a gate; the run goes on by itself", _AF_RUNS',
        "test_k2_of_every_command_it_is_said_whether_agents_may_call_it",
    ),
    Guard(
        "only a complete run is merged",
        "fleet/finish/finish.py",
        '        if way in ("merge", "squash") and state.outcome != "complete":\n',
        "        if False:\n",
        "test_only_a_complete_run_is_merged",
    ),
    Guard(
        "nothing is finished before the run has ended",
        "fleet/finish/finish.py",
        "    if not state.outcome:\n",
        "    if False:\n",
        "test_a_run_that_has_not_ended_is_not_finished",
    ),
    Guard(
        "N11: a claim without a worktree is given back",
        "plan/claims/prompt_worktree.py",
        "            _give_back(where, id_, caller)\n",
        "            pass\n",
        "test_n11_where_the_set_up_fails_nothing_is_left_of_place_branch_and_claim",
    ),
    Guard(
        "N11: a branch with work is never deleted",
        "plan/branches/branch_worktree.py",
        "    if is_new and repository.resolve_commit(where.base, ref) == record.base:\n",
        "    if repository.resolve_commit(where.base, ref) is not None:\n",
        "test_n11_a_branch_with_work_is_checked_out_again_and_never_lost",
    ),
    Guard(
        "R16: who must wait is asked less and less often",
        "run/agents/turn.py",
        "    return replace(outcome, wait_s=max(min(least, RATE_LIMIT_S), scaled))\n",
        "    return replace(outcome, wait_s=scaled or 0.001)\n",
        "test_r16_without_a_back_off_an_agent_that_must_wait_is_asked_less_and_less_often",
    ),
    Guard(
        "a kickoff removes only directories that it made",
        "fleet/drivers/kickoff_logs.py",
        "        for directory in _made.pop(path, ()):\n            os.rmdir(directory)\n",
        "        os.removedirs(os.path.dirname(path))\n",
        "test_outside_git_a_kickoff_removes_no_directory_that_it_did_not_make",
    ),
    Guard(
        "only people kick runs off",
        "cli/rows.py",
        "        _AF_KICKOFF,\n        for_people=True,\n",
        "        _AF_KICKOFF,\n",
        "test_k2_of_every_command_it_is_said_whether_agents_may_call_it",
    ),
)
