"""Guards of who may decide, what is kept, and what of a disk is believed."""

from tools.guard import Guard
from tools.track_guards import TRACKS

SECRETS: tuple[Guard, ...] = (
    Guard(
        "facts are kept without secrets",
        "run/engine/session.py",
        "    return slim_fact(payloads_, redact_fact(fact))\n",
        "    return slim_fact(payloads_, fact)\n",
        "test_v14_a_wish_that_somebody_else_left_too",
    ),
    Guard(
        "wishes are left without secrets",
        "run/engine/send_wish.py",
        "**redact_wish(wish)",
        "**wish",
        "test_v14_a_wish_that_nobody_takes_yet_lies_there_without_secrets",
    ),
    Guard(
        "titles and inputs without secrets",
        "run/verbs/launch.py",
        "    wanted = _without_secrets(wanted, watch)\n",
        "",
        "test_v14_a_title_an_input_and_a_subject_too",
    ),
    Guard(
        "values behind the name of a secret",
        "agents/secret_forms.py",
        "    *(form for anchor, name in _NAMED for form in _named_forms(anchor, name)),\n",
        "",
        "test_v14_a_value_behind_the_name_of_a_secret_is_hidden",
    ),
)
FILES: tuple[Guard, ...] = (
    Guard(
        "a lock is no link",
        "system/regular_file.py",
        "    return _open_checked(path, flags | os.O_NOFOLLOW, mode)\n",
        "    return _open_checked(path, flags, mode)\n",
        "test_v15_a_planted_lock_does_not_lead_to_another_file",
    ),
    Guard(
        "a pipe is no file",
        "system/regular_file.py",
        "    if not stat.S_ISREG(os.fstat(fd).st_mode):\n",
        "    if False:\n",
        "test_v15_state_that_is_no_regular_file_is_refused_at_once",
    ),
    Guard(
        "a linked project directory",
        "system/regular_file.py",
        "    if real == top or real.startswith(top.rstrip(os.sep) + os.sep):\n        return\n",
        "    if real:\n        return\n",
        "test_v15_a_linked_project_directory_makes_nobody_write_outside",
    ),
    Guard(
        "an artifact that is no file",
        "run/engine/session.py",
        """Refusal(f"it cannot be approved: {'; '.join(odd)}") if odd else None""",
        "None",
        "test_v15_an_artifact_that_is_no_file_of_the_repository_cannot_be_approved",
    ),
    Guard(
        "what cannot succeed is not tried again",
        "run/engine/effect_failures.py",
        "    return is_escape or isinstance(error, (DefinitionError, UsageError))\n",
        "    return False\n",
        "test_v16_a_plan_that_is_too_large_is_said_once_and_a_person_is_asked",
    ),
    Guard(
        "the size of a document",
        "system/document_file.py",
        "    if len(data) > MOST_BYTES:\n",
        "    if False:\n",
        "test_v16_a_document_up_to_the_limit_is_read",
    ),
)
LIMITS: tuple[Guard, ...] = (
    Guard(
        "steps of a template",
        "show/template_text/template_limits.py",
        "        if self.left < 0:\n",
        "        if False:\n",
        "test_v16_a_template_that_does_too_much_is_refused_before_it_has_done_it",
    ),
    Guard(
        "sizes in a template",
        "show/template_text/template_limits.py",
        "    if characters > MOST_CHARACTERS:\n",
        "    if False:\n",
        "test_v16_no_value_is_longer_than_a_whole_prompt_may_be",
    ),
    Guard(
        "a long final message",
        "agents/transcripts.py",
        "FileFollower(path, listener.take, LONGEST_TOLD_LINE).drain()",
        "FileFollower(path, listener.take).drain()",
        "test_v20_a_final_message_of_megabytes_is_read_to_its_end",
    ),
    Guard(
        "the limit of a message is said",
        "agents/port.py",
        'detail=detail or (TOO_LONG if summary.is_cut and not summary.final else ""),',
        "detail=detail,",
        "test_v20_of_a_message_over_the_limit_the_limit_is_said_in_the_record",
    ),
)
PEOPLE: tuple[Guard, ...] = (
    Guard(
        "only people stop a run",
        "cli/rows.py",
        '"stop the agents of a run; nothing is lost", _STEERING, for_people=True)',
        '"stop the agents of a run; nothing is lost", _STEERING)',
        "test_k2_of_every_command_it_is_said_whether_agents_may_call_it",
    ),
    Guard(
        "a script that decides is a person's",
        "cli/table.py",
        "if row.for_people or any(getattr(args, name, None) for name in row.people_options):",
        "if row.for_people:",
        "test_k2_an_option_that_decides_makes_a_call_one_for_people",
    ),
    Guard(
        "no wish of an agent, whichever way it came",
        "run/engine/send_wish.py",
        '    refuse_agents(os.environ, wish.get("as_person") is True)\n',
        "",
        "test_k2_a_wish_of_an_agent_is_not_even_left",
    ),
    Guard(
        "what a person stopped, a person continues",
        "run/drive/drive.py",
        "if answers.decides or book.state.paused:",
        "if answers.decides:",
        "test_k2_what_a_person_stopped_an_agent_does_not_continue",
    ),
    Guard(
        "agents are not told the way around",
        "cli/verbs.py",
        "help=argparse.SUPPRESS",
        'help="confirm"',
        "test_k6_what_agents_read_does_not_name_the_way_around",
    ),
    Guard(
        "the name in a wish",
        "run/engine/session.py",
        "    who = name_of_sender(owner, channel)\n",
        "    who = claimed or name_of_sender(owner, channel)\n",
        "test_k8_the_name_in_a_wish_is_noted_and_does_not_count",
    ),
    Guard(
        "the name in the environment",
        "run/engine/caller.py",
        "    return name_of_user(os.getuid())\n",
        '    return os.environ.get("USER") or name_of_user(os.getuid())\n',
        "test_k2_a_repair_says_who_did_it_and_by_whose_word",
    ),
    Guard(
        "wishes of other users",
        "store/inbox.py",
        "    if owner not in owners:\n",
        "    if False:\n",
        "test_k8_a_wish_belongs_to_whoever_may_want_something_here",
    ),
    Guard(
        "an agent whose parent has ended",
        "system/process_marks.py",
        "    session = find_session(start)\n",
        "    session = 0\n",
        "test_k8_an_agent_whose_parent_has_ended_is_still_in_its_session",
    ),
)
RECORDS: tuple[Guard, ...] = (
    Guard(
        "a malformed record is damage",
        "machine/records.py",
        "        _check_shape(raw)\n",
        "",
        "test_v17_a_chained_but_malformed_record_is_named_by_its_line_in_every_command",
    ),
    Guard(
        "a record that does not fit is damage",
        "run/engine/record_check.py",
        "    except (LookupError, TypeError, ValueError, AttributeError) as error:\n",
        "    except ZeroDivisionError as error:\n",
        "test_v17_a_record_that_does_not_fit_the_state_is_damage_too",
    ),
    Guard(
        "a malformed record can be repaired",
        "run/verbs/steer.py",
        "        readable = count_readable_records(path)\n",
        "        readable = None\n",
        "test_v17_repair_keeps_what_stands_before_a_malformed_record",
    ),
)

SETTINGS: tuple[Guard, ...] = (
    Guard(
        "nothing starts before its settings are trusted",
        "run/verbs/launch.py",
        "    require_trust(list_untrusted(where, commit, wanted.trust))\n",
        "",
        "test_a_run_is_refused_before_anything_is_made",
    ),
    Guard(
        "a worktree uses the settings of its commit",
        "run/verbs/launch.py",
        '    return repository.resolve_commit(where.workspace, wanted.into or "HEAD") or ""\n',
        '    return ""\n',
        "test_x2_what_an_agent_writes_into_the_settings_governs_no_other_run",
    ),
    Guard(
        "a grant of a test is none of a person",
        "run/handlers/check.py",
        "    with watch_grants_of_check(world, effect.id):\n",
        "    if True:\n",
        "test_a_grant_that_a_test_of_the_agent_writes_does_not_count",
    ),
    Guard(
        "a copied worktree starts nothing in the original",
        "run/verbs/launch.py",
        "    require_known_place(where)\n",
        "",
        "test_r6_what_a_copied_worktree_starts_or_removes_is_not_in_the_original",
    ),
    Guard(
        "a check is watched from outside",
        "run/handlers/__init__.py",
        "(request.kind in PAID or is_check)",
        "(request.kind in PAID)",
        "test_x1_a_test_of_the_agent_that_merges_asks_a_person_too",
    ),
    Guard(
        "no git but a push speaks to a remote",
        "git/command.py",
        '    "GIT_ALLOW_PROTOCOL": "none",\n',
        "",
        "test_x7_who_does_not_push_speaks_to_no_remote_at_all",
    ),
    Guard(
        "a push fetches nothing",
        "git/command.py",
        '    "GIT_NO_LAZY_FETCH": "1",\n',
        "",
        "test_x7_a_push_fetches_nothing_either",
    ),
    Guard(
        "a copy has none of the worktrees of the original",
        "git/git_directory.py",
        "    return [each for each in linked if not _is_of_other_repository(each)]\n",
        "    return linked\n",
        "test_r6_in_a_copy_the_worktrees_of_prompts_are_those_of_the_original",
    ),
    Guard(
        "a copied worktree changes no plan of the original",
        "plan/session/plan_session.py",
        "    require_known_place(where)\n",
        "",
        "test_r6_a_copied_worktree_is_refused_by_what_is_about_the_whole_project",
    ),
)
SETUP: tuple[Guard, ...] = (
    Guard(
        "a record of the set-up names only paths to which porch writes",
        "fleet/setup/removal.py",
        "    if not (is_plain and is_ours):\n",
        "    if False:\n",
        "test_a_record_cannot_name_files_that_porch_does_not_write",
    ),
    Guard(
        "only what is as porch left it is removed",
        "fleet/setup/removal.py",
        "    if digest == (written.digest if written else packaged):\n",
        "    if True:\n",
        "test_files_that_people_changed_stay_and_are_named",
    ),
    Guard(
        "no link is followed where files are removed",
        "fleet/setup/removal.py",
        "_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW",
        "_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY",
        "test_no_link_is_followed",
    ),
    Guard(
        "a set-up trusts its settings only for a person",
        "cli/codev/setup.py",
        "        if args.yes or (is_asked and ",
        "        if True or (is_asked and ",
        "test_without_a_person_nothing_that_needs_trust_is_trusted_or_run",
    ),
)
TRUST = (*SETTINGS, *SECRETS, *FILES, *LIMITS, *PEOPLE, *RECORDS, *TRACKS, *SETUP)
