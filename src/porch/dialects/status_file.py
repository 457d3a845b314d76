"""Status files that others wrote: understood as far as possible, the rest said out loud."""

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from porch.dialects.ended_states import COMPLETE, ENDED, GIVEN_UP
from porch.dialects.plan_headings import PlanPhase
from porch.errors import DefinitionError, Finding, Place
from porch.model.protocol import End, Protocol, State
from porch.text.fields import Fields
from porch.text.late_pattern import late_pattern
from porch.text.nodes import MapNode, Node
from porch.text.yaml_tree import read_yaml

# The seal that the status view writes; a test holds the two together.
_SEAL = late_pattern(r"^# porch seq=([0-9]{1,18}) sha256=[0-9a-f]{64}\s*\Z", re.MULTILINE)
_GATES: Mapping[str, str] = {
    "approved": "approved",
    "waived": "waived",
    "rejected": "rejected",
    "pending": "waiting",
    "waiting": "waiting",
    "requested": "waiting",
}
# Said by the file, of no use for going on; the journal counts and dates for itself.
_IGNORED_KEYS = (
    "current_phase",
    "worktree",
    "iteration",
    "started_at",
    "last_updated",
    "updated_at",
    "paused",
)
_PLAN_REREAD_NOTE = "the plan is read again"


class ForeignStatus(Struct, frozen=True):
    """What a file says of a run, in its own words; gates and items as far as it knows them."""

    id: str
    title: str
    protocol: str
    state: str
    item: str = ""
    gates: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    items: tuple[PlanPhase, ...] = ()
    finished: tuple[str, ...] = ()
    signed_seq: int | None = None
    notes: tuple[str, ...] = ()
    place: Place = field(default_factory=lambda: Place("status.yaml"))

    @property
    def is_history(self) -> bool:
        """Whether the file says that all is over, whatever its protocol was."""
        return self.state in ENDED


def read_status_file(text: str, file: str) -> ForeignStatus:
    """A status file of either generation; raises DefinitionError for what is no status at all."""
    node = read_yaml(text, file)
    if not isinstance(node, MapNode):
        message, fix = "this is not a status file: it has no keys", "remove it, or restore it"
        raise DefinitionError([Finding("not-a-status", message, node.place, fix)])
    sealed = _SEAL.search(text)
    return _StatusFileReader(node, file).status(int(sealed[1]) if sealed else None)


class _StatusFileReader:
    """Reads one file; every complaint becomes a note, because a person wants to go on."""

    def __init__(self, node: MapNode, file: str):
        self.fields = Fields(node, "a status file", [])
        self.file = file
        self.notes: list[str] = []

    def status(self, signed_seq: int | None) -> ForeignStatus:
        state = self._first("state", "current_state", "phase")
        gates = dict(self._gates())
        phases = self._statuses()
        items = tuple(self._items(phases))
        finished = tuple(item.id for item in items if phases.get(item.id) in COMPLETE)
        self._history()
        fields = self.fields
        fields.know(*_IGNORED_KEYS)
        known = ForeignStatus(
            fields.text("id"),
            fields.text("title"),
            fields.text("protocol"),
            state,
            fields.text("current_plan_phase"),
            gates,
            items,
            finished,
            signed_seq,
            place=fields.place("phase" if "phase" in fields else "state"),
        )
        return replace(known, notes=(*self.notes, *self._complaints()))

    def _first(self, *keys: str) -> str:
        told = [self.fields.text(key) for key in keys]
        return next(filter(None, told), "")

    def _gates(self) -> Iterator[tuple[str, dict[str, str]]]:
        gates = self.fields.mapping("gates")
        for name in gates.keys() if gates else ():
            gate = _read_mapping(gates.child(name)) if gates else None
            said = gate.text("status") if gate else gates.text(name) if gates else ""
            if said not in _GATES:
                self.notes.append(f"gate '{name}' says '{said}', which is read as not yet asked")
            found = {"status": _GATES.get(said, "waiting")}
            if gate:
                times = (gate.text(key) for key in ("decided_at", "approved_at", "requested_at"))
                at = next(filter(None, times), "")
                found |= {"at": at} if at else {}
            yield name, found

    def _statuses(self) -> dict[str, str]:
        """What the map of phases says of each."""
        phases = self.fields.mapping("phases")
        found = {}
        for name in phases.keys() if phases else ():
            phase = _read_mapping(phases.child(name)) if phases else None
            found[name] = phase.text("status") if phase else ""
        return found

    def _items(self, phases: dict[str, str]) -> Iterator[PlanPhase]:
        """The plan's phases; their own status counts where the map has none."""
        listed = self.fields.list_of_nodes("plan_phases")
        seen = set()
        for node in listed:
            phase = _read_mapping(node)
            id_ = phase.text("id") if phase else ""
            if phase is None or not id_ or id_ in seen:
                self.notes.append("an entry of 'plan_phases' has no id of its own; it is skipped")
                continue
            seen.add(id_)
            phases.setdefault(id_, self._own_status(id_, phase))
            title = phase.text("title") or id_
            yield PlanPhase(id_, title, phase.text("description"), "")
        yield from (PlanPhase(id_, id_, "", "") for id_ in phases if not listed)

    def _own_status(self, id_: str, phase: Fields) -> str:
        stages = phase.mapping("stages")
        said = phase.text("status")
        told = {name: stages.text(name) for name in stages.keys()} if stages else {}  # noqa: SIM118
        if told and all(status in COMPLETE for status in told.values()):
            return "complete"
        if any(status in COMPLETE for status in told.values()) and said not in COMPLETE:
            done = ", ".join(name for name, status in told.items() if status in COMPLETE)
            self.notes.append(f"{id_} had finished {done}; the whole phase is done again")
        return said

    def _history(self) -> None:
        for key in ("log", "history"):
            count = len(self.fields.list_of_nodes(key))
            if count:
                self.notes.append(
                    f"the entries of '{key}' ({count}) are not used; they stay in the file"
                )
        if self.fields.flag("build_complete"):
            self.notes.append("'build_complete' is ignored: the checks run again")

    def _complaints(self) -> Iterator[str]:
        yield from (f"unknown key '{key}'; it is ignored" for key in self.fields.unknown_keys())
        yield from (finding.message for finding in self.fields.findings)


def _read_mapping(node: Node | None) -> Fields | None:
    return Fields(node, "a status file", []) if isinstance(node, MapNode) else None


def match_state(protocol: Protocol, foreign: ForeignStatus) -> tuple[str, str, tuple[str, ...]]:
    """Where a run goes on: `complete`, or a state and perhaps an item, with what was assumed."""
    notes = []
    if foreign.protocol and foreign.protocol != protocol.name:
        notes.append(f"the file says protocol '{foreign.protocol}'; the run uses {protocol.name}")
    name, named_item = _state_and_item(protocol, foreign.state)
    if name == "" and foreign.state in COMPLETE:
        return "complete", "", tuple(notes)
    if name == "" and foreign.state in GIVEN_UP:
        raise _run_ended_error(foreign)
    if name == "":
        first = _first_state_of_group(protocol, foreign)
        name = first.name
        if foreign.state not in (first.name, first.group):
            notes.append(
                f"'{foreign.state}' is not a state of {protocol.name}; the run starts at {name}"
            )
    actor = protocol.states[name].actor
    if isinstance(actor, End):
        if actor.outcome != "complete":
            raise _run_ended_error(foreign)
        return "complete", "", tuple(notes)
    item, note = _match_item(protocol.states[name], foreign, named_item)
    return name, item, (*notes, *note)


def _state_and_item(protocol: Protocol, text: str) -> tuple[str, str]:
    """`implement:phase_2` is a state and an item where `implement` is repeated."""
    if text in protocol.states:
        return text, ""
    name, _, item = text.rpartition(":")
    known = protocol.states.get(name)
    return (name, item) if known is not None and known.loop else ("", "")


def _first_state_of_group(protocol: Protocol, foreign: ForeignStatus) -> State:
    words = foreign.state.removeprefix("failed:").removeprefix("blocked:").split(":")
    found = (state for state in protocol.states.values() if state.group == words[0])
    first = next(found, None)
    if first is not None:
        return first
    groups = list(dict.fromkeys(state.group for state in protocol.states.values()))
    from difflib import get_close_matches

    near = get_close_matches(words[0], groups, n=1)
    fix = f"did you mean '{near[0]}'?" if near else f"phases: {', '.join(groups)}"
    message = f"'{foreign.state}' is neither a state nor a phase of '{protocol.name}'"
    raise DefinitionError([Finding("unknown-state", message, foreign.place, fix)])


def _run_ended_error(foreign: ForeignStatus) -> DefinitionError:
    message = f"the file says that the run ended: {foreign.state}"
    fix = "write in it the state to continue from, or remove it to start again"
    return DefinitionError([Finding("run-ended", message, foreign.place, fix)])


def _match_item(state: State, foreign: ForeignStatus, named: str) -> tuple[str, tuple[str, ...]]:
    asked = named or foreign.item
    ids = [item.id for item in foreign.items]
    if not state.loop:
        return "", ()
    if asked in ids:
        return asked, ()
    note = (f"'{asked}' is not a phase of the file; {_PLAN_REREAD_NOTE}",) if asked else ()
    if not ids:
        return "", note
    return next((id_ for id_ in ids if id_ not in foreign.finished), ""), note
