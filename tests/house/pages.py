"""Somebody who does what a page says, word for word, from an empty directory.

A block of a page is a session (`console`: what is typed and what is printed), commands that must
succeed (`sh`), or a file with its name in front of it. A block that is none of these says in a
comment above it why nobody carries it out. One that names in a comment what it needs, such as
`needs: node`, is carried out where these programs are installed.
"""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests import commands
from tests.repositories import GITCONFIG

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("porch", "af", "codev", "envoy")
# A command that rests where a person decides has done what it was asked to do.
WELL = (0, 3)
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`([^`\n]+)`:\n\n\s*$")
_UNRUN = re.compile(r"<!-- not run: ([^\n]+) -->\n\s*$")
_NEEDS = re.compile(r"<!-- needs: ([^\n]+) -->\n\s*$")
_SHELL = re.compile(r"[|<>&;$()`*~]")
_AGENTS = ("CLAUDE", "GEMINI_", "CODEX_", "PORCH_", "GIT_", "COVERAGE_", "ANTHROPIC_", "OPENAI_")
_MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ"), "TIME"),
    (re.compile(r"(?<=since )(?:\d{4}-\d\d-\d\d )?\d\d:\d\d\b"), "TIME"),
    (re.compile(r"pid \d+ on [^)\s]+"), "pid N on HOST"),
    (re.compile(r"\bpid \d+"), "pid N"),
    (re.compile(r"in \d+\.\d s"), "in N s"),
    (re.compile(r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{12}\b"), "COMMIT"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"\(\d+ files\)"), "(N files)"),
    (re.compile(r"approved by \S+"), "approved by NAME"),
)
_SAID = {"ANTHROPIC_API_KEY": "a-key", "COLUMNS": "500"}
# It is there, and nobody on these pages lets it work.
_CLAUDE = "#!/bin/sh\necho '9.9.9 (Claude Code)'\n"


def masked(text: str) -> str:
    """Without what is different each time: times, processes, commits, how many files there are."""
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return text


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block; `kind` is `console`, `sh`, the name of a file, or why it is not run."""

    kind: str
    text: str
    is_run: bool = True
    needs: tuple[str, ...] = ()


def blocks(page: str) -> list[Block]:
    """Every block of a page; one that says neither its file nor why it is not run is refused."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [_read_block(page, text[: found.start()], found) for found in _FENCE.finditer(text)]


def _read_block(page: str, before: str, found: "re.Match[str]") -> Block:
    body = re.sub(rf"^{found[1]}", "", found[3], flags=re.MULTILINE)
    if why := _UNRUN.search(before):
        return Block(why[1], body, is_run=False)
    needs = _NEEDS.search(before)
    programs = tuple(needs[1].split()) if needs else ()
    if found[2] in ("console", "sh"):
        return Block(found[2], body, needs=programs)
    named = _FILE.search(before[: needs.start()] if needs else before)
    assert named, f"{page}: this block has no file name and no reason:\n{body}"
    return Block(named[1], body, needs=programs)


def sessions(block: str) -> list[tuple[str, str]]:
    """The commands of a session, each with what the page says that it prints."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


class Reader:
    """A person with git, claude and porch in an empty directory."""

    def __init__(self, home: Path):
        self.home = home
        self.place = home / "kitchen"
        self.place.mkdir()
        (home / ".gitconfig").write_text(GITCONFIG)
        (home / "bin").mkdir()
        (home / "bin" / "claude").write_text(_CLAUDE)
        (home / "bin" / "claude").chmod(0o755)

    def follow(self, page: str) -> None:
        """Do all of it; whatever is not as the page says fails here."""
        for block in blocks(page):
            if not block.is_run or not all(map(shutil.which, block.needs)):
                continue
            if block.kind == "console":
                for command, promised in sessions(block.text):
                    printed = self._run_patiently(command)[1]
                    said, told = masked(printed), masked(promised)
                    assert said == told, f"$ {command}\nprinted:\n{said}\n{page}:\n{told}"
            elif block.kind == "sh":
                self._run_all(block.text)
            else:
                self._write(block.kind, block.text)

    def _run_all(self, text: str) -> None:
        for line in text.splitlines():
            command = line.partition("  #")[0].strip()
            if command and not command.startswith("#"):
                code, printed = self._run_patiently(command)
                assert code in WELL, f"{command}: exit {code}\n{printed}"

    def _run_patiently(self, command: str) -> tuple[int, str]:
        """A run in the background comes to its gate by itself; a person types after that."""
        end = time.monotonic() + 60
        code, printed = self.run(command)
        while command.startswith("af ") and code not in WELL and time.monotonic() < end:
            time.sleep(0.2)
            code, printed = self.run(command)
        return code, printed

    def _write(self, name: str, text: str) -> None:
        path = self.home / name[2:] if name.startswith("~/") else self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if name.endswith("config.toml") and "codex" not in name:
            code, printed = self.run("porch settings")
            assert code == 0, printed

    def run(self, command: str) -> tuple[int, str]:
        """Commands of ours that need no shell are forks: a new interpreter costs much more."""
        if command.startswith("cd "):
            self.place = (self.place / command.removeprefix("cd ")).resolve(strict=True)
            return 0, ""
        ours, _, behind = command.partition(" | ")
        words = [] if _SHELL.search(ours) else shlex.split(ours)
        if not words or words[0] not in PROGRAMS:
            return self._run_shell(command)
        process = commands.start(
            words[0], words[1:], self.place, self.environ, errors=subprocess.STDOUT
        )
        printed = process.communicate(timeout=90)[0]
        if behind:
            return self._run_shell(behind, printed)
        return process.returncode, printed.replace(str(self.home), "~")

    def _run_shell(self, command: str, given: str = "") -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.place,
            env=self.environ,
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=90,
            check=False,
        )
        return done.returncode, done.stdout.replace(str(self.home), "~")

    @property
    def environ(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(_AGENTS)}
        kept = {k: v for k, v in kept.items() if k not in ("XDG_CONFIG_HOME", "PYTHONPATH")}
        names = (str(self.home / "bin"), str(Path(sys.executable).parent), os.defpath)
        return {**kept, "HOME": str(self.home), "PATH": os.pathsep.join(names), **_SAID}

    def clear(self) -> None:
        """Whoever was started in the background and is still there."""
        home = f"HOME={self.home}".encode()
        for entry in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if home in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                    os.kill(int(entry), signal.SIGKILL)
