"""Who calls a command: a person by name, or an agent, which must not decide."""

import os
from collections.abc import Mapping

from porch.errors import UsageError
from porch.system import process_marks

AGENT_VARIABLES = ("CLAUDECODE", "GEMINI_CLI", "PORCH_MARK")
# People set these themselves, and have them in every shell.
_PEOPLES = ("CODEX_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_CA_CERTIFICATE")


def find_user_name() -> str:
    """As `getpass.getuser` has it, which loads terminals along."""
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        if os.environ.get(variable):
            return os.environ[variable]
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def refuse_agents(environ: Mapping[str, str], as_person: bool) -> None:
    """Only people decide. This stops accidents, not malice: a liar can say --as-person too."""
    if as_person:
        return
    codex = [n for n in environ if n.startswith("CODEX_") and n not in _PEOPLES]
    seen = [f"{n} is set" for n in (*(n for n in AGENT_VARIABLES if n in environ), *codex)]
    # An agent that cleans its environment still has the process that porch started above it.
    seen += (
        ["it was started by a porch run"]
        if not seen and process_marks.has_marked_ancestor()
        else []
    )
    if seen:
        raise UsageError(
            f"only people can decide, and this looks like an agent ({seen[0]})",
            fix="if you are a person, add --as-person; this is recorded",
            code="not-a-person",
        )
