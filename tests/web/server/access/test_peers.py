"""Who connects: an agent of a run is known by its process, where the kernel tells."""

import http.client
import os
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from porch.system import process_marks, socket_peer
from porch.web.server.access.peers import Peers
from tests.web.conftest import serving

pytestmark = pytest.mark.skipif(
    not socket_peer.can_tell_peers(), reason="this system does not tell who connects"
)
ASK = """
import http.client, sys
asked = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
asked.request("GET", "/")
told = asked.getresponse()
print(told.status, told.read().decode())
"""


@pytest.fixture
def port() -> Iterator[int]:
    with serving({}) as dashboard:
        yield dashboard.port


def ask_from_a_process(port: int, **variables: str) -> str:
    kept = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    words = [sys.executable, "-S", "-c", ASK, str(port)]
    done = subprocess.run(
        words, env={**kept, **variables}, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize("variable", ["CLAUDECODE", "GEMINI_CLI", "CODEX_SANDBOX", "PORCH_MARK"])
def test_an_agent_gets_no_page_whatever_it_knows(port: int, variable: str) -> None:
    said = ask_from_a_process(port, **{variable: "1"})
    assert said.startswith("403")
    assert f"looks like an agent ({variable} is set)" in said


def test_a_process_that_an_agent_started_with_nothing_is_known_by_its_parent(port: int) -> None:
    shell = f"env -i {sys.executable} -S -c '{ASK}' {port}; true"
    kept = {"PATH": os.environ["PATH"], "PORCH_MARK": "porch-x:1"}
    done = subprocess.run(["sh", "-c", shell], env=kept, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("403")
    assert "it was started by a porch run" in done.stdout


def test_without_a_list_of_sockets_an_agent_gets_no_page_either(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_peer, "_TABLES", ("/there-is-none",))
    assert ask_from_a_process(port, CLAUDECODE="1").startswith("403")
    assert ask_from_a_process(port).startswith("401")


def test_where_nobody_may_be_asked_the_dashboard_knows_that_it_cannot_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise psutil.AccessDenied

    monkeypatch.setattr(socket_peer, "_TABLES", ("/there-is-none",))
    monkeypatch.setattr("psutil._psplatform.Process.net_connections", refuse)
    assert not socket_peer.can_tell_peers()


def test_a_program_of_a_person_is_asked_for_its_link(port: int) -> None:
    assert ask_from_a_process(port).startswith("401")


@pytest.mark.parametrize("tables", [socket_peer._TABLES, ("/there-is-none",)])
def test_the_kernel_says_which_process_holds_the_other_end(
    port: int, tables: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its list of sockets; without one, psutil asks each process."""
    monkeypatch.setattr(socket_peer, "_TABLES", tables)
    assert socket_peer.can_tell_peers()
    for host in ("127.0.0.1", "::ffff:127.0.0.1"):
        asked = http.client.HTTPConnection(host, port)
        asked.connect()
        mine = ("127.0.0.1", asked.sock.getsockname()[1])
        number = socket_peer.find_socket_number(mine, ("127.0.0.1", port))
        assert socket_peer.list_socket_holders(number) == [os.getpid()]
        asked.close()
    assert socket_peer.find_socket_number(("127.0.0.1", 1), ("127.0.0.1", port)) == ""


def test_an_address_that_is_none_is_let_pass_to_the_other_guards() -> None:
    for client in (None, ("testclient", 50_000), ("127.0.0.1", 1)):
        assert Peers().find_sign({"client": client, "server": ("127.0.0.1", 2)}) == ""


def test_of_a_process_that_has_ended_nothing_is_known() -> None:
    ended = subprocess.Popen([sys.executable, "-S", "-c", ""])
    ended.wait()
    assert process_marks.read_environment(ended.pid) == {}
    assert not process_marks.has_marked_ancestor(ended.pid)
