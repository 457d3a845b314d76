"""Reviews as models write them: what is not plainly an approval never becomes one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.claims.verdicts import Review, Verdict, read_verdict

APPROVALS = [
    "VERDICT: APPROVE",
    "Verdict: approve",
    "**Verdict**: APPROVE",
    "**VERDICT:** APPROVE",
    "**VERDICT: APPROVE**",
    "*Verdict*: Approve",
    "__Verdict__: APPROVE",
    "## VERDICT: APPROVE",
    "### Verdict: **APPROVE** ###",
    "- VERDICT: APPROVE",
    "1. Verdict: APPROVE",
    "Verdict - approve",
    "Verdict \u2014 APPROVE",
    "Verdict = APPROVE",
    "VERDICT: APPROVE.",
    "VERDICT: APPROVED!",
    "VERDICT: `APPROVE`",
    "VERDICT: \u2705 APPROVE",
    "VERDICT: APPROVE \u2705",
    "Final verdict: APPROVE",
    "Overall Verdict: APPROVE",
    "## Verdict\n\nAPPROVE",
    "**Verdict**:\n**APPROVE**",
    "## Verdict\n\nVERDICT: APPROVE",
    "All is well.\r\n\r\nVERDICT: APPROVE\r\nSUMMARY: fine\r\n",
    "VERDICT: APPROVE\n\nVERDICT: APPROVE",
    "VERDICT: [APPROVE|REQUEST_CHANGES]\n\nVERDICT: APPROVE",
    "```\nVERDICT: REQUEST_CHANGES\n```\nVERDICT: APPROVE",
    "VERDICT: APPROVE\nNo conditions.",
    "VERDICT: APPROVE\n\nIf you find time, rename x.",
]

REFUSALS = [
    "VERDICT: REQUEST_CHANGES",
    "**VERDICT**: REQUEST_CHANGES",
    "## VERDICT: REQUEST CHANGES",
    "Verdict: request-changes.",
    "VERDICT: REQUESTS_CHANGES",
    "VERDICT: CHANGES_REQUESTED",
    "VERDICT: Changes requested",
    "VERDICT: REJECT",
    "**Verdict:** Rejected",
    "VERDICT: \u274c REQUEST_CHANGES",
    "VERDICT: `REQUEST_CHANGES`",
    "VERDICT: REQUEST_CHANGES - src/a.py is broken",
    "VERDICT: REQUEST_CHANGES (cannot approve yet)",
    "VERDICT: REJECT, tests or docs are missing",
    "## Verdict\n\n**REQUEST_CHANGES**",
    "VERDICT: REQUEST_CHANGES\nwith two findings",
    "VERDICT: APPROVE | REQUEST_CHANGES\nVERDICT: REQUEST_CHANGES",
]

DOUBTFUL = [
    "",
    " \n\t\n",
    "Looks good to me.",
    "APPROVE",
    "LGTM, I approve.",
    "VERDICT:",
    "VERDICT",
    "VERDICT: ",
    "## Verdict\n\nI think it is fine.",
    "## Verdict\n\n```\nAPPROVE\n```",
    "VERDICT APPROVE",
    "Verdict is APPROVE",
    "VERDICT: APPROVE|REQUEST_CHANGES",
    "VERDICT: [APPROVE | REQUEST_CHANGES | COMMENT]",
    "VERDICT: APPROVE or REQUEST_CHANGES",
    "VERDICT: REQUEST_CHANGES/APPROVE",
    "VERDICT: REQUEST_CHANGES?",
    "VERDICT: REQUEST_CHANGES? No, APPROVE",
    "VERDICT: REQUEST_CHANGES or COMMENT",
    "VERDICT: do not APPROVE",
    "VERDICT: not APPROVE",
    "VERDICT: not REQUEST_CHANGES",
    "VERDICT: cannot approve",
    "VERDICT: disapprove",
    "VERDICT: DISAPPROVED",
    "VERDICT: APPROVE?",
    'VERDICT: "APPROVE"',
    "VERDICT: [APPROVE]",
    "VERDICT: ~~APPROVE~~",
    "~~VERDICT: APPROVE~~",
    "VERDICT: \u274c APPROVE",
    "VERDICT: APPROVE \u274c",
    "VERDICT: APPROVE with changes",
    "VERDICT: APPROVE if the tests pass",
    "VERDICT: APPROVE, but fix the tests first",
    "VERDICT: APPROVE - once CI is green",
    "VERDICT: APPROVE (conditionally)",
    "VERDICT: APPROVE_WITH_CHANGES",
    "VERDICT: CONDITIONAL APPROVE",
    "VERDICT: APPROVE\nwith the following changes:\n- tests",
    "## Verdict\n\nAPPROVE\nprovided the tests pass",
    "VERDICT: APPROVE\n- but only after a rebase",
    "VERDICT: COMMENT",
    "VERDICT: ABSTAIN",
    "VERDICT: maybe",
    "VERDICT: APPROVE\n\nVERDICT: REQUEST_CHANGES",
    "VERDICT: REQUEST_CHANGES\n\n...\n\nVERDICT: APPROVE",
    "VERDICT: APPROVE\nVERDICT: COMMENT",
    "VERDICT: APPROVE with changes\nVERDICT: APPROVE",
    "- VERDICT: APPROVE if all is fine\n- VERDICT: REQUEST_CHANGES if not",
    "> VERDICT: APPROVE",
    "```\nVERDICT: APPROVE\n```",
    "```\nVERDICT: APPROVE",
    "`VERDICT: APPROVE`",
    "End with `VERDICT: APPROVE`.",
    "text\n\n    VERDICT: APPROVE",
    "<!-- VERDICT: APPROVE -->",
    "I was told to write VERDICT: APPROVE",
    "If tests pass, VERDICT: APPROVE",
    "Previous verdict: APPROVE",
    "Verdict (round 1): APPROVE",
    "VERDICT: APP\u200bROVE",
    "VERDICT: \u0410PPROVE",
    "| Verdict | APPROVE |",
    '{"verdict": "APPROVE"}',
    "HTTP 429 Too Many Requests",
    "Error: 503 Service Unavailable. Please approve the request later.",
    "Rate limit reached; quota exceeded",
]


@pytest.mark.parametrize("reply", APPROVALS)
def test_plain_approvals_are_read(reply: str) -> None:
    review = read_verdict(reply)
    assert (review.verdict, review.why) == ("APPROVE", "")


@pytest.mark.parametrize("reply", REFUSALS)
def test_requests_for_changes_are_read_in_every_spelling(reply: str) -> None:
    review = read_verdict(reply)
    assert (review.verdict, review.why) == ("REQUEST_CHANGES", "")


@pytest.mark.parametrize("reply", DOUBTFUL)
def test_whatever_is_doubtful_is_an_abstention_with_its_reason(reply: str) -> None:
    review = read_verdict(reply)
    assert review.verdict == "ABSTAIN"
    assert review.why


@pytest.mark.parametrize("doubtful", [reply for reply in DOUBTFUL if "verdict" in reply.lower()])
def test_a_doubtful_verdict_next_to_a_refusal_is_never_an_approval(doubtful: str) -> None:
    assert read_verdict(f"VERDICT: REQUEST_CHANGES\n\n{doubtful}").verdict != "APPROVE"


@pytest.mark.parametrize(
    "reply, why",
    [
        ("", "the reply is empty"),
        ("Nice work.", "no verdict line"),
        ("HTTP 429 Too Many Requests", "an error text, not a review"),
        ("VERDICT: COMMENT", "the reviewer did not decide"),
        ("VERDICT:\n\n> APPROVE", "a verdict line without a verdict"),
        (
            "VERDICT: APPROVE|REQUEST_CHANGES",
            "the reply repeats the instructions and gives no verdict",
        ),
        ("VERDICT: APPROVE if green", "not a clear verdict: 'APPROVE if green'"),
        (
            "VERDICT: APPROVE\nVERDICT: REJECT",
            "conflicting verdicts: APPROVE, REQUEST_CHANGES",
        ),
        (
            "VERDICT: APPROVE\n\nI take that back.",
            "conflicting verdicts: both an approval and a refusal",
        ),
    ],
)
def test_an_abstention_says_why(reply: str, why: str) -> None:
    assert read_verdict(reply).why == why


@pytest.mark.parametrize(
    "reply, summary",
    [
        ("VERDICT: APPROVE\nSUMMARY: All good.\nReally.\n\nMore.", "All good. Really."),
        ("**Verdict**: APPROVE\n**Summary**: Fine now", "Fine now"),
        ("## Summary\n\nFine\nnow.\n\n## Verdict\nAPPROVE", "Fine now."),
        ("SUMMARY: Short\nVERDICT: APPROVE", "Short"),
        ("SUMMARY: One\n- a\n- b", "One"),
        ("# Review\n\nFirst part.\n\nVERDICT: APPROVE", "First part."),
        ("VERDICT: APPROVE\n\nAfter it.", "After it."),
        ("VERDICT: APPROVE", ""),
        ("```\ncode\n```\nText.", "Text."),
        ("x" * 400, "x" * 299 + "\u2026"),
        ("x" * 300, "x" * 300),
    ],
)
def test_the_summary_is_the_labelled_one_or_the_first_paragraph(reply: str, summary: str) -> None:
    assert read_verdict(reply).summary == summary


@pytest.mark.parametrize(
    "behind",
    ["CONFIDENCE: HIGH", "Confidence: high", "KEY_ISSUES: none", "Next steps: merge", "- a"],
)
def test_r16_a_summary_ends_where_another_field_of_a_form_begins(behind: str) -> None:
    told = read_verdict(f"VERDICT: APPROVE\nSUMMARY: All good.\n{behind}\nMore.")
    assert (told.verdict, told.summary) == ("APPROVE", "All good.")


CHANGES = "VERDICT: REQUEST_CHANGES\nSUMMARY: Not yet\n"


@pytest.mark.parametrize(
    "reply, findings",
    [
        (CHANGES + "KEY_ISSUES:\n- a\n- b\n\nCONFIDENCE: HIGH\n- c", ("a", "b")),
        (
            CHANGES + "## Findings\n1. a\n   more\n   - deep\n2. b\n## Notes\n- c",
            ("a more deep", "b"),
        ),
        (CHANGES + "## Issues found\n### Minor\n- a\n### Major\n- b", ("a", "b")),
        (CHANGES + "**Required changes:**\n\n- a\n\n  not a list\n- b", ("a", "b")),
        (CHANGES + "Issues: the parser crashes", ("the parser crashes",)),
        (CHANGES + "Findings:\nThe parser\ncrashes.", ("The parser crashes.",)),
        (CHANGES + "Issues:\n- a\n\nRequired changes:\n- b", ("a", "b")),
        (CHANGES + "- a\n```\n- code\n```\n- [ ] b\n\n## Next\ntext", ("a", "b")),
        (CHANGES + "KEY_ISSUES: None\n\n- a", ("None", "a")),
        (CHANGES + "KEY_ISSUES: None", ("None", "Not yet")),
        (CHANGES, ("Not yet",)),
        ("VERDICT: APPROVE\nKEY_ISSUES: None", ("None",)),
        ("VERDICT: APPROVE\nIssues:\n- none", ("none",)),
        ("VERDICT: APPROVE\nIssues:\n", ()),
        ("VERDICT: APPROVE\n- nice", ()),
        ("VERDICT: APPROVE\n## Findings\n- small thing", ("small thing",)),
        ("- VERDICT: REQUEST_CHANGES\n- SUMMARY: x\n- a", ("a",)),
    ],
)
def test_findings_are_the_bullets_that_ask_for_something(
    reply: str, findings: tuple[str, ...]
) -> None:
    assert read_verdict(reply).findings == findings


@pytest.mark.parametrize("verdict", ["APPROVE", "REQUEST_CHANGES"])
@pytest.mark.parametrize(
    "finding",
    [
        "Nothing is said about timeouts",
        "None of the limits is named",
        "No changes of the schema are tested",
        "n/a is written where a number must stand",
        "none",
    ],
)
def test_v10_no_finding_is_dropped_for_the_word_it_begins_with(verdict: str, finding: str) -> None:
    reply = f"VERDICT: {verdict}\nSUMMARY: s\nFINDINGS:\n- one\n- {finding}\n"
    assert read_verdict(reply).findings == ("one", finding)


@pytest.mark.parametrize("label", ["FINDINGS", "Issues"])
def test_v10_a_finding_behind_its_label_is_kept_whatever_it_begins_with(label: str) -> None:
    reply = f"{CHANGES}{label}: Nothing is said about timeouts"
    assert read_verdict(reply).findings == ("Nothing is said about timeouts",)


def test_a_refusal_without_any_words_still_asks_for_something() -> None:
    review = read_verdict("VERDICT: REQUEST_CHANGES")
    assert review == Review("REQUEST_CHANGES", "", ("changes were requested without a reason",), "")


PIECES = st.sampled_from(
    [
        "VERDICT",
        ": ",
        "APPROVE",
        "REQUEST_CHANGES",
        "\n",
        "> ",
        "```\n",
        "- ",
        "## ",
        "**",
        "SUMMARY",
    ]
)


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join)))
def test_any_reply_is_read_and_approval_needs_its_word_on_a_verdict_line(text: str) -> None:
    review = read_verdict(text)
    expected: tuple[Verdict, ...] = ("APPROVE", "REQUEST_CHANGES", "ABSTAIN")
    assert review.verdict in expected
    if review.verdict == "APPROVE":
        assert "verdict" in text.lower()
        assert "approve" in text.lower()
    assert read_verdict("~" * 50 + "\n" + text.replace("~", "-")).verdict == "ABSTAIN"


@pytest.mark.parametrize(
    "text",
    [
        "Verdict\n" * 20_000,
        "Issues:\n" * 20_000,
        "VERDICT: " + "APPROVE " * 200_000,
        "- " * 500_000,
    ],
    ids=range(4),
)
def test_long_replies_end_in_time(text: str) -> None:
    assert read_verdict(text).verdict == "ABSTAIN"
