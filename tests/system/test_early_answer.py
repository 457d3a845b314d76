"""A question that is asked early is asked once, and its failure is told where it was due."""

import pytest

from porch.system.early_answer import EarlyAnswer


@pytest.mark.parametrize("asked", [0, 1, 2])
def test_the_call_is_made_once_however_often_it_is_asked(asked: int) -> None:
    calls: list[str] = []
    early = EarlyAnswer(lambda: calls.append("call"))
    for _ in range(asked):
        early.ask()
    assert early.take() is None
    assert early.take() is None
    assert calls == ["call"]


def test_a_failure_is_told_to_whoever_takes_the_answer() -> None:
    calls: list[str] = []

    def fail() -> None:
        calls.append("call")
        raise ValueError("no answer")

    early = EarlyAnswer(fail)
    early.ask()
    for _ in range(2):
        with pytest.raises(ValueError, match="no answer"):
            early.take()
    assert calls == ["call"]


def test_whoever_is_interrupted_while_asking_hears_of_it_at_once() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        EarlyAnswer(interrupt).ask()
