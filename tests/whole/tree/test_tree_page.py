"""The page about trees is true: its session is played in a repository like the one it describes."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "run-a-tree.md").read_text()


def _block(kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_session_of_the_page_happens(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "adder", tmp_path, dirs_exist_ok=True)
    (tmp_path / "codev").mkdir()
    (tmp_path / "codev" / "config.toml").write_text(_block("toml"))
    (tmp_path / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n")
    who = {f"GIT_{w}_{k}": "ada" for w in ("AUTHOR", "COMMITTER") for k in ("NAME", "EMAIL")}
    bin_ = os.path.dirname(sys.executable)
    env = {**os.environ, **who, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "start")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, env=env)
    session = re.split(r"^\$ ", _block("console"), flags=re.MULTILINE)[1:]
    assert len(session) == 3
    for entry in session:
        command, _, expected = entry.partition("\n")
        done = subprocess.run(
            command.split(), cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert not expected or done.stdout == expected
    assert (tmp_path / "adder" / "core.py").read_text() == "def add(a, b):\n    return a + b\n"
