"""Which answer of a script a turn gets.

The runner chooses before it starts the process: it has read the YAML, which costs more than all
that the process does.
"""

from typing import Any

from msgspec import to_builtins

from porch.agents.scripted.asked import ScriptedRequest
from porch.agents.scripted.script import Script, ScriptedAnswer

# What a reviewer says whom the script does not mention.
_APPROVALS = {
    "verdict": "VERDICT: APPROVE\nSUMMARY: Nothing to add.",
    "issues": '{"blocking": [], "non_blocking": [], "summary": "Nothing to add.", "checked": []}',
}


def load_script_of(path: str) -> Script:
    """The script in a file; without a file, one that leaves everything to the built-in answers."""
    if not path:
        return Script()
    from porch.agents.scripted.script_reader import load_script

    return load_script(path)


def choose_answer(script: Script, request: ScriptedRequest) -> dict[str, Any]:
    """What to do, as it can travel in a request."""
    answer = to_builtins(_find_answer(script, request))
    return {"answer": answer, "witness": script.witness}


def _find_answer(script: Script, request: ScriptedRequest) -> ScriptedAnswer:
    if request.kind == "review":
        found = script.review(
            request.state, request.item, request.name, request.round, request.try_
        )
        return found or ScriptedAnswer(final=_APPROVALS[request.form])
    found = script.agent(request.state, request.item, request.visit, request.try_, request.instance)
    if request.kind == "reminder":
        return found.reminded() if found else ScriptedAnswer(say="Done as asked.")
    if request.kind == "refused" and found:
        for _ in range(request.turn - 1):
            found = found.again()
        return found
    return found or ScriptedAnswer(default=True, say="Done as asked.")
