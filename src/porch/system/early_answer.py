"""A question that is asked early, while one has to wait anyway, and answered where it was due.

Also its failure is told only there. So nothing happens in another order than if nobody had asked
early.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

Told = TypeVar("Told")


class EarlyAnswer(Generic[Told]):
    """What a call returned or raised; it is made once, by whoever comes first."""

    def __init__(self, call: Callable[[], Told]):
        self._call = call
        self._told: list[Told] = []
        self._error: Exception | None = None

    def ask(self) -> None:
        if self._told or self._error is not None:
            return
        try:
            self._told.append(self._call())
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised in its place
            self._error = error

    def take(self) -> Told:
        self.ask()
        if self._error is not None:
            raise self._error
        return self._told[0]
