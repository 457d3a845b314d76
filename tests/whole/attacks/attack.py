"""What one attempt of an agent is: who tries what, and what it must come to."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from tests.whole.attacks.site import Site

Agent = Literal["careless", "curious", "malicious"]
Result = Literal["prevented", "detected", "documented"]


class Seen(Struct, frozen=True):
    """What an attempt came to: whether it got what it wanted, and where porch says so."""

    reached: bool
    where: str = ""

    @property
    def result(self) -> Result:
        if not self.reached:
            return "prevented"
        return "detected" if self.where else "documented"


class Attack(Struct, frozen=True, kw_only=True):
    """One row of the table, and how it is tried; `where` is where a person reads about it."""

    id: str
    group: str
    agent: Agent
    tries: str
    result: Result
    where: str = ""
    prepared: str = ""  # the fixture that this begins with; nothing for an empty repository
    attempt: Callable[[Site], Seen]
