"""argparse without the translations of its few words.

Our own words are in one language, so its own are as well. Looking for translations loads as much
as argparse itself: gettext, locale and their patterns, for every command that takes arguments.
"""

import sys

__all__ = ["argparse"]


def _load_untranslated() -> None:
    """While it is loaded, a stand-in says each text as it is; then nobody finds that any more."""
    if "gettext" in sys.modules:
        return
    stand_in = type(sys)("gettext")
    stand_in.gettext = str  # type: ignore[attr-defined]
    stand_in.ngettext = _choose_number  # type: ignore[attr-defined]
    sys.modules["gettext"] = stand_in
    try:
        __import__("argparse")
    finally:
        del sys.modules["gettext"]


def _choose_number(one: str, many: str, number: int) -> str:
    return one if number == 1 else many


_load_untranslated()

import argparse  # noqa: E402 - it is loaded by now, without gettext
