"""Who calls a command: a person by the name of their account, or an agent, which must not decide.

Neither is read from what a caller says of itself: a variable or a file can hold any name.
"""

import os
from collections.abc import Mapping

from porch.errors import UsageError
from porch.system import process_marks

# Set for every command that `porch mcp` calls: whoever speaks to it is an agent.
AGENT_SERVER = "PORCH_MCP"
AGENT_VARIABLES = ("CLAUDECODE", "GEMINI_CLI", "PORCH_MARK", AGENT_SERVER)
# People set these themselves, and have them in every shell.
_PEOPLES = ("CODEX_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_CA_CERTIFICATE")
# The ways that porch itself has; any other is what somebody wrote into a file by hand.
_CHANNELS = ("cli", "repl", "demo", "script", "file", "dashboard", "terminal")
# What a setting may answer where nobody attends; it never says yes, whoever wrote that it does.
_POLICY, _OF_POLICY = "policy", "declined"
BY_HAND = "inbox"
# What these bring was not typed by whoever owns the file of the wish.
_WHO_BY_CHANNEL = {"file": "unknown", "script": "script", _POLICY: _POLICY}


def find_user_name() -> str:
    """The account of this process."""
    return name_of_user(os.getuid())


def name_of_user(uid: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def name_of_sender(owner: int, channel: str) -> str:
    """Who left a wish: by the owner of its file, or nobody by name where the channel says so."""
    return _WHO_BY_CHANNEL.get(channel) or name_of_user(owner)


def name_of_channel(said: str, exit_: str = "") -> str:
    """By which way a wish came: one that porch has, not whatever words a file holds."""
    is_ours = said in _CHANNELS or (said, exit_) == (_POLICY, _OF_POLICY)
    return said if is_ours else BY_HAND


def refuse_agents(environ: Mapping[str, str], as_person: bool) -> None:
    """Only people decide and steer. This stops accidents, not malice.

    The way around it is for people and is not told here: agents follow what they are told.
    """
    if as_person:
        return
    sign = find_agent_sign(environ)
    if sign:
        raise UsageError(
            f"only people can decide or steer a run, and this looks like an agent ({sign})",
            fix="leave it to a person; `porch pending` shows them what is waiting",
            code="not-a-person",
        )


def refuse_other_agents(mark: str) -> None:
    """An agent that a run has started speaks for this run and for no other."""
    marks = {os.environ.get(process_marks.VARIABLE, ""), *process_marks.list_marks_above()} - {""}
    if marks and not any(each.startswith(f"{mark}:") for each in marks):
        raise UsageError(
            "an agent of another run cannot report the work of this one",
            fix="report your own work; `porch status` in your worktree names your run",
            code="not-your-run",
        )


def find_agent_sign(environ: Mapping[str, str], pid: int = 0) -> str:
    """By what an agent is known, or nothing; of another process with `pid`."""
    codex = [n for n in environ if n.startswith("CODEX_") and n not in _PEOPLES]
    named = [n for n in AGENT_VARIABLES if n in environ]
    for name in (*named, *codex):
        return f"{name} is set"
    # An agent that cleans its environment still has the process that porch started above it.
    return "it was started by a porch run" if process_marks.has_marked_ancestor(pid) else ""
