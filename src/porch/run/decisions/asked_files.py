"""The files that a decision is about, as they are now, and what is different since an answer.

Whoever shows them decides for the digest of exactly these bytes.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from porch.machine.state import Decision, RunState
from porch.model.artifact_names import MISSING
from porch.run.decisions.shown_files import ASKED
from porch.run.engine import approved_artifacts
from porch.run.engine.approved_artifacts import describe_text_difference
from porch.run.engine.artifacts import digest_hashes, find_file, hash_artifacts
from porch.run.engine.run_places import payload_directory, workspace_of
from porch.store.where import ProjectPaths
from porch.text.sha256 import sha256

_LOOKS = 5
_DIGEST_LENGTH = 64
_WRITTEN = "being written just now"
NO_FILES: Mapping[str, str] = MappingProxyType({})


class AskedFile(Struct, frozen=True):
    """One of them; `trouble` says why there is no text.

    `since` says since when `difference` holds: an approval, or the round before this one.
    `change` is what is different since porch asked; nothing if it is as it was then.
    """

    path: str
    digest: str
    text: str = ""
    trouble: str = ""
    since: str = ""
    difference: str = ""
    change: str = ""


class AskedFiles(Struct, frozen=True):
    """All files of a decision; an answer about them is for this digest."""

    digest: str
    files: tuple[AskedFile, ...] = ()


def read_asked_files(
    where: ProjectPaths, state: RunState, decision: Decision, rejected: Mapping[str, str] = NO_FILES
) -> AskedFiles:
    """Text and digest of the same bytes, although somebody may be writing them.

    `rejected` are the files as they were when the same question was answered with no.
    """
    workspace, store = workspace_of(where, state), payload_directory(where, state.run.name)
    for _ in range(_LOOKS):
        now = hash_artifacts(workspace, "", decision.artifacts)
        texts = {path: _read_text(workspace, path, found) for path, found in now.items()}
        if None not in texts.values():
            break
    # Nobody can decide about what was not shown: this digest is that of no file.
    now = {path: _WRITTEN if texts[path] is None else found for path, found in now.items()}
    files = (
        _make_file(
            path,
            found,
            texts[path],
            _compare(workspace, store, path, found, rejected.get(path), state),
            _describe_change(store, path, decision, found, texts[path]),
        )
        for path, found in now.items()
    )
    return AskedFiles(digest_hashes(now), tuple(files))


def digest_asked_files(where: ProjectPaths, state: RunState, decision: Decision) -> str:
    """Only the digest of the files as they are."""
    return digest_hashes(hash_artifacts(workspace_of(where, state), "", decision.artifacts))


def stamp_asked_files(where: ProjectPaths, state: RunState, decision: Decision) -> str:
    """Another text as soon as one of them is written: for whoever must know it quickly."""
    workspace = workspace_of(where, state)
    files = [find_file(path) for path in decision.artifacts]
    found = [_look_at(os.path.join(workspace, path)) for path in files]
    return sha256(repr(found).encode()).hexdigest()[:16]


def _look_at(path: str) -> tuple[int, ...]:
    try:
        seen = os.stat(path)
    except (OSError, ValueError):
        return ()
    return (seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)


def _read_text(workspace: str, path: str, found: str) -> bytes | str | None:
    """Its bytes; words that say why there are none; nothing if it is being written."""
    if len(found) != _DIGEST_LENGTH:
        return found
    data = approved_artifacts.read_artifact(workspace, path)
    if data is None:
        return "too large to be shown"
    return data if sha256(data).hexdigest() == found else None


def _compare(
    workspace: str, store: str, path: str, found: str, rejected: str | None, state: RunState
) -> tuple[str, str]:
    """Since when it is compared, and the lines; nothing if it is as it was, or never was asked."""
    if rejected is not None:
        since, when, then = "the last round", "last round", rejected
    else:
        gate, then = approved_artifacts.find_approved_digest(state, path)
        since, when = f"{gate} was approved" if gate else "", "approved"
    if not since or then == found:
        return "", ""
    return since, approved_artifacts.describe_difference(workspace, store, path, then, when=when)


def _describe_change(
    store: str, path: str, decision: Decision, found: str, read: bytes | str | None
) -> str:
    then = decision.artifacts.get(path, MISSING)
    if then == found:
        return ""
    text = read if isinstance(read, bytes) else b"" if found == MISSING else None
    lines = describe_text_difference(store, path, then, text, when=f"when {ASKED}")
    return lines or "its lines are the same; its bytes are not"


def _make_file(
    path: str,
    found: str,
    read: bytes | str | None,
    difference: tuple[str, str],
    change: str,
) -> AskedFile:
    text, trouble = "", read or _WRITTEN
    if isinstance(read, bytes):
        text, trouble = read.decode("utf-8", "replace"), ""
    return AskedFile(path, found, text, str(trouble), *difference, change)
