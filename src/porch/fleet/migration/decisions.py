"""What becomes of each old project, decided before anything is changed.

`plan_migration` looks and decides; `carry_out` does what a decision says and decides nothing. So
what a dry run prints is what happens. A decision holds all that is needed to carry it out, and is
written down while that is done: after a crash it is carried out again, and not made again from what
the crash left.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import MsgspecError, Struct, json
from msgspec.structs import replace

from porch.dialects import status_file
from porch.dialects.ended_states import ENDED
from porch.dialects.status_file import ForeignStatus
from porch.errors import DefinitionError, PorchError, StateError, UsageError, suggest_name
from porch.fleet.migration import old_worktrees
from porch.fleet.migration.document_places import place_documents
from porch.fleet.migration.old_progress import (
    judge_progress,
    render_history,
    render_without_approvals,
)
from porch.fleet.migration.old_tree import (
    OldProject,
    OldTree,
    list_project_directories,
    read_old_tree,
)
from porch.fleet.migration.old_worktrees import OldWorktree
from porch.fleet.migration.project_list import (
    ListedProject,
    find_listed_status,
    read_project_lists,
)
from porch.fleet.setup.additive_files import read_existing
from porch.machine.approvals import APPROVED
from porch.model.protocol import Protocol
from porch.run.definitions.current_definition import load_current_definition
from porch.run.definitions.library import LoadedDefinition
from porch.run.definitions.subject_names import RunSubject
from porch.run.verbs.adopt import list_passed_gates
from porch.run.verbs.read_run import read_run
from porch.store.run_names import match_run_names
from porch.store.where import ProjectPaths
from porch.system.regular_file import open_regular

PROTOCOL = "spider"  # of projects that nobody wrote a status for
# `history` has ended and gets no run, `paused` gets one that waits until a person resumes it, and
# `joined` has one already. What is `left` stays where it is, as it is.
Outcome = Literal["history", "paused", "joined", "left"]
OUTCOMES: tuple[Outcome, ...] = ("history", "paused", "joined", "left")


class ProjectDecision(Struct, frozen=True, kw_only=True):
    """What becomes of one project, with everything that is needed to do it."""

    run: str
    id: str
    title: str
    outcome: Outcome
    documents: Mapping[str, str] = {}  # from the old path to the new one
    places: Mapping[str, str] = {}  # the same with those that stay, also of the worktree
    protocol: str = ""
    state: str = ""
    status: str = ""  # the status file to write; empty if there is one that says all of it
    claims: tuple[tuple[str, str], ...] = ()  # gates that count as approved, and why
    notes: tuple[str, ...] = ()
    worktree: OldWorktree | None = None
    is_cleaned: bool = False  # its old worktree is removed instead of moved
    is_begun: bool = False  # it was being carried out when the process died
    reason: str = ""
    fix: str = ""

    @property
    def directory(self) -> str:
        return f"codev/projects/{self.run}"


class MigrationPlan(Struct, frozen=True):
    """All decisions; `worktrees` and `left` are what belongs to no project that is moved."""

    decisions: tuple[ProjectDecision, ...] = ()
    worktrees: tuple[OldWorktree, ...] = ()
    left: Mapping[str, str] = {}

    @property
    def is_empty(self) -> bool:
        return not (self.decisions or self.worktrees or self.left)

    def list_claims(self) -> list[tuple[str, str, str]]:
        """Project, gate and reason of each approval that somebody has to accept."""
        asked = (each for each in self.decisions if not each.is_begun)
        return [(each.run, gate, why) for each in asked for gate, why in each.claims]


class MigrationChoice(Struct, frozen=True):
    """What a person decided: whether claims count, what becomes of worktrees, which projects."""

    adopt: bool = False
    clean: bool = False
    words: tuple[str, ...] = ()


def plan_migration(where: ProjectPaths, choice: MigrationChoice) -> MigrationPlan:
    """Look at everything and decide; nothing is changed."""
    pending = {each.run: each for each in list_unfinished(where)}
    tree = read_old_tree(where.root)
    names = sorted({*pending, *(each.run for each in tree.projects)})
    chosen = _choose_runs(where, names, choice.words)
    worktrees = (
        old_worktrees.list_old_worktrees(where.root, tree.runs_by_id) if where.common_dir else []
    )
    planner = _Planner(where, choice, tree, worktrees)
    fresh = [each for each in tree.projects if each.run in chosen and each.run not in pending]
    decisions = [pending[run] for run in sorted(pending) if run in chosen]
    found = map(planner.decide, fresh)
    # Of a run that keeps its documents where they are, nothing is of the old shape.
    decisions += [
        each for each in found if each.outcome != "joined" or each.documents or each.worktree
    ]
    decisions.sort(key=lambda each: each.run)
    if choice.words:
        return MigrationPlan(tuple(decisions))
    used = {each.worktree.path for each in decisions if each.worktree}
    outcomes = {each.run: each.outcome for each in decisions}
    others = tuple(
        replace(each, trouble=_describe_stay(each, outcomes.get(each.run, "")))
        for each in worktrees
        if each.path not in used
    )
    strangers = old_worktrees.list_other_entries(where.root, worktrees)
    left = {**tree.left, **dict.fromkeys(strangers, "it is not a worktree of this repository")}
    return MigrationPlan(tuple(decisions), others, left)


def _describe_stay(worktree: OldWorktree, outcome: str) -> str:
    """Why an old worktree is not moved."""
    if worktree.is_in_use:
        return "a process works in it"
    if worktree.is_locked:
        return f"git has locked it; run `git worktree unlock {worktree.path}`"
    if outcome == "history":
        return "its project is history; --clean removes it, and its work is kept"
    if outcome == "left":
        return "its project is left, too"
    if outcome:
        return "its project goes on in another worktree"
    return "it belongs to no project that is migrated"


def decision_path(where: ProjectPaths, run: str) -> str:
    """Where a decision is kept while it is carried out."""
    return os.path.join(where.state_dir, "migration", f"{run}.json")


def list_unfinished(where: ProjectPaths) -> list[ProjectDecision]:
    """What was being carried out when the process died."""
    try:
        names = sorted(os.listdir(os.path.join(where.state_dir, "migration")))
    except OSError:
        return []
    paths = [decision_path(where, name[:-5]) for name in names if name.endswith(".json")]
    return [replace(_read_decision(path), is_begun=True) for path in paths]


def _read_decision(path: str) -> ProjectDecision:
    with open(path, "rb", opener=open_regular) as file:
        data = file.read()
    try:
        return json.decode(data, type=ProjectDecision)
    except (MsgspecError, UnicodeDecodeError) as error:
        raise StateError(
            f"{path} cannot be read: {error}",
            fix="move the documents of this project to one place, remove that file, then run "
            "`codev migrate` again",
            code="damaged-decision",
        ) from error


def _choose_runs(where: ProjectPaths, names: list[str], words: Sequence[str]) -> set[str]:
    """The projects that are meant; one that was moved before is no mistake, and nothing to do."""
    if not words:
        return set(names)
    chosen: set[str] = set()
    known = sorted({*names, *list_project_directories(where.root)})
    for word in words:
        fits = match_run_names(known, word)
        if not fits or fits[0] not in known:
            near = suggest_name(word, [*known, *(name.partition("-")[0] for name in known)])
            ids = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
            raise UsageError(
                f"there is no project '{word}' here",
                fix=f"{near}projects of the old layout: {ids or 'none'}",
                code="unknown-run",
            )
        if len(fits) > 1:
            raise UsageError(
                f"'{word}' matches several projects",
                fix=f"use one of: {', '.join(fits)}",
                code="ambiguous-run",
            )
        chosen.add(fits[0])
    return chosen


class _LeftError(Exception):
    """Why a project stays where it is, and what would change that."""

    def __init__(self, reason: str, fix: str = ""):
        super().__init__(reason)
        self.reason, self.fix = reason, fix


def _read_documents(root: str, project: OldProject) -> dict[str, str]:
    """What each says now; nobody's newer file is replaced by an older one."""
    texts = {}
    for name, old in project.files.items():
        data = read_existing(root, old)
        there = read_existing(root, f"{project.directory}/{name}")
        if there is not None and there != data:
            fix = "compare it with the old one, and remove the one that is wrong"
            raise _LeftError("a document is in the new place with other content", fix)
        texts[name] = (data or b"").decode("utf-8", "replace")
    return texts


def _look_inside(root: str, worktree: str, run: str) -> tuple[Mapping[str, str], dict[str, str]]:
    """The documents of a project in its worktree, which move there, too: paths, and texts."""
    inside = os.path.join(root, worktree)
    mine = next((each for each in read_old_tree(inside).projects if each.run == run), None)
    if mine is None:
        return {}, {}
    try:
        texts = _read_documents(inside, mine)
    except _LeftError as error:
        raise _LeftError(f"in its worktree {worktree} {error.reason}", error.fix) from error
    return {name: f"{worktree}/{old}" for name, old in mine.files.items()}, texts


def _holds_status_alone(directory: str) -> bool:
    """Whether a directory has a status, and the specification must be elsewhere."""
    names = ("status.yaml", "spec.md")
    return [os.path.lexists(os.path.join(directory, name)) for name in names] == [True, False]


def _explain_claim(status: ForeignStatus, gate: str, path: str) -> str:
    """A gate in front of the place that a file names counts, whatever the file says of it."""
    if status.gates.get(gate, {}).get("status") in APPROVED:
        return f"{path} says so"
    return f"{path} is at {status.state}, behind it"


class _SeenProject(Struct, frozen=True):
    """What is there of a project: its documents, and the status file if there is one."""

    project: OldProject
    texts: Mapping[str, str]
    path: str
    status: ForeignStatus | None = None
    status_text: str = ""


class _Planner:
    """Decides on one project after the other; each protocol is read once."""

    def __init__(
        self,
        where: ProjectPaths,
        choice: MigrationChoice,
        tree: OldTree,
        worktrees: list[OldWorktree],
    ):
        self.where, self.choice, self.worktrees = where, choice, worktrees
        self._listed = read_project_lists(where.root) if tree.projects else list[ListedProject]()
        self._specs: dict[str, list[str]] = {}
        for each in tree.projects:
            self._specs.setdefault(each.run, []).append(each.files["spec.md"])
        self._protocols: dict[str, LoadedDefinition | _LeftError] = {}

    def decide(self, project: OldProject) -> ProjectDecision:
        decision = ProjectDecision(
            run=project.run,
            id=project.id,
            title=project.title,
            outcome="left",
            documents=project.documents,
        )
        try:
            return self._decide(project, decision)
        except _LeftError as error:
            return replace(decision, reason=error.reason, fix=error.fix)
        except PorchError as error:
            first = error.findings[0]
            return replace(decision, reason=first.message, fix=first.fix)
        except OSError as error:
            return replace(decision, reason=str(error))

    def _decide(self, project: OldProject, decision: ProjectDecision) -> ProjectDecision:
        if len(specs := self._specs[project.run]) > 1:
            reason = f"{' and '.join(specs)} would get the same directory"
            raise _LeftError(reason, "give one of them another name, or remove it")
        self._require_own_status(project)
        path = f"{project.directory}/status.yaml"
        texts = _read_documents(self.where.root, project)
        seen = _SeenProject(project, texts, path, *self._read_status(project.run, path))
        if self.where.has_begun(project.run):
            protocol = read_run(self.where, project.run).definition.protocol
            decision = self._with_worktree(decision, seen.status)
            return replace(self._place_documents(decision, protocol), outcome="joined")
        if ended := self._find_end(seen):
            is_said = seen.status is not None and seen.status.is_history
            render = "" if is_said else render_history(project, seen.status, ended)
            return self._as_history(replace(decision, state=ended, status=render))
        mine = self._find_worktree(decision)
        if mine is not None and not self.choice.clean:
            seen = self._look_into_worktree(mine, seen)
        if seen.status is not None:
            if seen.path != path:
                decision = replace(decision, status=seen.status_text)
            if seen.status.is_history:
                return self._as_history(replace(decision, state=seen.status.state))
            decision = self._as_run(decision, seen.status_text, seen.path, {})
        else:
            progress = judge_progress(seen.project, seen.texts)
            render = progress.render_status(project, seen.texts.get("plan.md", ""))
            decision = self._as_run(
                replace(decision, status=render), render, path, dict(progress.claims)
            )
        if decision.outcome != "paused":
            return decision
        protocol = self._load(decision.protocol).demand().protocol
        return self._place_documents(self._with_worktree(decision, seen.status), protocol)

    def _place_documents(self, decision: ProjectDecision, protocol: Protocol) -> ProjectDecision:
        """Where the run looks for them; nobody's newer file is replaced there, either."""
        root, mine, documents = self.where.root, decision.worktree, dict(decision.documents)
        if mine is not None and not decision.is_cleaned:
            inside = read_old_tree(os.path.join(root, mine.path)).projects
            documents |= {
                old: new
                for each in inside
                if each.run == decision.run
                for old, new in each.documents.items()
            }
        status = f"{decision.directory}/status.yaml"
        about = RunSubject(decision.run, decision.id, decision.title, decision.directory, status)
        places = place_documents(protocol, about, documents)
        for old, new in places.items():
            data, there = read_existing(root, old), read_existing(root, new)
            if data is not None and there not in (None, data):
                fix = "compare it with the old one, and remove the one that is wrong"
                raise _LeftError(f"{new} is there with other content", fix)
        stays = [old for old, new in places.items() if old == new]
        notes = [f"{old} stays: {protocol.name} looks for it there" for old in stays]
        moved = {old: places[old] for old in decision.documents if old not in stays}
        notes = [*decision.notes, *notes]
        return replace(decision, documents=moved, places=places, notes=tuple(notes))

    def _require_own_status(self, project: OldProject) -> None:
        """A status of the same number under other names may be this one's."""
        root = self.where.root
        others = [
            f"codev/projects/{name}"
            for name in list_project_directories(root)
            if name.partition("-")[0] == project.id and name != project.run
        ]
        found = [each for each in others if _holds_status_alone(os.path.join(root, each))]
        if found and not os.path.lexists(os.path.join(root, project.directory, "status.yaml")):
            have = "has" if len(found) == 1 else "have"
            reason = f"{' and '.join(found)} {have} a status of this number"
            fix = f"call the directory that is meant {project.directory}, and remove the others"
            raise _LeftError(reason, fix)

    def _read_status(
        self, run: str, path: str, worktree: str = ""
    ) -> tuple[ForeignStatus | None, str]:
        data = read_existing(os.path.join(self.where.root, worktree), path)
        if data is None:
            return None, ""
        text = data.decode("utf-8", "replace")
        status = status_file.read_status_file(text, path)
        if status.signed_seq is not None and not self.where.has_begun(run):
            fix = "migrate it there; if that clone is gone, remove the last line of its status.yaml"
            raise _LeftError("its status file belongs to a run in another clone", fix)
        return status, text

    def _look_into_worktree(self, mine: OldWorktree, seen: _SeenProject) -> _SeenProject:
        """The work goes on there, so how far it is counts as it is there."""
        run = seen.project.run
        files, texts = _look_inside(self.where.root, mine.path, run)
        project = replace(seen.project, files={**seen.project.files, **files})
        seen = replace(seen, project=project, texts={**seen.texts, **texts})
        status, text = self._read_status(run, seen.path, mine.path)
        if status is None or text == seen.status_text:
            return seen
        path = f"{mine.path}/{seen.path}"
        return replace(seen, path=path, status=status, status_text=text)

    def _find_end(self, seen: _SeenProject) -> str:
        """With what word it ended; empty if it goes on. Either statement that it ended counts."""
        project, status = seen.project, seen.status
        listed = find_listed_status(
            self._listed, project.id, project.files["spec.md"], is_id_shared=project.is_id_shared
        )
        if status is not None and status.is_history:
            return status.state
        if listed in ENDED:
            return listed
        # Only where nobody wrote down how far it is, a review says that all was done.
        return "complete" if "review.md" in seen.texts and not (status or listed) else ""

    def _as_history(self, decision: ProjectDecision) -> ProjectDecision:
        """No run works in its worktree, so that stays unless a person wants it removed."""
        mine = self._find_worktree(decision)
        is_cleaned = mine is not None and self.choice.clean and not mine.is_kept
        worktree = mine if is_cleaned else None
        return replace(decision, outcome="history", worktree=worktree, is_cleaned=is_cleaned)

    def _as_run(
        self, decision: ProjectDecision, text: str, path: str, reasons: Mapping[str, str]
    ) -> ProjectDecision:
        """A run that begins where the status file says, if its protocol can go on from there."""
        status = status_file.read_status_file(text, path)
        name = status.protocol or PROTOCOL
        protocol = self._load(name).demand().protocol
        if protocol.spec:
            raise _LeftError(f"protocol '{name}' is for trees, not for projects")
        gates = list_passed_gates(protocol, status)
        if gates and not self.choice.adopt:
            text = render_without_approvals(status, protocol, gates)
            status, gates = status_file.read_status_file(text, path), []
            decision = replace(decision, status=text)
        state, item, notes = status_file.match_state(protocol, status)
        if state == "complete":
            return self._as_history(replace(decision, state=state))
        return replace(
            decision,
            outcome="paused",
            protocol=name,
            state=f"{state}:{item}" if item else state,
            claims=tuple(
                (gate, reasons.get(gate) or _explain_claim(status, gate, path)) for gate in gates
            ),
            notes=(*status.notes, *notes),
        )

    def _load(self, name: str) -> LoadedDefinition:
        if name not in self._protocols:
            self._protocols[name] = self._try_load(name)
        loaded = self._protocols[name]
        if isinstance(loaded, _LeftError):
            raise loaded
        return loaded

    def _try_load(self, name: str) -> LoadedDefinition | _LeftError:
        try:
            loaded = load_current_definition(self.where, name)
            loaded.demand()
        except DefinitionError as error:
            errors = [each for each in error.findings if each.severity == "error"]
            reason = f"protocol '{name}' has errors: {(errors or error.findings)[0].message}"
            return _LeftError(reason, f"porch protocols lint {name}")
        except PorchError:
            fix = f"put its directory into codev/protocols/{name}"
            return _LeftError(f"protocol '{name}' does not exist here", fix)
        return loaded

    def _find_worktree(self, decision: ProjectDecision) -> OldWorktree | None:
        return next((each for each in self.worktrees if each.run == decision.run), None)

    def _with_worktree(
        self, decision: ProjectDecision, status: ForeignStatus | None
    ) -> ProjectDecision:
        mine = self._find_worktree(decision)
        if mine is None:
            return decision
        if self.choice.clean and not mine.is_kept:
            return replace(decision, worktree=mine, is_cleaned=True)
        mine = replace(mine, protocol=(status.protocol if status else "") or PROTOCOL)
        trouble = old_worktrees.find_trouble(self.where.root, mine)
        if trouble:
            raise _LeftError(f"its worktree {mine.path} cannot be moved: {trouble}")
        _look_inside(self.where.root, mine.path, decision.run)
        return replace(decision, worktree=mine)
