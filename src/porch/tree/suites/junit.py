"""Reads the JUnit XML of a test runner, which the code under test may have written: trust nothing.

A DOCTYPE, and with it every entity, is refused. The caller removes an old report before the run.
"""

import os
import re
import stat
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from porch.text.late_pattern import late_pattern
from porch.text.printable import make_printable
from porch.tree.suites.suite_results import CaseResult, SuiteCase, clip_text

MOST_BYTES = 32 * 1024 * 1024
MOST_DEPTH = 100
MOST_CASES = 200_000
MOST_ID = 1000
_ROOT_ELEMENTS = ("testsuites", "testsuite")
_WORST_LAST: tuple[CaseResult, ...] = ("passed", "skipped", "failed", "error")
_RESULT_BY_ELEMENT: dict[str, CaseResult] = {
    "failure": "failed",
    "error": "error",
    "skipped": "skipped",
}
# GoogleTest leaves a disabled test without any child.
_NOT_RUN_STATUSES = ("notrun", "disabled")
_DECLARED_ENCODING = late_pattern(
    rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})[\"']"
)
# Python would also decode by names (punycode) that take quadratic time; these do not.
_SAFE_ENCODINGS = late_pattern(
    r"iso-8859-\d+|windows-125\d|koi8-[ru]|gb(?:k|2312|18030)|big5|shift_jis|euc-(?:jp|kr)"
)
# Forbidden in XML, yet runners copy them from the output of tests; and the controls beyond ASCII,
# of which a long row would make the removal of escape sequences slow.
_FORBIDDEN_CHARACTER = late_pattern(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]"
)
_CHARACTER_REFERENCE = late_pattern(r"&#(?:(\d{1,7})|x([0-9A-Fa-f]{1,6}));")


class _UnreadableReport(Exception):
    """Not a report that we read."""


def read_junit_report(path: str, root: str = "") -> tuple[SuiteCase, ...] | None:
    """The cases of a report, or nothing where none can be read.

    Paths below `root` become relative, so that cases of two worktrees can be compared.
    """
    try:
        text = _decode_report(_read_report_bytes(path))
        return _number_repeated_ids(
            _parse_cases(_make_paths_relative(text, root) if root else text)
        )
    except (_UnreadableReport, OSError, ValueError):
        return None


def _read_report_bytes(path: str) -> bytes:
    # Without blocking, because what lies there may be a pipe that nobody writes to.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        data = file.read(MOST_BYTES + 1) if is_file else b""
    if len(data) > MOST_BYTES:
        raise _UnreadableReport
    return data


def _decode_report(data: bytes) -> str:
    text = data.decode(_find_encoding(data), errors="replace").removeprefix("\ufeff")
    return _FORBIDDEN_CHARACTER.sub(
        "?", _CHARACTER_REFERENCE.sub(_replace_forbidden_reference, text)
    )


def _make_paths_relative(text: str, root: str) -> str:
    for place in (os.path.realpath(root), root):
        text = text.replace(place.rstrip("/") + "/", "") if place.strip("/") else text
    return text


def _find_encoding(data: bytes) -> str:
    if data.startswith((BOM_UTF16_BE, BOM_UTF16_LE)):
        return "utf-16"
    declared = _DECLARED_ENCODING.match(data)
    name = declared[1].decode().lower() if declared else ""
    return name if _SAFE_ENCODINGS.fullmatch(name) else "utf-8"


def _replace_forbidden_reference(reference: re.Match[str]) -> str:
    point = int(reference[1]) if reference[1] else int(reference[2], 16)
    is_character = point <= 0x10FFFF and not _FORBIDDEN_CHARACTER.match(chr(point))
    return reference[0] if is_character else "?"


def _parse_cases(text: str) -> list[SuiteCase]:
    from xml.parsers import expat

    reader = _ReportReader()
    # The text is decoded already, whatever encoding its first line claims.
    parser = expat.ParserCreate("UTF-8")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = reader.doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as problem:
        raise _UnreadableReport from problem
    return reader.cases


class _ReportElement(NamedTuple):
    """An open element, with what it and those around it say of where we are."""

    name: str
    file: str
    suite: str


class _ReportReader(Struct):
    """Follows the elements; what stands below a verdict is its text."""

    cases: list[SuiteCase] = field(default_factory=list)
    _open: list[_ReportElement] = field(default_factory=list)
    _case: SuiteCase | None = None
    _verdict: int = 0
    _message: str = ""
    _body: list[str] = field(default_factory=list)

    def doctype(self, name: str, system: object, public: object, has_subset: object) -> None:
        raise _UnreadableReport

    def start(self, name: str, about: dict[str, str]) -> None:
        if len(self._open) == MOST_DEPTH or not (self._open or name in _ROOT_ELEMENTS):
            raise _UnreadableReport
        above = self._open[-1] if self._open else _ReportElement("", "", "")
        suite = about.get("name", "") if name == "testsuite" else above.suite
        self._open.append(_ReportElement(name, about.get("file") or above.file, suite))
        if self._verdict:
            return
        if name == "testcase":
            self._begin(about, self._open[-1].file)
        elif name in _RESULT_BY_ELEMENT:
            self._verdict = len(self._open)
            self._message = about.get("message") or about.get("type", "")

    def _begin(self, about: dict[str, str], file: str) -> None:
        if self._case is not None or len(self.cases) >= MOST_CASES:
            raise _UnreadableReport
        where, name = about.get("classname") or file, about.get("name", "")
        whole = _one_line(f"{where}::{name}" if where else name)
        was_run = about.get("status", "").lower() not in _NOT_RUN_STATUSES
        self._case = SuiteCase(whole, "passed" if was_run else "skipped", "", _one_line(file))

    def characters(self, text: str) -> None:
        if self._verdict:
            self._body.append(text)

    def end(self, name: str) -> None:
        if self._verdict == len(self._open):
            self._judge(_RESULT_BY_ELEMENT[name], self._open[-1])
        elif self._case is not None and name == "testcase" and not self._verdict:
            self.cases.append(self._case)
            self._case = None
        self._open.pop()

    def _judge(self, result: CaseResult, at: _ReportElement) -> None:
        text = _join_failure_text(self._message, "".join(self._body))
        self._verdict, self._body = 0, []
        if self._case is None:
            # A verdict on a whole suite, outside any case, is bad news of its own.
            file = _one_line(at.file)
            self.cases.append(SuiteCase(_one_line(at.suite) or file, result, text, file))
        elif _WORST_LAST.index(result) > _WORST_LAST.index(self._case.result):
            self._case = replace(self._case, result=result, text=text)


def _join_failure_text(message: str, body: str) -> str:
    """Pytest marks the lines that say why with an E; elsewhere the whole text is taken."""
    marked = [line[1:] for line in body.splitlines() if line.startswith("E ")]
    said = " ".join(make_printable(message).split())
    why = " ".join(make_printable("\n".join(marked) or body).split())
    if said in why or why in said:
        return clip_text(max(said, why, key=len))
    return clip_text(f"{said}: {why}")


def _one_line(text: str) -> str:
    return " ".join(make_printable(text).split())[:MOST_ID]


def _number_repeated_ids(cases: list[SuiteCase]) -> tuple[SuiteCase, ...]:
    """Ids that stand twice are counted in the order of the report, around those that are taken."""
    taken = {case.id for case in cases}
    met: dict[str, int] = {}
    numbered = []
    for case in cases:
        count = met.get(case.id, 0) + 1
        new = case.id
        while count > 1 and (new := f"{case.id}[{count}]") in taken:
            count += 1
        taken.add(new)
        met[case.id] = count
        numbered.append(replace(case, id=new))
    return tuple(numbered)
