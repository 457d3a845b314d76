"""All runs and all open questions as text; builtins only, because it is what people type most."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from porch.machine.state import RunState
    from porch.show.shapes import RunRowShape

WIDTH = 80
_COLUMNS = (
    ("id", "ID"),
    ("title", "TITLE"),
    ("protocol", "PROTOCOL"),
    ("state", "STATE"),
    ("waits", "WAITING FOR"),
)
# What gives way first where a row is too wide; an id and a state must stay whole to be used.
_SHRINKING_COLUMNS = (("title", 12), ("waits", 16), ("protocol", 8))
_KIND_TITLES = {
    "gate": "Gate",
    "question": "Question",
    "failure": "Failure",
    "undecided": "Decision",
}
# Without a sandbox and signatures there is one level only; it is said where somebody decides.
_ONLY_MALICE = (
    "Careless agents cannot decide this. A malicious one with the rights of your user could have "
    "forged what you see here: docs/what-holds.md"
)


def one_line(text: object) -> str:
    """Nothing that moves a cursor, hides or breaks a line."""
    told = str(text)
    if not told.isprintable():
        told = "".join([c if c.isprintable() else " " for c in told])
    return " ".join(told.split())


def _plain(line: str) -> str:
    """A line of a text as it stands, with its blanks, and nothing that moves a cursor."""
    return line if line.isprintable() else "".join([c if c.isprintable() else " " for c in line])


def clip_text(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."


def text_width(text: str) -> int:
    """How many columns a text takes: some characters take two, some none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def cut_text(text: str, width: int) -> str:
    """As much of a text as fits, and a sign that there is more."""
    if text_width(text) <= width:
        return text
    kept, room = "", max(width - 3, 0)
    for char in text:
        room -= text_width(char)
        if room < 0:
            break
        kept += char
    return kept + "..."


def pad_text(text: str, width: int) -> str:
    return text + " " * (width - text_width(text))


def wrap_text(text: object, indent: int = 0) -> list[str]:
    """Lines that fit the width; a word that is longer stays whole, so that it can be copied."""
    lines: list[str] = []
    line = ""
    for word in one_line(text).split(" "):
        if line and indent + text_width(line) + 1 + text_width(word) > WIDTH:
            lines.append(" " * indent + line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, " " * indent + line] if line else lines


def render_board(pictures: Sequence[RunRowShape], width: int = WIDTH) -> str:
    """One line for each run, as wide as the terminal if there is one."""
    if not pictures:
        return "There are no runs here yet. Start one: porch run PROTOCOL ID\n"
    told = [{key: one_line(_read_cell(p["row"], key)) for key, _ in _COLUMNS} for p in pictures]
    table = [dict(_COLUMNS), *told]
    widths = {key: max(text_width(row[key]) for row in table) for key, _ in _COLUMNS}
    for key, least in _SHRINKING_COLUMNS:
        spare = sum(widths.values()) + 2 * (len(widths) - 1) - width
        if spare > 0:
            widths[key] = max(min(least, widths[key]), widths[key] - spare)
    return "".join(_render_row(row, widths) for row in table)


def _read_cell(row: Mapping[str, str], key: str) -> str:
    """People read a title as it was typed."""
    return (key == "title" and row.get("heading")) or row.get(key, "")


def _render_row(row: Mapping[str, str], widths: Mapping[str, int]) -> str:
    told = [pad_text(cut_text(row[key], width), width) for key, width in widths.items()]
    return "  ".join(told).rstrip() + "\n"


def render_pending_decisions(decisions: Sequence[Mapping[str, Any]]) -> str:
    """Every open question with its answers and the command that gives each."""
    if not decisions:
        return "No decision is waiting for you.\n"
    told = ["\n".join(_render_decision(each)) + "\n" for each in decisions]
    if any(each.get("kind") == "gate" for each in decisions):
        told.append("\n".join(wrap_text(_ONLY_MALICE)) + "\n")
    return "\n".join(told)


def _render_decision(decision: Mapping[str, Any]) -> list[str]:
    get = decision.get
    title = get("heading") or get("title")
    lines = wrap_text(f"{get('id')} {title}: {get('name')} ({get('kind')})")
    lines += wrap_text(
        f"waiting since {format_moment(get('asked_at', ''))}, at {get('position')}", 2
    )
    lines += wrap_text(f"driver: {get('driven')}" if get("driven") else "", 2)
    lines += _render_request(get("request") or ())
    for text in (get("question"), get("description"), *(get("reason") or "").split("\n")):
        lines += wrap_text(text or "", 2)
    for missing in get("reviews") or ():
        lines += wrap_text(f"review of {missing}", 2)
    for problem in get("problems") or ():
        lines += wrap_text(f"your answer cannot be used yet: {problem}", 2)
    for path in get("artifacts") or ():
        # Whoever reads this stands in the main checkout, where the files of a worktree are not.
        lines += wrap_text(f"read: {'/'.join(filter(None, (get('worktree'), path)))}", 2)
    lines += _render_findings(get("findings") or (), get("reports") or {})
    for text in (get("difference") or {}).values():
        lines += [f"    {clip_text(_plain(line), WIDTH - 4)}" for line in text.split("\n")]
    if get("needs_override"):
        lines += wrap_text("A check or review failed. To approve anyway, give a reason.", 2)
    for option in get("options") or ():
        lines += wrap_text(f"{option['answer']}: {option['meaning']}", 2)
        lines.append(f"      {one_line(option['command'])}")
    return lines


def _render_request(lines: Iterable[str]) -> list[str]:
    told = [f"    {one_line(line)}" for line in lines]
    return ["  asked for:", *told] if told else []


def _render_findings(
    findings: Iterable[Mapping[str, str]], reports: Mapping[str, str]
) -> list[str]:
    lines = []
    for found in findings:
        lines += wrap_text(f"{found['by']}: {found['finding']}", 4)
    for name, report in reports.items():
        lines += wrap_text(f"{name}: {report.strip().rpartition(chr(10))[2]}", 4)
    return lines


def render_hook_lines(decisions: Iterable[Mapping[str, Any]]) -> str:
    """For an agent's prompt: project and gate only, never contents; nothing if nothing is asked."""
    return "".join(
        f"{_KIND_TITLES.get(each['kind'], 'Decision')} pending: "
        f"{one_line(each['id'])} {one_line(each['name'])}\n"
        for each in decisions
    )


def format_moment(at: str) -> str:
    """An instant for people: to the second, and still saying that it is UTC."""
    return at[:19].replace("T", " ") + "Z" if len(at) >= 19 else at


def describe_delivery(how: str, into: str = "", url: str = "", branch: str = "") -> str:
    """Where the work is now: `merged into main`."""
    words = {
        "merged": f"merged into {into}",
        "squashed": f"merged into {into} as one commit",
        "committed": f"committed on {into}",
        "proposed": f"pull request {url}",
        "pushed": f"pushed as {branch}, to be pulled into {into}",
        "kept": f"kept on branch {branch}" if branch else "kept, not committed",
    }
    return words.get(how, how)


def describe_state_delivery(state: RunState) -> str:
    """The same of a run; empty if nobody has finished it."""
    found = state.run.delivery
    return describe_delivery(found.how, found.into, found.url, found.branch) if found else ""
