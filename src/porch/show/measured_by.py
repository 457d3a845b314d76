"""What people are told of files that decide a measurement and that an agent changed."""

from porch.machine.exits.touched_files import list_touched_files
from porch.machine.state import RunState
from porch.model.protocol import Check, Protocol
from porch.text.printable import make_printable

TITLE = "what measured this was changed by the agent"
MOST_SHOWN = 20
_COMPARED = "the files were only compared: the checks ran with these changes"
_LOOKED_AFTER = "checks with a runner ran without these changes, others with them"


def describe_touched_files(protocol: Protocol, state: RunState) -> dict[str, str]:
    """One report for whoever decides; none where everything is as it was found."""
    names = list_touched_files(state)
    more = f", and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    told = make_printable(", ".join(names[:MOST_SHOWN])) + more
    how = _LOOKED_AFTER if _has_runner(protocol) else _COMPARED
    return {TITLE: f"{told} ({how})"} if names else {}


def _has_runner(protocol: Protocol) -> bool:
    checks = [each.actor for each in protocol.states.values() if isinstance(each.actor, Check)]
    return any(command.runner for check in checks for command in check.commands)
