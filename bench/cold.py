"""Read commands of the built wheel, started cold, against the bare interpreter."""

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from packaging.markers import Marker

from bench import story
from bench.measure import Result, ratio

ROOT = Path(__file__).resolve().parent.parent
RECORDS = 10_000
ROUNDS = 41
COMMANDS = (("status",), ("status", "0073"), ("protocols", "show", "spider"))
STEPS = (("protocol", "debugging"),)
# What each command must have said, by its first word.
SAID = {"status": "A parser", "protocols": "specify", "protocol": "18: Finish"}


def results(place: Path) -> list[Result]:
    """Each command as a user calls it: the installed script, in a repository with a long run."""
    python, porch = _installed(place)
    repository = _repository(place / "repository")
    envoy = porch.with_name("envoy")
    calls = [(porch, words) for words in COMMANDS] + [(envoy, words) for words in STEPS]
    return [_against_bare(python, program, words, repository) for program, words in calls]


def _against_bare(python: Path, program: Path, words: tuple[str, ...], place: Path) -> Result:
    _tried(program, words, place)
    mine, bare = [str(program), *words], [str(python), "-I", "-c", "pass"]
    name = f"{program.name} {' '.join(words)} / python -I -c pass"
    return ratio(name, 3.0, lambda: _call(mine, place), lambda: _call(bare, place), ROUNDS)


def _call(command: list[str], directory: Path) -> None:
    # Without closing descriptors one by one, starting a process costs what it must and no more.
    subprocess.run(
        command,
        cwd=directory,
        env=_environment(),
        stdout=subprocess.DEVNULL,
        check=True,
        close_fds=False,
    )


def _environment() -> dict[str, str]:
    """As in a user's shell; nothing of ours is measured along, and no shim stands in between."""
    state = os.environ.get("XDG_STATE_HOME", "")
    home = {"HOME": os.environ.get("HOME", "/"), "XDG_STATE_HOME": state}
    return {"PATH": os.defpath, "LANG": "C.UTF-8", **home}


def _tried(program: Path, words: tuple[str, ...], directory: Path) -> None:
    """The first call may fill a cache; and a quick answer must be the right one."""
    told = subprocess.run(
        [str(program), *words],
        cwd=directory,
        env=_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    if SAID[words[0]] not in told.stdout:
        raise RuntimeError(f"{program.name} {' '.join(words)} printed {told.stdout!r}")


def _installed(place: Path) -> tuple[Path, Path]:
    """The wheel in an environment of its own, with links to the dependencies that it names.

    Nothing else of the environment we run in, except what comes with the dashboard and makes
    msgspec load more where nobody prevents it.
    """
    wheels, home = place / "wheels", place / "installed"
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", wheels, ROOT)
    _run(sys.executable, "-m", "venv", "--without-pip", home)
    python = home / "bin" / "python"
    install = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    _run(sys.executable, "-m", "pip", "--python", python, *install, "--find-links", wheels, "porch")
    site = next((home / "lib").glob("python*/site-packages"))
    for name in _wanted("porch") | {"typing_extensions"}:
        _link(metadata.distribution(name), site)
    return python, home / "bin" / "porch"


def _wanted(name: str) -> set[str]:
    """The distributions that one needs, and those that they need; extras are left out."""
    needed = [each for each in metadata.requires(name) or () if "extra ==" not in each]
    here = [re.match(r"[\w.-]+", each) for each in needed if _is_for_here(each)]
    names = {found[0] for found in here if found}
    return names.union(*map(_wanted, names))


def _is_for_here(requirement: str) -> bool:
    _, _, marker = requirement.partition(";")
    return not marker or Marker(marker).evaluate()


def _link(found: metadata.Distribution, site: Path) -> None:
    for name in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", ".")}:
        source = Path(str(found.locate_file(name)))
        if source.exists() and not (site / name).exists() and name != "__pycache__":
            (site / name).symlink_to(source)


def _run(*command: object) -> None:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}\n{done.stdout}{done.stderr}")


def _repository(root: Path, records: int = RECORDS) -> Path:
    """A repository with one run that has come a long way, and has a prompt for an agent now."""
    return story.repository(root, records, story.wants_an_agent)
