"""The last commit of a run, for a branch that somebody deleted: the journal still names it."""

import os

from porch.errors import StateError
from porch.git import repository
from porch.machine.state import Run
from porch.run.engine.run_commits import read_run_end
from porch.store.journal import scan_journal
from porch.store.where import ProjectPaths

# Facts that say where the work of a run was kept on its own branch.
_KINDS = ("ExitAccepted", "CommitEnded")


def describe_way_back(where: ProjectPaths, run: Run) -> str:
    """How a person brings the branch back; or that nothing is left from which it could come."""
    commit = find_last_commit(where, run)
    begins = commit == run.base_commit
    what = "the run has committed nothing and began at" if begins else "the last commit of the run"
    if not commit:
        return f"if you know its last commit: git branch {run.branch} COMMIT"
    if repository.resolve_commit(where.base, commit) is None:
        return (
            f"{what} {'' if begins else 'was '}{commit}, and git no longer has it. If another "
            "clone or a backup has it, fetch it from there, then: "
            f"git branch {run.branch} {commit}"
        )
    return f"{what} {'' if begins else 'is '}{commit[:12]}: git branch {run.branch} {commit}"


def find_last_commit(where: ProjectPaths, run: Run) -> str:
    """As it was noted at the end, or as the journal has it; at first it is the one of the start."""
    directory = where.run_dir(run.name)
    if (end := read_run_end(directory)) and end.commit:
        return end.commit
    path = os.path.join(directory, "journal.jsonl")
    try:
        facts = [record["fact"] for record in scan_journal(path).records]
    except StateError:
        return ""
    commits = (fact.get("commit") for fact in reversed(facts) if fact["is"] in _KINDS)
    return next(filter(None, commits), None) or run.base_commit
