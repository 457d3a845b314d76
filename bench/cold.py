"""Read commands of the built wheel, started cold, against the bare interpreter."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from bench import story
from bench.measure import Result, ratio
from porch.adapters import compiled, library, payloads
from porch.adapters.journal import Journal
from porch.machine.evolve import fold
from porch.machine.records import decode_all
from porch.machine.state import State
from porch.model.definition import canonical
from porch.runtime.clock import Clock
from porch.runtime.pictures import Pictures

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
    return {"PATH": os.defpath, "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}


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
    """The wheel in an environment of its own; its dependencies are lent by the one we run in."""
    wheels, home = place / "wheels", place / "installed"
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", wheels, ROOT)
    _run(sys.executable, "-m", "venv", "--without-pip", home)
    python = home / "bin" / "python"
    install = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    _run(sys.executable, "-m", "pip", "--python", python, *install, "--find-links", wheels, "porch")
    site = next((home / "lib").glob("python*/site-packages"))
    (site / "lent.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return python, home / "bin" / "porch"


def _run(*command: object) -> None:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}\n{done.stdout}{done.stderr}")


def _repository(root: Path) -> Path:
    """A repository with one run that has come a long way."""
    root.mkdir(parents=True)
    _run("git", "init", "--quiet", root)
    directory = root / ".git" / "porch" / "runs" / story.RUN
    path = story.written(str(directory), RECORDS)
    loaded = library.load(os.path.join(library.PACKAGED, "spider", "protocol.json"))
    definition = loaded.demand()
    payloads.put(str(directory / "payloads"), canonical(definition))
    compiled.keep_stamps(str(directory), loaded.digest, loaded.files)
    journal, found = Journal.open(path)
    with journal:
        state = fold(State(), decode_all(found.records))
        pictures = Pictures(str(root), str(directory), journal, Clock())
        pictures.keep_edits(state)
        pictures.draw(definition, state)
        pictures.picture(definition, state)
    return root
