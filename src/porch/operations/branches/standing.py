"""Where a command of git stands: a checkout, on a branch, with a base."""

from dataclasses import dataclass
from typing import Any, TypeVar, cast

from porch.adapters import base_branch, git
from porch.adapters.base_branch import Base
from porch.adapters.where import Where
from porch.errors import FailedError, UsageError


@dataclass(frozen=True, slots=True)
class Standing:
    """The top of a checkout, its branch, and the branch that this one goes back to."""

    toplevel: str
    branch: str
    base: Base


def stand(where: Where) -> Standing:
    toplevel, branch = checkout(where)
    return Standing(toplevel, branch, base_branch.of(toplevel))


def checkout(where: Where) -> tuple[str, str]:
    """The top of the checkout we are in, and the branch it is on."""
    found = git.find(where.workspace)
    if found is None or found.toplevel is None:
        raise UsageError(
            f"{where.workspace} is no worktree of git",
            fix="go to the checkout that is meant",
            code="no-repository",
        )
    if found.branch is None:
        raise FailedError(
            f"{found.toplevel} stands on no branch",
            fix="switch to one: git switch NAME",
            code="no-branch",
        )
    return found.toplevel, found.branch


Data = TypeVar("Data")


def readable(data: Data) -> Data:
    """Names that are no UTF-8 spelled out, so that any program can read the answer."""
    return cast(Data, _readable(data))


def _readable(data: Any) -> Any:
    match data:
        case str():
            return data.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        case dict():
            return {key: _readable(value) for key, value in data.items()}
        case list():
            return [_readable(value) for value in data]
        case _:
            return data
