"""Installs the agents' real command lines, at the versions of agents.json, for the tests to drive.

They go to a directory of their own outside the checkout, named after the pins: changed pins never
meet an old installation, and an installation that is there costs no look at the network. Prints
the directory of the commands. Without node or npm it says so and prints nothing.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PINS = Path(__file__).with_name("agents.json")
_LONGEST_S = 900
_CHECK_S = 60


def pins() -> dict[str, dict[str, str]]:
    read: dict[str, dict[str, str]] = json.loads(PINS.read_text(encoding="utf-8"))
    return read


def home() -> Path:
    """Where the pinned versions belong, whether or not they are there."""
    cache = os.environ.get("PORCH_AGENTS_DIR") or os.path.expanduser("~/.cache/porch-agents")
    digest = hashlib.sha256(json.dumps(pins(), sort_keys=True).encode()).hexdigest()
    return Path(cache).absolute() / digest[:16]


def installed() -> Path | None:
    """The directory of the commands; a home appears whole or not at all."""
    found = _bin(home())
    return found if found.is_dir() else None


def _bin(directory: Path) -> Path:
    return directory / "node_modules" / ".bin"


def missing() -> list[str]:
    return [tool for tool in ("node", "npm") if shutil.which(tool) is None]


def install() -> Path:
    """Into a temporary neighbour first: a home that was begun and never finished cannot exist."""
    target = home()
    target.parent.mkdir(parents=True, exist_ok=True)
    begun = Path(tempfile.mkdtemp(prefix="begun-", dir=target.parent))
    try:
        _fill(begun)
        _rename(begun, target)
    finally:
        shutil.rmtree(begun, ignore_errors=True)
    return _bin(target)


def _rename(begun: Path, target: Path) -> None:
    try:
        begun.rename(target)
    except OSError:
        # Somebody else was quicker; theirs is as good as ours.
        if installed() is None:
            raise


def _fill(directory: Path) -> None:
    wanted = {"private": True, "dependencies": pins()["packages"]}
    (directory / "package.json").write_text(json.dumps(wanted), encoding="utf-8")
    # npm runs foreign scripts or not, by version and by the person's settings. We refuse them all
    # and run by name the one that is needed: claude's puts its native binary in place.
    words = ("install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save")
    _run(["npm", *words], directory, dict(os.environ))
    for package, script in pins()["scripts"].items():
        _run(["node", script], directory / "node_modules" / package, dict(os.environ))
    for command, package in pins()["commands"].items():
        _check(directory, command, pins()["packages"][package])


def _check(directory: Path, command: str, version: str) -> None:
    """Each command starts and is what was pinned, asked in an environment that is nobody's."""
    with tempfile.TemporaryDirectory() as nowhere:
        environ = {"HOME": nowhere, "PATH": os.environ.get("PATH", "")}
        told = _run([str(_bin(directory) / command), "--version"], Path(nowhere), environ)
    if version not in told:
        raise SystemExit(f"agents: {command} --version says {told.strip()!r}, not {version}")


def _run(words: list[str], cwd: Path, environ: dict[str, str]) -> str:
    limit = _LONGEST_S if words[0] == "npm" else _CHECK_S
    done = subprocess.run(
        words,
        check=False,
        capture_output=True,
        cwd=cwd,
        env=environ,
        text=True,
        timeout=limit,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        told = (done.stderr or done.stdout).strip()[-2000:]
        raise SystemExit(f"agents: {' '.join(words)} ended with {done.returncode}\n{told}")
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description="install the agents' command lines for the tests")
    parser.add_argument("--required", action="store_true", help="fail if node or npm is missing")
    parser.add_argument("--where", action="store_true", help="only say where they are, if they are")
    given = parser.parse_args()
    found = installed()
    if found is None and not given.where:
        absent = missing()
        if absent:
            print(_without(absent), file=sys.stderr)
            return int(given.required)
        print(f"agents: installing into {home()}", file=sys.stderr)
        found = install()
    print(found or "", end="\n" if found else "")
    return 0


def _without(absent: list[str]) -> str:
    words = " and ".join(absent)
    return (
        f"agents: NOT INSTALLED: {words} not found on PATH.\n"
        "agents: the tests that drive the real claude, codex and gemini will be skipped.\n"
        "agents: install Node.js 20 or later with npm, then run this again."
    )


if __name__ == "__main__":
    sys.exit(main())
