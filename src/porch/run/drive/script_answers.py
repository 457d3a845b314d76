"""Scripts: which one a run uses, and answering its decisions through the ordinary inbox."""

import os

from porch.agents.scripted.script import Script, ScriptedDecision
from porch.agents.scripted.script_reader import (
    load_script,
    read_script,
    with_missing_answers,
)
from porch.errors import UsageError
from porch.machine import moves as m
from porch.machine.records import JournalRecord
from porch.machine.state import CHANGED, Decision, RunState
from porch.model.protocol import Protocol
from porch.run.definitions.step_files import PACKAGED_PROTOCOLS, SCRIPT
from porch.run.drive.script_names import ScriptNames
from porch.run.engine.fact_redaction import redact_wish
from porch.store import inbox, payloads
from porch.system.document_file import read_document

EXITS = {
    "approve": "approved",
    "reject": "rejected",
    "decline": "declined",
    "override": "waived",
    "answer": "answered",
    "retry": "retry",
    "skip": "skip",
    "stop": "stopped",
}


def read_protocol_script(protocol_file: str) -> str:
    """The text of the script beside a protocol; a copy of a packaged one has none of its own."""
    own = os.path.dirname(os.path.abspath(protocol_file))
    packaged = os.path.join(PACKAGED_PROTOCOLS, os.path.basename(own))
    files = (os.path.join(directory, SCRIPT) for directory in (own, packaged))
    file = next(filter(os.path.isfile, files), "")
    return _read_text(file) if file else ""


def read_chosen_script(file: str, own: str, protocol: Protocol) -> str:
    """The text of the script in a file, each key of which names something; without a file, `own`.

    `own` also answers for agents and reviewers where the file only decides.
    """
    if not file:
        return own
    text = _read_text(file)
    read_script(text, file, ScriptNames(protocol).find_problem)
    return with_missing_answers(text, own) if own else text


def _read_text(path: str) -> str:
    try:
        text = read_document(path)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(
            f"the script {path} cannot be read: {why}",
            fix="name a YAML file with answers; for those that the protocol has: --no-claude",
        ) from error
    read_script(text, path)
    return text


def script_path(store: str, file: str, digest: str, protocol: Protocol) -> str:
    """The file a turn reads: what this call names, else what the run was started with."""
    known = os.path.join(store, digest) if digest else ""
    if not file:
        return known
    # A file that is named takes the place of a script that is lost.
    own = read_document(known) if os.path.isfile(known) else ""
    text = read_chosen_script(file, own, protocol)
    return os.path.join(store, payloads.write_payload(store, text.encode()))


class DecisionScript:
    """Scripted decisions: the same wishes a person would leave, by the channel `script`."""

    def __init__(self, script: str, directory: str, as_person: bool = False):
        self._script = load_script(script) if script else Script()
        self._as_person = as_person
        self._inbox = os.path.join(directory, "inbox")

    @property
    def decides(self) -> bool:
        return bool(self._script.decisions)

    def open(self, state: RunState) -> None:
        for decision in state.decisions.values():
            self._answer(state, decision)

    def after(self, record: JournalRecord, state: RunState) -> None:
        asked = [move.position for move in record.moves if isinstance(move, m.Asked)]
        for decision in map(state.decisions.get, asked):
            if decision is not None:
                self._answer(state, decision)

    def has_answer(self, state: RunState, decision: Decision) -> bool:
        """Whether the script says what becomes of it, if only that it waits."""
        return self._find(state, decision) is not None

    def _find(self, state: RunState, decision: Decision) -> ScriptedDecision | None:
        standing = state.positions[decision.position]
        # Whoever wrote what a gate is answered with had not seen what changed since.
        name = standing.label if standing.state == CHANGED else decision.name
        return self._script.decision(name, standing.visit)

    def _answer(self, state: RunState, decision: Decision) -> None:
        decided = self._find(state, decision)
        if decided is None or decided.verb == "wait":
            return
        wish = {
            "kind": "decide",
            "position": decision.position,
            "exit": EXITS[decided.verb],
            "text": decided.text,
            "channel": "script",
            "as_person": self._as_person,
            "data": {"name": decision.name},
        }
        inbox.leave_wish(self._inbox, redact_wish(wish))
