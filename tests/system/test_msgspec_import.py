"""msgspec alone: what others have installed is not loaded with it, and is there for them later."""

import subprocess
import sys
import uuid

import pytest

from porch.system.msgspec_import import load_msgspec

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


ONE_WORD = """
import sys
from porch.system.msgspec_import import load_msgspec
load_msgspec()
assert "platform" not in sys.modules
import uuid
assert (uuid._LINUX, uuid._AIX) == (sys.platform == "linux", sys.platform.startswith("aix"))
told = uuid.platform.machine()
import platform
print(told == platform.machine(), platform.system() == uuid.platform.system(), uuid.uuid1().version)
"""
LOADED = """
import platform, sys
from porch.system.msgspec_import import load_msgspec
load_msgspec()
import uuid
print(sys.modules["platform"] is platform is uuid.platform)
"""


@pytest.mark.skipif(not hasattr(uuid, "platform"), reason="this uuid asks nobody")
@pytest.mark.parametrize("code, told", [(ONE_WORD, "True True 1\n"), (LOADED, "True\n")])
def test_of_the_machine_one_word_is_asked_and_all_others_can_be(code: str, told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, told), done.stderr


INTERRUPTED = """
import os, sys

class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == "uuid":
            os.kill(os.getpid(), 2)

sys.meta_path.insert(0, Interrupter())
from porch.system.msgspec_import import load_msgspec
try:
    load_msgspec()
except KeyboardInterrupt:
    import msgspec
    class Told(msgspec.Struct):
        word: str
    print(msgspec.to_builtins(Told("whole")))
"""


def test_ctrl_c_while_it_is_loaded_comes_behind_and_leaves_it_whole() -> None:
    """Half of it is enough to be called, and to end the command with a crash."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "{'word': 'whole'}\n"), done.stderr
