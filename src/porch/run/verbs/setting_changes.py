"""Settings that were changed after a run pinned its own, said where a person decides what to do.

A run keeps the settings with which it began, because an agent can edit the files. So somebody who
fixes a command in the settings and says `retry` would pay for turns that end with the old command.
`retry` is refused where one of the settings that failed is another one now. The person then
upgrades the run, or says that the old settings are meant. Any other change is only said.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from porch.errors import PorchError, UsageError
from porch.machine.approvals import asked_human
from porch.machine.base_commands import STATE as COMMANDS
from porch.machine.base_commands import is_ours
from porch.machine.exits.causes import failure_cause
from porch.machine.state import Decision, RunState
from porch.model.protocol import Check, Human, Protocol
from porch.run.engine.run_places import settings_root
from porch.run.pinned_settings import SettingChange, list_setting_changes
from porch.run.settings import read_written_settings
from porch.run.verbs.read_run import ReadRun, read_run
from porch.store.run_names import unique_word
from porch.store.where import ProjectPaths

if TYPE_CHECKING:
    from porch.show.shapes import DecisionShape

KEEP = "--keep-settings"
# Without one of these an agent cannot be run as it should.
_AGENT_SECTIONS = ("agent", "agents", "roles", "phases", "timeouts")
_CHECK_KEYS = ("checks.env", "timeouts.check")


def list_changes_of_run(where: ProjectPaths, found: ReadRun) -> list[SettingChange]:
    """What differs now; nothing where the files cannot be read, which other commands say."""
    state = found.state
    try:
        now = read_written_settings(settings_root(where, state))
        return list_setting_changes(where, found.name, state.run.settings, now)
    except PorchError:
        return []


def describe_changes(changes: Iterable[SettingChange], word: str) -> list[str]:
    """For people: that the run keeps its settings, what differs, and the command."""
    told = [f"{each.key}: {_format(each.old)} in this run, {_format(each.new)} in the settings now"
            for each in changes]  # fmt: skip
    if not told:
        return []
    front = "this run keeps the settings that it began with, and they were changed since"
    return [front, *told, f"to use the new ones: porch upgrade {word}"]


def add_setting_changes(where: ProjectPaths, decisions: Iterable["DecisionShape"]) -> None:
    """Said with each failure that a person is asked about."""
    known: dict[str, list[str]] = {}
    for each in decisions:
        if each["kind"] != "failure":
            continue
        name = each["run"]
        if name not in known:
            found = read_run(where, name)
            word = unique_word(where.names(), name, found.state.run.id)
            known[name] = describe_changes(list_changes_of_run(where, found), word)
        if known[name]:
            each["settings"] = known[name]


def check_retry(where: ProjectPaths, found: ReadRun, decision: Decision) -> list[str]:
    """What is to be said with a retry; refused where it would repeat what was just fixed."""
    changes = list_changes_of_run(where, found)
    if not changes:
        return []
    word = unique_word(where.names(), found.name, found.state.run.id)
    told = describe_changes(changes, word)
    failed = set(_list_failed_keys(found.definition.protocol, found.state, decision, changes))
    stale = [each for each in changes if each.key in failed]
    if not stale:
        return told
    names = ", ".join(
        f"{each.key} is {_format(each.old)} in this run and {_format(each.new)} in the settings now"
        for each in stale
    )
    raise UsageError(
        f"nothing was tried again: {names}",
        fix=f"take the new settings: porch upgrade {word}, then porch retry {word}; "
        f"or try again with the old ones: porch retry {word} {KEEP}",
        code="settings-changed",
    )


def _list_failed_keys(
    protocol: Protocol, state: RunState, decision: Decision, changes: Iterable[SettingChange]
) -> Iterator[str]:
    """The settings on which it depends whether what failed fails again."""
    standing = state.positions[decision.position]
    kind = protocol.states.get(standing.state)
    if kind is None or not isinstance(kind.actor, Human):
        return
    shows = asked_human(protocol, standing, kind.actor).shows
    failed = {
        name
        for payload in (state.recall(standing, path) for path in shows)
        if payload
        for name in _list_failed_checks(payload)
    }
    if standing.state == COMMANDS and is_ours(protocol):
        # There checks have the names of the commands.
        yield from ("checks.env", "timeouts.first_check", *(f"commands.{name}" for name in failed))
        return
    if failure_cause(protocol, standing) == "environment":
        yield from (each.key for each in changes if each.key.split(".")[0] in _AGENT_SECTIONS)
        return
    if failed:
        yield from _CHECK_KEYS
    for each in protocol.states.values():
        for command in each.actor.commands if isinstance(each.actor, Check) else ():
            if command.setting and command.name in failed:
                yield f"commands.{command.setting}"


def _list_failed_checks(payload: Mapping[str, Any]) -> Iterator[str]:
    for key in ("failed", "unmeasured"):
        yield from (str(name) for name in payload.get(key) or ())


def _format(value: Any) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)
