"""msgspec alone: what others have installed is not loaded with it, and is there for them later."""

import sys

import pytest

from porch.text.msgspec_import import load_msgspec

LIBRARY = "typing_extensions"


def test_msgspec_comes_without_the_library_that_it_would_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "msgspec")
    monkeypatch.delitem(sys.modules, LIBRARY, raising=False)
    load_msgspec()
    assert ("msgspec" in sys.modules, LIBRARY in sys.modules) == (True, False)
    import typing_extensions

    assert typing_extensions.__name__ == LIBRARY


def test_what_is_loaded_already_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    known = sys.modules["msgspec"]
    monkeypatch.setitem(sys.modules, LIBRARY, sys)
    load_msgspec()
    assert (sys.modules["msgspec"], sys.modules[LIBRARY]) == (known, sys)
