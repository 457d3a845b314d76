"""The process of the scripted agent: does what the script says, tells it as events.

Run as `python -m porch.agents.scripted.process SCRIPT REQUEST` in the workspace; an empty
SCRIPT means the built-in behaviour.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

from porch.agents.scripted.asked import BAD_SCRIPT, ScriptedRequest

# Started for each turn of a run: what it does not need (typing, msgspec) is not loaded.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

EXIT_BAD_SCRIPT = 2
PIECE_BYTES = 32 * 1024

SAMPLE_PLAN = """# Plan

## Implementation Phases

### Phase 1: Foundation
- Lay out the files

### Phase 2: Behaviour
- Write the feature

### Phase 3: Finish
- Tests and words
"""


def main(argv: list[str]) -> int:
    # Started from a background shell, a process would inherit that SIGINT is ignored.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    script_path, request_path = argv
    with open(request_path, encoding="utf-8") as file:
        given = json.load(file)
    request = ScriptedRequest(given)
    chosen = given.get("chosen") or _choose_here(script_path, request)
    if chosen["witness"]:
        _record_witness(chosen["witness"], request.effect)
    _perform_answer(chosen["answer"], request)
    return 0


def _choose_here(script: str, request: ScriptedRequest) -> dict[str, Any]:
    """Nobody has chosen, for the script cannot be read; or it can by now."""
    from porch.agents.scripted.script import Script, choose_answer
    from porch.agents.scripted.script_reader import load_script
    from porch.errors import DefinitionError

    try:
        return choose_answer(load_script(script) if script else Script(), request)
    except (DefinitionError, OSError) as error:
        sys.stderr.write(f"{BAD_SCRIPT}: {error}\n")
        raise SystemExit(EXIT_BAD_SCRIPT) from error


def _record_witness(path: str, effect: str) -> None:
    """Before anything is done, so that the count of starts can be too high but never too low."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, f"{effect}\n".encode())
    os.fsync(descriptor)
    os.close(descriptor)


def print_event(kind: str, /, **fields: object) -> None:
    sys.stdout.write(json.dumps({"type": kind, **fields}) + "\n")
    sys.stdout.flush()


def _perform_answer(answer: Mapping[str, Any], request: ScriptedRequest) -> None:
    if answer["ignore_sigint"]:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    print_event(
        "session", id=request.session, **({"fork": request.origin} if request.origin else {})
    )
    time.sleep(answer["sleep_s"])
    if answer["default"]:
        _write_default_work(request)
    _change_files(answer, request)
    _make_noise(answer, request)
    _fail_as_scripted(answer)
    final = _final_message(answer, request)
    print_event("text", text=final)
    if answer["exit"]:
        print_event(
            "answer", exit=answer["exit"], payload=_fill_placeholders(answer["payload"], request)
        )
    print_event("final", text=final)


def _fill_placeholders(value: Any, request: ScriptedRequest) -> Any:
    if isinstance(value, str):
        return request.fill(value)
    if isinstance(value, dict):
        return {key: _fill_placeholders(each, request) for key, each in value.items()}
    return (
        [_fill_placeholders(each, request) for each in value] if isinstance(value, list) else value
    )


def _write_default_work(request: ScriptedRequest) -> None:
    for path in request.artifacts:
        if not os.path.exists(path):
            _write_file("write", path, _sample_document(path))
    if request.item:
        line = f"{request.state} {request.item}, visit {request.visit}\n"
        _write_file("append", os.path.join("work", f"{request.item}.txt"), line)


def _sample_document(path: str) -> str:
    stem = os.path.splitext(os.path.basename(path))[0]
    if "plan" in stem.lower():
        return SAMPLE_PLAN
    title = stem.replace("-", " ").replace("_", " ").capitalize()
    return f"# {title}\n\nThis text was written by the scripted agent.\n"


def _change_files(answer: Mapping[str, Any], request: ScriptedRequest) -> None:
    for how, texts in (("write", answer["write"]), ("append", answer["append"])):
        for path, text in texts.items():
            _write_file(how, request.fill(path), request.fill(text))
    for path in map(request.fill, answer["delete"]):
        print_event("tool_start", name=f"delete {path}")
        if os.path.lexists(path):
            os.unlink(path)
        print_event("tool_end", output="")
    for words in answer["run"]:
        _run_command([request.fill(word) for word in words])


def _write_file(how: str, path: str, text: str) -> None:
    print_event("tool_start", name=f"{how} {path}")
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "a" if how == "append" else "w", encoding="utf-8") as file:
        file.write(text)
    print_event("tool_end", output="")


def _run_command(words: list[str]) -> None:
    """A command that fails is something the agent sees, not the end of it."""
    import subprocess

    print_event("tool_start", name=" ".join(words))
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
        print_event("tool_end", output=f"{done.stdout}[exit code {done.returncode}]")
    except OSError as error:
        print_event("tool_end", output=str(error))


def _make_noise(answer: Mapping[str, Any], request: ScriptedRequest) -> None:
    if answer["orphan_s"]:
        _leave_orphan(answer["orphan_s"])
    if answer["tool"]:
        print_event("tool_start", name="script")
        print_event("tool_end", output=request.fill(answer["tool"]))
    for start in range(0, answer["print_bytes"], PIECE_BYTES):
        print_event("tool_end", output="x" * min(PIECE_BYTES, answer["print_bytes"] - start))
    if answer["usd"] or answer["tokens"]:
        print_event("usage", usd=answer["usd"], tokens=answer["tokens"])


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


def _fail_as_scripted(answer: Mapping[str, Any]) -> None:
    if answer["hang"]:
        _hang_forever()
    if answer["kill"]:
        os.kill(os.getpid(), answer["kill"])
        _hang_forever()
    if answer["fail"]:
        print_event("failed", kind=answer["fail"], text=f"scripted: {answer['fail']}")
        raise SystemExit(1)
    if answer["crash"] is not None:
        raise SystemExit(answer["crash"])


def _hang_forever() -> NoReturn:
    while True:
        time.sleep(3600)


def _final_message(answer: Mapping[str, Any], request: ScriptedRequest) -> str:
    if answer["final"] is not None:
        return request.fill(answer["final"])
    if answer["exit"]:
        return request.fill(answer["say"]) or f"My answer is {answer['exit']}."
    signals = request.legal[:1] if answer["signals"] is None else answer["signals"]
    reason = f": {request.fill(answer['reason'])}" if answer["reason"] else ""
    tags = [f"<signal>{name}{reason}</signal>" for name in signals]
    return "\n".join(filter(None, [request.fill(answer["say"]), *tags]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
