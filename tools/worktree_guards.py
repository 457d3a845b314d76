"""Guards of worktrees, leases and the commits in them."""

from tools.guards import Guard

WORKTREE_GUARDS: tuple[Guard, ...] = (
    Guard(
        "a branch that exists is refused",
        "run/worktrees/free_place.py",
        "    _require_free_branch(where.base, branch)\n",
        "",
        "test_r7_a_branch_that_exists_is_refused_and_left_alone",
    ),
    Guard(
        "a set-up that goes wrong is taken back",
        "run/worktrees/make.py",
        "    except BaseException:\n        roll_back(where, path, record)\n        raise\n",
        "    except BaseException:\n        raise\n",
        "test_a_set_up_that_goes_wrong_is_taken_back",
    ),
    Guard(
        "one live run a checkout",
        "run/verbs/lease.py",
        "    if hold is None:\n        return\n",
        "    return\n",
        "test_r3_of_runs_that_begin_at_once_one_gets_the_checkout",
    ),
    Guard(
        "commits go only to the run's own branch",
        "git/work_commits.py",
        "    require_worktree_branch(path, branch)\n",
        "",
        "test_a_worktree_on_another_branch_is_refused",
    ),
    Guard(
        "a head that moved is not moved back",
        "git/repository.py",
        '"HEAD", new, fence)',
        '"HEAD", new)',
        "test_r3_a_commit_of_somebody_else_meanwhile_is_kept",
    ),
    Guard(
        "uncommitted files are kept before a worktree goes",
        "run/worktrees/keep_work.py",
        "if has_left else None",
        "if False else None",
        "test_everything_is_kept_on_an_archive_branch_and_named",
    ),
    Guard(
        "nothing is merged before its checks have passed",
        "fleet/finish/publish.py",
        "        checks = check_candidate(found, made.commit, work)\n",
        "        checks: dict[str, str] = {}\n",
        "test_a_failed_check_on_the_merged_files_refuses_with_the_report",
    ),
    Guard(
        "finished once",
        "fleet/finish/finish.py",
        "        if known is not None and not (work.is_own and "
        "_is_meant_elsewhere(state, way, into)):\n            return known\n",
        "",
        "test_a_second_finish_is_a_notice_and_nothing_is_merged_twice",
    ),
    Guard(
        "a person's own edits stay out of the commit of a run",
        "fleet/finish/checkout_work.py",
        "    if before == head_tree:\n        return now\n",
        "    return now\n",
        "test_in_ones_own_checkout_exactly_what_the_run_changed_is_committed",
    ),
    Guard(
        "a worktree in which somebody worked before porch is never taken back",
        "run/worktrees/checkout_state.py",
        "    if record.was_there:\n        return False\n",
        "",
        "test_a_moved_worktree_is_that_of_its_run_and_is_never_taken_back",
    ),
    Guard(
        "a worktree that somebody is making is not taken back",
        "fleet/drivers/leftovers.py",
        "        with lock_worktree_name(where, name):\n",
        "        if True:\n",
        "test_a_worktree_that_is_being_made_is_not_taken_back",
    ),
    Guard(
        "a path that git ignores can be left out of a commit",
        "git/repository.py",
        'pattern = glob if glob[0] in "*?[\\\\" else f"\\\\{glob}"',
        "pattern = glob",
        "test_a_path_that_git_ignores_can_be_left_out_and_all_below_it",
    ),
    Guard(
        "nothing is merged without work that is not committed",
        "fleet/finish/finish.py",
        "        _commit_missing_work(where, state, way)\n",
        "",
        "test_work_that_is_still_not_committed_at_the_end_is_said_and_nothing_is_merged_without_it",
    ),
    Guard(
        "a complete run has its checkout until it is finished",
        "run/verbs/lease.py",
        "    return _Hold(state.run.id, files) if files else None\n",
        "    return None\n",
        "test_r3_a_complete_run_has_its_checkout_until_it_is_finished",
    ),
    Guard(
        "finish commits no files of another run",
        "fleet/finish/checkout_work.py",
        "    _refuse_shared_checkout(found, place)\n",
        "",
        "test_r3_finish_commits_no_files_of_another_run_in_the_same_checkout",
    ),
    Guard(
        "a turn whose worktree was deleted does not count",
        "run/handlers/agent.py",
        "    fact = _refuse_lost_work(world, fact)\n",
        "",
        "test_a_turn_whose_worktree_was_deleted_does_not_count_and_is_taken_again",
    ),
)
