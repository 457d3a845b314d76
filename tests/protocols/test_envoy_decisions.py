"""What was decided about envoy, row by row: a test proves each, or a reason says why there is none.

The rows are named in our own words, in the order of the two pages of decisions.
"""

import re
from functools import cache
from pathlib import Path

import pytest

# How a step protocol is read: row -> tests.
INHERITANCE = {
    "6.1, 6.2, 6.10 in the order of their numbers": "test_6_10_comes_after_6_9_and_before_7",
    "unquoted 6.10 is not 6.1": "test_unquoted_6_10_is_not_6_1",
    "1e1, 0x3 and the like are no keys": "test_only_plain_numbers_are_keys",
    "append without target": "test_a_missing_target_of_an_append_is_an_error_that_names_the_steps",
    "--lenient makes the target": "test_lenient_makes_the_missing_target_and_warns",
    "2.1+ appends to 2.1": "test_2_1_plus_appends_to_2_1",
    "2.1+ without 2.1": (
        "test_an_append_below_its_target_is_an_error_even_if_a_later_file_makes_one"
    ),
    "+ without extends": "test_an_append_may_stand_in_the_file_of_its_target",
    "+ without extends and target": (
        "test_an_append_without_target_in_a_protocol_that_extends_nothing"
    ),
    "replace, then append, whatever the file says first": (
        "test_replace_comes_before_append_whatever_the_file_says_first"
    ),
    "appends of several levels": "test_appends_of_several_levels_come_base_first",
    "2.0 and 02": "test_zeros_in_a_key_are_refused",
    "2.2.1": "test_2_2_1_stands_between_2_2_and_2_3",
    "numbers below 1": "test_zeros_are_refused_with_what_was_probably_meant",
    "keys that are no numbers": "test_only_plain_numbers_are_keys",
    "missing base": "test_a_missing_base_is_an_error_with_the_chain",
    "circle": "test_a_circle_is_an_error_that_shows_the_way_round",
    "inputs null or absent": "test_absent_and_null_inputs_are_inherited",
    "inputs []": "test_an_empty_list_of_inputs_means_none",
    "outputs null, absent or []": "test_absent_null_and_empty_outputs_are_inherited",
    "one input of a list overridden": "test_lists_are_replaced_whole",
    "steps absent": "test_without_steps_all_are_inherited",
    "step null": "test_a_step_cannot_be_null",
    "step that is no text": "test_a_step_that_is_no_text_is_taken_as_it_is_written",
    "step that is a map or a list": "test_lists_maps_and_blanks_are_no_steps",
    "steps as a list": "test_steps_as_a_list_are_refused_with_a_hint",
    "broken YAML": "test_broken_yaml_is_an_error_with_its_line",
    "duplicate keys": "test_duplicate_keys_are_an_error_with_both_lines",
    "name that leaves the directory": "test_a_name_never_leaves_the_directory",
    "types of inputs": "test_inputs_of_discovery",
    "inputs that are given": "test_placeholders_are_filled",
    "a number in a text means a source number": (
        "test_references_are_printed_with_the_printed_numbers"
    ),
    "--explain": "test_explain_shows_where_each_step_came_from",
    "named anchors": "test_ids_survive_insertion_and_replacement",
    "--check, unresolvable": (
        "test_a_reference_to_no_step_is_an_error_for_the_check_and_a_warning_else"
    ),
    "--check, doubtful": "test_counting_by_hand_is_found",
    "--raw": "test_raw_leaves_the_texts_untouched",
    "branch names with two dashes": "test_a_variant_is_named_as_everywhere",
    "debugging goes back to the fix": "test_a_failed_test_leads_back_to_the_work",
    "fields as the commands return them": "test_fields_are_called_as_the_commands_return_them",
    "removal of logs is reviewed": "test_the_code_is_reviewed_once_more_without_its_logs",
    "gate of variants without a variant": "test_a_gate_for_variants_can_be_called_without_one",
    "logging gate again on retry": "test_a_new_attempt_passes_the_logging_gate_again",
    "a failure has an output": "test_a_failure_has_an_output",
}
# What the commands do: row -> test, or the reason why there is none.
LEFT_OUT = "left out: "
COMMANDS = {
    # Conventions
    "both ways to call protocol": "test_it_may_be_called_as_a_plan_command",
    "text for protocol, JSON for programs": "test_a_file_of_the_project_is_printed_as_text",
    "the envelope": "test_what_is_refused_has_its_type_its_code_and_a_way_out",
    "exit codes": "test_what_is_refused_has_its_type_its_code_and_a_way_out",
    "declared keys are always there": "test_all_fields_are_there_when_empty",
    "who calls": "test_who_calls_goes_into_the_log",
    "one way to the root": "test_in_the_worktree_of_a_prompt_the_plan_is_that_of_its_feature",
    "no branch": "test_on_no_branch_nothing_is_done",
    "ids in any spelling": "test_prompts_are_named_in_any_way",
    "keys of feedback from the right": "test_a_key_is_read_from_the_right",
    "names of specialists": "test_no_specialist_leads_out_of_the_directory",
    "base branch": "test_the_first_of_the_usual_names_wins",
    "direct mode": "test_on_these_nobody_plans",
    # Environment
    "BASE_BRANCH": "test_the_environment_names_any_branch_that_exists",
    "N_PARALLEL_WORKERS": "test_the_number_of_workers_says_how_many_are_offered",
    "BLOCKING_GATE_TIMEOUT_MS": "test_how_long_is_waited_without_a_word_is_in_the_environment",
    "death of the waiter": (
        "test_a_waiter_killed_anywhere_leaves_what_the_next_one_brings_to_the_same_end"
    ),
    "MAX_LOGS_TOKENS": "test_logs_that_are_too_large_are_not_taken_and_not_touched",
    "SEARCH_SIMILARITY_THRESHOLD": (
        LEFT_OUT + "full-text ranks are fused by place; there is no similarity to cut at"
    ),
    "SEARCH_FULL_CONTEXT_SIMILARITY_THRESHOLD": (
        LEFT_OUT + "whole texts are given by rank while --budget lasts"
    ),
    "SEARCH_CONTEXT_TOKEN_LIMIT": LEFT_OUT + "--budget says it for each search",
    "KNOWLEDGE_AGGREGATOR_TOKEN_THRESHOLD": LEFT_OUT + "nobody sums documents up",
    "keys and default of review back ends": (
        LEFT_OUT + "agents of the settings review, with their own credentials"
    ),
    "ENVOY_TIMEOUT_MS": "test_a_gh_that_hangs_is_ended_with_what_it_started",
    "ENVOY_LOG_*": LEFT_OUT + "the journal is the log and cuts nothing away",
    "CLAUDE_PROJECT_DIR, PROJECT_ROOT": (
        LEFT_OUT + "git says where the project is; a variable could only say it wrong"
    ),
    # Files
    "one directory for each branch": (
        "test_branches_that_differ_in_a_slash_or_a_dash_have_two_plans"
    ),
    "worktrees use the feature's plan": (
        "test_what_is_written_from_a_worktree_is_in_the_plan_of_the_feature"
    ),
    "names of branches": "test_the_branch_of_a_prompt_has_the_name_of_its_feature",
    "front matter does not grow": "test_many_changes_do_not_make_a_file_grow",
    "broken front matter": "test_a_broken_file_loses_no_byte_and_keeps_nobody_from_the_others",
    "plan.md: stage": "test_an_accepted_plan_is_in_progress_and_its_findings_are_archived",
    "plan.md: audits and reviews stay": (
        "test_a_plan_written_again_keeps_what_reviews_said_of_it_and_every_comment"
    ),
    "plan.md: audits are made": (
        LEFT_OUT + "no command audits; what another tool wrote there is kept"
    ),
    "fields of a prompt": "test_a_prompt_is_written_and_read_whole",
    "findings: one or variants": "test_a_number_is_never_both_alone_and_varied",
    "findings: notes by themselves": "test_notes_come_with_all_or_alone_and_leave_the_rest",
    "design manifest": "test_the_manifest_is_told_whole_or_for_one_picture",
    "user input is only added to": "test_what_the_user_said_is_only_ever_added_to",
    "labels of user input": "test_everything_that_was_said_is_told_and_nothing_that_was_not",
    "feedback of findings": (
        "test_a_rejected_variant_goes_its_text_does_not_and_the_last_one_loses_its_letter"
    ),
    "feedback of a plan": "test_a_plan_that_must_change_stays_a_draft_with_its_findings",
    "feedback of a test": "test_a_test_that_failed_says_why_and_new_work_is_asked_about_anew",
    "feedback of logs": "test_logs_of_a_fault_come_back_and_open_the_way_to_a_record",
    "feedback of variants": "test_one_is_main_and_the_words_of_before_still_mean_something",
    "audit_questions": LEFT_OUT + "no command audits",
    "review questions": "test_a_question_stands_until_a_person_answers_it_in_its_file",
    "done: yes": "test_people_say_in_many_words_that_they_are_done",
    "texts stay texts": "test_where_a_text_is_wanted_everything_is_text",
    # Plans
    "init": "test_a_plan_has_its_rooms_and_git_sees_none_of_it",
    "status": "test_the_status_tells_whether_there_is_a_plan_and_makes_none",
    "check": "test_a_plan_in_progress_is_checked_with_its_context_and_prompts",
    "cleanup-orphaned": (
        LEFT_OUT + "a plan is not removed because its branch is gone: it is all that is left of it"
    ),
    "write-plan": "test_a_plan_is_written",
    "get-full-plan": "test_the_full_plan_has_everything_in_it",
    "append-user-input": "test_nothing_is_no_input",
    "write-prompt": "test_a_prompt_planned_anew_keeps_what_was_done_for_it",
    "write-prompt: checks": "test_dependencies_that_cannot_be_met_are_refused",
    "clear-prompt": "test_a_prompt_that_others_need_is_cleared_only_by_force",
    "read-prompt": "test_a_prompt_that_is_not_there_is_named_with_those_that_are",
    "validate-dependencies": "test_dependencies_go_stale_and_are_fresh_again",
    "update-prompt-dependencies": "test_a_prompt_that_changes_its_dependencies_must_be_there",
    "write-finding": "test_every_wrong_item_of_a_list_is_named_by_its_index",
    "write-approach": (
        "test_what_the_user_wants_different_is_told_until_the_approach_is_written_again"
    ),
    "clear-approach": "test_clearing_takes_one_or_the_whole_number",
    "get-finding-approach": "test_a_number_without_a_letter_means_all_its_variants",
    "get-findings": "test_all_findings_are_told_by_specialist_number_and_letter",
    "read-design-manifest": "test_the_designs_of_the_plan_are_told",
    "next": "test_what_can_be_started_is_offered_faults_first_and_variants_together",
    "start-prompt": "test_of_two_workers_that_start_one_prompt_one_gets_it",
    "start-prompt: resume": "test_work_that_was_begun_is_gone_on_with",
    "record-implementation": "test_an_iteration_follows_the_last_or_tells_it_again",
    "complete-prompt": "test_a_prompt_is_done_with_once_it_is_merged",
    "get-prompt-walkthrough": "test_after_the_merge_the_difference_is_all_that_it_brought",
    "mark-prompt-extracted and its kin": "test_all_that_is_due_is_told_and_marked",
    "release-all-prompts": "test_the_claims_of_the_living_are_kept",
    "complete": "test_a_plan_is_complete_once_everything_in_it_is_merged_or_put_aside",
    "protocol": "test_steps_are_printed_with_sequential_numbers",
    "cleanup-debug-logs": "test_every_byte_outside_of_the_removed_blocks_is_kept",
    "walkthrough in Markdown": "test_the_form_is_read_whole",
    # Git
    "get-base-branch": "test_the_base_is_told_with_where_it_came_from",
    "is-base-branch": "test_we_are_on_the_base_or_not",
    "checkout-base": "test_changes_that_would_be_overwritten_refuse",
    "diff-base": "test_the_numbers_are_what_was_really_changed",
    "create-pr": "test_a_branch_is_pushed_and_a_pull_request_made",
    "cleanup-worktrees": "test_merged_ones_go_and_are_kept_in_the_archive",
    "merge-worktree": "test_a_conflict_leaves_every_checkout_and_ref_as_it_was",
    # Life of a prompt
    "the table of steps": "test_each_step_says_everything_that_keeps_a_prompt_from_it",
    "reviews move the status": "test_a_review_moves_the_status_and_never_past_a_test",
    "tests move the status": "test_an_answer_to_the_testing_gate_moves_its_prompt",
    "--force is logged": "test_what_the_protocol_asks_for_is_asked_for_and_force_is_logged",
    "what is offered": "test_what_is_worked_on_or_put_aside_is_not_offered",
    "variants": "test_a_choice_makes_one_variant_main_and_ends_the_work_on_the_others",
    "variants of a fault": "test_an_alternative_fix_of_a_fault_is_a_discarded_one",
    # Gates
    "findings gate": "test_all_variants_of_a_number_cannot_be_rejected",
    "plan gate": "test_without_prompts_the_plan_gate_refuses",
    "testing gate": "test_nothing_is_tested_that_was_not_recorded",
    "variants gate": "test_a_plain_prompt_does_not_wait_to_be_chosen",
    "logging gate": "test_only_a_fault_that_somebody_works_on_has_logs",
    "nothing typed is lost": (
        "test_what_is_no_answer_is_explained_in_the_file_and_nothing_typed_is_lost"
    ),
    "--wait and exit 3": "test_a_gate_that_is_not_answered_is_pending_with_a_code_of_its_own",
    "archive of answers": "test_a_finished_file_is_the_answer_and_is_kept",
    "answers by command": "test_people_approve_reject_and_answer_with_porch",
    "who answered": "test_a_file_is_an_answer_by_nobody_known",
    # Reviews
    "names of review": "test_the_names_that_protocols_use_mean_the_same_command",
    "what a reviewer sees": ("test_what_changed_is_all_of_the_worktree_against_the_feature_branch"),
    "cut is said": "test_a_diff_that_is_cut_says_what_is_missing",
    "fail closed": "test_whoever_cannot_be_understood_has_passed_nothing",
    "asked again with answers": "test_a_question_is_answered_in_words",
    "two kinds of thoughts": "test_a_question_stands_until_a_person_answers_it_in_its_file",
    "bounded rounds": "test_rounds_end_and_a_person_allows_more",
    "retries": "test_a_vendor_that_was_busy_is_asked_again",
    "ask, validate, architect, audit": LEFT_OUT + "no protocol calls them",
    # Knowledge and log
    "both forms of search": "test_searches_may_follow_each_other_with_and_without_the_name",
    "one log": "test_the_log_says_who_did_what_and_what_was_forced",
}
TESTS = Path(__file__).parent.parent


@cache
def written() -> frozenset[str]:
    text = "\n".join(path.read_text() for path in TESTS.rglob("test_*.py"))
    return frozenset(re.findall(r"^def (test_\w+)\(", text, re.MULTILINE))


@pytest.mark.parametrize("row", INHERITANCE)
def test_every_row_about_inheritance_has_its_test(row: str) -> None:
    assert INHERITANCE[row] in written()


@pytest.mark.parametrize("row", COMMANDS)
def test_every_row_about_commands_has_its_test_or_its_reason(row: str) -> None:
    proof = COMMANDS[row]
    assert proof in written() or len(proof.removeprefix(LEFT_OUT)) < len(proof)
