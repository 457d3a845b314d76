"""After a complete run: what is ready to be merged, what did not pass, and one key to finish it."""

import os
from collections.abc import Callable, Collection, Mapping

from msgspec.structs import replace

from porch.cli.command import View
from porch.cli.terminal.stream import driven_view
from porch.errors import PorchError
from porch.fleet.finish import finish
from porch.fleet.finish.acceptance import FinishRequest, FinishWay
from porch.run.engine.caller import find_agent_sign
from porch.run.engine.drive_options import DriveResult
from porch.run.verbs.read_run import read_run
from porch.show.terminal_style import TerminalStyle
from porch.store.where import ProjectPaths

_WAYS: Mapping[str, FinishWay] = {"m": "merge", "s": "squash", "p": "pr", "k": "keep"}
_LATER = ("\r", "\n")
_WORDS = {"m": "m merge", "s": "s squash", "p": "p pull request", "k": "k keep"}
ReadKey = Callable[[str, Collection[str]], str]


def offer_finish(
    driven: DriveResult,
    where: ProjectPaths,
    spent: str,
    *,
    read_key: ReadKey,
    look: TerminalStyle | None,
) -> View:
    """How the drive came to rest; work that waits to be finished is finished here if one likes.

    What needs a reason as well is only told: a key gives none.
    """
    # Whoever drove it may have proposed the work since.
    driven = replace(driven, state=read_run(where, driven.name).state)
    choices = _find_choices(driven, where)
    if choices is None:
        return driven_view(driven, where)
    told = [f"  {spent}"] if spent else []
    ended = driven_view(driven, where, [*told, *choices.message.split("\n")])
    needs_words = choices.data["not_passed"] or choices.data["changed_approvals"]
    if needs_words or not choices.data["into"] or find_agent_sign(os.environ):
        return ended
    print(look.fitted(ended.text) if look else ended.text, flush=True)
    is_possible = finish.has_remote(where, str(choices.data["branch"]))
    keys = [key for key in _WAYS if key != "p" or is_possible]
    question = f"{', '.join(_WORDS[key] for key in keys)}, Enter later: "
    key = read_key(question, (*keys, *_LATER))
    print(flush=True)
    if key not in keys:
        return View("", ended.data, ended.code)
    finished = finish.finish_run(where, driven.name, FinishRequest(_WAYS[key]))
    return View(finished.message, ended.data, ended.code, is_prose=True)


def _find_choices(driven: DriveResult, where: ProjectPaths) -> "finish.FinishResult | None":
    """None where there is nothing to choose: no branch of its own, no work, or it is done."""
    state = driven.state
    if state.outcome != "complete" or not state.has_own_branch or state.run.delivery:
        return None
    try:
        choices = finish.show_choices(where, driven.name)
    except (PorchError, OSError):
        return None
    has_work = choices.data.get("commits") or choices.data.get("uncommitted")
    return choices if has_work and "changed_approvals" in choices.data else None
