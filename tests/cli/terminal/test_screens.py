"""What a run shows on terminals of four sizes, kept as text: look at a picture before you keep it.

`PORCH_KEEP_SCREENS=1` writes the pictures anew instead of comparing them.
"""

import io
import json
import os
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from porch.cli.command import View
from porch.cli.terminal.finish_offer import offer_finish
from porch.cli.terminal.line_editor import LineEditor, LineView
from porch.cli.terminal.live_area import Activity, LiveArea
from porch.cli.terminal.question import uncut
from porch.cli.terminal.screen import Screen
from porch.dialects.registry import parse_definition
from porch.machine import facts as f
from porch.machine.approvals import add_engine_states
from porch.machine.records import JournalRecord
from porch.run.engine.drive_options import DriveResult
from porch.run.verbs.read_run import read_run
from porch.show.decision import list_decisions
from porch.show.fleet.checklist import CheckRow
from porch.show.fleet.live_status import LiveStatus, Worker
from porch.show.terminal_style import TerminalStyle
from porch.store.where import find_project
from porch.testing import Rig

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

SIZES = ((60, 20), (80, 24), (120, 40), (200, 50))
SCREENS = Path(__file__).parent / "screens"
REVIEWED = {
    "id": "specify",
    "substates": ["draft", "consult", "revise"],
    "initial_substate": "draft",
    "signals": {"SPEC_DRAFTED": "specify:consult", "REVISED": "specify:consult"},
    "consultation": {"on": "consult", "models": ["claude", "codex"], "max_rounds": 2},
    "gate": {
        "name": "spec_approval",
        "description": "Is the specification what you want?",
        "next": "plan",
    },
    "artifact": "spec.md",
}
PLAN = {"id": "plan", "artifact": "plan.md", "transition": {"on_complete": "implement"}}
IMPLEMENT = {
    "id": "implement",
    "phased": True,
    "checks": {"unit": {"command": "true", "max_retries": 2, "retry_delay": 0}},
    "transition": {"on_complete": "review"},
}
REVIEW = {"id": "review", "artifact": "review.md"}


@pytest.fixture(autouse=True)
def _at_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


class Watched:
    """A run without files or processes, and the screen of somebody who watches it."""

    def __init__(self, width: int, height: int, typed: str = "") -> None:
        text = json.dumps({"name": "spider", "phases": [REVIEWED, PLAN, IMPLEMENT, REVIEW]})
        protocol = parse_definition(text, "protocol.json").protocol
        assert protocol is not None
        self.file = io.StringIO()
        self.now = 0.0
        console = Console(
            file=self.file, width=width, height=height, force_terminal=True, color_system=None
        )
        editor = LineEditor()
        for char in typed:
            editor.insert(char)
        self.screen = Screen(lambda: editor.view, lambda _: "claude", console, lambda: self.now)
        self.height = height
        self.rig = Rig(add_engine_states(protocol))
        self.screen.follows(self.rig.protocol)
        self.tell(
            f.RunStarted(
                run="0042-login",
                id="0042",
                title="login",
                heading="Add a login page with e-mail and password",
                protocol="spider",
                digest="d",
            )
        )

    def tell(self, fact: f.Fact) -> JournalRecord:
        record = self.rig.tell(fact)
        self.screen.happened(record, self.rig.state, 5.0)
        return record

    def hold(self, kind: str, name: str = "") -> str:
        return self.rig.held(kind, name)

    def work(self, exit_: str, usd: float = 0.11) -> None:
        effect = self.hold("agent")
        self.tell(f.ExitAccepted(effect=effect, exit=exit_, signal=exit_, usd=usd, tokens=41_000))

    def check_all(self, **failed: str) -> None:
        while hands := [e for e in self.rig.state.in_hand.values() if e.kind == "check"]:
            name = hands[0].name
            report, result = failed.get(name, ""), "failed" if name in failed else "passed"
            self.tell(
                f.CheckEnded(effect=hands[0].effect, result=result, report=report)  # type: ignore[arg-type]
            )

    def review(self, **findings: str) -> None:
        for name in ("claude", "codex"):
            found = findings.get(name)
            self.tell(
                f.ReviewEnded(
                    effect=self.hold("review", name),
                    verdict="REQUEST_CHANGES" if found else "APPROVE",
                    findings=(found,) if found else (),
                    usd=0.05,
                )
            )
        self.tell(f.FeedbackWritten(effect=self.hold("feedback"), path="round.md"))

    def ask(self) -> None:
        self.tell(f.DecisionAsked(effect=self.hold("ask"), digest="d"))
        decisions: Any = list_decisions(
            self.rig.protocol, self.rig.state, "Add a login page with e-mail and password."
        )
        root = os.path.join(os.getcwd(), "worktrees", "spider_0042_login")
        shown = [self.screen.render_question(each, root) for each in decisions]
        self.screen.show_all(*shown)

    def commit_all(self) -> None:
        while any(each.kind == "git" for each in self.rig.state.in_hand.values()):
            self.tell(f.CommitEnded(effect=self.hold("git"), commit="c0ffee12345"))

    def draw(self) -> str:
        """The window as it stands: what scrolled out of it on top cannot be seen."""
        self.screen.console.print(self.screen.picture(), end="")
        lines = [line.rstrip() for line in self.file.getvalue().splitlines()]
        return "\n".join(lines[-self.height :]) + "\n"


def approve(watched: Watched) -> None:
    [position] = watched.rig.state.decisions
    wish = f.Wish(id="w1", kind="decide", position=position, exit="approved", who="ann")
    record = watched.rig.wish(wish)
    assert record is not None
    watched.screen.happened(record, watched.rig.state, 5.0)


def specify(watched: Watched) -> None:
    watched.work("SPEC_DRAFTED")
    watched.check_all()
    watched.review(codex="nothing is said about locked accounts")
    watched.work("REVISED")
    watched.check_all()
    watched.review()
    watched.check_all()


def implement(watched: Watched) -> None:
    specify(watched)
    watched.ask()
    approve(watched)
    watched.check_all()
    watched.work("PHASE_COMPLETE")
    watched.check_all()
    items = ("phase_1", "Lay the ground"), ("phase_2", "Build the page"), ("phase_3", "Mail")
    read = tuple(f.Item(id=key, title=title, description="", digest=key) for key, title in items)
    watched.tell(
        f.ItemsRead(effect=watched.hold("items"), reading="markdown", items=read, digest="d")
    )


def show_working(watched: Watched) -> None:
    implement(watched)
    watched.work("PHASE_COMPLETE", usd=0.42)
    watched.check_all()
    watched.work("PHASE_COMPLETE", usd=0.17)
    watched.check_all(unit="tests/test_login.py:12: AssertionError: expected 200, got 404")
    effect = watched.hold("agent")
    watched.screen.output(effect, "The route of the page is missing. I will add it to routes.py.")
    watched.screen.output(effect, "[Edit(src/login/routes.py)]")
    watched.screen.output(effect, "[denied: Bash(rm -rf /var/lib/sessions)]")
    watched.screen.output(effect, "[Bash(.venv/bin/python -m pytest -q tests/test_login.py)]")
    watched.screen.output(
        effect, "Now the test of the page passes; 漢字 and 👩‍👩‍👧 are fine in names, too."
    )
    watched.now += 83


def show_gate(watched: Watched) -> None:
    specify(watched)
    watched.ask()


def show_question(watched: Watched) -> None:
    implement(watched)
    effect = watched.hold("agent")
    payload = {"reason": "Which database do you want, PostgreSQL or SQLite?"}
    watched.tell(
        f.ExitAccepted(effect=effect, exit="BLOCKED", signal="BLOCKED", payload=payload, usd=0.1)
    )
    watched.ask()


def show_failure(watched: Watched) -> None:
    implement(watched)
    report = "collected 14 items\ntests/test_login.py F\nE  AssertionError: expected 200, got 404"
    while any(each.kind == "agent" for each in watched.rig.state.in_hand.values()):
        watched.work("PHASE_COMPLETE", usd=0)
        watched.check_all(unit=report)
        while any(each.kind == "timer" for each in watched.rig.state.in_hand.values()):
            watched.tell(f.TimerFired(effect=watched.hold("timer")))
    watched.ask()


def keep_or_compare(name: str, drawn: str) -> None:
    kept = SCREENS / name
    if os.environ.get("PORCH_KEEP_SCREENS"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(drawn, encoding="utf-8")
    assert drawn == kept.read_text(encoding="utf-8")


MOMENTS = {
    "working": show_working,
    "gate": show_gate,
    "question": show_question,
    "failure": show_failure,
}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_screen_is_as_it_was_looked_at(moment: str, size: tuple[int, int]) -> None:
    width, height = size
    watched = Watched(width, height, "reject" if moment == "gate" else "")
    MOMENTS[moment](watched)
    drawn = watched.draw()
    keep_or_compare(f"{moment}_{width}x{height}.txt", drawn)
    paths = [line for line in drawn.splitlines() if "worktrees/" in line]
    lines = [line for line in drawn.splitlines() if line not in paths]
    assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize("size", [(20, 5), (20, 10), (2, 2), (1, 1), (40, 8)])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_window_that_is_much_too_small_shows_the_prompt_at_least(
    moment: str, size: tuple[int, int]
) -> None:
    watched = Watched(*size, "a")
    MOMENTS[moment](watched)
    watched.file.truncate(0)
    watched.file.seek(0)
    drawn = watched.draw().splitlines()
    assert all(cell_len(line) <= max(size[0] - 1, 2) for line in drawn)
    if size[0] >= 20:
        assert drawn[-1].startswith("porch> a")
        assert len(drawn) < size[1]


def test_a_wait_before_the_next_try_has_a_clock() -> None:
    status = LiveStatus("0001 x", workers=[Worker("e", "timer", "1", "build")])
    area = LiveArea(80, 24, has_unicode=True, now=63.0)
    lines = area.draw(status, {"e": Activity(0.0)}, [], 0, LineEditor().view)
    assert " 1:03  waiting before the next try" in [line.plain for line in lines]


def test_a_complete_run_is_finished_with_one_key(
    desk: "Desk", capsys: pytest.CaptureFixture[str]
) -> None:
    desk.begin_in_worktree({"id": "build"}, agents={"build": [{"write": {"page.py": "1\n"}}]})
    where = find_project(str(desk.root))
    driven = DriveResult("0001-x", "ended", read_run(where, "0001-x").state)
    asked: list[str] = []

    def press(key: str, width: int = 80) -> View:
        capsys.readouterr()
        look = TerminalStyle(width, colour=False)

        def read(question: str, _keys: Collection[str]) -> str:
            asked.append(question)
            return key

        return offer_finish(driven, where, "1 agent turn", read_key=read, look=look)

    for width, height in SIZES:
        assert press("\r", width).text == ""
        drawn = f"{capsys.readouterr().out}{asked[-1].rstrip()}\n".replace("\n\n", "\n")
        keep_or_compare(f"finish_{width}x{height}.txt", drawn)
    assert not desk.facts("WorkFinished")
    assert "0001-x: merged into main" in press("m").text
    assert (desk.root / "page.py").read_text() == "1\n"
    questions = len(asked)
    assert "it is merged into main" in press("m").text
    assert len(asked) == questions


def test_what_did_not_pass_is_told_and_no_key_finishes_it(desk: "Desk") -> None:
    check = {"command": "false", "max_retries": 0, "retry_delay": 0}
    agents = {"build": [{"write": {"page.py": "1\n"}}]}
    desk.begin_in_worktree({"id": "build", "checks": {"unit": check}}, agents=agents, code=3)
    for _ in range(2):
        desk.porch("skip", "0001", "--reason", "known")
        desk.porch("resume", "0001", code=None)
    where = find_project(str(desk.root))
    driven = DriveResult("0001-x", "ended", read_run(where, "0001-x").state)
    view = offer_finish(driven, where, "", read_key=refuse_to_press, look=None)
    assert "not passed: build: unit failed" in view.text
    assert '--accept "REASON" is needed' in view.text


def refuse_to_press(question: str, keys: Collection[str]) -> str:
    raise AssertionError(question)


def test_reviewers_who_work_together_have_a_line_each() -> None:
    watched = Watched(80, 24)
    watched.work("SPEC_DRAFTED")
    watched.check_all()
    watched.screen.output(watched.hold("review", "codex"), "[Read(spec.md)]")
    watched.now += 61
    drawn = watched.draw()
    assert " 1:01  claude reviews\n" in drawn
    assert " 1:01  codex reviews  Read(spec.md)\n" in drawn


def test_a_terminal_without_such_characters_gets_plain_ones() -> None:
    watched = Watched(60, 20)
    watched.file = Latin()
    watched.screen.console.file = watched.file
    show_working(watched)
    drawn = watched.draw()
    assert "x specify  x plan  > implement  . review" in drawn
    assert "porch> _" in drawn


class Latin(io.StringIO):
    encoding: ClassVar = "latin-1"  # type: ignore[misc]


def test_a_long_list_of_phases_is_shown_around_the_one_at_work() -> None:
    rows = [
        CheckRow(f"phase{number}", "passed" if number < 6 else "not run", [])
        for number in range(1, 13)
    ]
    rows[5] = CheckRow("phase6", "working", [])
    area = LiveArea(40, 24, True, 0)
    status = LiveStatus("0001 x", rows, 6)
    lines = [text.plain for text in area.draw(status, {}, [], 0, LineView())]
    assert lines[1].endswith("phase 6 of 12")
    assert lines[2] == "... ✓ phase5  ▸ phase6  · phase7  ..."


def test_nothing_of_an_agent_moves_the_cursor_or_hides() -> None:
    watched = Watched(80, 24)
    effect = watched.hold("agent")
    watched.screen.output(effect, "\x1b]0;owned\x07\x1b[2Jgood\u202e words\r\n")
    watched.screen.output(effect, "[denied: Bash(\x1b[8mhidden)]")
    drawn = watched.draw()
    assert "│ good words" in drawn
    assert "claude was refused: Bash(hidden)" in drawn
    assert "\x1b" not in drawn


def test_what_is_longer_than_the_window_is_shown_page_by_page() -> None:
    watched = Watched(60, 20)
    watched.screen.show(*(Text(f"line {number}") for number in range(40)))
    shown = watched.file.getvalue()
    assert "line 11\n" in shown
    assert "line 12\n" not in shown
    assert "28 more lines: press Enter" in watched.draw()
    watched.screen.turn_page()
    watched.screen.turn_page()
    assert "4 more lines" in watched.draw()
    watched.screen.turn_page()
    assert "line 39\n" in watched.file.getvalue()
    assert "more lines" not in "".join(watched.draw().splitlines()[-4:])
    watched.screen.turn_page()


def test_a_path_is_never_cut_whatever_the_width() -> None:
    watched = Watched(40, 20)
    path = "/".join(["a directory with a long name"] * 4) + "/spec.md"
    watched.screen.show(uncut(f"   read: {path}"))
    assert f"   read: {path}\n" in watched.file.getvalue()


def test_everything_that_speaks_against_an_answer_is_shown() -> None:
    watched = Watched(100, 40)
    decision: dict[str, Any] = {
        "name": "go",
        "kind": "gate",
        "question": "write: go",
        "description": "",
        "reason": "a check failed\nwrite: go",
        "needs_override": True,
        "reviews": ["Write, round 2 of 2: codex asks for changes"],
        "findings": [{"by": "codex", "finding": "no\x1b[2J test"}],
        "problems": ["question 2 has no answer"],
        "settings": ["[commands] test is another one now"],
        "reports": {},
        "difference": {"a.md": "-old\n+new"},
        "changed": {"since": "you looked", "difference": {"b.md": "+newer"}},
        "artifacts": [f"{number}.md" for number in range(32)],
        "missing": ["31.md"],
        "options": [
            {"answer": "approved", "meaning": "goes on", "command": "porch approve 0001 go"}
        ],
    }
    watched.screen.show_all(watched.screen.render_question(decision, os.getcwd()))
    lines = [line.strip() for line in watched.file.getvalue().splitlines()]
    told = lines[lines.index("?  Do you approve? (write: go)") + 1 :]
    assert told[:7] == [
        "a check failed",
        "a check or review failed; to approve anyway, give a reason",
        "review of Write, round 2 of 2: codex asks for changes",
        "codex: no test",
        "your answer cannot be used yet: question 2 has no answer",
        "[commands] test is another one now",
        "-old",
    ]
    assert told[7:11] == [
        "+new",
        "changed since you looked: approve with --accept-changes",
        "+newer",
        "missing: 31.md",
    ]
    assert told[-4:] == [
        "read: 28.md",
        "read: 2 more files",
        "approve  goes on",
        "to read: view, diff, log, cost, status",
    ]


def test_work_may_begin_while_the_screen_is_drawn() -> None:
    """A thread draws, and asks for the name of an agent; records come in the meantime."""
    watched = Watched(80, 24)
    effects = iter(range(100))

    def find_agent(_: str) -> str:
        watched.screen.output(f"build#{next(effects)}/agent/build/0", "I begin.")
        return "claude"

    watched.screen = Screen(LineView, find_agent, watched.screen.console)
    watched.screen.follows(watched.rig.protocol)
    watched.screen.happened(watched.rig.records[-1], watched.rig.state)
    assert "claude works" in watched.draw()
