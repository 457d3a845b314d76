"""The process of the scripted agent: does what the script says, tells it as events.

Run as `python -m porch.adapters.agents.scripted_process SCRIPT REQUEST` in the workspace; an empty
SCRIPT means the built-in behaviour.
"""

import json
import os
import re
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

from porch.adapters.agents.script import Answer, Script

EXIT_BAD_SCRIPT = 2
BAD_SCRIPT = "the script or the request cannot be read"
PIECE = 32 * 1024
_PLACEHOLDER = re.compile(r"\{(project_dir|id|title|item|visit|round|try)\}")

PLAN = """# Plan

## Implementation Phases

### Phase 1: Foundation
- Lay out the files

### Phase 2: Behaviour
- Write the feature

### Phase 3: Finish
- Tests and words
"""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked; see docs/reference/script.md for who fills it in."""

    effect: str
    kind: str
    state: str
    item: str
    visit: int
    try_: int
    name: str
    round: int
    artifacts: tuple[str, ...]
    project_dir: str
    legal: tuple[str, ...]
    session: str
    id: str = ""
    title: str = ""
    instance: str = ""
    turn: int = 1
    origin: str = ""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Request":
        review = given.get("review") or {}
        visit = int(given.get("visit") or 1)
        return cls(
            effect=given["effect"],
            kind=given.get("kind") or "agent",
            state=given.get("state") or "",
            item=given.get("item") or "",
            visit=visit,
            try_=int(given.get("try") or 1),
            name=given.get("name") or "",
            round=int(review.get("round") or visit),
            artifacts=tuple(artifact["path"] for artifact in given.get("artifacts") or ()),
            project_dir=given.get("project_dir") or ".",
            legal=tuple(given.get("legal") or ()),
            session=given.get("resume") or _session_of(given["effect"]),
            id=given.get("id") or "",
            title=given.get("title") or "",
            instance=given.get("instance") or "",
            turn=int(given.get("turn") or 1),
            origin=given.get("fork") or "",
        )

    def fill(self, text: str) -> str:
        """Only these names are placeholders; every other brace stays what it is."""
        values = {
            "project_dir": self.project_dir,
            "id": self.id,
            "title": self.title,
            "item": self.item,
            "visit": str(self.visit),
            "round": str(self.round),
            "try": str(self.try_),
        }
        return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _session_of(effect: str) -> str:
    import hashlib

    return "scripted-" + hashlib.sha256(effect.encode()).hexdigest()[:12]


def main(argv: list[str]) -> int:
    # Started from a background shell, a process would inherit that SIGINT is ignored.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    script_path, request_path = argv
    with open(request_path, encoding="utf-8") as file:
        given = json.load(file)
    request = Request.of(given)
    chosen = given.get("chosen") or choose(_script(script_path), request)
    if chosen["witness"]:
        _testify(chosen["witness"], request.effect)
    _perform(Answer(**chosen["answer"]), request)
    return 0


def choose(script: Script, request: Request) -> dict[str, Any]:
    """What to do, as it can travel in a request.

    The runner may choose beforehand: it has read the YAML, which costs more than all the rest here.
    """
    answer = asdict(_answer(script, request))
    return {"answer": answer, "witness": script.witness}


def _script(path: str) -> Script:
    if not path:
        return Script()
    from porch.adapters.agents.script_reader import load_script
    from porch.errors import DefinitionError

    try:
        return load_script(path)
    except (DefinitionError, OSError) as error:
        sys.stderr.write(f"{BAD_SCRIPT}: {error}\n")
        raise SystemExit(EXIT_BAD_SCRIPT) from error


def _testify(path: str, effect: str) -> None:
    """Before anything is done, so that the count of starts can be too high but never too low."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, f"{effect}\n".encode())
    os.fsync(descriptor)
    os.close(descriptor)


def _answer(script: Script, request: Request) -> Answer:
    if request.kind == "review":
        found = script.review(
            request.state, request.item, request.name, request.round, request.try_
        )
        return found or Answer(final="VERDICT: APPROVE\nSUMMARY: Nothing to add.")
    found = script.agent(request.state, request.item, request.visit, request.try_, request.instance)
    if request.kind == "reminder":
        return found.reminded() if found else Answer(say="Done as asked.")
    if request.kind == "refused" and found:
        for _ in range(request.turn - 1):
            found = found.again()
        return found
    return found or Answer(default=True, say="Done as asked.")


def emit(kind: str, /, **fields: object) -> None:
    sys.stdout.write(json.dumps({"type": kind, **fields}) + "\n")
    sys.stdout.flush()


def _perform(answer: Answer, request: Request) -> None:
    if answer.ignore_sigint:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    emit("session", id=request.session, **({"fork": request.origin} if request.origin else {}))
    time.sleep(answer.sleep_s)
    if answer.default:
        _work_by_default(request)
    _change_files(answer, request)
    _make_noise(answer, request)
    _go_wrong(answer)
    final = _final(answer, request)
    emit("text", text=final)
    if answer.exit:
        emit("answer", exit=answer.exit, payload=_filled(answer.payload, request))
    emit("final", text=final)


def _filled(value: Any, request: Request) -> Any:
    if isinstance(value, str):
        return request.fill(value)
    if isinstance(value, Mapping):
        return {key: _filled(each, request) for key, each in value.items()}
    return [_filled(each, request) for each in value] if isinstance(value, list) else value


def _work_by_default(request: Request) -> None:
    for path in request.artifacts:
        if not os.path.exists(path):
            _put("write", path, _plausible(path))
    if request.item:
        line = f"{request.state} {request.item}, visit {request.visit}\n"
        _put("append", os.path.join("work", f"{request.item}.txt"), line)


def _plausible(path: str) -> str:
    stem = os.path.splitext(os.path.basename(path))[0]
    if "plan" in stem.lower():
        return PLAN
    title = stem.replace("-", " ").replace("_", " ").capitalize()
    return f"# {title}\n\nThis text was written by the scripted agent.\n"


def _change_files(answer: Answer, request: Request) -> None:
    for how, texts in (("write", answer.write), ("append", answer.append)):
        for path, text in texts.items():
            _put(how, request.fill(path), request.fill(text))
    for path in map(request.fill, answer.delete):
        emit("tool_start", name=f"delete {path}")
        if os.path.lexists(path):
            os.unlink(path)
        emit("tool_end", output="")
    for words in answer.run:
        _run([request.fill(word) for word in words])


def _put(how: str, path: str, text: str) -> None:
    emit("tool_start", name=f"{how} {path}")
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "a" if how == "append" else "w", encoding="utf-8") as file:
        file.write(text)
    emit("tool_end", output="")


def _run(words: list[str]) -> None:
    """A command that fails is something the agent sees, not the end of it."""
    import subprocess

    emit("tool_start", name=" ".join(words))
    try:
        done = subprocess.run(
            words,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        emit("tool_end", output=f"{done.stdout}[exit code {done.returncode}]")
    except OSError as error:
        emit("tool_end", output=str(error))


def _make_noise(answer: Answer, request: Request) -> None:
    if answer.orphan_s:
        _leave_orphan(answer.orphan_s)
    if answer.tool:
        emit("tool_start", name="script")
        emit("tool_end", output=request.fill(answer.tool))
    for start in range(0, answer.print_bytes, PIECE):
        emit("tool_end", output="x" * min(PIECE, answer.print_bytes - start))
    if answer.usd or answer.tokens:
        emit("usage", usd=answer.usd, tokens=answer.tokens)


def _leave_orphan(seconds: float) -> None:
    """A child in a session of its own whose parent is gone, as the shells of real agents are."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        time.sleep(seconds)
    os._exit(0)


def _go_wrong(answer: Answer) -> None:
    if answer.hang:
        _hang()
    if answer.kill:
        os.kill(os.getpid(), answer.kill)
        _hang()
    if answer.fail:
        emit("failed", kind=answer.fail, text=f"scripted: {answer.fail}")
        raise SystemExit(1)
    if answer.crash is not None:
        raise SystemExit(answer.crash)


def _hang() -> NoReturn:
    while True:
        time.sleep(3600)


def _final(answer: Answer, request: Request) -> str:
    if answer.final is not None:
        return request.fill(answer.final)
    if answer.exit:
        return request.fill(answer.say) or f"My answer is {answer.exit}."
    signals = request.legal[:1] if answer.signals is None else answer.signals
    reason = f": {request.fill(answer.reason)}" if answer.reason else ""
    tags = [f"<signal>{name}{reason}</signal>" for name in signals]
    return "\n".join(filter(None, [request.fill(answer.say), *tags]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
