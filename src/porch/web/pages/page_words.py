"""Addresses, times and amounts as the pages word them."""

from datetime import datetime
from urllib.parse import quote, urlencode

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def run_address(project: str, run: str, part: str = "") -> str:
    front = f"/run/{quote(project, safe='')}/{quote(run, safe='')}"
    return f"{front}/{part}" if part else front


def decision_address(project: str, run: str, position: str) -> str:
    return f"{run_address(project, run, 'decision')}?{urlencode({'at': position})}"


def plan_address(project: str, run: str) -> str:
    return f"/plans/{quote(project, safe='')}/{quote(run, safe='')}"


def parse_moment(text: str) -> datetime | None:
    """An instant of a journal; none if somebody wrote something else there."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def describe_time_since(at: str, now: datetime) -> str:
    """How long ago: `22 min`; empty if nobody knows."""
    then = parse_moment(at)
    return describe_seconds((now - then).total_seconds()) if then and then.tzinfo else ""


def describe_seconds(seconds: float) -> str:
    """One unit, because nobody needs the minutes of a wait of days."""
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min"
    if whole < _DAY:
        minutes = whole % _HOUR // _MINUTE
        return f"{whole // _HOUR} h {minutes} min" if minutes else f"{whole // _HOUR} h"
    days = whole // _DAY
    return "1 day" if days == 1 else f"{days} days"


def count_of(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def describe_size(number: int) -> str:
    """Bytes as people read them: `12 bytes`, `3.4 KB`."""
    if number < 1_000:
        return count_of(number, "byte")
    for unit, size in (("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)):
        if number < size * 1_000 or unit == "GB":
            return f"{number / size:,.1f} {unit}"
    return ""
