"""The row of a run from what is written, as plain JSON: for lists, which load nothing of a machine.

It knows the few moves that a row depends on, and the usual ways of waiting. Of everything else it
says that it does not know; then the run is folded, and its row made of the state (`run_picture`).
"""

from __future__ import annotations

from porch.show.board import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    Raw = dict[str, Any]

# The state in which a person is asked to approve again; `machine.approvals` has it from there.
CHANGED = "changed"
# What these change is no part of a row.
NO_MATTER = (
    *("Remembered", "Forgot", "Charged", "Settled", "Asked", "Closed", "Itemised", "Finished"),
    *("PinnedSettings", "GateNoted", "Held", "Spawned", "Awaited", "Told"),
)
_WAITS = {"Git": "git", "Children": "its children", "End": "nobody"}


class UnknownRow(Exception):
    """This needs the whole machine."""


class RawRun:
    """The part of a state that a row is made of."""

    def __init__(self, state: Raw) -> None:
        self.run: Raw = state["run"]
        self._positions: dict[str, Raw] = dict(state.get("positions") or {})
        self._marks: dict[str, Any] = dict(state.get("marks") or {})
        self._is_paused = bool(state.get("paused"))
        self._outcome = str(state.get("outcome") or "")

    def apply(self, moves: Iterable[Raw]) -> None:
        for move in moves:
            tag = move["is"]
            if tag not in NO_MATTER:
                self._apply_move(tag, move)

    def _apply_move(self, tag: str, move: Raw) -> None:
        match tag:
            case "Entered":
                self._positions[move["position"]] = move
            case "Left":
                self._positions.pop(move["position"], None)
                self._marks.pop(move["position"], None)
            case "Marked":
                self._mark(move["position"], move["key"])
            case "Postponed":
                self._mark(move["position"], f"wait/{move['work']}")
            case _:
                self._apply_to_run(tag, move)

    def _apply_to_run(self, tag: str, move: Raw) -> None:
        match tag:
            case "Paused" | "Resumed":
                self._is_paused = tag == "Paused"
            case "Pinned":
                self.run = {**self.run, "digest": move["digest"]}
            case "Delivered":
                self.run = {**self.run, "delivery": move}
            case "Ended":
                self._outcome = self._outcome if move.get("instance") else str(move["outcome"])
            case _:
                raise UnknownRow(tag)

    def _mark(self, position: str, key: str) -> None:
        self._marks[position] = {**self._marks.get(position, {}), key: True}

    def make_row(self, states: Mapping[str, Raw]) -> dict[str, str]:
        """Its row, by the states of its protocol."""
        run, delivery = self.run, self.run.get("delivery")
        told = {"id": run["id"], "title": run["title"], "protocol": run["protocol"]}
        told["state"] = delivery["how"] if delivery else self._outcome or self._describe_place()
        if run.get("heading"):
            told["heading"] = run["heading"]
        told["waits"] = self._describe_waits(states)
        return {key: _make_plain_line(value) for key, value in told.items()}

    def _describe_place(self) -> str:
        """Where the oldest position of the run itself is, else that of any instance."""
        standing = list(self._positions.items())
        own = [name for name, each in standing if not each.get("instance")]
        return [*own, *(name for name, _ in standing), ""][0].rpartition("#")[0]

    def _describe_waits(self, states: Mapping[str, Raw]) -> str:
        run = self.run
        if self._outcome:
            is_open = run.get("own_worktree") and not run.get("delivery")
            return f"porch finish {run['id'] or run['name']}" if is_open else ""
        if self._is_paused:
            return "porch resume"
        standing = self._positions.items()
        asked = [(name, each) for name, each in standing if each["state"] == CHANGED]
        waits = self._list_waits(asked or standing, states)
        return ", ".join(dict.fromkeys(waits))

    def _list_waits(
        self, standing: Iterable[tuple[str, Raw]], states: Mapping[str, Raw]
    ) -> Iterator[str]:
        for name, each in standing:
            kind = states.get(each["state"])
            if each["state"] == CHANGED and kind is None:
                yield f"you: {each.get('item') or ''}"
            elif kind is None or each["state"] == CHANGED:
                raise UnknownRow(each["state"])
            elif kind.get("loop") and not each.get("item"):
                yield "the plan"
            else:
                yield self._describe_actor(name, kind)

    def _describe_actor(self, position: str, kind: Raw) -> str:
        actor, marks = kind["actor"], self._marks.get(position, {})
        if any(key.startswith("wait/") for key in marks):
            raise UnknownRow("a wait has an end that is worked out")
        match actor["is"]:
            case "Agent":
                return "an agent"
            case "Check":
                return f"checks: {', '.join(each['name'] for each in actor['commands'])}"
            case "Panel":
                left = [name for name in actor["reviewers"] if f"review/{name}" not in marks]
                return f"reviews: {', '.join(left)}"
            case "Human" if actor.get("name"):
                return f"you: {actor['name']}"
            case "Join":
                return "other work" if kind.get("waits_for") else "`envoy` commands"
            case tag if tag in _WAITS:
                return _WAITS[tag]
            case tag:
                raise UnknownRow(tag)


def _make_plain_line(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        raise UnknownRow("a text that may hold more than can be shown")
    return one_line(text)
