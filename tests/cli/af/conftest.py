"""A repository whose runs are driven by processes of their own; none outlives its test."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from porch.cli.af.fast import answer_from_rows
from porch.cli.dispatch import run_words
from porch.store import where as places
from porch.store.run_drivers import find_driver
from tests import commands
from tests.cli.conftest import Desk, Said

TWO: tuple[dict[str, Any], ...] = (
    {"id": "one", "gate": {"name": "go", "next": "two"}},
    {"id": "two"},
)


class Farm:
    """Commands of `af`, typed in this process; the drivers that they start are real ones."""

    def __init__(self, desk: Desk, capsys: pytest.CaptureFixture[str]):
        self.desk = desk
        self._capsys = capsys

    def af(self, *words: str, code: int | None = 0) -> Said:
        self._capsys.readouterr()
        answered = answer_from_rows(list(words))
        left = run_words("af", list(words)) if answered is None else answered
        out, err = self._capsys.readouterr()
        assert code in (None, left), f"exit {left}, not {code}\n{out}{err}"
        return Said(left, out, err)

    def kick_off(self, id_: str = "0001", *words: str, code: int | None = 0) -> Said:
        """A run of protocol `p` called ID-x."""
        return self.af(
            "kickoff", id_, "--title", "x", "--protocol", "p", "--no-claude", *words, code=code
        )

    def kick_off_at_once(self, *ids: str) -> list[Said]:
        """The same for several, each by a process of its own."""
        words = ("--title", "x", "--protocol", "p", "--no-claude")
        started = [
            commands.start(
                "af",
                ("kickoff", id_, *words),
                self.desk.root,
                os.environ,
                errors=subprocess.STDOUT,
            )
            for id_ in ids
        ]
        said = [each.communicate(timeout=300)[0] for each in started]
        return [Said(each.returncode, text, "") for each, text in zip(started, said, strict=True)]

    def driver(self, run: str = "0001-x") -> int:
        """The process that holds the run; 0 if nobody does."""
        holder = find_driver(str(self.desk.run_dir(run))).holder
        return holder.pid if holder else 0

    def group(self, run: str = "0001-x") -> str:
        rows = self.af("status", "--json").json["runs"]
        return str(next(row["group"] for row in rows if row["run"] == run))

    def wait_for_gate(self, run: str = "0001-x") -> None:
        self.desk.wait_for(lambda: '"asked_at"' in self._picture(run))

    def _picture(self, run: str) -> str:
        path = self.desk.run_dir(run) / "row.json"
        return path.read_text() if path.exists() else ""

    def wait_for_end(self, run: str = "0001-x") -> None:
        self.desk.wait_for(lambda: not self.driver(run))

    def clear(self) -> None:
        where = places.find_project(str(self.desk.root))
        for name in where.names():
            pid = self.driver(name)
            if pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                self.wait_for_end(name)


@pytest.fixture
def farm(desk: Desk, capsys: pytest.CaptureFixture[str]) -> Iterator[Farm]:
    desk.protocol("p", *TWO)
    made = Farm(desk, capsys)
    yield made
    made.clear()
