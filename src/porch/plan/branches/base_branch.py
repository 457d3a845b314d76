"""The branch that work is compared with and goes back to, and the branches nobody plans on."""

import os
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from porch.git import repository
from porch.git.command import try_git

VARIABLE = "BASE_BRANCH"
USUAL = ("main", "master", "develop", "staging", "production")
DEFAULT = "main"
_DIRECT = frozenset((*USUAL, "development", "dev", "stage", "prod"))
_DIRECT_UNDER = ("quick/", "curator/", "docs/")
# A clone of one branch has the others only as its remote showed them.
_HOMES = ("refs/heads/", "refs/remotes/origin/")

BaseSource = Literal["environment", "detected", "default"]


class FoundBase(Struct, frozen=True):
    """The name of the base branch, and how it was come by; `note` says what was passed over."""

    branch: str
    source: BaseSource
    note: str = ""


def find_base_branch(toplevel: str, environ: Mapping[str, str] = os.environ) -> FoundBase:
    named = environ.get(VARIABLE, "")
    if named and branch_commit(toplevel, named):
        return FoundBase(named, "environment")
    note = f"{VARIABLE} names '{named}', which is not a branch here" if named else ""
    found = next((name for name in USUAL if _is_related(toplevel, name)), None)
    return FoundBase(found, "detected", note) if found else FoundBase(DEFAULT, "default", note)


def branch_commit(toplevel: str, branch: str) -> str | None:
    """The head of a branch of this name, our own before that of origin."""
    for home in _HOMES:
        # Unlike `rev-parse` this takes a name for nothing but a name: `main~1` is no branch.
        done = try_git(toplevel, "show-ref", "--verify", "--hash", "--", home + branch)
        if done.returncode == 0:
            return done.stdout.strip()
    return None


def merge_base(toplevel: str, one: str, other: str) -> str | None:
    """Where two commits parted; None if they have nothing in common."""
    return try_git(toplevel, "merge-base", one, other).stdout.strip() or None


def is_protected_branch(branch: str) -> bool:
    """Whether work on this branch needs no plan."""
    return branch in _DIRECT or branch.startswith(_DIRECT_UNDER)


def _is_related(toplevel: str, branch: str) -> bool:
    commit, head = branch_commit(toplevel, branch), repository.read_head(toplevel)
    return bool(commit and head and merge_base(toplevel, commit, head))
