"""Real runs that come to every outcome: one function for each, which stops to be looked at.

They are as small as they can be: agents by script, checks of one word, real git and real processes.
A run is looked at several times, so that one of them serves several cells of the table.
"""

import json
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.testclient import TestClient

from porch.cli.dispatch import run_words
from porch.errors import PorchError
from porch.fleet.finish.acceptance import add_concerns
from porch.fleet.finish.pull_request_text import write_pull_request_text
from porch.fleet.finish.run_work import survey_work
from porch.model.definition import serialize_definition
from porch.run.verbs.read_run import ReadRun, read_run
from porch.store import where as places
from porch.web.server.dashboard import Dashboard
from porch.web.server.serve import make_app
from tests.cli.af.conftest import Farm
from tests.cli.conftest import Desk
from tests.plans import AI, confirm, phase, plan, task
from tests.web.conftest import ORIGIN, PORT
from tests.whole.truth.oracle import read_lines
from tests.whole.truth.views import Seen, read_json

BUILD: Mapping[str, Any] = {"id": "build", "transition": {"on_complete": "ship"}}
SHIP: Mapping[str, Any] = {"id": "ship"}
PLAN = "# Plan\n\n## Phases\n\n### Phase 1: One\n- a\n\n### Phase 2: Two\n- b\n"


@dataclass
class Stage:
    """A repository, everything that a person can look at, and what was seen so far."""

    desk: Desk
    farm: Farm
    web: TestClient
    seen: dict[str, Seen] = field(default_factory=dict)
    run: str = "0001-x"
    word: str = "0001"
    drawn: str = "p"  # what `porch protocols graph` is asked to draw
    is_paged: bool = True  # whether a run of this kind has pages

    def look(self, moment: str) -> None:
        """Everything that the views show now."""
        desk, word = self.desk, self.word
        where = places.find_project(str(desk.root))
        found = read_run(where, self.run)
        seen = Seen(
            self.run,
            word,
            [dict(each) for each in read_lines(desk.run_dir(self.run) / "journal.jsonl")],
            self._read_definition(found),
        )
        graph = ("protocols", "graph", self.drawn, *(("--run", word) if self.drawn == "p" else ()))
        commands = {
            "status": ("status", word),
            "pending": ("pending",),
            "finish": ("finish", word),
        }
        if self.drawn:
            commands["graph"] = graph
        for name, words in commands.items():
            seen.texts[name] = desk.porch(*words, code=None).all
        seen.texts["body"] = self._write_body(where, found)
        seen.texts["checklist"] = self.farm.af("status", word).out
        for name in ("status", "pending", "finish"):
            seen.data[name] = read_json(desk.porch(*commands[name], "--json", code=None).out)
        if self.is_paged:
            seen.texts["page"] = self.get(f"/run/project/{self.run}")
        seen.texts["inbox"] = self.get("/")
        for place in found.state.decisions if self.is_paged else ():
            seen.decisions[place] = self.get(f"/run/project/{self.run}/decision", at=place)
        self.seen[moment] = seen

    def _read_definition(self, found: ReadRun) -> dict[str, Any]:
        """As it is pinned, without what porch puts beside it; a plan of envoy pins none."""
        pinned = self.desk.run_dir(self.run) / "payloads" / found.state.run.digest
        if pinned.is_file():
            return read_json(pinned.read_text())
        return read_json(serialize_definition(found.definition).decode())

    def envoy(self, *words: str, code: int = 0) -> None:
        left = run_words("envoy", list(words))
        assert left == code, f"exit {left} of envoy {words}"

    def _write_body(self, where: places.ProjectPaths, found: ReadRun) -> str:
        """The text of a pull request of this run, as `porch finish --pr` would send it."""
        protocol, state = found.definition.protocol, found.state
        try:
            work = survey_work(where, state)
        except PorchError:
            return ""
        work = add_concerns(where, state, found.definition, work)
        raw = read_lines(self.desk.run_dir(self.run) / "journal.jsonl")
        return write_pull_request_text(protocol, state, "", raw, work)

    def get(self, address: str, **asked: str) -> str:
        answer = self.web.get(address, params=asked)
        assert answer.status_code == 200, f"{address}: {answer.status_code}"
        return answer.text


def open_stage(desk: Desk, capsys: pytest.CaptureFixture[str]) -> Stage:
    dashboard = Dashboard({"project": places.find_project(str(desk.root))}, PORT)
    web = TestClient(make_app(dashboard), base_url=ORIGIN, follow_redirects=False)
    web.get(f"/?token={dashboard.sessions.token}")
    web.headers["origin"] = ORIGIN
    return Stage(desk, Farm(desk, capsys), web)


def check(command: str, **more: Any) -> dict[str, Any]:
    return {"checks": {"unit": {"command": command, "max_retries": 0, "retry_delay": 0, **more}}}


def phases_failed(stage: Stage) -> None:
    """The check fails, a person is asked, and ends the run."""
    desk = stage.desk
    desk.begin({**BUILD, **check("false")}, SHIP, code=3)
    stage.look("asked")
    desk.porch("answer", "0001", "failed:build", "stopped", "no use")
    stage.look("ended")


def phases_skipped(stage: Stage) -> None:
    desk = stage.desk
    desk.begin({**BUILD, **check("false")}, SHIP, code=3)
    desk.porch("skip", "0001", "--reason", "known")
    stage.look("skipped")
    _end_in_spite(stage)


def _end_in_spite(stage: Stage) -> None:
    """The last checks repeat what was let pass; a person lets it pass once more."""
    stage.desk.porch("resume", "0001", code=3)
    stage.look("asked again")
    stage.desk.porch("skip", "0001", "--reason", "still known")
    stage.desk.porch("resume", "0001")
    stage.look("ended")


def phases_unmeasured(stage: Stage) -> None:
    """The check changes files each time that it runs, so nothing can be measured."""
    desk = stage.desk
    desk.begin({**BUILD, **check("echo more >> made.txt")}, SHIP, code=3)
    desk.porch("answer", "0001", "failed:build", "stopped")
    stage.look("ended")


def phases_passed(stage: Stage) -> None:
    """To the end, then back to the beginning."""
    desk = stage.desk
    nothing = {"checks": {"lint": {"setting": "nothing", "optional": True}}}
    gated = {**SHIP, "gate": {"name": "go", "next": None}}
    desk.begin({**BUILD, **nothing}, gated, code=3)
    stage.look("gate")
    desk.porch("approve", "0001", "go")
    desk.porch("resume", "0001")
    stage.look("ended")


def phases_rolled_back(stage: Stage) -> None:
    desk = stage.desk
    gated = {**SHIP, "gate": {"name": "go", "next": "tell"}}
    desk.begin({**BUILD, **check("true")}, gated, {"id": "tell"}, code=3)
    desk.porch("stop", "0001")
    stage.look("stopped")
    desk.porch("rollback", "0001", "build")
    stage.look("rolled back")
    desk.porch("resume", "0001", code=3)
    desk.porch("approve", "0001", "go")
    desk.porch("resume", "0001")
    stage.look("ended")


def phases_waived(stage: Stage) -> None:
    desk = stage.desk
    verified = {
        "id": "build",
        "verification": {"checks": {"looked": "false"}, "max_retries": 0},
        "gate": {"name": "go", "next": "ship"},
    }
    desk.begin(verified, SHIP, code=3)
    stage.look("gate")
    desk.porch("approve", "0001", "go", "--override", "I looked")
    stage.look("waived")
    _end_in_spite(stage)


def phases_reviewed(stage: Stage) -> None:
    """The reviewers still ask for changes when their rounds are used up."""
    desk = stage.desk
    reviewed = {
        "id": "build",
        "substates": ["draft", "consult", "revise"],
        "initial_substate": "draft",
        "signals": {"DRAFTED": "build:consult", "REVISED": "build:consult"},
        "consultation": {"on": "consult", "models": ["codex"], "max_rounds": 1},
        "gate": {"name": "go", "next": "ship"},
    }
    changes = {"verdict": "REQUEST_CHANGES", "findings": ["no limits"]}
    agents = {"build:draft": [{"signal": "DRAFTED"}], "build:revise": [{"signal": "REVISED"}]}
    desk.begin(reviewed, SHIP, code=3, agents=agents, reviews={"build:consult": {"*": [changes]}})
    stage.look("gate")
    desk.porch("approve", "0001", "go")
    desk.porch("resume", "0001", code=None)
    stage.look("ended")


def phases_missing(stage: Stage) -> None:
    """The agent says that it is done and has written nothing."""
    spec = {"id": "build", "artifacts": ["spec.md"], "gate": {"name": "go", "next": "ship"}}
    silent = {"build": [{"signal": "PHASE_COMPLETE", "write": {}}]}
    stage.desk.begin(spec, SHIP, code=3, agents=silent)
    stage.look("gate")


def phases_looped(stage: Stage) -> None:
    """A plan of two: the check of the first fails and is skipped, the other passes; then back."""
    desk = stage.desk
    planned = {"id": "plan", "artifacts": ["plan.md"], "transition": {"on_complete": "build"}}
    looped = {
        "id": "build",
        "type": "per_plan_phase",
        "phases_from": "plan.md",
        "transition": {"on_complete": "ship"},
        **check('test "$PLAN_PHASE_ID" != phase_1'),
    }
    gated = {**SHIP, "gate": {"name": "go", "next": None}}
    agents = {"plan": [{"write": {"{project_dir}/plan.md": PLAN}, "signal": "PHASE_COMPLETE"}]}
    desk.begin(planned, looped, gated, code=3, agents=agents)
    stage.look("asked")
    desk.porch("skip", "0001", "--reason", "known")
    desk.porch("resume", "0001", code=3)
    stage.look("gate")
    desk.porch("rollback", "0001", "build:phase_1")
    stage.look("rolled back")


GRAPH = """
document: {name: mini, description: Somebody writes and somebody reads, subject: spec}
spec: Note
types:
  Note: {id: Text, text: Text}
budgets: {rounds: 2}
supervision: {nudges: 1, silent: lost, exhausted: lost, no_progress: lost}
states:
  begin: {role: planner, workspace: read, template: read.j2, exits: {Begun: {}}}
  read:
    role: reader
    workspace: read
    template: read.j2
    exits:
      Good: {why: Text}
      Bad: {}
  write:
    role: writer
    workspace: read
    template: write.j2
    input: {note: instance.spec, again?: Bad}
    exits:
      Written: {}
      Stuck: {}
  person:
    human: question
    title: Is the note good?
    shows: [Good]
    options: {answered: {means: it is done, text: true}}
  done: {end: complete}
  lost: {end: failed, shows: [Stuck]}
edges:
  begin.Begun: {to: write}
  write.Written: {to: read}
  write.Stuck: {to: lost}
  read.Good: {to: person}
  read.Bad: {to: write, charge: rounds, spent: lost}
  person.answered: {to: done}
"""


def _answer(exit_: str, **payload: Any) -> dict[str, Any]:
    return {"exit": exit_, "payload": payload}


def _write_graph(stage: Stage) -> None:
    desk = stage.desk
    desk.write("codev/protocols/p.graph.yaml", GRAPH.replace("name: mini", "name: p"))
    desk.write("codev/protocols/templates/write.j2", "Write {{ note.text }}.\n")
    desk.write("codev/protocols/templates/read.j2", "Read.\n")
    desk.write("tea.json", json.dumps({"id": "tea", "text": "about tea"}))
    stage.run, stage.word = "p_tea", "tea"


def _start_graph(stage: Stage, code: int, write: list[Any], read: list[Any]) -> None:
    _write_graph(stage)
    desk = stage.desk
    begin = [_answer("Begun")]
    script = desk.script(agents={"begin": begin, "write": write, "read": read})
    desk.porch("run", "p", "tea.json", "--script", script, "--plain", code=code)


def graph_passed(stage: Stage) -> None:
    good = _answer("Good", why="it is short")
    _start_graph(stage, 3, [_answer("Written")], [good])
    stage.look("asked")
    stage.desk.porch("stop", "tea")
    stage.look("stopped")
    stage.desk.porch("answer", "tea", "person", "it is")
    stage.desk.porch("resume", "tea", "--plain")
    stage.look("ended")


def graph_failed(stage: Stage) -> None:
    """The reader sends the writer back, who gives up."""
    _start_graph(stage, 1, [_answer("Written"), _answer("Stuck")], [_answer("Bad")])
    stage.look("ended")


TREE = """
document: {name: p, subject: spec}
spec: Task
types:
  Task: {id: Text, parts: "Maybe [Part]"}
  Part: {id: Text}
supervision: {silent: lost, exhausted: lost, no_progress: lost}
spawn: {state: kids, specs: instance.spec.parts, depth: 1}
states:
  look:
    role: r
    workspace: read
    template: look.j2
    input: {job: instance.spec}
    exits: {Ok: {}, Stuck: {}}
  tell:
    role: r
    workspace: read
    template: look.j2
    input: {job: instance.spec}
    exits: {Told: {}}
  person: {human: question, title: Is it good?, options: {answered: {means: yes, text: true}}}
  done: {end: complete}
  lost: {end: failed}
edges:
  look.Ok: {to: kids}
  look.Stuck: {to: lost}
  kids.settled: {to: tell}
  tell.Told: {to: person}
  person.answered: {to: done}
"""


BACK = """
  tell.Again: {to: look, charge: rounds, spent: lost}
"""


def _write_tree(stage: Stage, text: str = TREE) -> None:
    desk = stage.desk
    desk.write("codev/protocols/p.graph.yaml", text)
    desk.write("codev/protocols/templates/look.j2", "Look at {{ job.id }}.\n")
    desk.write("all.json", json.dumps({"id": "all", "parts": [{"id": "one"}, {"id": "two"}]}))
    stage.run, stage.word = "p_all", "all"


def tree_passed(stage: Stage) -> None:
    """A root with two children, one of which gives up; the people of all are asked in turn."""
    _write_tree(stage)
    desk = stage.desk
    agents = {"two/look": [_answer("Stuck")], "look": [_answer("Ok")], "tell": [_answer("Told")]}
    script = desk.script(agents=agents)
    given = ("--script", script, "--plain")
    desk.porch("run", "p", "all.json", *given, code=3)
    stage.look("children")
    while stage.desk.porch("pending", "--json").json["decisions"]:
        desk.porch("answer", "all", "person", "yes")
        desk.porch("resume", "all", *given, code=None)
    stage.look("ended")


def tree_failed(stage: Stage) -> None:
    """Behind its children the root goes back to the beginning, and gives up there."""
    text = TREE.replace("exits: {Told: {}}", "exits: {Told: {}, Again: {}}").rstrip() + BACK
    _write_tree(stage, text.replace("supervision:", "budgets: {rounds: 1}\nsupervision:"))
    desk = stage.desk
    children = {"two/look": [_answer("Stuck")], "one/tell": [_answer("Told")]}
    root = {"look": [_answer("Ok"), _answer("Stuck")], "tell": [_answer("Again")]}
    given = ("--script", desk.script(agents={**children, **root}), "--plain")
    desk.porch("run", "p", "all.json", *given, code=3)
    desk.porch("answer", "all", "person", "yes")
    desk.porch("resume", "all", *given, code=1)
    stage.look("ended")


STEPS = """name: p
description: Do it
outputs:
  - {value: "{ success: true }", description: done}
  - {value: "{ success: false, reason: \\"<why>\\" }", description: failed}
steps: {1: "Do it"}
"""


def _start_steps(stage: Stage, code: int, *work: Any, text: str = STEPS) -> None:
    stage.desk.write(".claude/protocols/p.yaml", text)
    script = stage.desk.script(agents={"work": list(work)})
    stage.desk.porch("run", "p", "--script", script, code=code)
    (stage.run,) = places.find_project(str(stage.desk.root)).names()
    stage.word = stage.run


def steps_passed(stage: Stage) -> None:
    """It is not said first; a person goes back to the beginning of the steps."""
    _start_steps(stage, 3, {"signal": None}, {"signal": "SUCCESS_TRUE"})
    stage.look("asked")
    stage.desk.porch("rollback", stage.word, "work")
    stage.look("rolled back")
    stage.desk.porch("stop", stage.word)
    stage.look("stopped")
    stage.desk.porch("resume", stage.word)
    stage.look("ended")


def steps_failed(stage: Stage) -> None:
    _start_steps(stage, 1, {"signal": "SUCCESS_FALSE_REASON", "reason": "it cannot be done"})
    stage.look("ended")


def steps_unmeasured(stage: Stage) -> None:
    """What looks whether the claim is true is killed; a person ends the run."""
    killed = STEPS.replace("description: done}", 'description: done, check: "kill -9 $$"}')
    _start_steps(stage, 3, {"signal": "SUCCESS_TRUE"}, text=killed)
    stage.look("asked")
    stage.desk.porch("answer", stage.word, "failed:work", "stopped")
    stage.look("ended")


TRACK = plan(phase("P1", task("T1", confirm()), task("T2", confirm(AI))), phase("P2", task("T3")))


def _write_track(stage: Stage, text: str) -> None:
    stage.desk.write("tracks/login/plan.xml", text)
    stage.run, stage.word, stage.drawn = "track_login", "login", "tracks/login"


def track_passed(stage: Stage) -> None:
    """One task is confirmed, the reviewer of the other finds something and is answered."""
    _write_track(stage, TRACK)
    desk = stage.desk
    reviews = {"T2-after-ai": {"checker": [{"blocking": ["it leaks"]}, {"blocking": []}]}}
    agents = {name: {"append": {f"{name}.txt": "x"}} for name in ("T1", "T2", "T3")}
    script = desk.script(agents=agents, reviews=reviews)
    desk.porch("run", "codument", "tracks/login", "--script", script, code=3)
    stage.look("confirm")
    desk.porch("approve", "login", "--as-person")
    desk.porch("resume", "login", "--script", script, code=3)
    stage.look("issues")
    desk.porch("answer", "login", "T2-after-ai:issues", "retry", "--as-person")
    desk.porch("resume", "login", "--script", script)
    stage.look("ended")


def track_cancelled(stage: Stage) -> None:
    _write_track(stage, plan(phase("P1", confirm(), task("T1", confirm()))))
    desk = stage.desk
    script = desk.script(agents={"T1": [{"signal": "BLOCKED", "reason": "no key"}]})
    desk.porch("run", "codument", "tracks/login", "--script", script, code=3)
    stage.look("blocked")
    desk.porch("cancel", "login", "T1", "--reason", "not now", "--as-person")
    desk.porch("resume", "login", "--script", script, code=3)
    stage.look("cancelled")
    desk.porch("approve", "login", "--as-person")
    stage.look("ended")


def track_abandoned(stage: Stage) -> None:
    """A person ends the run where a task is blocked."""
    _write_track(stage, plan(phase("P1", task("T1", confirm()), task("T2"))))
    desk = stage.desk
    script = desk.script(agents={"T1": [{"signal": "BLOCKED", "reason": "no key"}]})
    desk.porch("run", "codument", "tracks/login", "--script", script, code=3)
    desk.porch("answer", "login", "T1:blocked", "stopped", "--as-person")
    stage.look("ended")


def track_removed(stage: Stage) -> None:
    """What is to be confirmed is taken out of the plan while a person is asked."""
    _write_track(stage, plan(phase("P1", task("T1", confirm()))))
    desk = stage.desk
    script = desk.script(agents={"T1": {"append": {"a.txt": "x"}}})
    desk.porch("run", "codument", "tracks/login", "--script", script, code=3)
    file = desk.root / "worktrees/codument_login_login/tracks/login/plan.xml"
    file.write_text(file.read_text().replace('id="T1"', 'id="T9"'))
    stage.look("asked")


def track_reopened(stage: Stage) -> None:
    desk = stage.desk
    _write_track(stage, plan(phase("P1", task("T1"), task("T2", confirm()))))
    script = desk.script(agents={"*": {"append": {"a.txt": "x"}}})
    desk.porch("run", "codument", "tracks/login", "--script", script, code=3)
    desk.porch("reopen", "login", "T1", "--reason", "it broke", "--as-person")
    stage.look("rolled back")


def plan_approved(stage: Stage) -> None:
    desk = stage.desk
    desk.git("switch", "-qc", "feat/x")
    stage.run, stage.word, stage.drawn, stage.is_paged = "plan_feat~x", "plan/feat/x", "", False
    for words in (("init", "--agent", "planner"), WRITE_PLAN):
        stage.envoy("plan", *words)
    stage.envoy("plan", "write-prompt", "1", "--context", "All of it")
    stage.envoy("plan", "block-plan-gate", "--wait", "0", code=3)
    stage.look("asked")
    desk.write("form.yaml", "thoughts: good\n")
    stage.envoy("gate", "answer", "plan", "--file", "form.yaml")
    stage.look("approved")


WRITE_PLAN = ("write-plan", "--title", "T", "--objective", "o", "--context", "c")


def ask_answered(stage: Stage) -> None:
    desk = stage.desk
    desk.write("q.yaml", "questions:\n  - {id: q1, text: How long?, free: true}\n")
    said = desk.porch("ask", "q.yaml", "--json", code=3)
    stage.run, stage.word, stage.drawn = said.json["run"].replace("/", "_"), said.json["run"], ""
    stage.look("asked")
    desk.write("reply.txt", "for ever")
    desk.porch("ask", "q.yaml", "--reply", "reply.txt", "--json")
    stage.look("ended")


def _halt(stage: Stage, *words: str) -> None:
    """An agent meets a rate limit; the driver that waits for it dies; a person stops the run."""
    desk = stage.desk
    where = places.find_project(str(desk.root))
    running = desk.start("run", *words)
    desk.wait_for(where.names)
    (stage.run,) = where.names()
    stage.word = stage.word or stage.run
    desk.wait_for(lambda: any(each["fact"]["is"] == "EffectFailed" for each in _read(stage)))
    stage.look("limited")
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=90)
    stage.look("dead")
    desk.porch("stop", stage.word)
    stage.look("stopped")


def _read(stage: Stage) -> list[Any]:
    journal = stage.desk.run_dir(stage.run) / "journal.jsonl"
    return list(read_lines(journal)) if journal.exists() else []


def _limit(desk: Desk, *names: str) -> str:
    desk.write("codev/config.toml", '[agent]\nback_off = 60\n\n[commands]\ntest = "true"\n')
    return desk.script(agents={name: [{"tries": [{"fail": "rate_limit"}] * 6}] for name in names})


def phases_halted(stage: Stage) -> None:
    stage.desk.protocol("p", BUILD, SHIP)
    _halt(stage, "p", "0001", "--title", "x", "--script", _limit(stage.desk, "ship"))


def graph_halted(stage: Stage) -> None:
    _write_graph(stage)
    script = _limit(stage.desk, "begin")
    _halt(stage, "p", "tea.json", "--script", script, "--plain")


def tree_halted(stage: Stage) -> None:
    _write_tree(stage)
    script = _limit(stage.desk, "look")
    _halt(stage, "p", "all.json", "--script", script, "--plain")


def track_halted(stage: Stage) -> None:
    _write_track(stage, TRACK)
    _halt(stage, "codument", "tracks/login", "--script", _limit(stage.desk, "T1"))


def steps_halted(stage: Stage) -> None:
    stage.desk.write(".claude/protocols/p.yaml", STEPS)
    stage.word = ""
    _halt(stage, "p", "--script", _limit(stage.desk, "work"))


Drive = Callable[[Stage], None]
DRIVES: Mapping[str, Drive] = {
    each.__name__: each
    for each in (
        phases_failed,
        phases_skipped,
        phases_unmeasured,
        phases_passed,
        phases_rolled_back,
        phases_waived,
        phases_reviewed,
        phases_missing,
        phases_looped,
        phases_halted,
        graph_passed,
        graph_failed,
        graph_halted,
        tree_passed,
        tree_failed,
        tree_halted,
        steps_passed,
        steps_failed,
        steps_unmeasured,
        steps_halted,
        track_passed,
        track_cancelled,
        track_abandoned,
        track_removed,
        track_reopened,
        track_halted,
        plan_approved,
        ask_answered,
    )
}
