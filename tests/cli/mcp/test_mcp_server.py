"""`porch mcp` answers a client with the objects that `--json` prints."""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from porch.cli.dispatch import run_words
from porch.cli.mcp.offered_tools import list_offered_tools
from porch.cli.mcp.tool_answer import read_answer
from tests.repositories import at_home, make_repository

if TYPE_CHECKING:
    from mcp.client import Client
    from mcp.types import CallToolResult

# The library takes a second to load: every worker collects these tests, and one of them runs them.
pytestmark = pytest.mark.xdist_group("mcp")
TOOLS = list_offered_tools()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    at_home(tmp_path / "home", monkeypatch)
    place = make_repository(tmp_path / "repo", {"a.txt": "one\n"}, "feat/x")
    monkeypatch.chdir(place)
    return place


def ask(*calls: tuple[str, dict[str, Any]]) -> list["CallToolResult"]:
    from mcp.client import Client

    from porch.cli.mcp.server import make_server

    async def talk() -> list["CallToolResult"]:
        async with Client(make_server(TOOLS)) as client:
            return [await client.call_tool(name, said) for name, said in calls]

    return anyio.run(talk)


def test_an_answer_is_the_object_that_the_command_prints(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "word " * 60_000  # no command line holds that
    initial, plan, status, runs = ask(
        ("envoy_plan_init", {}),
        ("envoy_plan_write_plan", {"title": "T", "objective": "--force", "context": long}),
        ("envoy_plan_get_full_plan", {}),
        ("porch_status", {}),
    )
    assert [told.is_error for told in (initial, plan, status)] == [False] * 3
    assert long.strip() in json.dumps(status.structured_content)
    capsys.readouterr()
    for words, told in ((("envoy", "plan", "get-full-plan"), status), (("porch", "status"), runs)):
        run_words(words[0], [*words[1:], "--json"])
        printed = json.loads(capsys.readouterr().out)
        assert told.structured_content == printed == json.loads(told.content[0].text)  # type: ignore[union-attr]
    assert (runs.meta or {})["porch/exit"] == 0


def test_a_directory_is_where_the_command_works(root: Path, tmp_path: Path) -> None:
    make_repository(tmp_path / "other", {"a.txt": "one\n"}, "elsewhere")
    here, there, nowhere = ask(
        ("envoy_git_get_base_branch", {}),
        ("envoy_plan_status", {"directory": str(tmp_path / "other")}),
        ("porch_status", {"directory": str(tmp_path / "missing")}),
    )
    assert "elsewhere" in str(there.structured_content)
    assert "elsewhere" not in str(here.structured_content)
    assert nowhere.is_error
    assert "is not a directory" in str(nowhere.structured_content)


def test_a_complaint_is_an_error_that_says_what_to_do(root: Path) -> None:
    missing, unknown, wrong = ask(
        ("porch_explain", {"id": "7"}),
        ("porch_approve", {"id": "7"}),
        ("envoy_plan_read_prompt", {"number": "1", "force": True}),
    )
    assert missing.is_error
    assert missing.structured_content["error"]["findings"][0]["fix"]
    assert (missing.meta or {})["porch/exit"] == missing.structured_content["error"]["exit"]
    assert unknown.is_error
    assert "there is no tool 'porch_approve'" in str(unknown.structured_content)
    assert wrong.is_error
    assert "has no argument 'force'" in str(wrong.structured_content)


@pytest.mark.parametrize(
    "code, printed, complained, expected",
    [
        (3, b'{"waiting": true}', b"", ('{"waiting": true}', {"waiting": True}, False)),
        (1, b'{"error": {}}', b"e", ('{"error": {}}', {"error": {}}, True)),
        (0, b"[1]", b"", ("[1]", None, False)),
        (0, b"", b"", ("exit code 0", None, False)),
        (-9, b"", b"killed \xff", ("killed \ufffd", None, True)),
    ],
)
def test_whatever_a_command_leaves_is_an_answer(
    code: int, printed: bytes, complained: bytes, expected: tuple[object, ...]
) -> None:
    assert read_answer(code, printed, complained) == (*expected, code)


def serve(root: Path, talk: Callable[["Client"], Awaitable[None]], **variables: str) -> None:
    """The server as a client starts it: a process, spoken to by its standard streams."""
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "porch", "mcp"],
        cwd=root,
        env={**os.environ, **variables},
    )

    async def connect() -> None:
        # The library takes as its default what the errors went to when it was loaded.
        async with Client(stdio_client(server, errlog=sys.__stderr__ or sys.stderr)) as client:
            await talk(client)

    anyio.run(connect)


def test_a_client_finds_the_tools_and_whoever_calls_is_an_agent(root: Path) -> None:
    async def talk(client: "Client") -> None:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == list(TOOLS)
        kinds = {tool.name: tool.annotations for tool in listed.tools}
        assert kinds["porch_status"] is not None
        assert kinds["porch_status"].read_only_hint
        await client.call_tool("envoy_plan_init", {})
        await client.call_tool("envoy_plan_write_prompt", {"number": "1", "context": "c"})
        started = await client.call_tool(
            "envoy_plan_start_prompt", {"number": "1", "specialist": "web"}
        )
        again = await client.call_tool(
            "envoy_plan_start_prompt", {"number": "1", "specialist": "web"}
        )
        assert not started.is_error, started
        assert not again.is_error, again  # the claim belongs to the client, which is still there

    serve(root, talk)


def test_a_call_that_is_cancelled_leaves_no_process(root: Path) -> None:
    mark = "porch-mcp-test-" + str(os.getpid())

    async def talk(client: "Client") -> None:
        await client.call_tool("envoy_plan_init", {})
        plan = {"title": "T", "objective": "o", "context": "c"}
        await client.call_tool("envoy_plan_write_plan", plan)
        with anyio.move_on_after(60) as limit:
            async with anyio.create_task_group() as calls:
                calls.start_soon(client.call_tool, "envoy_plan_block_plan_gate", {"wait": 600})
                while not find_commands(mark):  # noqa: ASYNC110 - nobody tells of a process
                    await anyio.sleep(0.02)
                calls.cancel_scope.cancel()
            while find_commands(mark):  # noqa: ASYNC110 - nobody tells of its end
                await anyio.sleep(0.02)
        assert not limit.cancelled_caught

    serve(root, talk, PORCH_TEST_MARK=mark)
    assert not find_commands(mark)


def find_commands(mark: str) -> list[int]:
    found = []
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            environ = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if b"called_command" in words and mark.encode() in environ:
            found.append(pid)
    return found


def test_the_server_ends_with_its_client(root: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "porch", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    server.communicate(b"", timeout=60)
    assert server.returncode == 0


def test_without_the_package_the_line_that_installs_it_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.metadata.version", _version_missing)
    assert run_words("porch", ["mcp"]) == 6
    told = capsys.readouterr().err
    assert "error[no-mcp]: the package mcp is not installed" in told
    assert f"fix: {sys.executable} -m pip install 'mcp>=2,<3'" in told
    monkeypatch.setattr("importlib.metadata.version", lambda _: "1.28.0")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert run_words("porch", ["mcp"]) == 6
    told = capsys.readouterr().err
    assert "in version 1.28.0" in told
    assert f"uv pip install --python {sys.executable}" in told


def _version_missing(name: str) -> str:
    from importlib.metadata import PackageNotFoundError

    raise PackageNotFoundError(name)


def test_the_tools_are_listed_without_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_words("porch", ["mcp", "--list", "--tools", "porch_*", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"name": "porch_next", "command": "porch next"} in told["tools"]
    assert run_words("porch", ["mcp", "--list", "--tools", "porch_*"]) == 0
    assert "porch_next" in capsys.readouterr().out
    assert run_words("porch", ["mcp", "--tools", "nothing"]) == 2
    assert "no tool fits --tools" in capsys.readouterr().err
