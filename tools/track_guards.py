"""Guards of tracks: what keeps agents from confirming, and people from being asked for nothing."""

from tools.guard import Guard

TRACKS: tuple[Guard, ...] = (
    Guard(
        "a plan that an agent wrote is put back",
        "track/plan_file.py",
        "    atomic.replace_file(plan.path, kept, sync=True)\n",
        "",
        "test_a14_an_agent_that_writes_the_plan_is_put_back",
    ),
    Guard(
        "a plan is written inside the workspace only",
        "track/plan_file.py",
        "    require_directory_inside(plan.workspace, os.path.dirname(plan.path))\n",
        "",
        "test_a14_a_track_that_an_agent_removed_or_moved_elsewhere_is_not_written_there",
    ),
    Guard(
        "a report without blocking issues must say so",
        "claims/issue_reports.py",
        "    if not has_blocking:\n",
        "    if False:\n",
        "test_b3_what_names_no_blocking_issues_is_not_a_pass",
    ),
    Guard(
        "whoever changed nothing is not asked about again",
        "dialects/plan_xml/gate_states.py",
        "        for cause in change_paths(gate):\n",
        "        for cause in ():\n",
        "test_a9_whoever_changed_nothing_is_not_asked_about_again",
    ),
    Guard(
        "a task waits for its confirmation",
        "machine/track/track_status.py",
        "and all(status in CLOSED for status in after):",
        "and True:",
        "test_a7_a_task_is_in_progress_until_its_after_gate_passes",
    ),
    Guard(
        "a waiver needs a reason",
        "machine/track/people_rules.py",
        "    if not wish.text.strip():\n",
        "    if False:\n",
        "test_what_cannot_be_taken_back_is_refused_in_words",
    ),
    Guard(
        "an open track is not archived",
        "track/archive.py",
        "    if still_open and not force:\n",
        "    if False:\n",
        "test_a18_an_unfinished_track_is_not_archived",
    ),
    Guard(
        "a moment has no default",
        "dialects/plan_xml/confirm_reader.py",
        "    moments = MOMENTS.get(said.lower(), ())\n    if not moments:",
        '    moments = MOMENTS.get(said.lower(), ("after",))\n    if not moments:',
        "test_a4_a_confirm_must_say_when",
    ),
)
