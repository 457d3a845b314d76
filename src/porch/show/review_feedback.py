"""The reviewers' answers of one round as a Markdown file that an agent and a person both read."""

import re
from collections.abc import Iterator, Mapping

from porch.machine.facts import Payload
from porch.text.late_pattern import late_pattern
from porch.text.printable import make_printable

TEXT_KEPT = 2000

_UNSAFE_NAME = late_pattern(r"[^A-Za-z0-9_-]+")
# What would make a finding a heading, a quote, a list of its own or the start of a code block.
_LEADER = late_pattern(r"^[#>+*`~=|-]")
_TAG = late_pattern(r"<(?=[A-Za-z/!?])")
_TICKS = late_pattern(r"`+")


def feedback_file_name(subject: str, item: str, round: int) -> str:
    """`consultation-specify-round-2.md`; inside a loop the item stands behind the phase."""
    words = [_UNSAFE_NAME.sub("-", word) for word in (subject, item) if word]
    return f"consultation-{'-'.join(words)}-round-{round}.md"


def render_feedback(title: str, round: int, reviews: Mapping[str, Payload]) -> str:
    """The whole file: a heading, a section for each reviewer, then what each said, unchanged."""
    heading = f"# Consultation: {_capitalise_text(title)} Phase (Round {round})"
    sections = ["\n".join(_render_review(name, review)) for name, review in reviews.items()]
    replies = [
        _render_reply(name, review) for name, review in reviews.items() if review.get("reply")
    ]
    return "\n\n".join([heading, *sections, *replies]) + "\n"


def _render_reply(name: str, review: Payload) -> str:
    """Every byte of it, between fences that nothing in it can end."""
    reply = str(review["reply"])
    longest = max(map(len, _TICKS.findall(reply)), default=0)
    fence = "`" * max(3, longest + 1)
    end = "" if reply.endswith("\n") else "\n"
    return f"## {_capitalise_text(name)}: the whole reply\n\n{fence}text\n{reply}{end}{fence}"


def _render_review(name: str, review: Payload) -> Iterator[str]:
    yield f"## {_capitalise_text(name)}"
    verdict, why = (
        str(review.get("verdict", "ABSTAIN")),
        make_harmless_line(str(review.get("why") or "")),
    )
    marked = f" ({why or 'no verdict'})" if verdict == "ABSTAIN" else ""
    yield f"**Verdict**: {verdict}{marked}"
    yield f"**Summary**: {make_harmless_line(str(review.get('summary') or '')) or 'none given'}"
    findings = [make_harmless_line(str(each)) for each in review.get("findings") or ()]
    if findings:
        yield "**Findings**:"
        yield from (f"- {_LEADER.sub(_escape_leader, finding)}" for finding in findings)
    if any(review.get(name) for name in ("seconds", "usd", "tokens")):
        yield f"**Took**: {_format_usage(review)}"


def _format_usage(review: Payload) -> str:
    seconds, usd = float(review.get("seconds") or 0), float(review.get("usd") or 0)
    tokens = int(review.get("tokens") or 0)
    # What an agent does not tell is left out: no price is not the same as nothing to pay.
    words = (
        # A review that was found after porch had been killed has no time that anybody measured.
        f"{seconds:.1f} s" if seconds else "time unknown",
        f"{tokens} tokens" if tokens else "",
        f"{usd:.4f} USD" if usd else "",
    )
    return ", ".join(word for word in words if word)


def _escape_leader(leader: re.Match[str]) -> str:
    return f"\\{leader[0]}"


def _capitalise_text(text: str) -> str:
    words = make_harmless_line(text)
    return words[:1].upper() + words[1:]


def make_harmless_line(text: str) -> str:
    """One line that makes no heading, no comment, no tag and no verdict of its own."""
    line = " ".join(make_printable(" ".join(text.splitlines())).split())
    if len(line) > TEXT_KEPT:
        line = line[:TEXT_KEPT] + " [cut by porch]"
    return _TAG.sub("&lt;", line).replace("-->", "--&gt;").replace("**", "\\*\\*")
