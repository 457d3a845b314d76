"""One line of a look at the health of a project."""

from typing import Literal, TypedDict

from msgspec import Struct

LineStatus = Literal["ok", "warning", "missing"]


class DoctorLineShape(TypedDict):
    """The same as commands and pages show it."""

    status: LineStatus
    what: str
    fix: str
    more: list[str]
    stops: bool
    limit: str
    repair: str


class DoctorLine(Struct, frozen=True):
    """One thing that was looked at.

    `stops` where no run can begin without it; `limit` says what cannot be done, where others can.
    `repair` names what `codev doctor --fix` does about it, if that is safe.
    """

    status: LineStatus
    what: str
    fix: str = ""
    more: tuple[str, ...] = ()
    stops: bool = False
    limit: str = ""
    repair: str = ""

    def as_json(self) -> DoctorLineShape:
        return {
            "status": self.status,
            "what": self.what,
            "fix": self.fix,
            "more": list(self.more),
            "stops": self.stops,
            "limit": self.limit,
            "repair": self.repair,
        }
