"""Commands that take arguments do not load what would translate the words of argparse."""

import subprocess
import sys

from porch.cli import plain_argparse

LOOK = """
import sys
before = set(sys.modules)
from porch.cli import arguments
print(*{"gettext", "locale"} & (set(sys.modules) - before))
import gettext
assert hasattr(gettext, "translation"), "whoever needs it finds the real one"
"""


def test_arguments_are_read_without_translations() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", LOOK], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_one_and_many_are_told_apart() -> None:
    told = [plain_argparse._choose_number("an argument", "arguments", n) for n in (0, 1, 2)]
    assert told == ["arguments", "an argument", "arguments"]
