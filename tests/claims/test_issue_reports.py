"""A report passes only if it says which issues are blocking, and none is."""

import pytest

from porch.claims.issue_reports import read_issue_report

BLOCKING = [
    '{"blocking": [{"title": "leak", "where": "a.py:3", "why": "open file"}], "summary": "no"}',
    'Here it is:\n```json\n{"blocking": ["leak"]}\n```\nbye',
    'I looked. {"blocking": ["leak"], "non_blocking": []} That is all.',
    "## Blocking issues\n- leak\n\n## Non-blocking issues\n- none\n\n## Summary\nnot yet",
    "**Blocking issues:**\n1. leak\n**Non-blocking issues:** none\nSummary: not yet",
    "Blocking: leak\nNon-blocking: none",
    "\u963b\u585e\uff1a\n- leak\n\u975e\u963b\u585e\uff1a\u65e0\n\u6458\u8981\uff1a x",
    "No blocking issues\n\nBlocking issues:\n- leak",
    '{"blocking": [7]}',
    '{"blocking": [{}]}',
    '{"blocking": [[]]}',
]
CLEAN = [
    '{"blocking": [], "non_blocking": [], "summary": "fine", "checked": ["a.py"]}',
    '{"blocking": []}',
    "No blocking issues.",
    "## Blocking issues\nNone\n## Summary\nfine",
    "Blocking issues: none\nNon-blocking issues:\n- a long name",
    "\u963b\u585e\u95ee\u9898\uff1a\u65e0",
]
MALFORMED = [
    "",
    "   ",
    "All good, ship it!",
    "VERDICT: APPROVE",
    '{"summary": "fine"}',
    '{"blocking": "none"}',
    '{"blocking": [], "blocking": ["leak"]}',
    '```\n{"blocking": []}\n```\n```\n{"blocking": ["leak"]}\n```',
    "Non-blocking issues:\n- a long name\nSummary: fine",
    "> No blocking issues",
    "```\nNo blocking issues\n```",
    "There are no blocking issues in this section, I think",
]


@pytest.mark.parametrize("reply", BLOCKING)
@pytest.mark.req("C-043")
def test_b3_blocking_issues_ask_for_changes(reply: str) -> None:
    review = read_issue_report(reply)
    assert review.verdict == "REQUEST_CHANGES"
    assert len(review.findings) == 1


@pytest.mark.parametrize("reply", CLEAN)
def test_b3_no_blocking_issues_let_it_pass(reply: str) -> None:
    assert read_issue_report(reply).verdict == "APPROVE"


@pytest.mark.parametrize("reply", MALFORMED)
@pytest.mark.req("C-043")
def test_b3_what_names_no_blocking_issues_is_not_a_pass(reply: str) -> None:
    review = read_issue_report(reply)
    assert review.verdict == "ABSTAIN"
    assert review.why


def test_b3_the_label_of_the_author_wins() -> None:
    review = read_issue_report('{"blocking": [], "non_blocking": ["this is blocking!"]}')
    assert review.verdict == "APPROVE"
    assert review.findings == ("(not blocking) this is blocking!",)


def test_all_parts_of_an_issue_are_told() -> None:
    review = read_issue_report(BLOCKING[0])
    assert review.findings == ("leak - a.py:3 - open file",)
    assert review.summary == "no"
