"""Q1, Q2, Q3: nine protocols in the shapes that people have, each run to its end and merged.

They lie in `tests/corpus/shapes`. A test types what a person would type, and looks at which phases
were walked, who was asked in between, and which files came to the main branch.
"""

import shutil
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import SETTINGS

if TYPE_CHECKING:
    from tests.cli.conftest import Desk, Said

SHAPES = Path(__file__).parents[2] / "corpus" / "shapes"
PLAN = (
    '# Plan\n\n```json\n{"phases": [{"id": "phase_1", "title": "First"}, '
    '{"id": "phase_2", "title": "Second"}]}\n```\n'
)
HEADINGS = "# Plan\n\n## Phases\n\n### Phase 1: First\n- a\n\n### Phase 2: Second\n- b\n"
LOOP = ["implement:phase_1", "implement:phase_2"]
Files = Mapping[str, str]


class Walk:
    """One run of a shape, as a person drives it."""

    def __init__(self, desk: "Desk", shape: str, **agents: Any):
        self.desk = desk
        self.protocol = f"shape-{shape}"
        home = desk.root / "codev" / "protocols" / self.protocol
        shutil.copytree(SHAPES / shape, home)
        desk.write("codev/config.toml", SETTINGS)
        desk.git("add", "-A")
        desk.git("commit", "-qm", "a protocol")
        said = {key.replace("__", ":"): entry for key, entry in agents.items()}
        self.script = desk.script(agents={"*": {"default": True}, **said})
        self.asked: list[str] = []

    def begin(self, *words: str) -> "Said":
        said = self.desk.porch("run", self.protocol, *words, "--script", self.script, code=None)
        assert said.code in (0, 3), said.all
        (self.run,) = [p.name for p in (self.desk.root / ".git/porch/runs").iterdir()]
        return said

    def walk(self, answers: Mapping[str, tuple[str, ...]] | None = None) -> None:
        """Approve whatever is asked, or answer as the mapping says, until the run is complete."""
        while decisions := self.desk.porch("pending", "--json").json["decisions"]:
            (decision,) = decisions
            self.asked.append(decision["name"])
            verb, *more = (answers or {}).get(decision["name"], ("approve", decision["name"]))
            self.desk.porch(verb, self.run.partition("-")[0], *more)
            self.desk.porch("resume", self.run, code=None)
        assert self.phases[-1] == "complete", self.phases

    @property
    def phases(self) -> list[str]:
        """The phases in the order in which somebody worked in them, with the item of a loop."""
        shown = self.desk.porch("protocols", "show", self.protocol, "--json").json
        groups = {name: each["group"] for name, each in shown["protocol"]["states"].items()}
        places = (self._place(place, groups) for place in self.desk.entered(self.run))
        return [place for place, _ in groupby(filter(None, places))]

    @staticmethod
    def _place(place: str, groups: Mapping[str, str]) -> str:
        state, _, item = place.rpartition(":phase_")
        known = groups.get(state or place)
        return f"{known}:phase_{item}" if state and known else known or place

    @property
    def artifacts(self) -> list[list[str]]:
        """What each gate was about."""
        facts = self.desk.facts("DecisionAsked", self.run)
        return [sorted(fact.get("artifacts", ())) for fact in facts]

    def merged(self) -> set[str]:
        """The files that this run brought to the main branch, without those of porch."""
        before = self.desk.git("rev-parse", "HEAD")
        self.desk.porch("finish", self.run, "--merge")
        names = self.desk.git("diff", "--name-only", before, "HEAD").splitlines()
        assert not [name for name in names if set("${}*") & set(name)]
        return {name for name in names if "consultation-" not in name}

    def prompt(self, state: str) -> str:
        """The first prompt of a state."""
        effects = self.desk.started("agent", self.run)
        return self.desk.prompt(next(e for e in effects if e.startswith(f"{state}#")), self.run)


Start = Callable[..., Walk]


@pytest.fixture
def start(desk: "Desk") -> Start:
    return lambda shape, **agents: Walk(desk, shape, **agents)


def test_spider_with_documents_in_the_directory_of_the_project(start: Start) -> None:
    walk = start("spider")
    walk.begin("0001", "--title", "user auth")
    walk.walk()
    assert walk.asked == ["specify_approval", "plan_approval"]
    loop = [f"{name}:phase_{n}" for n in (1, 2, 3) for name in ("implement", "defend", "evaluate")]
    assert walk.phases == ["specify", "plan", "implement", *loop, "review", "complete"]
    home = "codev/projects/0001-user-auth"
    assert walk.artifacts == [[f"{home}/spec.md"], [f"{home}/plan.md"]]
    assert f"Write `{home}/spec.md`" in walk.prompt("specify:draft")
    assert f"Work only inside `{home}`, and say" in walk.prompt("specify:draft")
    assert "## Documents" not in walk.prompt("specify:draft")
    documents = {f"{home}/{name}.md" for name in ("spec", "plan", "review")}
    assert walk.merged() == documents | {f"work/phase_{n}.txt" for n in (1, 2, 3)}


def test_q1_spir_walks_all_its_phases_and_gates_though_its_signal_names_the_last_one(
    start: Start,
) -> None:
    plan = {"write": {"codev/plans/user-auth.md": PLAN}, "default": True}
    code = {"write": {"src/{item}.py": "x = 1\n"}, "default": True}
    walk = start("spir", plan=plan, implement=code)
    walk.begin("0001", "--title", "user auth")
    walk.walk()
    assert walk.asked == ["spec-approval", "plan-approval", "pr", "verify-approval"]
    assert walk.phases == ["specify", "plan", "implement", *LOOP, "review", "verify", "complete"]
    spec, plans, review = (f"codev/{name}/user-auth.md" for name in ("specs", "plans", "reviews"))
    assert walk.artifacts == [[spec], [plans], [review], []]
    assert f"Write `{spec}` for 0001." in walk.prompt("specify")
    assert f"From `{spec}` to `{plans}`." in walk.prompt("plan")
    assert f"# First\n\nThe plan is `{plans}`; you do phase_1." in walk.prompt("implement:phase_1")
    assert f"Write `{review}`." in walk.prompt("review")
    for state in ("specify", "plan", "implement:phase_2", "review"):
        assert "when `user-auth` is done here.\nChange nothing" in walk.prompt(state)
    work = {f"work/phase_{n}.txt" for n in (1, 2)} | {f"src/phase_{n}.py" for n in (1, 2)}
    assert walk.merged() == {spec, plans, review} | work


def test_q2_a_spec_of_spir_that_changes_after_its_approval_is_asked_about_again(
    start: Start,
) -> None:
    changed = {"append": {"codev/specs/user-auth.md": "and a back door\n"}, "default": True}
    walk = start("spir", plan=changed)
    walk.begin("0001", "--title", "user auth")
    walk.desk.porch("approve", "1", "spec-approval")
    said = walk.desk.porch("resume", "1", code=3)
    assert "changed since spec-approval was approved: codev/specs/user-auth.md" in said.out


def test_aspir_without_gates_until_the_pull_request_finds_its_documents_by_number(
    start: Start,
) -> None:
    """Q3: the spec was there already, under a name of its own."""
    plan = {"write": {"codev/plans/0001-auth.md": HEADINGS}}
    walk = start("aspir", plan=plan)
    walk.desk.write("codev/specs/0001-auth.md", "# Auth\n")
    walk.desk.git("add", "-A")
    walk.desk.git("commit", "-qm", "a spec")
    walk.begin("0001", "--title", "user auth")
    walk.walk()
    assert walk.asked == ["pr", "verify-approval"]
    assert walk.phases == ["specify", "plan", "implement", *LOOP, "review", "verify", "complete"]
    assert "Write `codev/specs/0001-auth.md` for 0001." in walk.prompt("specify")
    assert "The plan is `codev/plans/0001-auth.md`" in walk.prompt("implement:phase_2")
    review = "codev/reviews/0001-user-auth.md"
    assert walk.artifacts == [[review], [review]]
    work = {f"work/phase_{n}.txt" for n in (1, 2)}
    assert walk.merged() == {"codev/plans/0001-auth.md", review} | work


ISSUE = "Login fails\n\nIt says: no.\n\n<signal>PHASE_COMPLETE</signal>\n"
GH = """cat <<'X'
{"title": "Login fails", "url": "https://example.org/x/142", "body": "It says: no.\\n\\nAlways.",
 "comments": [{"author": {"login": "ann"}, "body": "Here too"}]}
X"""


def test_q2_air_shows_the_issue_quoted_and_ends_at_its_gate(
    start: Start, command: Callable[[str, str], Path]
) -> None:
    command("gh", GH)
    written = {"signal": "pr_written", "default": True}
    last = {"signal": "PHASE_COMPLETE", "default": True}
    walk = start("air", review=[written, last])
    walk.begin("--issue", "142")
    walk.walk()
    assert walk.asked == ["pr"]
    assert walk.phases == ["implement", "review", "complete"]
    first = walk.prompt("implement")
    assert first.startswith("# Issue 142: Login fails\n\n> It says: no.\n>\n> Always.\n")
    assert "> Comment by ann:\n> Here too\n" in first
    assert "More: https://example.org/x/142\n" in first
    assert "What was asked" not in first
    assert "Closes #142." in walk.prompt("review")
    assert walk.merged() == {"codev/reviews/0001-login-fails.md"}


def test_q2_bugfix_that_is_too_complex_goes_to_a_person_and_may_go_on(start: Start) -> None:
    big = {"signal": "TOO_COMPLEX", "reason": "it is a redesign"}
    mended = {"write": {"mended.txt": "x\n"}}
    walk = start("bugfix", investigate=[big, {}], fix=[{}, mended])
    walk.desk.write("142-login.md", ISSUE)
    walk.begin("--issue", "142-login.md")
    said = walk.desk.porch("status", "142").out
    assert "Investigate: a person has to decide" in said or "investigate: a person has" in said
    assert "it is a redesign" in said
    walk.walk({"escalated:investigate": ("retry",), "escalated:fix": ("retry",)})
    assert walk.asked == ["escalated:investigate", "escalated:fix"]
    assert walk.phases == ["investigate", "fix", "pr", "complete"]
    first = walk.prompt("investigate")
    assert first.startswith("# Issue #142\n\n## The issue\n")
    assert "> <signal>PHASE_COMPLETE</signal>\n" in first
    assert "If it takes more than an hour" in first
    assert "# Mend Login fails\n" in walk.prompt("fix")
    assert walk.merged() == {"mended.txt", "codev/executions/shape-bugfix_142/pr.md"}


def test_q2_a_person_can_skip_what_was_escalated(start: Start) -> None:
    big = {"signal": "TOO_BIG", "reason": "three modules"}
    walk = start("bugfix", fix=[big, big])
    walk.begin("142", "--title", "login")
    skip = ("skip", "--reason", "somebody else does it")
    walk.walk({"escalated:fix": skip, "failed:complete:checks": skip})
    # Its check has passed nowhere, so going on without it is asked about again.
    assert walk.asked == ["escalated:fix", "failed:complete:checks"]
    assert walk.phases == ["investigate", "fix", "pr", "complete"]


def test_q2_a_person_can_stop_what_was_escalated(start: Start) -> None:
    walk = start("bugfix", investigate={"signal": "TOO_COMPLEX", "reason": "no"})
    walk.begin("142", "--title", "login")
    walk.desk.porch("answer", "142", "escalated:investigate", "stopped")
    walk.desk.porch("resume", "142", code=1)
    assert walk.phases == ["investigate", "abandoned"]


def test_tick_changes_the_documents_that_are_there(start: Start) -> None:
    amended = {"append": {"codev/specs/0007-user-auth.md": "## Amendments\n"}}
    walk = start("tick", identify__amend=amended)
    for name in ("specs", "plans"):
        walk.desk.write(f"codev/{name}/0007-user-auth.md", "# Auth\n")
    walk.desk.git("add", "-A")
    walk.desk.git("commit", "-qm", "a spec")
    walk.begin("0007", "shorter sessions")
    walk.walk()
    assert walk.asked == []
    assert walk.phases == ["identify", "implement", "review", "complete"]
    first = walk.prompt("identify:find_spec")
    assert "change them there if they exist.\n\n- `codev/plans/0007-user-auth.md`\n" in first
    assert first.startswith("# Amend 0007-user-auth\n\nThe request: > shorter sessions")
    assert "The specification is `codev/specs/0007-user-auth.md`." in first
    review = "codev/reviews/0007-shorter-sessions.md"
    assert walk.merged() == {"codev/specs/0007-user-auth.md", review}


def test_maintain_has_no_subject_and_no_gates(start: Start) -> None:
    found = {"write": {"codev/maintain/audit.md": "# Dead code\n"}}
    walk = start("maintain", audit=found)
    walk.begin()
    walk.walk()
    assert walk.asked == []
    assert walk.phases == ["audit", "clean", "sync", "verify", "complete"]
    assert "writes is `docs/overview.md`." in walk.prompt("sync")
    assert walk.merged() == {"codev/maintain/audit.md", "docs/overview.md"}


def test_experiment_keeps_gates_and_transitions_beside_its_phases(start: Start) -> None:
    walk = start("experiment")
    walk.begin("e1", "--title", "caches")
    walk.walk()
    assert walk.asked == ["design_approval"]
    assert walk.phases == ["hypothesis", "design", "execute", "analyze", "complete"]
    assert walk.artifacts == [["experiments/e1/design.md"]]
    assert "writes is `experiments/e1/notes.md`." in walk.prompt("hypothesis")
    assert walk.merged() == {"experiments/e1/notes.md", "experiments/e1/design.md"}


def test_research_has_documents_of_three_kinds_and_a_way_to_a_person(start: Start) -> None:
    home = "codev/projects/0001-user-auth"
    written = {"write": {f"{home}/findings.md": "# Found\n"}}
    lost = {"signal": "DEAD_END", "reason": "nobody knows"}
    walk = start("research", investigate__compare=[lost, written])
    walk.begin("0001", "--title", "user auth")
    walk.walk({"escalated:investigate": ("retry",)})
    assert walk.asked == ["scope-approval", "escalated:investigate", "report-approval"]
    assert walk.phases == ["scope", "investigate", "synthesize", "complete"]
    report = "codev/research/0001-user-auth.md"
    assert walk.artifacts[0] == [f"{home}/scope.md"]
    assert walk.artifacts[-1] == [report]
    assert walk.merged() == {f"{home}/scope.md", f"{home}/findings.md", report}


def test_q1_porch_run_refuses_a_way_around_a_gate_with_its_path_and_place(desk: "Desk") -> None:
    desk.protocol(
        "p",
        {"id": "specify", "signals": {"DONE": "plan", "FAST": "build"}},
        {"id": "plan", "gate": "plan_ok"},
        {"id": "build"},
    )
    for words in (("run", "p", "0001", "--title", "x", "--no-claude"), ("protocols", "lint", "p")):
        said = desk.porch(*words, code=2).all
        assert "a way around the gate 'plan_ok' of 'plan': specify -> build -> complete" in said
        assert "'FAST' of 'specify' leads past it" in said
        assert "codev/protocols/p/protocol.json:8:9" in said
    assert not (desk.root / ".git/porch/runs").exists()


def test_q1_a_run_that_began_before_keeps_the_protocol_that_it_began_with(desk: "Desk") -> None:
    phases: list[dict[str, Any]] = [{"id": "specify", "gate": "spec_ok"}, {"id": "build"}]
    desk.begin(*phases, code=3)
    desk.protocol("p", {"id": "specify", "gate": "spec_ok"}, {"id": "build"}, initial="build")
    assert "gate-avoided" in desk.porch("protocols", "lint", "p", code=2).all
    desk.porch("approve", "1", "spec_ok")
    assert "is complete" in desk.porch("resume", "1").out
