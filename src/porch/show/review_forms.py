"""How a reviewer has to reply, so that what was said can be read."""

from collections.abc import Mapping

from porch.model.protocol import ReviewForm

_VERDICT = """\
End your reply with this form, once, outside code blocks and quotes, in your own words:

VERDICT: APPROVE or REQUEST_CHANGES
SUMMARY: one line
FINDINGS:
- one finding on each line, or `- none`
"""
_ISSUES = """\
Reply with this JSON and nothing else. Issues come first: blocking ones, then the others, then a
short summary. An issue is blocking if the work must not go on with it. No blocking issues: an empty
list. Without the list the report does not count.

{"blocking": [{"title": "...", "where": "file:line", "why": "...", "fix": "..."}],
 "non_blocking": [], "summary": "one line", "checked": ["paths that you looked at"]}
"""
REPLY_FORMS: Mapping[ReviewForm, str] = {"verdict": _VERDICT, "issues": _ISSUES}
