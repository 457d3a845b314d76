"""Where a command of git stands: a checkout, on a branch, with a base."""

from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import FailedError, UsageError
from porch.git import repository
from porch.plan.branches import base_branch
from porch.plan.branches.base_branch import FoundBase
from porch.store.where import ProjectPaths


class BranchCheckout(Struct, frozen=True):
    """The top of a checkout, its branch, and the branch that this one goes back to."""

    toplevel: str
    branch: str
    base: FoundBase


def current_checkout(where: ProjectPaths) -> BranchCheckout:
    toplevel, branch = checkout_and_branch(where)
    return BranchCheckout(toplevel, branch, base_branch.find_base_branch(toplevel))


def checkout_and_branch(where: ProjectPaths) -> tuple[str, str]:
    """The top of the checkout we are in, and the branch it is on."""
    found = repository.find_repository(where.workspace)
    if found is None or found.toplevel is None:
        raise UsageError(
            f"{where.workspace} is not a git worktree",
            fix="go to the checkout that you mean",
            code="no-repository",
        )
    if found.branch is None:
        raise FailedError(
            f"{found.toplevel} is not on a branch",
            fix="switch to one: git switch NAME",
            code="no-branch",
        )
    return found.toplevel, found.branch


Data = TypeVar("Data")


def make_readable(data: Data) -> Data:
    """Names that are no UTF-8 spelled out, so that any program can read the answer."""
    return cast(Data, _make_readable(data))


def _struct_fields(data: Struct) -> list[tuple[str, Any]]:
    return [(name, getattr(data, name)) for name in data.__struct_fields__]


def _make_readable(data: Any) -> Any:
    match data:
        case Struct():
            return replace(
                data, **{name: _make_readable(value) for name, value in _struct_fields(data)}
            )
        case str():
            return data.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        case dict():
            return {key: _make_readable(value) for key, value in data.items()}
        case list():
            return [_make_readable(value) for value in data]
        case _:
            return data
