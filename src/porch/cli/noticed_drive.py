"""A drive of which people are told by the channels of their own settings."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from porch.fleet.notices.channels import Send
    from porch.machine.records import JournalRecord
    from porch.machine.state import RunState
    from porch.run.engine.drive_options import DriveResult, DriveWatch
    from porch.store.where import ProjectPaths


def watch_with_notices(
    where: "ProjectPaths", watch: "DriveWatch", drive: "Callable[[DriveWatch], DriveResult]"
) -> "DriveResult":
    """The drive as it is, and a notice for whatever people should know; loads nothing if none."""
    from porch.run.settings import load_settings

    known = load_settings(where.root)
    for each in known.untrusted:
        if any(setting.key == "notify.command" for setting in each.settings):
            watch.notice("[notify] command is not run: you have not trusted it; see: porch trust")
    if not (known.notify_desktop or known.notify_webhook or known.notify_command):
        return drive(watch)
    from porch.fleet.notices.channels import open_channels

    return _drive_noticed(where, watch, drive, open_channels(known, os.environ))


def _drive_noticed(
    where: "ProjectPaths",
    watch: "DriveWatch",
    drive: "Callable[[DriveWatch], DriveResult]",
    channels: "dict[str, Send]",
) -> "DriveResult":
    from porch.fleet.notices.notifier import Notifier
    from porch.run.verbs.read_run import read_run

    notifiers: dict[str, Notifier] = {}

    def look(state: "RunState") -> None:
        name = state.run.name
        if name not in notifiers:
            notifiers[name] = Notifier(where.run_dir(name), channels, watch.notice)
        # Of a run that is over it is told what has not passed; an approval may have been its end.
        protocol = read_run(where, name).definition.protocol if state.outcome else None
        notifiers[name].look(state, protocol)

    def record(record: "JournalRecord", state: "RunState") -> None:
        watch.record(record, state)
        look(state)

    try:
        driven = drive(replace(watch, record=record))
        # What came about without a record of this drive, such as an approval that was the end.
        look(driven.state)
        return driven
    finally:
        for each in notifiers.values():
            each.close()
