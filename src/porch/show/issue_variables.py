"""What a prompt can show of an issue: `issue.number`, `issue.title`, `issue.body`, `issue.url`.

A run keeps the text that it was given: the title, the address if there is one, then everything
else. Other people wrote it, so the body is quoted and the title stays in one line.
"""

from porch.machine.state import Run
from porch.show.prompt import REQUEST_BYTES, cut_middle, one_line, quote_lines
from porch.text.late_pattern import late_pattern

_ADDRESS = late_pattern(r"https?://\S+")
_ISSUE = "issue "


def list_issue_variables(run: Run, subject: str, text: str) -> dict[str, str]:
    """`subject` is what runs of the protocol are about, `text` what was asked."""
    number = run.id if subject == "issue" else ""
    if run.request_from.startswith(_ISSUE):
        number = run.request_from.removeprefix(_ISSUE)
    title, _, rest = text.strip().partition("\n")
    first, _, behind = rest.strip().partition("\n")
    url = first.strip() if _ADDRESS.fullmatch(first.strip()) else ""
    body = (behind if url else rest).strip("\n") or title
    return {
        "number": number,
        "title": one_line(run.heading or title.lstrip("# ") or run.title),
        "body": quote_lines(cut_middle(body, REQUEST_BYTES)),
        "url": url,
    }
