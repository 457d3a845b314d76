"""What keeps a run from beginning is said at once: nobody mends one thing to meet the next."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec

from porch.errors import PorchError

_P = ParamSpec("_P")


@contextmanager
def all_refusals() -> Iterator[Callable[..., None]]:
    """Gives a function that tries a demand; at the end the first refusal tells of all of them."""
    refused: list[PorchError] = []

    def attempt(demand: Callable[_P, None], *args: _P.args, **named: _P.kwargs) -> None:
        try:
            demand(*args, **named)
        except PorchError as error:
            refused.append(error)

    yield attempt
    if refused:
        refused[0].findings = tuple(each for error in refused for each in error.findings)
        raise refused[0]
