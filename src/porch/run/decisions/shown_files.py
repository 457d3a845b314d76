"""What a person was shown of the files of a question, so that an approval is for exactly that.

Whoever shows a question leaves a note in the directory of the run: for each account, and for each
open question, the digests of its files as they were shown. An approval from the command line or at
the prompt of a run is for the files of this note. If they changed since, or since porch asked, the
approval is refused, the difference is shown, and the note is written again. So a later
`--accept-changes` is for this difference and no other.
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from porch.machine.approvals import APPROVED
from porch.machine.state import Decision, RunState
from porch.model.artifact_names import MISSING
from porch.run.engine.approved_artifacts import (
    MOST_SHOWN,
    describe_text_difference,
    keep_artifacts,
    read_kept_file,
)
from porch.run.engine.artifacts import (
    changed_artifacts,
    hash_artifacts,
    list_changed_files,
    list_unreadable_artifacts,
)
from porch.run.engine.run_places import payload_directory, workspace_of
from porch.store.where import ProjectPaths
from porch.system import atomic
from porch.system.regular_file import open_regular
from porch.text.printable import make_printable

if TYPE_CHECKING:
    from porch.show.shapes import DecisionShape

ASKED, SHOWN = "porch asked", "you looked"
_LOOKS = 5
_LARGEST_NOTE = 4 << 20
Files = Mapping[str, str]


class FileChanges(Struct, frozen=True):
    """What is different in the files of a question, by path; `since` says since when."""

    files: Files
    since: str
    difference: Files

    @property
    def paths(self) -> list[str]:
        return list(self.difference)


def add_changes(
    where: ProjectPaths,
    state: RunState,
    decisions: Sequence["DecisionShape"],
    *,
    is_person: bool = True,
) -> None:
    """Questions about files, as they are shown now: with what changed, and the note of it."""
    for told in decisions:
        decision = state.decisions.get(told["position"])
        approvals = [each for each in told["options"] if each["answer"] in APPROVED]
        if decision is None or not decision.artifacts or not approvals:
            continue
        changes = show_changes(where, state, decision, is_person=is_person)
        if changes.difference:
            lines = {path: make_printable(text) for path, text in changes.difference.items()}
            told["changed"] = {"since": changes.since, "difference": lines}
            subject, files = told.get("subject", ""), changes.files
            if not list_unreadable_artifacts(subject, decision.artifacts, files):
                for option in approvals:
                    option["command"] += " --accept-changes"


def show_changes(
    where: ProjectPaths, state: RunState, decision: Decision, *, is_person: bool = True
) -> FileChanges:
    """The difference since the files were shown last, else since porch asked; and the note of it.

    Both ends of it are kept bytes, so what is shown is what the note names, whoever writes now.
    What a program or an agent is shown is not noted.
    """
    workspace, store = workspace_of(where, state), payload_directory(where, state.run.name)
    shown = read_shown_files(where, state, decision)
    files: Files = {}
    for _ in range(_LOOKS):
        files = hash_artifacts(workspace, "", decision.artifacts)
        if keep_artifacts(workspace, store, files):
            break
    is_news = shown is not None and changed_artifacts(shown, files)
    then, since = (shown, SHOWN) if shown is not None and is_news else (decision.artifacts, ASKED)
    paths = list_changed_files(then, files)
    difference = {
        path: describe_text_difference(
            store,
            path,
            then.get(path, MISSING),
            b"" if files.get(path, MISSING) == MISSING else read_kept_file(store, files[path]),
            when=f"when {since}",
        )
        for path in paths[:MOST_SHOWN]
    }
    difference |= dict.fromkeys(paths[MOST_SHOWN:], "not shown here; read the file")
    if is_person:
        note_shown_files(where, state, decision, files)
    return FileChanges(files, since, difference)


def read_shown_files(where: ProjectPaths, state: RunState, decision: Decision) -> Files | None:
    """The files of a question as this account was shown them last; None if it never was."""
    shown = _read_note(_note_path(where, state)).get(decision.position)
    return shown if isinstance(shown, dict) else None


def note_shown_files(
    where: ProjectPaths, state: RunState, decision: Decision, files: Files
) -> None:
    """Only questions that are still asked keep their notes."""
    if not decision.artifacts:
        return
    path = _note_path(where, state)
    note = _read_note(path)
    kept = {place: note[place] for place in note if place in state.decisions}
    fresh = {**kept, decision.position: dict(files)}
    if fresh == note:
        return
    atomic.ensure_directory(os.path.dirname(path))
    temporary = f"{path}.{os.urandom(8).hex()}.tmp"
    atomic.publish_file(temporary, path, json.dumps(fresh).encode(), sync=False)


def _note_path(where: ProjectPaths, state: RunState) -> str:
    return os.path.join(where.run_dir(state.run.name), "shown", f"{os.getuid()}.json")


def _read_note(path: str) -> dict[str, object]:
    """A note that cannot be read is none: then nothing was shown, and the question is shown."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            note = json.loads(file.read(_LARGEST_NOTE))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}
