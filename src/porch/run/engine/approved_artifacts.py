"""What people approved, as bytes: kept when they approve, compared before anything begins."""

import os
from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from porch.errors import StateError
from porch.machine import approvals
from porch.machine import facts as f
from porch.machine.state import Approval, InHand, RunState, Standing
from porch.model.artifact_names import MISSING
from porch.model.protocol import TRACK, Protocol
from porch.run.engine.artifacts import (
    changed_artifacts,
    digest_hashes,
    hash_artifacts,
    is_part,
    leads_out,
    read_part,
)
from porch.store import payloads
from porch.text.sha256 import sha256

FindChanges = Callable[[str, Mapping[str, str]], list[str]]
# What begins without looking: nobody builds on an approved file by asking or by waiting.
UNGUARDED = ("ask", "timer", "stale", "feedback")
LARGEST_KEPT = 4 << 20
MOST_KEPT = 64 << 20  # of all files of one answer
LONGEST_SHOWN = 6_000
MOST_SHOWN = 20  # files, of which a difference is told
MOST_LINES = 20_000
_DIGEST_LENGTH = 64
PUT_BACK = "to keep what was approved, put the files back as they were and run `porch resume`"


def check_approvals(
    workspace: str, store: str, protocol: Protocol, state: RunState, hand: InHand
) -> f.ApprovalOutdated | bool:
    """Whether an effect may begin; else what has to be recorded, unless it is being asked."""
    if hand.kind in UNGUARDED or protocol.spec:
        return True
    if approvals.open_questions(state):
        return False
    outdated = list_outdated_approvals(workspace, store, protocol, state)
    return next(outdated, True)


def review_questions(
    workspace: str, store: str, protocol: Protocol, state: RunState
) -> Iterator[f.ApprovalRestored | f.ApprovalOutdated]:
    """What became of the open questions: files that were put back, or changed once more."""
    yield from restored_approvals(workspace, protocol, state)
    yield from _upgrade_questions(workspace, store, state)
    for gate, standing, then in _list_changed_gates(state):
        now, asked = hash_artifacts(workspace, "", then), state.decisions.get(standing.position)
        paths = make_scope(protocol, state)(gate, now)
        if paths and asked is not None and _is_changed_again(asked.artifacts, now):
            known = state.approvals[gate]
            yield _outdated_fact(workspace, store, gate, known, now=now, paths=paths)


def restored_approvals(
    workspace: str, protocol: Protocol, state: RunState
) -> Iterator[f.ApprovalRestored]:
    """Only what was put back: cheap enough for every idle moment."""
    for gate, _, then in _list_changed_gates(state):
        if not make_scope(protocol, state)(gate, hash_artifacts(workspace, "", then)):
            yield f.ApprovalRestored(gate=gate)


def make_scope(protocol: Protocol, state: RunState) -> FindChanges:
    """Which of the names of an approval are changed; the rules of a track know when that counts."""
    if protocol.subject == TRACK:
        from porch.machine.track.consent_scope import ConsentScope

        return ConsentScope(protocol, state).list_changed
    return lambda gate, now: changed_artifacts(state.approvals[gate].artifacts, now)


def _list_changed_gates(state: RunState) -> Iterator[tuple[str, Standing, Mapping[str, str]]]:
    """Gates that are asked again because of their files, not because of another definition."""
    for gate, standing in approvals.open_questions(state).items():
        told = state.recall(standing, approvals.FOUND) or {}
        if gate in state.approvals and told.get("is_changed"):
            yield gate, standing, state.approvals[gate].artifacts


def _upgrade_questions(workspace: str, store: str, state: RunState) -> Iterator[f.ApprovalOutdated]:
    """Of a gate that another definition changed: its files, if they are others than approved."""
    for gate, standing in approvals.open_questions(state).items():
        told, asked = state.recall(standing, approvals.FOUND), state.decisions[standing.position]
        if not told or told.get("is_changed") or gate not in state.approvals:
            continue
        now = hash_artifacts(workspace, "", asked.artifacts)
        if now != asked.artifacts:
            reason = str(told["reason"]).partition("\n")[0]
            fresh = make_upgrade_question(workspace, store, state, gate, now=now, reason=reason)
            yield f.ApprovalOutdated(gate=gate, question=fresh)


def make_upgrade_question(
    workspace: str, store: str, state: RunState, gate: str, *, now: Mapping[str, str], reason: str
) -> f.GateQuestion:
    """Why another definition asks, and what is different since an approval, if there was one."""
    known = state.approvals.get(gate)
    then = known.artifacts if known else {}
    paths = [path for path in now if path in then and then[path] != now[path]]
    shown = {path: describe_difference(workspace, store, path, then[path]) for path in paths}
    keep_artifacts(workspace, store, now)
    was = known.status if known else ""
    changed = f"\nchanged since {gate} was {was}: {', '.join(paths)}" if paths else ""
    return make_question(now, f"{reason}{changed}", shown)


def _is_changed_again(asked: Mapping[str, str], now: Mapping[str, str]) -> bool:
    return any(asked[path] != sum_ for path, sum_ in now.items() if path in asked)


def list_outdated_approvals(
    workspace: str, store: str, protocol: Protocol, state: RunState
) -> Iterator[f.ApprovalOutdated]:
    """The gates whose files are no longer what a person approved."""
    find_changes = make_scope(protocol, state)
    for gate, known in state.approvals.items():
        if gate in protocol.gates and known.artifacts:
            now = hash_artifacts(workspace, "", known.artifacts)
            paths = find_changes(gate, now)
            if paths:
                yield _outdated_fact(workspace, store, gate, known, now=now, paths=paths)


def late_changes(
    workspace: str, store: str, protocol: Protocol, state: RunState
) -> Iterator[f.ApprovalOutdated]:
    """The same for a run that has ended: told with words that ask nobody."""
    if protocol.spec:
        return
    for fact in list_outdated_approvals(workspace, store, protocol, state):
        said = fact.question.reason.partition("\n")[0]
        told = replace(fact.question, reason=f"{said}; the run has ended, so nobody was asked")
        yield replace(fact, question=told)


def _outdated_fact(
    workspace: str,
    store: str,
    gate: str,
    known: Approval,
    *,
    now: Mapping[str, str],
    paths: list[str],
) -> f.ApprovalOutdated:
    then = known.artifacts
    names, over = paths[:MOST_SHOWN], len(paths) - MOST_SHOWN
    told = ", ".join((*names, *([f"and {over} more"] if over > 0 else ())))
    reason = f"changed since {gate} was {known.status}: {told}\n{PUT_BACK}"
    before = {path: then.get(path, MISSING) for path in names}
    shown = {path: describe_difference(workspace, store, path, before[path]) for path in names}
    keep_artifacts(workspace, store, now)
    asked = make_question(now, reason, shown, is_changed=True)
    return f.ApprovalOutdated(gate=gate, question=asked)


def make_question(
    now: Mapping[str, str],
    reason: str,
    difference: Mapping[str, str] | None = None,
    *,
    is_changed: bool = False,
) -> f.GateQuestion:
    return f.GateQuestion(
        digest=digest_hashes(now),
        artifacts=now,
        reason=reason,
        difference=difference or {},
        is_changed=is_changed,
    )


def describe_difference(
    workspace: str, store: str, path: str, then: str, *, when: str = "approved"
) -> str:
    """The lines that are different since an answer; bounded, and without secrets."""
    before, after = _read_approved_lines(store, then), _read_lines(workspace, path)
    return _format_difference(path, before, after, when)


def describe_text_difference(
    store: str, path: str, then: str, text: bytes | None, *, when: str
) -> str:
    """The same to a text that was read already; None if it could not be read or kept."""
    after = None if text is None else _split_lines(text)
    return _format_difference(path, _read_approved_lines(store, then), after, when)


def _format_difference(
    path: str, before: list[str] | None, after: list[str] | None, when: str
) -> str:
    if before is None or after is None:
        return f"the lines cannot be shown: the {when} text was not kept or is too large"
    from difflib import unified_diff

    from porch.agents.redaction import Redactor, find_secrets

    lines = unified_diff(before, after, f"{path} ({when})", f"{path} (now)", lineterm="", n=2)
    text = Redactor(find_secrets(os.environ)).text("\n".join(lines))
    if len(text) <= LONGEST_SHOWN:
        return text
    left = text.count("\n", LONGEST_SHOWN)
    return f"{text[:LONGEST_SHOWN]}\n... and {left} more lines"


def _read_approved_lines(store: str, digest: str) -> list[str] | None:
    if len(digest) != _DIGEST_LENGTH:
        return [] if digest == "missing" else None
    try:
        data = payloads.read_payload(store, digest)
    except StateError:
        return None
    return _split_lines(data)


def _read_lines(workspace: str, name: str) -> list[str] | None:
    if not is_part(name) and not os.path.lexists(os.path.join(workspace, name)):
        return []
    if not is_part(name) and leads_out(workspace, name):
        return None  # what lies elsewhere is not shown
    data = read_artifact(workspace, name)
    return None if data is None else _split_lines(data)


def _split_lines(data: bytes) -> list[str] | None:
    lines = data.decode("utf-8", "replace").splitlines()
    return lines if len(lines) <= MOST_LINES else None


def read_artifact(workspace: str, name: str) -> bytes | None:
    """The bytes for which an approval is given: of a file, or of a part of a plan."""
    if is_part(name):
        return read_part(workspace, name)
    return read_regular_file(os.path.join(workspace, name))


def read_regular_file(path: str) -> bytes | None:
    """Agents choose what lies there: a pipe must not hold anybody up, a device never end."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        import stat

        known = os.fstat(fd)
        if not stat.S_ISREG(known.st_mode) or known.st_size > LARGEST_KEPT:
            return None
        with open(fd, "rb", closefd=False) as file:
            return file.read(LARGEST_KEPT + 1)
    finally:
        os.close(fd)


def keep_artifacts(workspace: str, store: str, known: Mapping[str, str]) -> bool:
    """Keep the bytes that are approved; False if they are not those that were looked at."""
    room = MOST_KEPT
    for path, digest in known.items():
        if len(digest) != _DIGEST_LENGTH:
            continue
        data = read_artifact(workspace, path)
        if data is None or len(data) > LARGEST_KEPT:
            continue
        if sha256(data).hexdigest() != digest:
            return False
        room -= len(data)
        if room >= 0:
            # Without its bytes an approval holds all the same; only no difference can be shown.
            payloads.write_payload(store, data)
    return True


def read_approved_file(store: str, state: RunState, path: str) -> bytes | None:
    """The bytes of a file as a person approved them; None if nobody did or they were not kept."""
    return read_kept_file(store, find_approved_digest(state, path)[1])


def read_kept_file(store: str, digest: str) -> bytes | None:
    if len(digest) != _DIGEST_LENGTH:
        return None
    try:
        return payloads.read_payload(store, digest)
    except StateError:
        return None


def find_approved_digest(state: RunState, path: str) -> tuple[str, str]:
    """The gate that approved a file last, and the digest for which that holds."""
    for gate, known in reversed(list(state.approvals.items())):
        if path in known.artifacts:
            return gate, known.artifacts[path]
    return "", ""


def is_changed_since_approval(state: RunState, known: Mapping[str, str]) -> bool:
    """Whether files with these hashes are no longer what people approved."""
    return any(
        approval.artifacts[path] != sum_
        for approval in state.approvals.values()
        for path, sum_ in known.items()
        if path in approval.artifacts
    )
