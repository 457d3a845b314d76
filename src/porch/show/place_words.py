"""Where something happened, in the words of a protocol instead of a position; builtins only.

`implement:checks:phase_1#2` is "implement, plan phase 1, attempt 2". The names that a position does
not carry (titles, how many plan phases there are) come as plain data from `status.names_of`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from porch.show.shapes import PlaceNames as Names

    # Which attempt, and of how many.
    Tried = tuple[int, int]

# Steps that every phase may have; the line itself says that it is about a check or a review.
_STEPS = {
    "checks": "checks",
    "check": "checks",
    "verification": "verification",
    "recheck": "checks again",
    "consult": "review",
    "gate": "your approval",
    "commit": "commit",
    "phase_completion": "final checks",
}
_DECISIONS = {
    "failed": "your decision",
    "blocked": "your answer",
    "undecided": "your decision",
    "budget": "your decision",
    "changed": "your approval again",
}
UNCOUNTED: Tried = (0, 0)
FAILURE_ANSWERS = "retry, skip or stop"  # of nearly all of them
_COUNTED = {"": "attempt", "checks": "attempt", "phase_completion": "attempt", "consult": "round"}


class ParsedPosition:
    """The parts of a position: `step` is one of those that porch adds to a phase itself."""

    __slots__ = ("decision", "instance", "item", "phase", "step", "visit")

    def __init__(self, position: str, names: Names) -> None:
        front, _, visit = position.rpartition("#")
        self.instance, _, label = (front or visit).rpartition("/")
        parts = label.split(":")
        self.visit = int(visit) if front and visit.isdecimal() else 1
        self.decision = parts.pop(0) if len(parts) > 1 and parts[0] in _DECISIONS else ""
        self.item = parts.pop() if len(parts) > 1 and _is_item(parts[-1], names) else ""
        self.step = parts.pop() if len(parts) > 1 and parts[-1] in _STEPS else ""
        self.phase = " ".join([_phase_titles(names).get(parts[0], parts[0]), *parts[1:]])


def _phase_titles(names: Names) -> Mapping[str, str]:
    titles: Mapping[str, str] = names.get("titles") or {}
    return titles


def _is_item(word: str, names: Names) -> bool:
    return word in (names.get("items") or {}) or _plan_phase_number(word) != ""


def _plan_phase_number(word: str) -> str:
    """What plan phases are called where the plan itself does not name them."""
    front, _, number = word.partition("_")
    return number if front == "phase" and number.isdecimal() else ""


def item_words(item: str, names: Names) -> str:
    """`phase_1` as "plan phase 1 of 3", or without the number that nobody knows."""
    known = (names.get("items") or {}).get(item)
    return str(known) if known else f"plan phase {_plan_phase_number(item) or item}"


def place_words(position: str, names: Names, tried: Tried = UNCOUNTED) -> str:
    """Phase, plan phase and attempt; `tried` says which of how many, where that is known."""
    place = ParsedPosition(position, names)
    words = [f"{place.instance}: {place.phase}" if place.instance else place.phase]
    words += [item_words(place.item, names)] if place.item else []
    is_counted = place.phase.partition(" ")[0] not in (names.get("uncounted") or ())
    if place.step in _COUNTED and not place.decision and is_counted:
        words.append(attempt_words(place.visit, tried, _COUNTED[place.step]))
    return ", ".join(filter(None, words))


def attempt_words(begun: int, tried: Tried = UNCOUNTED, counted: str = "attempt") -> str:
    """`attempt 2 of 4`; counted anew it is `attempt 6 (2 of 4 this time)`."""
    number, limit = tried
    if not limit:
        return f"{counted} {begun}" if begun > 1 else ""
    if begun <= number:
        return f"{counted} {number} of {limit}"
    return f"{counted} {begun} ({number} of {limit} this time)"


def next_words(position: str, source: str, names: Names, tried: Tried = UNCOUNTED) -> str:
    """What comes next; inside the same phase only the step is worth a word."""
    place, before = ParsedPosition(position, names), ParsedPosition(source, names)
    step = _DECISIONS.get(place.decision) or _STEPS.get(place.step, "")
    same = ("instance", "phase", "item")
    if step and source and all(getattr(place, each) == getattr(before, each) for each in same):
        told = attempt_words(place.visit, tried) if tried[1] and not place.decision else ""
        return f"{step}, {told}" if told else step
    if source and place.instance == before.instance:
        position = position[len(place.instance) + 1 :] if place.instance else position
    return f"{place_words(position, names, tried)}{': ' if step else ''}{step}"


def _state_label(position: str) -> str:
    """A state, and behind it the item that it stands at."""
    return position.rpartition("#")[0].rpartition("/")[2]


def _list_answers(position: str, names: Names) -> str:
    """Not every failure can be skipped; the names say what is offered instead."""
    label = _state_label(position)
    known = (names.get("answers") or {}).items()
    told = (words for state, words in known if f"{label}:".startswith(f"{state}:"))
    return next(told, FAILURE_ANSWERS)


def decision_words(position: str, name: str, names: Names) -> str:
    """What a person is asked, in a sentence."""
    if question := question_words(position, name, names):
        return question
    what = "approval" if ParsedPosition(position, names).step == "gate" else "decision"
    return f"{place_words(position, names)}: waiting for your {what}: {name}"


def question_words(position: str, name: str, names: Names) -> str:
    """The question itself; empty where there is only the name of what waits."""
    place, where = ParsedPosition(position, names), place_words(position, names)
    match place.decision:
        case "failed":
            item = f" ({item_words(place.item, names)})" if place.item else ""
            return f"phase '{place.phase}'{item} failed: {_list_answers(position, names)}?"
        case "blocked":
            return f"{where}: waiting for your answer to the agent's question ({name})"
        case "budget":
            return f"the budget {place.phase} is used up: continue or stop?"
        case _:
            return str((names.get("questions") or {}).get(_state_label(position)) or "")


class PlaceWords:
    """How a line names places: in the words of the protocol, or by positions where one asks."""

    def __init__(self, names: Names | None = None, verbose: bool = False) -> None:
        self._names = names or {}
        self._verbose = verbose

    def place(self, position: str) -> str:
        return position if self._verbose else place_words(position, self._names)

    def ways(self, positions: list[str], source: str, tried: Tried = UNCOUNTED) -> str:
        """What comes next; a run may go on in several places."""
        if self._verbose:
            return "".join(f" -> {position}" for position in positions)
        told = (next_words(position, source, self._names, tried) for position in positions)
        return f"; next: {' and '.join(told)}"

    def item(self, item: str) -> str:
        return item if self._verbose else item_words(item, self._names)

    def asked(self, position: str, name: str) -> str:
        if self._verbose:
            return f"{position}: waiting for your decision: {name}"
        return decision_words(position, name, self._names)

    def tried(self, budget: str, spent: int) -> Tried:
        """Which attempt comes next, of how many; zeros if this budget counts something else."""
        name, limit = self._budget(budget)
        is_retry = ":" in name or name == "phase_completion"
        if self._verbose or not limit or not is_retry or self._counts_rounds(name):
            return UNCOUNTED
        return spent + 1, limit + 1

    def charge(self, budget: str, spent: int) -> str:
        """How often something was tried again, of how many times."""
        name, limit = self._budget(budget)
        first = int((self._names.get("firsts") or {}).get(name) or 0)
        spent, limit = spent + first, limit + first
        of = f" of {limit}" if limit else ""
        if self._counts_rounds(name):
            return f"; review round {spent + 1}" + (f" of {limit + 1}" if limit else "")
        is_retry = ":" in budget or name == "phase_completion"
        return f"; {'retry' if is_retry else name} {spent}{of}"

    def _counts_rounds(self, name: str) -> bool:
        return name in (self._names.get("rounds") or ())

    def _budget(self, budget: str) -> tuple[str, int]:
        """Its name, without the instance and the plan phase it is counted for, and its limit."""
        name = budget.rpartition("/")[2].partition("@")[0]
        limits = {**(self._names.get("limits") or {}), **(self._names.get("rounds") or {})}
        return name, int(limits.get(name) or 0)
