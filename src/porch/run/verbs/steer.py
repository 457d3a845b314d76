"""Changing the course of a run: stop, go back, read the plan again, pin another definition."""

import json
import os
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from porch.errors import BusyError, FailedError, StateError, UsageError, suggest_name
from porch.machine import facts as f
from porch.machine.base_commands import is_trial
from porch.machine.budgets import STATE as BUDGET
from porch.machine.outside import STATE as TARGET
from porch.machine.records import JournalRecord, RawRecord, encode_record
from porch.machine.state import CHANGED, RunState
from porch.model.protocol import End, Protocol
from porch.run.engine.caller import find_user_name
from porch.run.engine.record_check import count_readable_records
from porch.run.engine.run_places import mark_of, payload_directory, workspace_of
from porch.run.engine.send_wish import send_wish
from porch.run.engine.session import hold_run, lock_run
from porch.run.verbs.read_run import ReadRun, read_run
from porch.show.place_words import PlaceWords
from porch.store import chain, journal, payloads
from porch.store.run_names import unique_word
from porch.store.where import ProjectPaths
from porch.system import process_marks
from porch.system.clock import Clock, later_instant
from porch.text.sha256 import sha256

_MOST_NAMED = 5


class SteerResult(Struct, frozen=True):
    """What came of it, in a sentence, with details for programs."""

    message: str
    data: dict[str, Any]
    notice: bool = False


def _steer_result(
    run: str, fact: dict[str, Any], message: str, data: dict[str, Any]
) -> SteerResult:
    if fact["is"] == "WishTaken":
        return SteerResult(message, data)
    if fact.get("notice"):
        return SteerResult(f"{fact['reason']}; nothing was changed", data, notice=True)
    raise FailedError(f"{run}: {fact['reason']}", code="wish-refused")


def stop_run(
    where: ProjectPaths,
    run: str,
    as_person: bool = False,
    channel: str = "cli",
    *,
    program: str = "porch",
) -> SteerResult:
    """Stop the agents of a run; everything stays, and `PROGRAM resume` goes on."""
    found = read_run(where, run)
    data = {"run": run}
    if found.state.outcome or found.state.paused:
        what = found.state.outcome or "stopped"
        return SteerResult(f"{run} is already {what}; nothing was changed", data, notice=True)
    wish = {"kind": "stop", "as_person": as_person, "channel": channel}
    fact = send_wish(where, run, wish, "porch stop")
    _stop_left_agents(where, run)
    word = unique_word(where.names(), run, found.state.run.id)
    message = f"{run} is stopped; continue with `{program} resume {word}`"
    return _steer_result(run, fact, message, data)


def _stop_left_agents(where: ProjectPaths, run: str) -> None:
    """Of a runner that was killed its agents may still be alive; a live one ends its own."""
    try:
        with lock_run(where.run_dir(run), run, "porch stop", 0):
            process_marks.reap_processes(f"{mark_of(where, run)}:")
    except BusyError:
        return


def roll_run_back(
    where: ProjectPaths, run: str, target: str, as_person: bool = False
) -> SteerResult:
    """Go back to a state; what lay at and after it is void."""
    found = read_run(where, run)
    state, item = find_rollback_target(found, target)
    data = {"state": state, "item": item}
    wish = {"kind": "rollback", "data": data, "as_person": as_person}
    fact = send_wish(where, run, wish, "porch rollback")
    back = f"{state}:{item}" if item else state
    return _steer_result(run, fact, f"{run} went back to {back}", {"run": run, "state": back})


def find_rollback_target(found: ReadRun, target: str) -> tuple[str, str]:
    """A state, a phase (its first state), or either of them at an item of the plan."""
    protocol = found.definition.protocol
    whole = _find_state(protocol, target)
    if whole:
        return whole, ""
    front, _, item = target.rpartition(":")
    state = _find_state(protocol, front)
    if state and item in _item_ids(found.state):
        return state, item
    groups = _list_phases(protocol)
    raise UsageError(
        f"'{target}' is not a phase or state of {protocol.name}",
        fix=f"{suggest_name(target, groups)}phases: {', '.join(groups)}",
        code="unknown-state",
    )


def _list_phases(protocol: Protocol) -> list[str]:
    """Ends are groups too, and so are the questions that porch asks by itself."""
    states = [s for s in protocol.states.values() if not isinstance(s.actor, End)]
    return list(
        dict.fromkeys(
            s.group
            for s in states
            if s.group not in (BUDGET, CHANGED, TARGET) and not is_trial(protocol, s.name)
        )
    )


def _find_state(protocol: Protocol, name: str) -> str:
    if name in protocol.states:
        return name
    return next((s.name for s in protocol.states.values() if s.group == name), "")


def _item_ids(state: RunState) -> set[str]:
    return {item.id for known in state.items.values() for item in known.items}


def replan_run(where: ProjectPaths, run: str, as_person: bool = False) -> SteerResult:
    """Read the plan again: what is finished and unchanged stays finished."""
    from porch.dialects.plan_headings import read_plan
    from porch.run.engine.fact_redaction import redact_fact
    from porch.run.engine.plan_items import make_item
    from porch.system.document_file import read_document

    found = read_run(where, run)
    if not found.state.items:
        raise UsageError(f"{run} has no plan yet", code="no-plan")
    (_, loop), known = next(iter(found.state.items.items()))
    source = os.path.join(
        workspace_of(where, found.state),
        found.state.run.project_dir,
        found.definition.protocol.loops[loop].source,
    )
    try:
        text = read_document(source, "replace")
    except OSError as error:
        raise UsageError(f"the plan {source} cannot be read: {error.strerror}") from error
    items = [asdict(redact_fact(make_item(phase))) for phase in read_plan(text, source).phases]
    store = payload_directory(where, run)
    ref = payloads.write_payload(store, json.dumps(items).encode())
    data = {"loop": loop, "items_ref": ref, "digest": sha256(text.encode()).hexdigest()}
    wish = {"kind": "replan", "data": data, "as_person": as_person}
    fact = send_wish(where, run, wish, "porch replan")
    old, new = {i.id for i in known.items}, {str(i["id"]) for i in items}
    told = {"added": sorted(new - old), "vanished": sorted(old - new), "kept": sorted(new & old)}
    vanished = f"; no longer in the plan: {', '.join(told['vanished'])}" if old - new else ""
    message = f"{run}: {len(new)} plan phases, {len(new - old)} new{vanished}"
    asked = list(fact.get("gates") or ())
    if asked:
        message += f"\n{_describe_asked_gates(where, found, asked)}"
    return _steer_result(run, fact, message, {"run": run, **told, "asked": asked})


def _describe_asked_gates(where: ProjectPaths, found: ReadRun, gates: list[str]) -> str:
    """What has to be approved before the rest goes on, and how."""
    word = unique_word(where.names(), found.name, found.state.run.id)
    commands = [f"porch approve {word} {gate}" for gate in gates]
    return "approve first (`porch pending` shows what is different): " + "; ".join(commands)


def upgrade_run(where: ProjectPaths, run: str, as_person: bool = False) -> SteerResult:
    """Pin the definition as it is on disk now."""
    from porch.model.definition import serialize_definition
    from porch.run.agents.default_panel import settle_panel
    from porch.run.agents.roster import Roster
    from porch.run.definitions.current_definition import (
        find_default_panel,
        load_current_definition,
    )
    from porch.run.definitions.track_plans import find_track
    from porch.run.pinned_settings import list_changed_keys, load_settings_of_run, pin_settings
    from porch.run.trust_requests import require_trust
    from porch.store import compiled_protocols

    found = read_run(where, run)
    run_ = found.state.run
    loaded = load_current_definition(where, run_.protocol, find_track(where, found.state))
    now, pinned = load_settings_of_run(where, found.state), found.state.run.settings
    require_trust(now.untrusted)
    loaded = settle_panel(loaded, Roster(now, run_.agent))
    definition = loaded.demand()
    keys = list_changed_keys(where, run, pinned, now)
    data = {"run": run, "digest": loaded.digest, "settings": keys}
    if found.state.outcome or (loaded.digest == found.state.run.digest and not keys):
        what = found.state.outcome and f"is already {found.state.outcome}"
        said = f"{run} {what or 'already uses this version of the protocol'}; nothing was changed"
        return SteerResult(said, data, notice=True)
    payloads.write_payload(payload_directory(where, run), serialize_definition(definition))
    data_ = {"digest": loaded.digest, "settings": pin_settings(where, run, now)}
    wish = {"kind": "upgrade", "data": data_, "as_person": as_person}
    compiled_protocols.write_file_stamps(where.run_dir(run), loaded.digest, loaded.files)
    fact = send_wish(where, run, wish, "porch upgrade")
    other = f" and other settings: {', '.join(keys)}" if keys else ""
    panel = find_default_panel(definition.protocol)
    if panel and panel != find_default_panel(found.definition.protocol):
        other += f"; reviewers: {', '.join(panel)}"
    said = f"{run} now uses the current version of the protocol{other}"
    gates = fact.get("gates") or {}
    renewed = {
        key: found.state.decisions[key].name for key in gates if key in found.state.decisions
    }
    for key, told in gates.items():
        said += f"\n{renewed.get(key, key)} is asked again: {told.get('reason')}"
    asked = [key for key in gates if key not in renewed]
    if asked:
        said += f"\n{_describe_asked_gates(where, found, asked)}"
    if renewed:
        word = unique_word(where.names(), run, found.state.run.id)
        said += f"\nto see the question as it is now: porch resume {word}"
    return _steer_result(run, fact, said, {**data, "asked": [*asked, *renewed.values()]})


def repair_journal(where: ProjectPaths, run: str, as_person: bool = False) -> SteerResult:
    """Keep the good beginning of a journal; one that is sound is left alone."""
    from porch.run.verbs.run_log import words_of  # every other command here does without

    directory = where.run_dir(run)
    path = os.path.join(directory, "journal.jsonl")
    with lock_run(directory, run, "porch repair", 1.0):
        readable = count_readable_records(path)
        if readable is None and _is_sound(path):
            said = f"the journal of {run} is not damaged; nothing was changed"
            return SteerResult(said, {"run": run, "kept": None}, notice=True)
        words = words_of(where, run)
        done = journal.repair_journal(path, partial(_repair_record, as_person, words), readable)
        if not done.kept:
            os.unlink(path)
    if done.kept:
        with hold_run(where, run, "porch repair", is_whole=True) as found:
            found.drain()
    again = "" if done.kept else "; nothing could be kept, so start the run again"
    later, unreadable = _read_later_records(done)
    lost = f"{done.kept} records kept, {done.lost_bytes} bytes lost"
    lines = [f"{lost}; the damaged file is kept as {os.path.basename(done.aside)}{again}"]
    decisions = _list_decisions(later, unreadable, words)
    lines += [f"lost: {each}" for each in decisions]
    if later and done.kept:
        lines.append(f"{len(later)} of the lost records can still be read: porch log {run} --lost")
    data = {"run": run, "kept": done.kept, "lost_bytes": done.lost_bytes}
    return SteerResult("\n".join(lines), {**data, "decisions": decisions, "readable": len(later)})


def _read_later_records(repaired: journal.RepairResult) -> tuple[list[RawRecord], list[int]]:
    """What still verifies behind the damage, and the numbers of the records that do not."""
    with open(repaired.aside, "rb") as file:
        data = file.read()
    later = chain.list_later_records(data, repaired.kept)
    numbers = range(repaired.kept + 1, data.count(b"\n") + 1)
    return later, sorted(set(numbers).difference(each["seq"] for each in later))


def _is_sound(path: str) -> bool:
    try:
        journal.scan_journal(path)
    except StateError:
        return False
    return True


def _list_decisions(later: list[RawRecord], unreadable: list[int], words: PlaceWords) -> list[str]:
    """What people decided; of a record that nobody can read it is not known."""
    from porch.show.records.timeline import list_decisions_of_people

    decisions = list_decisions_of_people(later, words)
    if unreadable:
        more = f" and {len(unreadable) - _MOST_NAMED} more" if unreadable[_MOST_NAMED:] else ""
        names = ", ".join(map(str, unreadable[:_MOST_NAMED]))
        decisions.append(f"perhaps also decisions in records that cannot be read: {names}{more}")
    return decisions


def _repair_record(as_person: bool, words: PlaceWords, repaired: journal.RepairResult) -> RawRecord:
    with open(repaired.aside, "rb") as file:
        good = chain.parse_records(file.read())[0].records
    last = good[repaired.kept - 1]["at"] if repaired.kept else ""
    at = later_instant(last, Clock().now())
    fact = f.JournalRepaired(
        kept=repaired.kept,
        lost_bytes=repaired.lost_bytes,
        aside=os.path.basename(repaired.aside),
        by=find_user_name(),
        as_person=as_person,
        decisions=tuple(_list_decisions(*_read_later_records(repaired), words)),
    )
    return encode_record(JournalRecord(repaired.kept + 1, at, fact))
