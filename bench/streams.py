"""What it costs the runner to listen to eight agents at once, against `cat`, which only copies.

The lines are those of claude in kind and in size; each agent is a shell that prints them in small
portions. All that a turn does with them counts: following, reading, telling whoever watches, and
putting the transcript away without secrets, also where it is so short that all of it is searched.
Only CPU time is taken, which a busy machine changes less than the time on the clock.
"""

import asyncio
import json
import os
import resource
import statistics
import subprocess
from pathlib import Path

from bench.agents import Desk, desk, environment
from bench.measure import Result
from porch.run.settings import Settings

AGENTS = 8
PORTIONS = 40
PORTION = 512 * 1024
# Of a longer transcript only the two ends are kept, and only these are searched for secrets.
KEPT_WHOLE = 4
ROUNDS = 5
# Nobody asked for a number; this one is chosen. `cat` only moves memory, and reading JSON alone
# costs some 55 times as much, and looking for secrets as much again.
LIMIT = 400.0
# Listening, showing and looking for secrets, in milliseconds.
PER_MB = 15.0
CATS = 5
_WORDS = "The test fails where the parser meets an empty line, so the loop has to look ahead. "


def results(place: Path) -> list[Result]:
    portion = place / "portion"
    megabytes = AGENTS * _written(portion) / 1e6
    flood = _listening(place / "flood", portion, PORTIONS) / (PORTIONS * megabytes)
    bare = _copying(portion) / (PORTIONS * megabytes)
    name = f"CPU of the runner while {AGENTS} agents stream / `cat`"
    told = f"{1000 * flood:.2f} ms per MB"
    ratio = round(flood / bare, 1)
    return [
        Result(name, ratio, LIMIT, "times", told, f"{1000 * bare:.3f} ms per MB", 1),
        _per_megabyte(f"of {PORTIONS * PORTION >> 20} MB, of which the ends are kept", flood, 1),
        _per_megabyte(
            f"of {KEPT_WHOLE * PORTION >> 20} MB, all of it kept",
            _kept_whole(place, portion) / (KEPT_WHOLE * megabytes),
            ROUNDS,
        ),
    ]


def _per_megabyte(of_what: str, spent: float, rounds: int) -> Result:
    name = f"CPU of the runner for a MB of output {of_what}"
    told = f"{1000 * spent:.2f} ms per MB"
    return Result(name, round(1000 * spent, 2), PER_MB, "ms", told, "", rounds)


def _kept_whole(place: Path, portion: Path) -> float:
    """Turns with a little output, less what the same turns cost without any."""
    spent = [
        _listening(place / f"some-{n}", portion, KEPT_WHOLE)
        - _listening(place / f"none-{n}", portion, 0)
        for n in range(ROUNDS)
    ]
    return statistics.median(spent)


def _written(portion: Path) -> int:
    """A portion of whole lines: something said, a tool that is started, and what that printed."""
    # No two are equal: what comes again in the same words is looked at once.
    count = PORTION // sum(len(json.dumps(line)) + 1 for line in _step(0))
    lines = [json.dumps(line) for number in range(count) for line in _step(number)]
    portion.write_text("\n".join(lines) + "\n", encoding="utf-8")
    end = {"type": "result", "subtype": "success", "is_error": False, "result": "done"}
    more = {"session_id": "s", "total_cost_usd": 0.01, "usage": {"input_tokens": 1}}
    portion.with_name("end").write_text(json.dumps({**end, **more}) + "\n", encoding="utf-8")
    return portion.stat().st_size


def _step(number: int) -> tuple[dict[str, object], ...]:
    return _said(number), _tool(number), _output(number)


def _said(number: int) -> dict[str, object]:
    said = f"{number:04}: {_WORDS * 3}\n{_WORDS * 2}"
    return _message("assistant", [{"type": "text", "text": said}])


def _tool(number: int) -> dict[str, object]:
    test = f"python -m pytest -q tests/test_parser{number:04}.py"
    asked = {"command": test, "description": "run a test"}
    return _message("assistant", [{"type": "tool_use", "name": "Bash", "id": "t", "input": asked}])


def _output(number: int) -> dict[str, object]:
    printed = "".join(f"tests/test_parser{number:04}.py:{n}: {_WORDS}\n" for n in range(20))
    told = [{"type": "tool_result", "tool_use_id": "t", "content": printed, "is_error": False}]
    # It tells the output twice: as the model gets it, and as the tool gave it.
    return {**_message("user", told), "tool_use_result": {"stdout": printed, "stderr": ""}}


def _message(role: str, content: list[dict[str, object]]) -> dict[str, object]:
    usage = {"input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 0}
    more = {"id": "msg_01", "model": "claude-sonnet-4-5", "stop_reason": None, "usage": usage}
    message = {"role": role, "content": content, **(more if role == "assistant" else {})}
    ids = {"session_id": "9f0c2c6e-6b7c-4b55-8f0e-0d4f1f1c2a33", "parent_tool_use_id": None}
    return {"type": role, "message": message, **ids}


def _listening(place: Path, portion: Path, count: int) -> float:
    command = place / "bin" / "claude"
    command.parent.mkdir(parents=True)
    turns = f"for n in $(seq {count}); do cat '{portion}'; sleep 0.05; done"
    end = portion.with_name("end")
    command.write_text(f"#!/bin/sh\ncat > /dev/null\n{turns}\nexec cat '{end}'\n")
    command.chmod(0o755)
    path = os.pathsep.join((str(command.parent), os.environ["PATH"]))
    with environment({"PATH": path}):
        at = desk(place / "desk", "claude", Settings())
        before = _cpu(resource.RUSAGE_SELF)
        asyncio.run(_all(at))
        return _cpu(resource.RUSAGE_SELF) - before


async def _all(at: Desk) -> None:
    await asyncio.gather(*(at.take(at.turn(f"stream-{number}")) for number in range(AGENTS)))


def _copying(portion: Path) -> float:
    """All the same bytes, several times, for a `cat` is soon done."""
    whole = portion.with_name("whole")
    whole.write_bytes(portion.read_bytes() * PORTIONS)
    before = _cpu(resource.RUSAGE_CHILDREN)
    for _ in range(CATS):
        words = ["cat", *[str(whole)] * AGENTS]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return (_cpu(resource.RUSAGE_CHILDREN) - before) / CATS


def _cpu(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime
