"""What a caller asks of a drive, who watches it, and how it came to rest."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from porch.machine.records import JournalRecord
from porch.machine.state import RunState
from porch.model.protocol import Protocol

if TYPE_CHECKING:  # an event loop is for whoever drives
    from porch.run.engine.driver import RestReason


class RunRequest(Struct, frozen=True):
    """What the caller asks of `porch run`.

    A run that is adopted `paused` waits until a person resumes it. `words` are what stands behind
    the protocol, `request_option` and `issue` what those options were given; `request` is the text
    that they lead to, and `request_from` where it came from. A new run works in a worktree of its
    own unless it is asked to stay `in_checkout`. `trust` are
    digests of settings that a person trusts for this run alone.
    """

    protocol: str
    subject: str = ""
    title: str = ""
    words: tuple[str, ...] = ()
    request_option: str = ""
    issue: str = ""
    request: str = ""
    request_from: str = ""
    inputs: Mapping[str, str] | None = None
    agent: str = ""
    script: str = ""
    adopt: bool = False
    paused: bool = False
    take_over: bool = False
    hands_off: tuple[str, ...] = ()
    as_person: bool = False
    into: str = ""
    in_checkout: bool = False
    trust: tuple[str, ...] = ()


class DriveWatch(Struct, frozen=True):
    """Who watches a drive: each record, each line of an agent, and each idle moment."""

    record: Callable[[JournalRecord, RunState], None] = lambda _record, _state: None
    output: Callable[[str, str], None] = lambda _effect, _text: None
    idle: Callable[[], None] = lambda: None
    started: Callable[[], None] = lambda: None
    protocol: Callable[[Protocol], None] = lambda _protocol: None
    notice: Callable[[str], None] = lambda _text: None


class DriveResult(Struct, frozen=True):
    """How a drive came to rest."""

    name: str
    rest: "RestReason"
    state: RunState
