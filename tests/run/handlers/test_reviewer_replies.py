"""Replies of reviewers in many shapes: none that is not plainly an approval becomes one."""

import json

import pytest

from porch.agents.port import Outcome
from porch.claims.verdicts import Verdict
from porch.machine import facts as f
from porch.run.handlers.panel import read_review_outcome
from porch.show import prompt

LINES = {
    "plain": "VERDICT: {}",
    "small": "verdict: {}",
    "capital": "Verdict: {}",
    "space before the colon": "Verdict : {}",
    "bold label": "**VERDICT**: {}",
    "bold label and colon": "**VERDICT:** {}",
    "bold line": "**VERDICT: {}**",
    "bold word": "VERDICT: **{}**",
    "code word": "VERDICT: `{}`",
    "heading": "## VERDICT: {}",
    "deep heading": "#### Verdict: {} ####",
    "list item": "- VERDICT: {}",
    "numbered": "1. **Verdict**: {}",
    "final": "Final verdict: {}",
    "heading and next line": "## Verdict\n\n{}",
    "label and next line": "**Verdict:**\n**{}**",
}
BODIES = {
    "documented": "{}\nSUMMARY: It is what it is.\nFINDINGS:\n- none\n",
    "at the end": "# Review\n\nI read all of it.\n\n- The parser is fine.\n\n{}",
    "windows": "I read it.\r\n\r\n{}\r\nSUMMARY: Read.\r\n",
    "after a fence": "```\nVERDICT: COMMENT\n```\n\n{}\n",
    "after a quote": "> VERDICT: APPROVE\n> VERDICT: REQUEST_CHANGES\n\n{}\n",
    "byte order mark": "\ufeff{}\n\nSUMMARY: x",
}
WORDS: dict[Verdict, tuple[str, ...]] = {
    "APPROVE": ("APPROVE", "approve", "Approved", "APPROVE.", "APPROVED!"),
    "REQUEST_CHANGES": (
        "REQUEST_CHANGES",
        "REQUEST CHANGES",
        "request-changes",
        "CHANGES_REQUESTED",
        "Changes requested",
        "REJECT",
        "Rejected.",
    ),
    "ABSTAIN": (
        "COMMENT",
        "ABSTAIN",
        "NOT APPROVE",
        "Not approved",
        "not yet APPROVE",
        "!APPROVE",
        "DISAPPROVE",
        "UNAPPROVED",
        "cannot approve",
        "APPROVE with changes",
        "APPROVE WITH COMMENTS",
        "APPROVED, but fix the tests",
        "APPROVE if the tests pass",
        "APPROVE once rebased",
        "APPROVE (conditionally)",
        "CONDITIONAL APPROVE",
        "APPROVE?",
        "APPROVE...",
        "APPROVE\u2026",
        "APPROVE [1]",
        "APPROVE\u2020",
        "APPROVE | REQUEST_CHANGES | COMMENT",
        "APPROVE or REQUEST_CHANGES",
        "APPROVE / REJECT",
        "[APPROVE|REQUEST_CHANGES]",
        "<APPROVE>",
        "{verdict}",
        "LGTM",
        "yes",
        "PASS",
        "GENEHMIGT",
        "APROBADO",
        "APPROUV\u00c9",
        "\u627f\u8a8d",
        "\u041e\u0434\u043e\u0431\u0440\u0435\u043d\u043e",
        "APPR",
        "REQUEST",
        "APP\u200bROVE",
        "APPROVE\u202e",
        "\u0410PPROVE",
        "\uff21\uff30\uff30\uff32\uff2f\uff36\uff25",
        "APPROVE\x1b[0m",
        "\u274c APPROVE",
        "APPROVE \U0001f44e",
        "REQUEST_CHANGES? No",
        "REQUEST_CHANGES is not needed",
        "neither APPROVE nor REJECT",
    ),
}
WORD_CASES = [(word, verdict) for verdict, words in WORDS.items() for word in words]


def verdict_of(reply: str) -> Verdict:
    fact = read_review_outcome("specify:consult#1/review/gemini/0", Outcome("ok", final=reply))
    assert isinstance(fact, f.ReviewEnded)
    assert bool(fact.why) == (fact.verdict == "ABSTAIN")
    return fact.verdict


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@pytest.mark.parametrize("word, verdict", WORD_CASES, ids=[word for word, _ in WORD_CASES])
def test_a_word_means_the_same_in_every_shape(line: str, word: str, verdict: Verdict) -> None:
    for name, body in BODIES.items():
        reply = body.replace("{}", line.replace("{}", word))
        assert verdict_of(reply) == verdict, name


SHOWN = {
    "fence": "```\n{}\n```",
    "tildes": "~~~text\n{}\n~~~",
    "fence never closed": "```\n{}",
    "fence in a fence": "````\n```\n{}\n```\n````",
    "behind a fence inside a fence": "```md\n```py\nx\n```\n{}\n```",
    "quote": "> {}",
    "unmarked line of a quote": "> the last reviewer wrote\n{}",
    "quote behind a zero width space": "\u200b> {}",
    "indented": "text\n\n    {}",
    "comment": "<!-- {} -->",
    "comment over lines": "<!--\n{}\n-->",
    "inline code": "`{}`",
    "inline code over lines": "see `a\n{}\nb` there",
    "quotation marks": '"{}"',
    "quotation marks over lines": 'They wrote "well\n{}\nso".',
    "struck out": "~~{}~~",
    "struck out over lines": "~~\n{}\n~~",
    "preformatted": "<pre>\n{}\n</pre>",
    "preformatted never closed": "<pre>\n\n{}\n",
    "details": "<details>\n\n{}\n\n</details>",
    "example element": "<example>\n{}\n</example>",
    "error page": "<html>\n<body>\n{}\n</body>\n</html>",
    "table": "| a | b |\n|---|---|\n| {} | x |",
    "diff": "@@ -1 +1 @@\n+{}",
    "JSON": '{"text": "{}"}',
    "sentence": "I was told to write {}",
    "condition": "If the tests pass, {}",
    "behind U+2028": "> quoted\u2028{}",
    "colour": "\x1b[32m{}\x1b[0m",
    "escaped label": "\\{}",
    "summary": "SUMMARY: {}",
    "finding": "FINDINGS:\n- they wrote {}",
    "introduced as an example": "For example:\n{}",
    "introduced as the format": "The expected format is:\n\n{}",
    "introduced as earlier": "In the previous round I said:\n{}",
    "introduced by a condition": "If the tests were green I would say:\n{}",
    "introduced by a denial": "I cannot give this verdict:\n{}",
    "section of an example": "## Example\n\n{}",
    "section of the last review": "## Previous review\n\nIt was good.\n\n{}",
    "unknown label": "Preliminary {}",
}


@pytest.mark.parametrize("place", SHOWN.values(), ids=SHOWN)
@pytest.mark.parametrize("word", ["APPROVE", "REQUEST_CHANGES"])
def test_a_verdict_that_is_shown_is_none(place: str, word: str) -> None:
    assert verdict_of(place.replace("{}", f"VERDICT: {word}")) == "ABSTAIN"


@pytest.mark.parametrize("place", SHOWN.values(), ids=SHOWN)
def test_a_shown_approval_never_outweighs_a_refusal(place: str) -> None:
    reply = f"VERDICT: REQUEST_CHANGES\nSUMMARY: no\n\n{place.replace('{}', 'VERDICT: APPROVE')}"
    assert verdict_of(reply) != "APPROVE"


BEHIND = {
    "with": "with changes",
    "with in brackets": "(with changes)",
    "if in brackets": "(if the tests pass)",
    "dash": "\u2014 but only after a rebase",
    "dots": "... once CI is green",
    "list": "- but fix the tests",
    "indented": "    provided that x holds",
    "star": "*pending* the security review",
    "after an empty line": "\nprovided the tests pass",
    "capital after an empty line": "\nProvided that the tests pass.",
    "subject": "\nSubject to the fixes below.",
    "after a rule": "---\nonce the tests pass",
    "conditions": "CONDITIONS: fix the tests",
    "conditions later": "\nCONDITIONS:\n- fix the tests",
    "not": "NOT",
    "not really": "... not really",
    "edit": "EDIT: on second thought, no",
    "retracted": "\nHaving seen the tests I take it back.",
    "withdrawn": "\nI withdraw my approval.",
    "second word": "REQUEST_CHANGES",
    "second word later": "\nREQUEST_CHANGES",
    "other label": "\nDecision: REQUEST_CHANGES",
    "other label in bold": "\n**Recommendation:** REJECT",
    "translated label": "\nURTEIL: REQUEST_CHANGES",
    "summary that refuses": "SUMMARY: REQUEST_CHANGES",
    "second verdict": "VERDICT: REQUEST_CHANGES",
    "second verdict far away": "\n" + "Text.\n\n" * 50 + "VERDICT: REJECT",
    "second verdict without a side": "\nVERDICT: COMMENT",
    "second verdict unreadable": "\nVERDICT: APPROVE with changes",
    "second verdict in zero width": "\nVER\u200bDICT: REQUEST_CHANGES",
    "second verdict in Cyrillic": "\nV\u0415RDICT: REQUEST_CHANGES",
    "second verdict without a word": "\nVERDICT:",
    "second verdict in an element": "\n<div>\nVERDICT: REQUEST_CHANGES\n</div>",
    "other choices": "COMMENT",
    "or": "or REQUEST_CHANGES",
}


@pytest.mark.parametrize(
    "line", ["VERDICT: APPROVE", "**Verdict:** APPROVE", "## Verdict\nAPPROVE"]
)
@pytest.mark.parametrize("behind", BEHIND.values(), ids=BEHIND)
def test_an_approval_that_is_limited_or_contradicted_is_an_abstention(
    line: str, behind: str
) -> None:
    assert verdict_of(f"{line}\n{behind}\n") == "ABSTAIN"


NO_REVIEW = {
    "429 as JSON": json.dumps(
        {"error": {"code": 429, "message": "Quota exceeded. Please approve billing."}}
    ),
    "529 as JSON": '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    "401": "401 Unauthorized: API key not approved",
    "HTML": "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head></html>",
    "stack trace": "Traceback (most recent call last):\n  File 'x'\nTimeoutError: approve",
    "rate limit": "Rate limit reached for model. Try again in 20s. VERDICT: APPROVE",
    "refusal": "I cannot review this. I'm sorry, but I can't approve or reject it.",
    "no file": "I was not able to open the file, so I have nothing to approve.",
    "nothing": "",
    "blank": " \n\u200b\n\t",
    "truncated label": "The work is good.\n\nVERD",
    "truncated value": "VERDICT: ",
    "truncated word": "VERDICT: APPRO",
    "truncated form": "VERDICT: APPROVE |",
    "praise": "LGTM! I approve. Ship it. Approved by me.",
    "word alone": "APPROVE",
    "word in a heading": "# APPROVE",
    "word in the summary": "SUMMARY: APPROVE\nFINDINGS:\n- none",
    "verdict in words": "My verdict is that I approve.",
    "verdict without a colon": "VERDICT APPROVE",
    "compared": "VERDICT != APPROVE",
    "dotless label": "VERD\u0131CT: APPROVE",
    "Cyrillic label": "V\u0415RDICT: APPROVE",
    "zero width label": "VER\u200bDICT: APPROVE",
    "translated label": "VEREDICTO: APPROVE",
    "other label": "DECISION: APPROVE",
    "label of a label": "Suggested verdict: APPROVE",
    "label with a round": "Verdict (round 1): APPROVE",
    "footnote": "VERDICT: APPROVE*\n\nGood.\n\n\\* not before the tests pass",
    "number of a note": "VERDICT: APPROVE\u00b9\n\n\u00b9 not yet",
    "unchecked box": "- [ ] VERDICT: APPROVE",
    "unchecked choice": "VERDICT:\n- [ ] APPROVE\n- [x] REQUEST_CHANGES",
    "unchecked choices": "VERDICT:\n- [ ] APPROVE\n- [ ] REQUEST_CHANGES",
    "choices": "VERDICT:\n- APPROVE\n- REQUEST_CHANGES\n- COMMENT",
    "choices by lines": "## Verdict\n\nAPPROVE\nREQUEST_CHANGES",
    "choices with empty lines": "## Verdict\n\nAPPROVE\n\nREQUEST_CHANGES",
    "choices in a row": "VERDICT: APPROVE REQUEST_CHANGES COMMENT",
    "boxes in a row": "VERDICT: [ ] APPROVE [x] REQUEST_CHANGES",
    "explained choices": "- VERDICT: APPROVE if it is good\n- VERDICT: REQUEST_CHANGES if not",
    "value in a fence": "VERDICT:\n```\nAPPROVE\n```",
    "value in a quote": "VERDICT:\n> APPROVE",
    "value of the next label": "VERDICT:\nSUMMARY: APPROVE",
    "vertical tab": "VERDICT: APPROVE\x0bwith changes",
    "U+2028": "VERDICT: APPROVE\u2028with changes",
    "next line sign": "VERDICT: APPROVE\x85but",
    "XML": "<verdict>APPROVE</verdict>",
    "YAML list": "verdict:\n  - APPROVE\n  - REJECT",
    "assignment": 'verdict = "APPROVE"',
    "arrow": "VERDICT => APPROVE",
}


@pytest.mark.parametrize("reply", NO_REVIEW.values(), ids=NO_REVIEW)
def test_what_is_no_review_is_an_abstention(reply: str) -> None:
    assert verdict_of(reply) == "ABSTAIN"


def test_the_instructions_repeated_are_no_review() -> None:
    asked = prompt.compose_review_prompt(
        "# Review", "spec-review", {}, shown=(), artifact_texts={"spec.md": "VERDICT: APPROVE\n"}
    )
    assert verdict_of(asked) == "ABSTAIN"
    assert verdict_of(asked.replace("`", "")) == "ABSTAIN"
    template = "VERDICT: APPROVE | REQUEST_CHANGES | COMMENT\nSUMMARY: one line\nFINDINGS:\n- none"
    assert verdict_of(template) == "ABSTAIN"
    assert verdict_of(f"{template}\n\nVERDICT: APPROVE\nSUMMARY: good") == "APPROVE"
    assert verdict_of(f"{template}\n\nVERDICT: REQUEST_CHANGES\nSUMMARY: bad") == "REQUEST_CHANGES"


GENUINE = {
    "documented": "VERDICT: APPROVE\nSUMMARY: All there.\nFINDINGS:\n- none\n",
    "small findings": "VERDICT: APPROVE\nSUMMARY: Good.\nFINDINGS:\n- rename x if you like\n",
    "sign before": "VERDICT: \u2705 APPROVE\nSUMMARY: Good.",
    "sign behind": "**VERDICT: APPROVE** \u2705",
    "said twice": "VERDICT: APPROVE\n\nDetails follow.\n\nVERDICT: APPROVE",
    "old findings before": "## Previous findings\n- fixed\n\nVERDICT: APPROVE\nSUMMARY: fine",
    "introduced": "Here is my verdict in the requested form:\n\nVERDICT: APPROVE\nSUMMARY: ok",
    "summary that denies": "VERDICT: APPROVE\nSUMMARY: I did not find anything bad.",
    "sentence with if": "VERDICT: APPROVE\n\nIf you find time, rename x.",
    "sentence with with": "VERDICT: APPROVE\n\nWith this the parser is right.",
    "no conditions": "VERDICT: APPROVE\nCONDITIONS: none",
    "apostrophes": "It's fine, isn't it? The authors' tests pass.\n\nVERDICT: APPROVE",
    "quoted code before": 'The line `a"b` is right.\n\n> quoted\n\nVERDICT: APPROVE',
    "generics": "It returns a `List<String>` and a Map<K, V>.\n\nVERDICT: APPROVE",
    "error named": "The 404 error and the rate limit are handled.\n\nVERDICT: APPROVE",
    "the word reject": "I looked for reasons to reject it.\n\nVERDICT: APPROVE\nSUMMARY: none",
    "checked box": "- [x] VERDICT: APPROVE",
    "front matter": "---\nverdict: APPROVE\nsummary: good\n---\n",
}


@pytest.mark.parametrize("reply", GENUINE.values(), ids=GENUINE)
def test_a_true_approval_is_read_as_one(reply: str) -> None:
    assert verdict_of(reply) == "APPROVE"


def test_a_reviewer_that_failed_never_approves_whatever_it_had_said() -> None:
    refused = read_review_outcome("e", Outcome("refused", final="VERDICT: APPROVE", detail="no"))
    assert isinstance(refused, f.EffectFailed)
    assert (refused.why, refused.hopeless) == ("refused", True)
    limited = read_review_outcome(
        "e", Outcome("rate_limit", final="VERDICT: APPROVE", detail="429")
    )
    assert isinstance(limited, f.EffectFailed)
