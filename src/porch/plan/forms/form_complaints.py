"""What is wrong, told in the file itself: above what a person typed, and without touching it."""

import zlib
from collections.abc import Sequence

from msgspec.structs import replace

from porch.errors import Finding, Place
from porch.plan.forms.form_lines import BOM, find_marks
from porch.plan.forms.form_template import join_lines
from porch.text.late_pattern import late_pattern

# `form_notice` knows these by their beginnings; earlier releases wrote more behind the first.
_FRONT = "## ---- envoy could not use this yet"
_FIRST = f"{_FRONT} ----"
_ADVICE = "## Fix this below, then set done to true and save. These lines are removed for you."
_LAST = "## ---- end of what envoy says here, {:08x} ----"
_LINE_END = late_pattern(r"\r\n|\n|\r")
_NUMBERS = late_pattern(r"^## line \d+(?:, column \d+)?: ?")
_SHOWN = 20
_LONGEST = 400


def render_with_complaints(text: str, findings: Sequence[Finding]) -> str:
    """The same bytes with these findings on top and `done: false`; their places are of `text`."""
    bare = text.removeprefix(BOM)
    mark = text[: len(text) - len(bare)]
    old, body = _split_earlier_block(bare)
    waiting = _set_unfinished(body)
    if BOM in bare:
        # Readers of YAML count these or not, by where they stand; lines are enough then.
        findings = [_without_column(finding) for finding in findings]
    shift = len(_render_complaints(findings, 0)) - len(old)
    new = _render_complaints(findings, shift)
    if waiting == body and _without_numbers(new) == _without_numbers(old):
        # The same was said already, and the numbers were right when it was.
        return text
    # As the first line ends, so do ours.
    end = "\r\n" if body.partition("\n")[0].endswith("\r") else "\n"
    return mark + "".join(line + end for line in new) + waiting


def _without_column(finding: Finding) -> Finding:
    place = finding.place
    return replace(finding, place=Place(place.file, place.line) if place else None)


def _set_unfinished(body: str) -> str:
    for start, end in reversed(find_marks(body).done):
        body = f"{body[:start]}false{body[end:]}"
    return body


def _render_complaints(findings: Sequence[Finding], shift: int) -> list[str]:
    told = [line for finding in findings[:_SHOWN] for line in _render_complaint(finding, shift)]
    if len(findings) > _SHOWN:
        told.append(f"## and {len(findings) - _SHOWN} more")
    told.append(_ADVICE)
    return [_FIRST, *told, _LAST.format(_block_checksum(told))]


def _render_complaint(finding: Finding, shift: int) -> list[str]:
    place = finding.place
    where = ""
    if place is not None and place.line:
        column = f", column {place.column}" if place.column else ""
        where = f"line {place.line + shift}{column}: "
    elif place is not None:
        where = f"{place.file}: "
    told, fix = _shorten_line(where + finding.message), _shorten_line(finding.fix)
    lines = (f"## {told}", f"##   {fix}")
    return [line.rstrip() for line in lines if line.strip("# ")]


def _shorten_line(text: str) -> str:
    words = join_lines(text)
    return f"{words[:_LONGEST]} ..." if len(words) > _LONGEST else words


def _split_earlier_block(text: str) -> tuple[list[str], str]:
    """An earlier block of ours and what is below it; one that a person edited is theirs."""
    block: list[str] = []
    start = 0
    for end in _LINE_END.finditer(text):
        line = text[start : end.start()].rstrip()
        if not line.startswith("##" if block else _FRONT):
            break
        if line == _LAST.format(_block_checksum(block[1:])):
            return [*block, line], text[end.end() :]
        block.append(line)
        start = end.end()
    return [], text


def _block_checksum(told: Sequence[str]) -> int:
    return zlib.crc32("\n".join(told).encode("utf-8", "surrogatepass"))


def _without_numbers(block: Sequence[str]) -> list[str]:
    return [_NUMBERS.sub("", line) for line in block[:-1]]
