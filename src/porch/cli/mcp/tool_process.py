"""Each tool call is a process of its own.

What a command does to its process (locks, signals, the directory it works in) ends with it, and a
call that is cancelled can be ended.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

from porch.cli.mcp.tool_answer import ToolAnswer, read_answer
from porch.run.engine.caller import AGENT_SERVER

if TYPE_CHECKING:
    from anyio.abc import ByteReceiveStream, Process

_COMMAND = (sys.executable, "-P", "-m", "porch.cli.called_command")
# A review that is told to end needs a moment to end its agents.
_GRACE_S = 5.0


async def run_command(program: str, words: Sequence[str], directory: str) -> ToolAnswer:
    """Whoever calls is an agent, and the command is told so."""
    environ = {**os.environ, AGENT_SERVER: "1"}
    process = await anyio.open_process(
        _COMMAND, cwd=directory, env=environ, stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        return await _exchange(process, json.dumps([program, list(words)]).encode())
    finally:
        with anyio.CancelScope(shield=True):
            await _end_process(process)


async def _exchange(process: "Process", said: bytes) -> ToolAnswer:
    printed: list[bytes] = []
    complained: list[bytes] = []
    async with anyio.create_task_group() as both:
        both.start_soon(_read_into, printed, process.stdout)
        both.start_soon(_read_into, complained, process.stderr)
        if process.stdin is not None:
            with suppress(anyio.BrokenResourceError, BrokenPipeError, ConnectionError):
                await process.stdin.send(said)
            await process.stdin.aclose()
    code = await process.wait()
    return read_answer(code, b"".join(printed), b"".join(complained))


async def _read_into(pieces: list[bytes], stream: "ByteReceiveStream | None") -> None:
    if stream is not None:
        async for piece in stream:
            pieces.append(piece)  # noqa: PERF401 - what came before a cancelled call is kept


async def _end_process(process: "Process") -> None:
    """The group of the process, so that also a git or an agent that it started ends."""
    if process.returncode is None:
        _signal_group(process.pid, signal.SIGTERM)
        with anyio.move_on_after(_GRACE_S):
            await process.wait()
    if process.returncode is None:
        _signal_group(process.pid, signal.SIGKILL)
    await process.aclose()


def _signal_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
