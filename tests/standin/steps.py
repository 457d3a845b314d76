"""What a stand-in vendor does next, said once for all vendors: a test writes a turn as steps."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

Where = Literal["", "start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool of one vendor by its own name; a text as input is a free-form call of codex."""

    tool: str
    input: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class Edit:
    """Write a file whole, by whatever tool the command line offers for that."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Read:
    path: str


@dataclass(frozen=True, slots=True)
class Run:
    command: str


Action = Call | Edit | Read | Run


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer that is no stream: an HTTP status in the vendor's own form."""

    code: int
    message: str
    retry_after: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model.

    `hangs` and `drops` say where the stream goes silent or is cut: before its first byte
    (`start`), after its head (`middle`), or when everything but its end was sent (`end`). `delay_s`
    passes before the first byte.
    """

    text: str = ""
    actions: tuple[Action, ...] = ()
    answer: Any = None
    failure: Failure | None = None
    refused: bool = False
    hangs: Where = ""
    drops: Where = ""
    tokens: tuple[int, int] = (100, 20)
    chunk: int = 20
    pause_s: float = 0
    delay_s: float = 0

    def saying(self, text: str) -> "Step":
        return replace(self, text=text)

    def usage(self, tokens_in: int, tokens_out: int) -> "Step":
        return replace(self, tokens=(tokens_in, tokens_out))

    def slowly(self, pause_s: float, chunk: int = 20) -> "Step":
        """`chunk` characters of text at a time, and a pause after each."""
        return replace(self, pause_s=pause_s, chunk=chunk)

    def late(self, delay_s: float) -> "Step":
        """The first byte comes after this time."""
        return replace(self, delay_s=delay_s)

    def and_then(self, other: "Step") -> "Step":
        """The calls of both in one answer."""
        return replace(self, actions=(*self.actions, *other.actions))


@dataclass(frozen=True, slots=True)
class Tries:
    """Different answers to the same request, asked again and again; the last one stays."""

    steps: tuple[Step, ...]


def say(text: str) -> Step:
    return Step(text=text)


def call(tool: str, input: Mapping[str, Any] | str) -> Step:
    return Step(actions=(Call(tool, input),))


def edit_file(path: str | Path, text: str) -> Step:
    return Step(actions=(Edit(str(path), text),))


def read_file(path: str | Path) -> Step:
    return Step(actions=(Read(str(path)),))


def run_command(command: str) -> Step:
    return Step(actions=(Run(command),))


def answer(value: Any) -> Step:
    """A structured answer: by the vendor's own way if a schema was asked for, else as JSON text."""
    return Step(answer=value, text=json.dumps(value))


def status(
    code: int,
    message: str = "the stand-in says no",
    retry_after: str = "",
    headers: Mapping[str, str] | None = None,
) -> Step:
    more = tuple((headers or {}).items())
    return Step(failure=Failure(code, message, retry_after, more))


def refusal(text: str = "") -> Step:
    return Step(text=text, refused=True)


def drop(where: Where = "middle", text: str = "cut off") -> Step:
    return Step(text=text, drops=where)


def hang(where: Where = "middle", text: str = "and then nothing") -> Step:
    return Step(text=text, hangs=where)


def tries(*steps: Step) -> Tries:
    return Tries(steps)
