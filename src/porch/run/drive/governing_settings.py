"""The settings under which a run is driven: those with which it began, until a person upgrades."""

from porch.machine import facts as f
from porch.run import pinned_settings, settings
from porch.run.engine.session import HeldRun


def govern_settings(found: HeldRun, now: settings.Settings) -> tuple[settings.Settings, list[str]]:
    """The settings that were pinned when the run began, and what is to be said about that."""
    run = found.book.state.run
    if not run.settings:
        digest = pinned_settings.pin_settings(found.where, found.name, now)
        found.book.record(f.SettingsPinned(digest=digest))
        return now, ["this run keeps the settings as they are now; `porch upgrade` takes new ones"]
    args = (found.where, found.name, run.settings, now)
    changed = pinned_settings.list_changed_keys(*args)
    said = [pinned_settings.describe_changed_keys(run.id or found.name, changed)] if changed else []
    return pinned_settings.read_pinned_settings(*args), said
