"""Places, findings and the exception family: every complaint says what, where and what to do."""

from collections.abc import Iterable, Sequence
from typing import Literal, TypedDict

from msgspec import Struct

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_INPUT = 2
EXIT_WAITING = 3
EXIT_BUSY = 4
EXIT_UNTRUSTED = 5
EXIT_OUTSIDE = 6
EXIT_BUG = 70
EXIT_INTERRUPTED = 130

Severity = Literal["error", "warning", "note"]


class Place(Struct, frozen=True):
    """A point in a file; line and column count from 1, and 0 means the whole file."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


class FindingShape(TypedDict):
    """A finding as commands print it for programs."""

    code: str
    severity: str
    message: str
    file: str | None
    line: int | None
    column: int | None
    fix: str


class Finding(Struct, frozen=True):
    """One thing that is wrong or remarkable in a definition."""

    code: str
    message: str
    place: Place | None = None
    fix: str = ""
    severity: Severity = "error"

    def __str__(self) -> str:
        lines = [f"{self.severity}[{self.code}]: {self.message}"]
        if self.place is not None:
            lines.append(f"  --> {self.place}")
        if self.fix:
            lines.append(f"  fix: {self.fix}")
        return "\n".join(lines)

    def as_json(self) -> FindingShape:
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "file": self.place.file if self.place else None,
            "line": self.place.line if self.place else None,
            "column": self.place.column if self.place else None,
            "fix": self.fix,
        }


def errors_in(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity == "error"]


class PorchError(Exception):
    """Something a person must hear about; the subclass says whose turn it is."""

    exit_code = EXIT_BUG
    code = "bug"

    def __init__(self, message: str, fix: str = "", code: str = "", place: Place | None = None):
        super().__init__(message)
        self.findings: Sequence[Finding] = (Finding(code or self.code, message, place, fix),)

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings)


class DefinitionError(PorchError):
    """A protocol, plan or settings file is wrong; carries every finding, not the first."""

    exit_code = EXIT_INPUT
    code = "definition"

    def __init__(self, findings: Sequence[Finding]):
        super().__init__(findings[0].message if findings else "the protocol definition has errors")
        self.findings = tuple(findings)


class UsageError(PorchError):
    """The command or its input must be changed."""

    exit_code = EXIT_INPUT
    code = "usage"


class FailedError(PorchError):
    """The protocol ran and failed."""

    exit_code = EXIT_FAILED
    code = "failed"


class BusyError(PorchError):
    """Somebody else holds what is needed."""

    exit_code = EXIT_BUSY
    code = "run-busy"


class StateError(PorchError):
    """What is on disk cannot be trusted."""

    exit_code = EXIT_UNTRUSTED
    code = "state"


class OutsideError(PorchError):
    """Git, an agent, the disk: something that is not ours failed."""

    exit_code = EXIT_OUTSIDE
    code = "outside"


def suggest_name(word: str, known: Iterable[str]) -> str:
    """The beginning of a fix for a word that was mistyped; empty if nothing is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1)
    return f"did you mean '{near[0]}'? " if near else ""
