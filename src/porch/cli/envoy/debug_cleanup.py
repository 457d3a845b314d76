"""`envoy plan cleanup-debug-logs`: the last look before a debugged branch is merged."""

import os

from porch.cli.command import Args, Verb, Verbs, View, make_argument
from porch.cli.envoy.envelope import catch_complaints, failing_view, success_view

_FIX = (
    "end each block with a blank line or [/DEBUG-TEMP], keep the marker alone in its comment, or"
    " remove these blocks yourself; --force removes them as they are"
)


def _remove_debug_lines(args: Args) -> View:
    from porch.plan.cleanup import debug_cleanup
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    told = debug_cleanup.remove_debug_lines(where, dry_run=args.dry_run, force=args.force)
    if told.success:
        return success_view(told)
    kind = "refused_blocks" if told.refused_blocks else "unmatched_markers"
    return failing_view(told, kind, told.message, _FIX)


COMMANDS: Verbs = {
    "plan cleanup-debug-logs": Verb(
        catch_complaints(_remove_debug_lines),
        (
            make_argument("--dry-run", action="store_true", help="only show what would be removed"),
            make_argument(
                "--force", action="store_true", help="also remove blocks that look like code"
            ),
        ),
    ),
}
