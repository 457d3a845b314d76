"""`envoy plan cleanup-debug-logs`: the last look before a debugged branch is merged."""

import os

from porch.adapters import where as places
from porch.operations import cleanup
from porch.surfaces.cli.command import Args, Command, View, arg
from porch.surfaces.cli.enveloping import failing, shown, success

_FIX = (
    "end each block with a blank line or [/DEBUG-TEMP], keep the marker alone in its comment, or"
    " remove these by hand; --force removes refused blocks as they stand"
)


def _cleanup(args: Args) -> View:
    told = cleanup.cleaned(places.find(os.getcwd()), dry_run=args.dry_run, force=args.force)
    if told.is_clean:
        return success(told.as_json())
    kind = "refused_blocks" if told.refused else "unmatched_markers"
    return failing(told.as_json(), kind, told.message, _FIX)


COMMANDS: tuple[Command, ...] = (
    Command(
        "plan cleanup-debug-logs",
        "remove every block under a [DEBUG-TEMP] comment, up to its blank line",
        shown(_cleanup),
        (
            arg("--dry-run", action="store_true", help="say what would go, change nothing"),
            arg("--force", action="store_true", help="remove also what looks like code"),
        ),
    ),
)
