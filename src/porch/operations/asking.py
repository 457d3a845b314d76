"""What a caller asks of a drive, who watches it, and how it came to rest."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from porch.machine.records import Record
from porch.machine.state import State
from porch.runtime.driver import Rest


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller asks of `porch run`."""

    protocol: str
    subject: str = ""
    title: str = ""
    inputs: Mapping[str, str] | None = None
    agent: str = ""
    script: str = ""
    adopt: bool = False
    take_over: bool = False
    hands_off: tuple[str, ...] = ()
    as_person: bool = False
    into: str = ""


@dataclass(frozen=True, slots=True)
class Watch:
    """Who watches a drive: each record, each line of an agent, and each idle moment."""

    record: Callable[[Record, State], None] = lambda _record, _state: None
    output: Callable[[str, str], None] = lambda _effect, _text: None
    idle: Callable[[], None] = lambda: None
    started: Callable[[], None] = lambda: None
    notice: Callable[[str], None] = lambda _text: None


@dataclass(frozen=True, slots=True)
class Driven:
    """How a drive came to rest."""

    name: str
    rest: Rest
    state: State
