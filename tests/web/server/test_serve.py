"""The command: where it listens, what it prints, and how it ends."""

import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from porch.cli.dispatch import run_words
from porch.errors import OutsideError, UsageError
from porch.store import where as places
from porch.store.run_drivers import find_driver
from porch.web.server import serve
from tests import commands
from tests.cli.conftest import Desk


@pytest.mark.req("P-054", "P-171")
def test_af_dashboard_serves_a_page_on_this_machine_and_ends_with_ctrl_c(desk: Desk) -> None:
    words = ("dashboard", "--json", "--port", "0")
    process = commands.start("af", words, desk.root, os.environ)
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())
    assert told["host"] == "127.0.0.1"
    path = told["url"].removeprefix(f"http://127.0.0.1:{told['port']}")
    asked = http.client.HTTPConnection("127.0.0.1", told["port"], timeout=60)
    asked.request("GET", path)
    came = asked.getresponse()
    came.read()
    assert (came.status, came.headers["location"]) == (303, "/")
    cookie = str(came.headers["set-cookie"]).partition(";")[0]
    asked.request("GET", "/", headers={"Cookie": cookie})
    page = asked.getresponse()
    assert (page.status, b"There are no runs here yet" in page.read()) == (200, True)
    asked.close()
    assert _list_listening_addresses(told["port"]) == ["0100007F"]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")


def _list_listening_addresses(port: int) -> list[str]:
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    lines += [line.split() for line in Path("/proc/net/tcp6").read_text().splitlines()[1:]]
    return [
        address
        for address, _, number in (line[1].partition(":") for line in lines if line[3] == "0A")
        if int(number, 16) == port
    ]


@pytest.mark.req("P-171")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "example.org"])
def test_another_address_is_refused_with_the_way_by_ssh(
    desk: Desk, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    assert run_words("af", ["dashboard", "--host", host, "--no-open"]) == 2
    said = capsys.readouterr().err
    assert "error[not-loopback]" in said
    assert "ssh -L 4747:127.0.0.1:4747" in said


def test_a_port_that_is_taken_gives_way_to_the_next_one() -> None:
    with serve.open_port("localhost", 0) as first:
        taken = int(first.getsockname()[1])
        with serve.open_port("127.0.0.1", taken) as second:
            assert taken < second.getsockname()[1] < taken + 50


def test_ports_that_are_all_taken_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "_TRIES", 1)
    first = serve.open_port("127.0.0.1", 0)
    with first, pytest.raises(OutsideError, match="all in use"):
        serve.open_port("127.0.0.1", first.getsockname()[1])


def test_an_address_that_the_machine_does_not_have_is_no_taken_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serve, "LOOPBACK", ("203.0.113.1",))
    with pytest.raises(OSError, match="assign"):
        serve.open_port("203.0.113.1", 0)


@pytest.mark.parametrize("said", ["x", "-1", "70000"])
def test_what_is_no_port_is_refused(
    desk: Desk, capsys: pytest.CaptureFixture[str], said: str
) -> None:
    assert run_words("af", ["dashboard", f"--port={said}"]) == 2
    assert f"{said} is not a port" in capsys.readouterr().err


def test_the_last_ports_end_with_the_last_number() -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", 65535))
        taken.listen()
        with pytest.raises(UsageError, match="is not a port"):
            serve.open_port("127.0.0.1", 65535)


def test_without_its_packages_the_command_says_which_line_installs_them(
    desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert run_words("af", ["dashboard"]) == 6
    said = capsys.readouterr().err
    assert "error[no-web]" in said
    assert "starlette uvicorn markdown-it-py nh3" in said


def test_an_agent_cannot_open_it(
    desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    assert run_words("af", ["dashboard"]) == 2
    assert "not-a-person" in capsys.readouterr().err


def test_the_module_of_the_command_loads_no_web_server() -> None:
    look = "import sys, porch.cli.af.dashboard; print([m for m in sys.modules if 'starl' in m])"
    words = [sys.executable, "-c", look]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_demo_shows_two_runs_and_leaves_nobody_behind(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    words = ("dashboard", "--demo", "--json", "--port", "0")
    process = commands.start("af", words, desk.root, os.environ)
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["port"]
    where = places.find_project(str(next(tmp_path.glob("porch-demo-*"))))
    assert where.runs() == ["0001-greeter", "0002-farewell"]
    assert all(find_driver(where.run_dir(name)).holder for name in where.runs())
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    process.communicate()
    assert not any(find_driver(where.run_dir(name)).holder for name in where.runs())
