"""The dashboard: first byte of the inbox, an approval, news in a browser, idle pages, weight.

The server is a process of its own. A file of the size of the inbox is served by the same server, so
that only what the page itself costs is left in the ratio.
"""

import html
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.cold import _environment, _installed
from bench.lists import _many_runs
from bench.measure import Result, of_times, seconds
from bench.scenes import Scenes
from porch.run.engine.caller import find_agent_sign
from porch.run.verbs import steer
from porch.store import where as places
from tools import browser as installed

RUNS = 1_000
ROUNDS = 41
APPROVALS = 11
NEWS = 7
PAGES = 50
IDLE_S = 10.0
MOST_BYTES = 100_000
_SAME = "same.css"
# Says its link, then serves; what is asked for under one name has as many bytes as a file says.
_SERVER = """
import json, os, sys
from porch.store import where as places
from porch.web.server import choices, serve
from porch.web.server.dashboard import Dashboard
roots, size = json.loads(sys.argv[1]), sys.argv[2]
as_person = sys.argv[3] == "person"
usual = choices.read_static
same = {}
def read_static(name):
    if name != "same.css":
        return usual(name)
    if not same:
        same[name] = b"x" * int(open(size).read())
    return same[name]
choices.read_static = read_static
listening = serve.open_port("127.0.0.1", 0)
projects = {name: places.find_project(root) for name, root in roots.items()}
dashboard = Dashboard(projects, listening.getsockname()[1], as_person=as_person)
print(serve.make_link(dashboard, "127.0.0.1"), flush=True)
serve.serve_dashboard(dashboard, listening)
"""


def results(place: Path) -> list[Result]:
    _, porch = _installed(place)
    many = place / "many"
    _many_runs(many, RUNS)
    size = place / "size"
    found: list[Result] = []
    with _serve({"many": many}, size) as server:
        found += _measure_inbox(server, size)
        found.append(_measure_idle(server))
    scenes = Scenes(place / "scenes", porch.parent)
    roots = {f"p{n}": scenes.copy("waiting", n) for n in range(APPROVALS + NEWS)}
    size.write_text("1")
    with _serve(roots, size) as server:
        found.append(_measure_approvals(server, place, list(roots)[:APPROVALS]))
        news = dict(list(roots.items())[APPROVALS:])
        found += _measure_news(server, news)
    return found


class Served:
    """A server that answers, and one browser that came with its link."""

    def __init__(self, process: "subprocess.Popen[str]", link: str) -> None:
        self.pid = process.pid
        self.port = int(re.search(r":(\d+)/", link)[1])  # type: ignore[index]
        self._kept = self.connect()
        self._kept.request("GET", link.partition(str(self.port))[2])
        came = self._kept.getresponse()
        came.read()
        if came.status != 303:
            raise RuntimeError(f"the dashboard answered {came.status}")
        self.cookie = str(came.headers["set-cookie"]).partition(";")[0]

    def connect(self) -> http.client.HTTPConnection:
        made = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        made.connect()
        return made

    def first_byte(self, path: str) -> float:
        """Seconds until the answer begins, on a connection that is open."""
        before = time.perf_counter()
        self._kept.request("GET", path, headers={"Cookie": self.cookie})
        came = self._kept.getresponse()
        spent = time.perf_counter() - before
        came.read()
        if came.status != 200:
            raise RuntimeError(f"{path} answered {came.status}")
        return spent

    def read(self, path: str) -> bytes:
        self._kept.request("GET", path, headers={"Cookie": self.cookie})
        return self._kept.getresponse().read()

    def post(self, path: str, body: str) -> int:
        told = {
            "Cookie": self.cookie,
            "Origin": f"http://127.0.0.1:{self.port}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        self._kept.request("POST", path, body, told)
        came = self._kept.getresponse()
        came.read()
        return came.status

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _serve(roots: dict[str, Path], size: Path) -> Iterator[Served]:
    told = json.dumps({name: str(root) for name, root in roots.items()})
    # Whoever measures may be an agent itself, which the dashboard would refuse.
    who = "person" if find_agent_sign(os.environ, os.getpid()) else "nobody"
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER, told, str(size), who],
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(),
    )
    try:
        assert process.stdout is not None
        yield Served(process, process.stdout.readline().strip())
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _measure_inbox(server: Served, size: Path) -> list[Result]:
    page = server.read("/")
    size.write_text(str(len(page)))
    server.first_byte("/")
    server.first_byte(f"/static/{_SAME}")
    times = [(server.first_byte("/"), server.first_byte(f"/static/{_SAME}")) for _ in range(ROUNDS)]
    name = f"first byte of the inbox, {RUNS:,} runs / of a file as large"
    return [of_times(name, 10.0, times), _weigh(server, page)]


def _weigh(server: Served, page: bytes) -> Result:
    """Everything that a browser loads for it."""
    parts = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.decode())
    total = len(page) + sum(len(server.read(part)) for part in parts)
    told = f"page {len(page):,}, {len(parts)} files {total - len(page):,} bytes"
    return Result("weight of the inbox", total / 1000, MOST_BYTES / 1000, "kB", told, "", 1)


def _measure_idle(server: Served) -> Result:
    none = _watch_idle(server)
    streams = [_open_stream(server) for _ in range(PAGES)]
    time.sleep(2)  # their beginning is not what is measured
    some = _watch_idle(server)
    for stream in streams:
        stream.close()
    name = f"CPU of the server with {PAGES} idle pages, {RUNS:,} runs"
    return Result(
        name, round(some, 2), None, "% cpu", f"{some:.2f} %", f"{none:.2f} % with none", 1
    )


def _watch_idle(server: Served) -> float:
    before, began = server.cpu_s(), time.monotonic()
    time.sleep(IDLE_S)
    return 100 * (server.cpu_s() - before) / (time.monotonic() - began)


def _open_stream(server: Served) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", server.port))
    lines = (
        "GET /events/inbox HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        f"Cookie: {server.cookie}",
    )
    made.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    made.recv(1)
    return made


def _measure_approvals(server: Served, place: Path, projects: list[str]) -> Result:
    """From the click to the answer, which names the record; nothing comes after this gate."""
    forms = [(name, *_read_form(server, name)) for name in projects]
    log = open(place / "log", "ab", buffering=0)  # noqa: SIM115 - closed below

    def append_and_ask() -> None:
        log.write(b"x" * 1000 + b"\n")
        os.fsync(log.fileno())
        server.read("/static/icon.svg")

    times = []
    for _, address, body in forms:
        times.append((seconds(lambda: _approve(server, address, body)), seconds(append_and_ask)))  # noqa: B023 - used at once
    log.close()
    return of_times("an approval / append, fsync and a round trip", 10.0, times)


def _approve(server: Served, address: str, body: str) -> None:
    status = server.post(address, body)
    if status != 303:
        raise RuntimeError(f"{address} answered {status}")


def _read_form(server: Served, project: str) -> tuple[str, str]:
    from urllib.parse import urlencode

    inbox = server.read("/").decode()
    found = re.search(rf'href="(/run/{project}/[^"]+/decision\?[^"#]+)', inbox)
    if found is None:
        raise RuntimeError(f"nothing waits in {project}")
    page = server.read(html.unescape(found[1])).decode()
    part = page[page.index('id="answer-approved"') :].partition("</form>")[0]
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', part))
    sent = {name: html.unescape(value) for name, value in fields.items()} | {"text": ""}
    return found[1].partition("?")[0], urlencode(sent)


# In the page: the instant of the first frame after a change, on the clock of the machine.
_WATCH = """() => {
  window.seen = 0;
  new MutationObserver(() => requestAnimationFrame(() => requestAnimationFrame(() => {
    window.seen = window.seen || performance.timeOrigin + performance.now();
  }))).observe(document.getElementById("sentence"),
    {subtree: true, childList: true, characterData: true});
}"""
_TIMER = """() => new Promise(done => {
  window.seen = 0;
  setTimeout(() => {
    const began = performance.timeOrigin + performance.now();
    document.getElementById("sentence").append("!");
    const look = () => window.seen ? done(window.seen - began) : setTimeout(look, 1);
    look();
  }, 0);
})"""


def _measure_news(server: Served, roots: dict[str, Path]) -> list[Result]:
    """A run is stopped beside the page; a timer in the page changes the same words."""
    if installed.find_chromium() == "":
        print("     news in a browser: not measured, chromium is not installed")
        return []
    from tests.web.browser.chromium import Chromium

    chromium = Chromium()
    try:
        times = [_measure_one(chromium, server, name, root) for name, root in roots.items()]
    finally:
        chromium.close()
    result = of_times("event in the journal to pixels / a timer in the page", None, times)
    return [result]


def _measure_one(chromium: Any, server: Served, project: str, root: Path) -> tuple[float, float]:
    where = places.find_project(str(root))
    name = where.runs()[0]
    base = f"http://127.0.0.1:{server.port}"
    key, _, value = server.cookie.partition("=")
    context = chromium.do(chromium.browser.new_context)
    chromium.do(lambda: context.add_cookies([{"name": key, "value": value, "url": base}]))
    page = chromium.do(context.new_page)
    chromium.do(lambda: page.goto(f"{base}/run/{project}/{name}"))
    chromium.do(page.locator('#live[data-state="live"]').wait_for)
    chromium.do(lambda: page.evaluate(_WATCH))
    timer = min(chromium.do(lambda: page.evaluate(_TIMER)) for _ in range(3)) / 1000
    chromium.do(lambda: page.evaluate("window.seen = 0"))
    steer.stop_run(where, name, True)
    written = os.stat(f"{where.run_dir(name)}/journal.jsonl").st_mtime
    while not (seen := float(chromium.do(lambda: page.evaluate("window.seen"))) / 1000):
        time.sleep(0.05)
    chromium.do(context.close)
    return seen - written, timer
