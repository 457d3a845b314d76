"""Guards of the dashboard and of the inbox; `tools/guards.py` has no room left."""

from tools.guard import Guard

_GUARD = "web/server/guard.py"
WEB_GUARDS: tuple[Guard, ...] = (
    Guard(
        "the dashboard answers to its own address",
        _GUARD,
        'if told.get("host", "") not in self._dashboard.hosts:',
        "if False:",
        "test_a_foreign_host_is_refused",
    ),
    Guard(
        "agents get no page",
        _GUARD,
        "        if sign:\n",
        "        if False:\n",
        "test_an_agent_gets_no_page_whatever_it_knows",
    ),
    Guard(
        "no page without a session",
        _GUARD,
        'if scope["porch.session"] is None:',
        "if False:",
        "test_nobody_comes_in_without_a_link",
    ),
    Guard(
        "a link works once",
        "web/server/access/sessions.py",
        '            return ""\n        self.token = secrets.token_urlsafe(_BYTES)\n',
        '            return ""\n',
        "test_a_link_works_once_and_the_next_one_is_another",
    ),
    Guard(
        "forms of our own pages only",
        _GUARD,
        "if is_write and not self._is_own_form(told):",
        "if False:",
        "test_a_form_of_somebody_else_changes_nothing",
    ),
    Guard(
        "an answer is for what was shown",
        "web/server/parts/decision_page.py",
        "if digest_asked_files(run.where, run.state, decision) != digest:",
        "if False:",
        "test_files_that_moved_while_they_were_read_are_not_approved",
    ),
    Guard(
        "an open page hears of files that move",
        "web/server/events.py",
        "if stamps is not seen or files != watched:",
        "if stamps is not seen:",
        "test_a_file_that_is_written_is_news_for_the_page_of_its_decision",
    ),
    Guard(
        "everything on a page is escaped",
        "web/server/page_templates.py",
        "autoescape=True,",
        "autoescape=False,",
        "test_a_question_of_an_agent_is_answered_in_words",
    ),
    Guard(
        "marks that turn a line around are not shown",
        "web/pages/documents.py",
        "    text = make_printable(text)\n    tokens = ",
        "    tokens = ",
        "test_a_file_of_an_agent_is_text_and_never_a_part_of_the_page",
    ),
    Guard(
        "links of a document lead outside only",
        "web/pages/documents.py",
        "            attribute_filter=_keep_outside_links,\n",
        "",
        "test_a_file_of_an_agent_is_text_and_never_a_part_of_the_page",
    ),
    Guard(
        "an answer in the inbox is for the files as they were shown",
        "cli/inbox/open_decision.py",
        "    if asked_files.digest_asked_files(where, state, decision) != shown.files.digest:",
        "    if False:",
        "test_an_approval_is_for_what_was_shown_and_changed_files_ask_again",
    ),
    Guard(
        "work in the inbox is delivered as it was shown",
        "cli/inbox/open_run.py",
        "    if any(now.get(key) != shown[key] for key in keys):",
        "    if False:",
        "test_work_that_changed_after_it_was_shown_is_not_merged",
    ),
    Guard(
        "agents finish nothing in the inbox",
        "cli/inbox/open_run.py",
        "    refuse_agents(os.environ, as_person=False)\n",
        "",
        "test_an_agent_cannot_finish_here_either",
    ),
    Guard(
        "agents resume nothing in the inbox",
        "cli/inbox/run_pages.py",
        "        refuse_agents(os.environ, as_person=False)\n",
        "",
        "test_an_agent_cannot_decide_here_either",
    ),
)
