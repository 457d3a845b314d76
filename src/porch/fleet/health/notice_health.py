"""The channels by which people are told: which are set, and, if asked, whether they work."""

from collections.abc import Iterator, Mapping

from porch.fleet.notices.channels import open_channels
from porch.fleet.notices.due_notices import Notice
from porch.run.settings import Settings
from porch.show.fleet.doctor_line import DoctorLine

_TRIAL = Notice("doctor", "test", "", "", "This is a test by `codev doctor --notify`.")


def examine_channels(
    known: Settings, environ: Mapping[str, str], *, is_trial: bool
) -> Iterator[DoctorLine]:
    """A trial sends one real notice to each: nothing else proves that it arrives."""
    for name, send in open_channels(known, environ).items():
        if not is_trial:
            yield DoctorLine("ok", f"notices by {name}: set; `codev doctor --notify` sends one")
            continue
        why = send(_TRIAL)
        fix = f"correct [notify] {name} in your own settings, then run `codev doctor --notify`"
        yield (
            DoctorLine("warning", f"notices by {name}: {why}", fix)
            if why
            else DoctorLine("ok", f"notices by {name}: one was sent just now")
        )
