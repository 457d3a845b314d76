"""The settings that govern a run, as they were when it began; an agent can edit only the file."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.machine.state import RunState
from porch.run.engine.run_places import payload_directory, settings_root
from porch.run.setting_keys import KEYS
from porch.run.settings import (
    TABLES,
    Settings,
    is_same_in_commit,
    list_settings_files,
    load_settings,
    make_settings,
)
from porch.store import payloads
from porch.store.settings_stamps import write_settings_stamps
from porch.store.where import ProjectPaths

# What does not govern: these count as they are now.
FREE_KEYS: Mapping[str, str] = {
    "timeouts.gate_poll_interval": "only how soon an answer is seen",
    "run.protocol": "only how a run begins whose protocol nobody named",
    "agent.trusted": "only a person's own file can say it, and taking it back must count at once",
    "agent.max_running": "what the machine can carry that drives the run now",
    "agent.back_off": "only how long a pause is",
    "knowledge.paths": "no run reads it",
    "review.agents": "of `envoy review`, which no run drives",
    "review.max_rounds": "of `envoy review`, which no run drives",
    "finish.pull_request": "only what follows after the end of a run",
    "af.max_runs": "how many runs share a machine, which no run decides",
    "af.repositories": "only which other projects `af status` lists",
    "notify.desktop": "only whom a person wants to be told by",
    "notify.webhook": "the same, and an address may be a secret",
    "notify.command": "the same",
    "worktree.setup": "only of worktrees that are made later",
    "worktree.copy": "only of worktrees that are made later",
    "worktree.link": "only of worktrees that are made later",
    "worktree.share_readers": "only how many checkouts there are",
    "agents.*.env": "names of variables that only a person's own file can give away",
}


def is_governing(key: str) -> bool:
    section, _, rest = key.partition(".")
    general = f"{section}.*.{rest.rpartition('.')[2]}" if section in TABLES else key
    return general not in FREE_KEYS


def list_setting_values(known: Settings) -> dict[str, Any]:
    """Every value by its key, as it would stand in a file."""
    found: dict[str, Any] = {f"commands.{name}": text for name, text in known.commands.items()}
    found |= {key: getattr(known, each.attribute) for key, each in KEYS.items()}
    for section in TABLES:
        for name, table in getattr(known, section).items():
            found |= {f"{section}.{name}.{key}": value for key, value in table.items()}
    return found


def serialize_settings(known: Settings) -> bytes:
    """Those that govern, as one text; the same settings are the same text."""
    values = list_setting_values(known)
    kept = {key: value for key, value in values.items() if is_governing(key)}
    return json.dumps(kept, sort_keys=True, ensure_ascii=False).encode()


def load_settings_of_run(where: ProjectPaths, state: RunState) -> Settings:
    """The settings as they are now, with what a person trusts for this run alone."""
    return load_settings(settings_root(where, state), trust=state.run.trust)


def pin_settings(where: ProjectPaths, run: str, known: Settings, commit: str = "") -> str:
    """Keep them beside the run; the digest is what a record names.

    They may be those of a commit. If other settings lie in the checkout, nothing is said about its
    files, so that whoever lists the run compares them.
    """
    digest = payloads.write_payload(payload_directory(where, run), serialize_settings(known))
    if not where.is_bare and not (commit and not is_same_in_commit(where.root, commit)):
        write_settings_stamps(where.run_dir(run), list_settings_files(where.root))
    return digest


def read_pinned_settings(where: ProjectPaths, run: str, digest: str, now: Settings) -> Settings:
    """What governs the run; where nothing is pinned, the settings as they are."""
    if not digest:
        return now
    pinned = _read_values(where, run, digest)
    current = list_setting_values(now)
    # A key that is newer than the pin counts as it is; a command or an agent that is new does not.
    free = {k: v for k, v in current.items() if not is_governing(k) or (k in KEYS)}
    governing = make_settings({**free, **pinned}, now.origins, now.notes)
    return replace(governing, requests=now.requests)


class SettingChange(Struct, frozen=True):
    """A setting that says something else now; None where it is not set."""

    key: str
    old: Any
    new: Any


def list_setting_changes(
    where: ProjectPaths, run: str, digest: str, now: Settings
) -> list[SettingChange]:
    """What says something else now than what governs the run."""
    if not digest:
        return []
    pinned = _read_values(where, run, digest)
    current: dict[str, Any] = json.loads(serialize_settings(now))
    changes = (
        SettingChange(key, pinned.get(key), current.get(key))
        for key in sorted({*pinned, *current})
        # A key that is newer than the pin counts as it is.
        if key in pinned or key not in KEYS
    )
    return [each for each in changes if each.old != each.new]


def list_changed_keys(where: ProjectPaths, run: str, digest: str, now: Settings) -> list[str]:
    """The keys of these."""
    return [each.key for each in list_setting_changes(where, run, digest, now)]


def _read_values(where: ProjectPaths, run: str, digest: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(
        payloads.read_payload(payload_directory(where, run), digest)
    )
    return values


def describe_changed_keys(run_id: str, keys: list[str]) -> str:
    names = ", ".join(keys)
    return (
        f"settings changed since the run began: {names}; it keeps the old ones "
        f"(`porch upgrade {run_id}` takes the new ones)"
    )
