"""A repository in which a tree of v3 grows by small steps, while agents, people and disks disturb.

Agents answer at once and well, unless a mood lies in their way: a file that says what the next one
of a state does wrong. Moods lie on the disk, so that a process that is killed takes them along.
"""

import atexit
import functools
import json
import os
import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

from bench.tree import SUITE, make_paths
from porch import agents
from porch.agents.port import PreparedTurn, Turn
from porch.agents.scripted import adapter as scripted
from porch.cli.products import PRODUCTS
from porch.run.engine.drive_options import DriveResult, DriveWatch, RunRequest
from porch.run.engine.driver import DriveManner
from porch.run.verbs import launch
from porch.run.verbs.decide import DecisionRequest, decide_question
from porch.run.verbs.read_run import read_run
from porch.run.verbs.resume import resume_run
from porch.store import where
from tests.commands import Forked
from tests.full_disk import make_short_of_room

RUN, BRANCH, AGENT = "v3_root", "porch/v3_root", "orchard"
SHARED = "shared.txt"
SETTINGS = "[commands]\ntest = 'sh ./suite.sh'\n[agent]\nback_off = 0\n"
# Nobody asked a person while this many were answered: then the run is told to stop.
PATIENCE = 3
MARKERS = ("<<<<<<<", "=======", ">>>>>>>")
Plan = Mapping[str, Mapping[str, Any]]
Answer = tuple[Mapping[str, str], str, Mapping[str, Any]]


def git(place: Path | str, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git {words}: {done.stderr}"
    return done.stdout.strip()


@cache
def _template() -> Path:
    """Made once; each example gets a copy."""
    place = tempfile.mkdtemp(prefix="porch-orchard-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    repo = Path(place) / "repo"
    (repo / "codev").mkdir(parents=True)
    (repo / "suite.sh").write_text(SUITE)
    (repo / "codev" / "config.toml").write_text(SETTINGS)
    (repo / "readme").write_text("start\n")
    for words in (("init", "-q", "-b", "main", "--template="), ("add", "-A")):
        git(repo, *words)
    git(repo, "-c", "user.name=ann", "-c", "user.email=a@b.c", "commit", "-qm", "start")
    return repo


class Orchard:
    """One repository, one run in it, and what a person and the disk may do to both."""

    def __init__(self, base: Path, plan: Plan):
        """`plan` says of each member who its children are, for whom it waits, what it shares."""
        self.repo, self.plan, self._base = base / "repo", plan, base
        shutil.copytree(_template(), self.repo, symlinks=True)
        git(self.repo, "update-index", "-q", "--refresh")
        self.moods, self.reviews = base / "moods", base / "reviews"
        for place in (self.moods, self.reviews):
            place.mkdir()
        spec = {**_spec("root", list(plan)), "alsoWrites": [SHARED]}
        (base / "spec.json").write_text(json.dumps(spec))
        agents.AGENTS._rows[AGENT] = partial(_make_agent, self)
        self.answered = 0

    def drive(self, turns: int = 0) -> DriveResult:
        """So many turns of agents, in this process; a run that is there is only taken over."""
        project, manner = where.find_project(str(self.repo)), DriveManner(turns=turns)
        watch = DriveWatch()
        if self.records:
            wanted = RunRequest("v3", agent=AGENT)
            return resume_run(project, RUN, wanted, manner, watch=watch, products=PRODUCTS)
        wanted = RunRequest("v3", str(self._base / "spec.json"), agent=AGENT, into="main")
        return launch.start_run(project, wanted, manner, watch=watch, products=PRODUCTS)

    def drive_apart(self, turns: int, fault: Callable[[], None], **environ: str) -> int:
        """The same in a process of its own, to which something happens; its exit code."""

        def main() -> int:
            fault()
            self.drive(turns)
            return 0

        quiet = subprocess.DEVNULL
        env = {**os.environ, **environ}
        with Forked(main, [], cwd=self.repo, env=env, stdout=quiet, stderr=quiet) as running:
            running.communicate(timeout=100)
        return running.returncode

    def fill_disk_of_git(self, calls: int) -> dict[str, str]:
        """Variables with which the n-th call of git has no room to write."""
        return {"PATH": make_short_of_room(self._base / "full", calls)}

    def put_mood(self, state: str, mood: str) -> None:
        number = len(list(self.moods.iterdir()))
        (self.moods / f"{state}@{number:04}@{mood}").touch()

    def take_mood(self, state: str) -> str:
        for found in sorted(self.moods.glob(f"{state}@*")):
            found.unlink()
            return found.name.rpartition("@")[2]
        return ""

    def commit_on_main(self, name: str, text: str) -> str:
        """A person's own commit, in their own checkout."""
        return self.commit_in(self.repo, name, text)

    def commit_in(self, place: Path, name: str, text: str) -> str:
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        git(place, "add", "--", name)
        words = ("-c", "user.name=ann", "-c", "user.email=a@b.c", "commit", "--allow-empty", "-qm")
        git(place, *words, f"person: {name}")
        return git(place, "rev-parse", "HEAD")

    def remove_from_main(self, number: int) -> list[str]:
        """A person takes back the last commits of their branch; these are no longer there."""
        old = git(self.repo, "rev-parse", "main")
        git(self.repo, "reset", "-q", "--hard", f"main~{number}")
        return git(self.repo, "rev-list", old, "--not", "main").splitlines()

    def answer_people(self, removed: str = "bring_back") -> list[str]:
        """Whatever is asked: again and again, and in the end that it may stop.

        `removed` is what is said of commits that the target had. What comes back are the commits
        that a person has let come back.
        """
        project, back = where.find_project(str(self.repo)), []
        state = read_run(project, RUN).state
        for decision in list(state.decisions.values()):
            self.answered += 1
            usual = {"blocked": "retry", "candidate:removed": removed}.get(decision.name)
            usual = "retry" if decision.name.endswith(":fault") else usual or "answered"
            exit_ = "stopped" if self.answered > PATIENCE else usual
            if decision.name == "candidate:removed":
                told = state.memory["", ""]["candidate.refused"]["removed"].split(" ")
                commits = git(self.repo, "rev-list", told[0], "--not", told[1]).splitlines()
                if exit_ == "retry" and not self._take_out(told[0]):
                    exit_ = "bring_back"
                back += commits if exit_ == "bring_back" else []
            said = DecisionRequest(exit=exit_, text="go on", as_person=True)
            decide_question(project, RUN, decision.position, said)
        return back

    def _take_out(self, newest: str) -> bool:
        """What the question says that a person does; where git cannot, they change their mind."""
        place = self.repo / "worktrees" / RUN
        if not place.is_dir():
            return False
        words = ["git", "-c", "user.name=ann", "-c", "user.email=a@b.c", "rebase", "-q"]
        done = subprocess.run(
            [*words, "--onto", "main", newest], cwd=place, capture_output=True, check=False
        )
        if done.returncode:
            git(place, "rebase", "--abort")
        return not done.returncode

    @property
    def records(self) -> list[dict[str, Any]]:
        journal = self.repo / ".git" / "porch" / "runs" / RUN / "journal.jsonl"
        if not journal.exists():
            return []
        # The last line may be cut by a kill; whoever opens it next removes that.
        return [json.loads(line) for line in journal.read_bytes().split(b"\n")[:-1]]

    @property
    def journal_size(self) -> int:
        journal = self.repo / ".git" / "porch" / "runs" / RUN / "journal.jsonl"
        return journal.stat().st_size if journal.exists() else 0


def limit_files(size: int) -> None:
    """No file of this process and those that it starts may grow beyond this."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def patch_id(repo: Path | str, old: str, new: str) -> str:
    """Git's own word for what lies between two commits, wherever it is applied."""
    words = ("-c", "diff.noprefix=false", "diff", "--no-ext-diff", "--no-renames", old, new)
    patch = subprocess.run(["git", *words], cwd=repo, capture_output=True, check=True).stdout
    said = subprocess.run(
        ["git", "patch-id", "--stable"], cwd=repo, input=patch, capture_output=True, check=True
    )
    return said.stdout.decode().partition(" ")[0]


def _name(instance: str) -> str:
    """What a member works on; one that was planned again works on the same."""
    return re.sub(r"-r[0-9]+$", "", instance.rpartition(".")[2]) or "root"


def _spec(name: str, criteria: list[str]) -> dict[str, Any]:
    named = [{"id": each, "text": f"{each} is there"} for each in criteria]
    return {"id": name, "description": name, "acceptanceCriteria": named, **make_paths(name)}


def _below(plan: Plan, name: str) -> list[str]:
    """A member and everybody below it."""
    return [name, *(each for child in plan[name]["children"] for each in _below(plan, child))]


def _child_spec(plan: Plan, name: str) -> dict[str, Any]:
    return {**_spec(name, _below(plan, name)), "after": plan[name]["after"] or None}


def _make_agent(orchard: Orchard) -> Any:
    made = ModuleType(AGENT)
    vars(made).update({**vars(scripted), "prepare": functools.partial(_prepare, orchard)})
    return made


def _prepare(orchard: Orchard, turn: Turn) -> PreparedTurn:
    state, instance = str(turn.request["state"]), str(turn.request["instance"])
    asked = Asked(orchard, Path(turn.workspace), _name(instance), orchard.take_mood(state))
    files, exit_, payload = getattr(asked, state)()
    for name, text in files.items():
        path = Path(turn.workspace) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if (state, exit_) == ("review", "Approved"):
        _note_review(orchard, Path(turn.workspace), instance)
    if asked.mood == "interrupted":
        _commit_meanwhile(orchard, Path(turn.workspace), _name(instance))
    events: list[dict[str, Any]] = [
        {"type": "session", "id": "s"},
        {"type": "answer", "exit": exit_, "payload": payload},
        {"type": "final", "text": "done"},
    ]
    said = Path(turn.directory) / "said.jsonl"
    kept = [e for e in events if exit_ or e["type"] != "answer"]
    said.write_text("".join(json.dumps(event) + "\n" for event in kept))
    out, errors = turn.file("transcript.jsonl"), turn.file("errors")
    return PreparedTurn(("/bin/cat", str(said)), {}, None, out, errors)


def _commit_meanwhile(orchard: Orchard, workspace: Path, name: str) -> None:
    """While the agent is at it, somebody commits to the branch that it was asked about."""
    place = workspace.with_name(workspace.name.partition("--")[0])
    if place.is_dir():
        orchard.commit_in(place, f"src/{name}/meanwhile", "nobody was shown this\n")


def _note_review(orchard: Orchard, workspace: Path, instance: str) -> None:
    """What a reviewer has before its eyes when it says yes, told by git and not by porch."""
    parent = instance.rpartition(".")[0]
    target = (f"{BRANCH}.{parent}" if parent else BRANCH) if instance else "main"
    base = git(workspace, "merge-base", target, "HEAD")
    with (orchard.reviews / (instance or "root")).open("a") as file:
        file.write(patch_id(workspace, base, "HEAD") + "\n")


class Asked:
    """One question to an agent: who is asked, where it works, and in what mood it is."""

    def __init__(self, orchard: Orchard, place: Path, name: str, mood: str):
        self._plan, self._place, self._name, self._mood = orchard.plan, place, name, mood

    @property
    def mood(self) -> str:
        return self._mood

    def scaffold(self) -> Answer:
        name, children = self._name, list(self._plan[self._name]["children"])
        if self._mood == "asks":
            asked = {"question": "which?", "ambiguityReference": "spec", "specSentence": name}
            return {}, "ClarificationNeeded", asked
        files = {f"src/{name}/api": "api\n", f"tests/{name}/contract": "contract\n"}
        planned = [] if self._mood == "forgets" else [name]
        specs = [_child_spec(self._plan, child) for child in children]
        if self._mood == "odd" and specs:
            specs[0] = {**specs[0], "id": "../Ä b"}
        payload = {
            "interfaceFile": f"src/{name}/api",
            "contractSuite": f"tests/{name}/contract",
            "testPlan": [
                {"criterionId": each, "plannedTestName": each, "approach": "look"}
                for each in planned
            ],
            "childSpecs": specs or None,
            "interfaces": None,
        }
        return files, "InitWork", payload

    def write_tests(self) -> Answer:
        name = self._name
        if self._mood == "invalid":
            return {}, "InvalidScaffold", {"missingType": "T", "expectedLocation": f"src/{name}/t"}
        need = f"src/{name}/api" if self._mood == "green" else f"src/{name}/code"
        files = {f"tests/{name}/need": need}
        if self._mood == "strays":
            files["elsewhere"] = "not mine\n"
        ready = {"testFiles": [f"tests/{name}/need"], "pendingCriteria": [name]}
        return files, "TestsReady", ready

    def impl(self) -> Answer:
        name, mood = self._name, self._mood
        if mood == "blocked":
            lacks = {"missingSymbol": "x", "expectedImportPath": "src/x"}
            return {}, "BlockedDependency", lacks
        if mood == "again":
            why = {"diagnosis": "d", "strategyFrom": "a", "strategyTo": "b", "failingTests": [name]}
            return {}, "RequestRetry", why
        if mood == "stuck":
            return {}, "Stuck", {"diagnosis": "d", "recommendation": "r"}
        files = {f"src/{name}/code": f"code of {name}\n", **self._share()}
        if mood == "lazy":
            files = {}
        if mood == "cheats":
            files[f"tests/{name}/need"] = "readme"
        exit_ = "" if mood == "silent" else "TestsPassed"
        return files, exit_, {"iterations": 1, "passedTests": [name]}

    def _share(self) -> dict[str, str]:
        """A line in a file that others write, too."""
        if not self._plan[self._name]["shares"]:
            return {}
        path = self._place / SHARED
        lines = path.read_text().splitlines() if path.exists() else []
        mine = f"line of {self._name}"
        return {SHARED: "".join(f"{line}\n" for line in dict.fromkeys([*lines, mine]))}

    def review(self) -> Answer:
        name = self._name
        issue = {"file": f"src/{name}/code", "line": 1, "issue": "i", "requiredFix": "f"}
        if self._mood == "critical":
            return {}, "MoreTests", {"critiques": [issue], "additionalTests": []}
        if self._mood == "more":
            more = {"criterionId": name, "plannedTestName": name, "approach": "look again"}
            return {}, "MoreTests", {"critiques": [issue], "additionalTests": [more]}
        if self._mood == "rejects":
            return {}, "Reject", {"reason": "no", "missingCriteria": [name]}
        files = {"left": "by a reviewer\n"} if self._mood == "writes" else {}
        below = [each for each in _below(self._plan, name) if each != name]
        covered = {"criteriaWithTests": [[e, name] for e in (name, *below)], "criteriaMissing": []}
        return files, "Approved", {"signOff": "good", "coverageReport": covered}

    def merger(self) -> Answer:
        if self._mood == "rejects":
            return {}, "MergeRejected", _rejection(self._name)
        return {}, "MergeComplete", {"impactLevel": "Additive", "changes": []}

    def judge(self) -> Answer:
        if self._mood == "rejects":
            return {}, "Rejected", _rejection(self._name)
        return {}, "Accepted", {"reason": "good"}

    def rebase(self) -> Answer:
        """Both lines where a line of each is there; otherwise it gives up."""
        unmerged = git(self._place, "diff", "--name-only", "--diff-filter=U").splitlines()
        if self._mood != "gives-up" and unmerged == [SHARED]:
            text = (self._place / SHARED).read_text()
            kept = [
                line for line in text.splitlines() if not re.match("<<<<<<<|=======|>>>>>>>", line)
            ]
            return {SHARED: "".join(f"{line}\n" for line in kept)}, "RebaseClean", {}
        clash = {"ourChange": "o", "theirChange": "t", "whyUnresolvable": "w"}
        return {}, "RebaseConflict", {"conflictFile": (unmerged or [SHARED])[0], **clash}

    def answer(self) -> Answer:
        if self._mood == "passes":
            return {}, "PassUp", {"why": "no idea"}
        return {}, "Answered", {"answer": "this one"}


def _rejection(name: str) -> dict[str, Any]:
    return {"reason": "IntegrationFailure", "details": "no", "failingTests": [name]}


# What an agent of each state may do wrong once; some is lawful, some is refused.
MOODS: Mapping[str, tuple[str, ...]] = {
    "scaffold": ("asks", "forgets", "odd"),
    "write_tests": ("invalid", "green", "strays"),
    "impl": ("blocked", "again", "stuck", "lazy", "cheats", "silent"),
    "review": ("critical", "more", "rejects", "writes", "interrupted"),
    "merger": ("rejects", "interrupted"),
    "judge": ("rejects", "interrupted"),
    "rebase": ("gives-up",),
    "answer": ("passes",),
}
