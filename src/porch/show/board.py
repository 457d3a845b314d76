"""All runs and all open questions as text; builtins only, because it is what people type most."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from porch.machine.state import RunState
    from porch.show.shapes import BoardRowShape, RunRowShape

# Of rows and pictures that are kept in files; those of another version are made again.
PICTURE_VERSION = 2
WIDTH = 80
_REPORT_END = 8  # lines of a report that are printed where somebody decides about a failure
_CLAIM_SHOWN = 300
_MOST_READ = 30  # files that are named in one question
# What answers are called where people read them, the same on the terminal and on pages.
_ANSWERS: Mapping[str, str] = {
    "approved": "Approve",
    "rejected": "Send back",
    "waived": "Approve anyway",
    "answered": "Answer",
    "retry": "Try again",
    "skip": "Skip",
    "declined": "Decline",
    "restart": "Start over",
    "stopped": "Stop the run",
}
_TRACK = "track"  # model.protocol.TRACK, whose module is more than a table may load
_GAP = 2
_COLUMNS = (
    ("id", "ID"),
    ("title", "TITLE"),
    ("protocol", "PROTOCOL"),
    ("state", "STATE"),
    ("waits", "WAITING FOR"),
)
# What gives way first where a row is too wide, and how far: who drives a run stands at the end of
# what it waits for, and the title is what people know it by. An id is never cut: it is typed.
_TITLE, _PROTOCOL, _STATE, _WAITS = range(1, 5)
_SHRINKING_COLUMNS = (
    (_WAITS, 24),
    (_TITLE, 12),
    (_WAITS, 16),
    (_PROTOCOL, 8),
    (_PROTOCOL, 0),
    (_TITLE, 8),
    (_WAITS, 8),
    (_STATE, 8),
)
VAIN_ENDS = ("failed", "abandoned")
_STATE_MARKS = {
    **dict.fromkeys(("complete", "merged", "squashed", "committed"), "good"),
    **dict.fromkeys(("proposed", "pushed", "kept"), "good"),
    **dict.fromkeys(VAIN_ENDS, "bad"),
}
_LEAST_WIDTH = 40
_KIND_TITLES = {
    "gate": "Gate",
    "question": "Question",
    "failure": "Failure",
    "undecided": "Decision",
}
# Without a sandbox and signatures there is one level only; it is said where somebody decides.
_ONLY_MALICE = (
    "A careless agent cannot decide this; a malicious one that runs as you could forge it (see the "
    "security model in porch's documentation)."
)


def one_line(text: object) -> str:
    """Nothing that moves a cursor, hides or breaks a line."""
    told = str(text)
    if not told.isprintable():
        told = "".join([c if c.isprintable() else " " for c in told])
    # Nearly every text is one line already, and need not be taken apart.
    return " ".join(told.split()) if "  " in told or told[:1] == " " or told[-1:] == " " else told


def _plain(line: str) -> str:
    """A line of a text as it stands, with its blanks, and nothing that moves a cursor."""
    return line if line.isprintable() else "".join([c if c.isprintable() else " " for c in line])


def clip_text(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."


def text_width(text: str) -> int:
    """How many columns a text takes: some characters take two, some none."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def _character_width(char: str) -> int:
    from unicodedata import category, east_asian_width

    # Accents, joiners, and the parts of a Korean syllable behind its first one.
    if category(char) in ("Mn", "Me", "Cf") or "\u1160" <= char <= "\u11ff":
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


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


def lay_out_table(
    rows: Sequence[Sequence[str]], width: int, shrinking: Iterable[tuple[int, int]]
) -> list[str]:
    """A line for each row, in columns; `shrinking` says which give way first, and how far.

    A column that may shrink to nothing is left out.
    """
    # Nearly every table takes a column for each letter, and need not be measured one by one.
    is_plain = "".join(["".join(row) for row in rows]).isascii()
    measure = len if is_plain else text_width
    widths = [max(map(measure, cells)) for cells in zip(*rows, strict=True)]
    for column, least in shrinking:
        spare = sum(widths) + _GAP * (len(widths) - widths.count(0) - 1) - width
        if spare > 0:
            kept = max(min(least, widths[column]), widths[column] - spare)
            widths[column] = kept if least else 0
    render = _render_plain_row if is_plain else _render_row
    return [render(row, widths) for row in rows]


def _render_row(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [(cell, width) for cell, width in zip(row, widths, strict=True) if width]
    return (" " * _GAP).join([pad_text(cut_text(cell, w), w) for cell, w in cells]).rstrip()


def _render_plain_row(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [
        cell.ljust(width) if len(cell) <= width else clip_text(cell, width)
        for cell, width in zip(row, widths, strict=True)
        if width
    ]
    return (" " * _GAP).join(cells).rstrip()


def list_with_files(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Names and what they are for, each above the file it came from."""
    width = max(text_width(row["name"]) for row in rows)
    return [
        f"{pad_text(row['name'], width)}  {row['description']}\n  {row['file']}" for row in rows
    ]


def wrap_text(text: object, indent: int = 0, width: int = WIDTH) -> list[str]:
    """Lines that fit the width; a word that is longer stays whole, so that it can be copied."""
    whole = one_line(text)
    if not whole:
        return []
    if whole.isascii():
        front = " " * indent
        if len(whole) <= width - indent:
            return [front + whole]
        return [front + line for line in _break_plain_line(whole, width - indent)]
    lines: list[str] = []
    line = ""
    for word in whole.split(" "):
        if line and indent + text_width(line) + 1 + text_width(word) > width:
            lines.append(" " * indent + line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, " " * indent + line] if line else lines


def _break_plain_line(text: str, room: int) -> list[str]:
    """The same where each character takes a column: lists of very many questions are such texts."""
    lines, start = [], 0
    while len(text) - start > room:
        end = text.rfind(" ", start, start + max(room, 0) + 1)
        end = end if end > start else text.find(" ", start)
        if end < 0:
            break
        lines.append(text[start:end])
        start = end + 1
    return [*lines, text[start:]]


def render_board(
    pictures: Sequence[RunRowShape],
    width: int = WIDTH,
    sign: Callable[[str, str], str] | None = None,
) -> str:
    """One line for each run, as wide as the terminal if there is one; there also with a sign."""
    if not pictures:
        return 'There are no runs here yet. Start one: porch run spider "what you want"\n'
    told = make_lines([[_read_cell(p["row"], key) for key, _ in _COLUMNS] for p in pictures])
    room = max(width, _LEAST_WIDTH) - (2 if sign else 0)
    lines = lay_out_table([[head for _, head in _COLUMNS], *told], room, _SHRINKING_COLUMNS)
    if sign:
        marks = ["", *(_mark_row(p["row"]) for p in pictures)]
        lines = [sign(line, mark) for line, mark in zip(lines, marks, strict=True)]
    return "".join([f"{line}\n" for line in lines])


def make_lines(rows: list[list[str]]) -> list[list[str]]:
    """Each cell as one line; all at once, because nearly all of them are."""
    whole = "|".join(["|".join(row) for row in rows])
    is_clean = whole.isprintable() and not any(odd in whole for odd in ("  ", " |", "| "))
    return rows if is_clean else [[one_line(cell) for cell in row] for row in rows]


def _read_cell(row: BoardRowShape, key: str) -> str:
    """People read a title as it was typed."""
    return str((key == "title" and row.get("heading")) or row.get(key, ""))


def waits_on(row: BoardRowShape, actor: str) -> bool:
    """Whether a run waits for this actor; the names are those of `account/waiting.py`."""
    return any(each["on"] == actor for each in row["waiting"])


def _mark_row(row: BoardRowShape) -> str:
    if waits_on(row, "person"):
        return "asks"
    return _STATE_MARKS.get(row.get("state", ""), "")


def render_pending_decisions(decisions: Sequence[Mapping[str, Any]], width: int = WIDTH) -> str:
    """Every open question with its answers and the command that gives each."""
    room = max(min(width, WIDTH), _LEAST_WIDTH)
    told = ["\n".join(_render_decision(each, room)) for each in decisions]
    return join_decisions(told, any(each.get("kind") == "gate" for each in decisions), room)


def join_decisions(told: Sequence[str], has_gate: bool, room: int = WIDTH) -> str:
    """Questions as one text; where there is a gate, how far one can rely on it."""
    if not told:
        return "No decision is waiting for you.\n"
    last = ["\n".join(wrap_text(_ONLY_MALICE, 0, room))] if has_gate else []
    return "\n\n".join([*told, *last]) + "\n"


def tell_decision(decision: Mapping[str, Any]) -> tuple[str, str]:
    """Its text before and behind who drives its run."""
    front, behind = _render_parts(decision, WIDTH)
    return "\n".join(front), "\n".join(behind)


def join_told_decision(front: str, driven: str, behind: str) -> str:
    """The whole text, with the driver if there is one."""
    driver = wrap_text(f"process: {driven}", 2, WIDTH) if driven else []
    return "\n".join([front, *driver, behind] if behind else [front, *driver])


def _render_decision(decision: Mapping[str, Any], width: int) -> list[str]:
    front, behind = _render_parts(decision, width)
    driven = decision.get("driven")
    return [*front, *_wrap_all([f"process: {driven}" if driven else ""], width), *behind]


def _render_parts(decision: Mapping[str, Any], width: int) -> tuple[list[str], list[str]]:
    get = decision.get
    title = get("heading") or get("title")
    front = wrap_text(f"{get('id')} {title}: {get('name')} ({get('kind')})", 0, width)
    # Members of a tree ask by the same names; the place says which of them asks.
    at = f", at {get('position')}" if "/" in str(get("position")) else ""
    front += wrap_text(f"waiting since {format_moment(get('asked_at', ''))}{at}", 2, width)
    lines = _render_request(get("request") or (), width)
    lines += _wrap_all(_list_remarks(decision), width)
    failure = get("failure") or {}
    lines += _render_findings(get("findings") or (), get("reports") or {}, width, bool(failure))
    lines += _wrap_all(list_failure_notes(failure), width)
    changed = get("changed") or {}
    if changed:
        told = f"changed since {changed['since']}: {', '.join(changed['difference'])}"
        lines += _wrap_all([told], width)
    differences = (get("difference") or {}, changed.get("difference") or {})
    for text in (text for each in differences for text in each.values()):
        lines += [f"    {cut_text(_plain(line), width - 4)}" for line in text.split("\n")]
    if get("needs_override"):
        lines += _wrap_all(["A check or review failed. To approve anyway, give a reason."], width)
    for option in get("options") or ():
        lines += _render_option(option, width, is_track=get("subject") == _TRACK)
    return front, lines


def name_answer(answer: str, *, is_track: bool = False) -> str:
    """Nothing failed where a track is asked; to waive means there that it was not needed."""
    if is_track and answer == "waived":
        return "Waive"
    return _ANSWERS.get(answer) or answer.replace("_", " ").capitalize()


def describe_effect(answer: str, meaning: str, then: str, *, is_track: bool) -> str:
    """What comes next; with what the answer counts as, where its name does not say it."""
    if then and (is_track or answer not in ("approved", "rejected")):
        return f"{meaning} ({then})"
    return then or meaning


def has_name(answer: str) -> bool:
    """The other answers are options of a question, in the words of whoever asked it."""
    return answer in _ANSWERS


def _render_option(option: Mapping[str, Any], width: int, *, is_track: bool) -> list[str]:
    """What the answer is called, what it does, and the command that gives it."""
    answer, meaning, then = option["answer"], option["meaning"], option.get("then") or ""
    command = f"      {one_line(option['command'])}"
    if has_name(answer):
        name = name_answer(answer, is_track=is_track)
        effect = describe_effect(answer, meaning, then, is_track=is_track)
        return [*_wrap_all([f"{name}: {effect}"], width), command]
    follows = wrap_text(f"then: {then}", 6, width) if then else []
    return [*_wrap_all([f"{answer}: {meaning}"], width), *follows, command]


def _wrap_all(texts: Iterable[str], width: int) -> list[str]:
    return [line for text in texts if text for line in wrap_text(text, 2, width)]


def list_failure_notes(failure: Mapping[str, Any]) -> list[str]:
    """How often it was tried, what the agent said last and was not allowed, what it changed."""
    get = failure.get
    told = [f"{', '.join(get('checks') or ())} ({get('attempt')})"] if get("checks") else []
    if get("claim"):
        told.append(f"the agent said last: {clip_text(one_line(get('claim')), _CLAIM_SHOWN)}")
    told += [f"denied to the agent: {what}" for what in get("denied") or ()]
    return [*told, *([f"what it changed: {get('changes')}"] if get("changes") else [])]


def _list_remarks(decision: Mapping[str, Any]) -> list[str]:
    """What is asked, and what is to be read before it is answered."""
    get = decision.get
    return [
        *dict.fromkeys(
            (
                get("question") or "",
                get("description") or "",
                *(get("reason") or "").split("\n"),
            )
        ),
        *(f"review of {missing}" for missing in get("reviews") or ()),
        *(f"your answer cannot be used yet: {each}" for each in get("problems") or ()),
        *(get("settings") or ()),
        *_list_files_to_read(get("worktree") or "", get("artifacts") or (), get("missing") or ()),
    ]


def _list_files_to_read(worktree: str, paths: Sequence[str], missing: Sequence[str]) -> list[str]:
    """Some of them by name; an answer is for all. What is missing is said."""
    told = [
        f"{'missing' if path in missing else 'read'}: "
        + "/".join(filter(None, (worktree, _name_file(path))))
        for path in sorted(paths, key=lambda path: path not in missing)
    ]
    over = len(told) - _MOST_READ
    rest = f"read: {over} more files; `porch pending --json` names them all"
    return told if over <= 0 else [*told[:_MOST_READ], rest]


def _name_file(path: str) -> str:
    from porch.model.track_names import FILE, LINK

    return f"{path.removesuffix(LINK)} (a link)" if path.endswith(LINK) else path.removesuffix(FILE)


def _render_request(lines: Iterable[str], width: int) -> list[str]:
    told = [f"    {cut_text(one_line(line), width - 4)}" for line in lines]
    return ["  asked for:", *told] if told else []


def _render_findings(
    findings: Iterable[Mapping[str, str]],
    reports: Mapping[str, str],
    width: int,
    is_failure: bool,
) -> list[str]:
    from porch.text.telling_line import find_telling_line

    lines = []
    for found in findings:
        lines += wrap_text(f"{found['by']}: {found['finding']}", 4, width)
    for name, report in reports.items():
        telling = find_telling_line(report)
        lines += wrap_text(f"{name}: {telling}", 4, width)
        end = [line for line in report.splitlines() if line.strip()][-_REPORT_END:]
        if is_failure and [line.strip() for line in end] != [telling]:
            lines += [f"      | {cut_text(_plain(line), width - 8)}" for line in end]
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
