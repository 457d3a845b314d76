"""The text of an issue as `gh` tells it: title, body and comments, as one text for the run."""

import json
from collections.abc import Mapping
from typing import Any

from porch.errors import OutsideError
from porch.git import gh_command

_FIELDS = "title,body,url,comments"
_BY_FILE = "or save its text and hand in the file: --issue FILE"
# For what is said between the pieces.
_ROOM = 200


def read_issue(issue: str, directory: str, most_bytes: int) -> str:
    """Ask `gh` for an issue by number or address."""
    try:
        done = gh_command.call_gh(directory, ("issue", "view", issue, "--json", _FIELDS))
    except OutsideError as error:
        told = error.findings[0]
        said = f'; or say yourself what it reports: porch run bugfix {issue} "what is wrong"'
        fix = f"{told.fix}; {_BY_FILE}{said if issue.isdecimal() else ''}"
        raise OutsideError(told.message, fix=fix, code=told.code) from error
    if done.code:
        raise OutsideError(
            f"gh could not show issue {issue}\n{gh_command.last_lines(done.err or done.out)}",
            fix=f"check the number and the remote of this repository; {_BY_FILE}",
            code="issue-not-read",
        )
    return format_issue(_parse_answer(issue, done.out), most_bytes)


def _parse_answer(issue: str, out: str) -> Mapping[str, Any]:
    try:
        told = json.loads(out)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise OutsideError(
            f"gh did not answer in JSON about issue {issue}",
            fix=f"try `gh issue view {issue} --json {_FIELDS}`; {_BY_FILE}",
            code="issue-not-read",
        )
    return told


def format_issue(issue: Mapping[str, Any], most_bytes: int) -> str:
    """Title, address, body, then comments; of many long comments the newest are kept."""
    front = [_clean_text(issue.get("title")), _clean_text(issue.get("url"))]
    body = _clean_text(issue.get("body"))
    whole = "\n".join(filter(None, front)) + (f"\n\n{body}" if body else "")
    comments = issue.get("comments")
    said = [_format_comment(each) for each in comments or () if isinstance(each, dict)]
    left = most_bytes - len(whole.encode()) - _ROOM
    kept = _newest_that_fit(said, left)
    gone = len(said) - len(kept)
    note = [f"[{gone} older comments are left out here]"] if gone else []
    return "\n\n".join([whole, *note, *kept]) + "\n"


def _newest_that_fit(comments: list[str], room: int) -> list[str]:
    kept: list[str] = []
    for each in reversed(comments):
        room -= len(each.encode()) + 2
        if room < 0:
            break
        kept.insert(0, each)
    return kept


def _format_comment(comment: Mapping[str, Any]) -> str:
    author = comment.get("author")
    name = author.get("login") if isinstance(author, dict) else None
    at = _clean_text(comment.get("createdAt"))[:10]
    by = _clean_text(name) or "somebody"
    return f"Comment by {by}{f' on {at}' if at else ''}:\n{_clean_text(comment.get('body'))}"


def _clean_text(value: object) -> str:
    """JSON can hold half characters, which no file can."""
    return str(value or "").encode("utf-8", "replace").decode().strip()
