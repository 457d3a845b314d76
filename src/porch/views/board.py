"""All runs and all open questions as text; builtins only, because it is what people type most."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

WIDTH = 80
_COLUMNS = (
    ("id", "ID"),
    ("title", "TITLE"),
    ("protocol", "PROTOCOL"),
    ("state", "STATE"),
    ("waits", "WAITS FOR"),
)
# What gives way first where a row is too wide; an id and a state must stay whole to be used.
_GIVING_WAY = (("title", 12), ("waits", 16), ("protocol", 8))
_KINDS = {"gate": "Gate", "question": "Question", "failure": "Failure", "undecided": "Decision"}


def one_line(text: object) -> str:
    """Nothing that moves a cursor, hides or breaks a line."""
    told = str(text)
    if not told.isprintable():
        told = "".join([c if c.isprintable() else " " for c in told])
    return " ".join(told.split())


def clip(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."


def wrapped(text: object, indent: int = 0) -> list[str]:
    """Lines that fit the width; a word that is longer stays whole, so that it can be copied."""
    lines: list[str] = []
    line = ""
    for word in one_line(text).split(" "):
        if line and indent + len(line) + 1 + len(word) > WIDTH:
            lines.append(" " * indent + line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, " " * indent + line] if line else lines


def rows(pictures: list[dict[str, Any]]) -> str:
    """One line for each run."""
    if not pictures:
        return "No runs here yet; `porch run PROTOCOL ID` starts one.\n"
    told = [{key: one_line(p["row"].get(key, "")) for key, _ in _COLUMNS} for p in pictures]
    table = [dict(_COLUMNS), *told]
    widths = {key: max(len(row[key]) for row in table) for key, _ in _COLUMNS}
    for key, least in _GIVING_WAY:
        spare = sum(widths.values()) + 2 * (len(widths) - 1) - WIDTH
        if spare > 0:
            widths[key] = max(min(least, widths[key]), widths[key] - spare)
    return "".join(_row(row, widths) for row in table)


def _row(row: Mapping[str, str], widths: Mapping[str, int]) -> str:
    cells = [clip(row[key], width).ljust(width) for key, width in widths.items()]
    return "  ".join(cells).rstrip() + "\n"


def pending(decisions: Sequence[Mapping[str, Any]]) -> str:
    """Every open question with its answers and the command that gives each."""
    if not decisions:
        return "Nothing waits for a decision.\n"
    return "\n".join("\n".join(_asked(each)) + "\n" for each in decisions)


def _asked(decision: Mapping[str, Any]) -> list[str]:
    get = decision.get
    lines = wrapped(f"{get('id')} {get('title')}: {get('name')} ({get('kind')})")
    lines += wrapped(f"asked {moment(get('asked_at', ''))} at {get('position')}", 2)
    for text in (get("question"), get("description"), *(get("reason") or "").split("\n")):
        lines += wrapped(text or "", 2)
    for path in get("artifacts") or ():
        lines += wrapped(f"look at: {path}", 2)
    lines += _found(get("findings") or (), get("reports") or {})
    if get("needs_override"):
        lines += wrapped("Something failed: approving in spite of it needs a reason.", 2)
    for option in get("options") or ():
        lines += wrapped(f"{option['answer']}: {option['meaning']}", 2)
        lines.append(f"      {one_line(option['command'])}")
    return lines


def _found(findings: Iterable[Mapping[str, str]], reports: Mapping[str, str]) -> list[str]:
    lines = []
    for found in findings:
        lines += wrapped(f"{found['by']}: {found['finding']}", 4)
    for name, report in reports.items():
        lines += wrapped(f"{name}: {report.strip().rpartition(chr(10))[2]}", 4)
    return lines


def hook(decisions: Iterable[Mapping[str, Any]]) -> str:
    """For an agent's prompt: project and gate only, never contents; nothing if nothing is asked."""
    return "".join(
        f"{_KINDS.get(each['kind'], 'Decision')} pending: "
        f"{one_line(each['id'])} {one_line(each['name'])}\n"
        for each in decisions
    )


def moment(at: str) -> str:
    """An instant for people: to the second, and still saying that it is UTC."""
    return at[:19].replace("T", " ") + "Z" if len(at) >= 19 else at
