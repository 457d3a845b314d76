"""Installs what the tests of the dashboard's pages need: chromium, and axe-core, which judges them.

Chromium comes from the system's packages, if that is possible here. axe-core goes to a directory of
its own outside the checkout, named after its version: what is there costs no look at the network.
What cannot be installed is said in a sentence, and the tests that need it are skipped.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

AXE_VERSION = "4.11.0"
NAMES = ("chromium", "chromium-browser")
_APT_S = 1200
_NPM_S = 300
# Another one may be installing something; both asked for it, so both wait.
_APT = ("apt-get", "-o", "DPkg::Lock::Timeout=600", "-qq")
_PACKAGES = ("chromium", "fonts-dejavu-core")


def find_chromium() -> str:
    """The browser that is installed; empty if none is."""
    return next((found for name in NAMES if (found := shutil.which(name))), "")


def find_axe() -> Path | None:
    """The script of axe-core at its pinned version; a home appears whole or not at all."""
    script = _home() / "node_modules" / "axe-core" / "axe.min.js"
    return script if script.is_file() else None


def _home() -> Path:
    cache = os.environ.get("PORCH_BROWSER_DIR") or os.path.expanduser("~/.cache/porch-browser")
    return Path(cache).absolute() / f"axe-core-{AXE_VERSION}"


def list_missing(axe: Path | None) -> list[str]:
    """What a test would miss, as sentences that say what to do."""
    missing = []
    if not find_chromium():
        missing.append("chromium is not installed: apt-get install chromium, as root")
    if axe is None:
        missing.append(f"axe-core {AXE_VERSION} is not installed: it needs npm, and `make browser`")
    return missing


def install_chromium() -> str:
    """What went wrong; empty if it is there now."""
    if shutil.which("apt-get") is None:
        return "there is no apt-get here, so install chromium yourself"
    if os.geteuid() != 0:
        return "installing it needs root: sudo apt-get install chromium"
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    words = [*_APT, "install", "-y", "--no-install-recommends", *_PACKAGES]
    trouble = _run(words, Path("/"), environ, _APT_S)
    if trouble:
        # The list of packages may be older than what the mirror still has.
        trouble = _run([*_APT, "update"], Path("/"), environ, _APT_S) or _run(
            words, Path("/"), environ, _APT_S
        )
    return trouble


def install_axe() -> str:
    """Into a temporary neighbour first: a home that was begun and never finished cannot exist."""
    if shutil.which("npm") is None:
        return "npm is not found on PATH: install Node.js with npm"
    target = _home()
    target.parent.mkdir(parents=True, exist_ok=True)
    begun = Path(tempfile.mkdtemp(prefix="begun-", dir=target.parent))
    try:
        (begun / "package.json").write_text('{"private": true}')
        words = ["npm", "install", f"axe-core@{AXE_VERSION}", "--ignore-scripts"]
        trouble = _run([*words, "--no-audit", "--no-fund"], begun, os.environ, _NPM_S)
        if not trouble:
            _rename(begun, target)
    finally:
        shutil.rmtree(begun, ignore_errors=True)
    return trouble


def _rename(begun: Path, target: Path) -> None:
    try:
        begun.rename(target)
    except OSError:
        # Somebody else was quicker; theirs is as good as ours.
        if find_axe() is None:
            raise


def _run(words: list[str], cwd: Path, environ: Mapping[str, str], limit_s: int) -> str:
    try:
        done = subprocess.run(
            words,
            check=False,
            capture_output=True,
            cwd=cwd,
            env=environ,
            text=True,
            timeout=limit_s,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    told = (done.stderr or done.stdout).strip()[-1000:]
    return f"{words[0]} ended with {done.returncode}\n{told}" if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser(description="install a browser for the tests of the pages")
    parser.add_argument("--required", action="store_true", help="fail if something is missing")
    given = parser.parse_args()
    for name, is_there, install in (
        ("chromium", bool(find_chromium()), install_chromium),
        ("axe-core", find_axe() is not None, install_axe),
    ):
        trouble = "" if is_there else install()
        if trouble:
            print(f"browser: {name} is NOT INSTALLED: {trouble}", file=sys.stderr)
    if list_missing(find_axe()):
        print("browser: the tests of pages in a browser will be skipped.", file=sys.stderr)
        return int(given.required)
    print(find_chromium())
    return 0


if __name__ == "__main__":
    sys.exit(main())
