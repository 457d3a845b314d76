"""The files of the package that a set-up puts into a project, by their path in the project."""

import os
from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable

from porch.run.definitions import step_files

_MARKDOWN_ENDING = ".md"

AGENTS_PAGE = "AGENTS.md"
PROTOCOLS = "codev/protocols"
STEPS = ".claude/protocols"
QUESTIONS_PAGE = "codev/codument-protocols.md"
_SKIPPED = ("__pycache__",)


def load_protocol_files() -> Mapping[str, bytes]:
    """Every file of the packaged protocols, by its path in a project that has a copy."""
    own = os.path.basename(step_files.PACKAGED)
    # What protocols share is a directory of the package with an underscore in front.
    return {
        f"{PROTOCOLS}/{path}": data
        for path, data in _walk_directory(step_files.PACKAGED_PROTOCOLS)
        if not path.startswith(("_", f"{own}/"))
    }


def load_protocol_copies(name: str = "") -> Mapping[str, bytes]:
    """What a copy of one protocol consists of, or a copy of each.

    The script of the scripted agent is not part of it: porch uses the packaged one.
    """
    front = f"{PROTOCOLS}/{name}/" if name else f"{PROTOCOLS}/"
    return {
        path: data
        for path, data in load_protocol_files().items()
        if path.startswith(front) and not path.endswith(f"/{step_files.SCRIPT}")
    }


def load_step_files() -> Mapping[str, bytes]:
    """The packaged step protocols, for `.claude/protocols`."""
    return {f"{STEPS}/{path}": data for path, data in _walk_directory(step_files.PACKAGED)}


def load_claude_directory() -> Mapping[str, bytes]:
    """Commands, agents and skills for Claude Code."""
    return {f".claude/{path}": data for path, data in load_claude_files().items()}


def load_hook() -> bytes:
    """The script that tells an agent about open decisions."""
    return _integration().joinpath("hooks", "porch-notify.sh").read_bytes()


def load_questions_page() -> bytes:
    """The blocks that prompts name by id: how to ask people, and how to confirm."""
    return _integration().joinpath("codument-protocols.md").read_bytes()


def load_agents_section() -> str:
    """What every agent in the project should know, between its two marks."""
    return _integration().joinpath("agents-section.md").read_text(encoding="utf-8")


def _integration() -> Traversable:
    return resources.files("porch").joinpath("integration")


def _walk_directory(top: str) -> Iterator[tuple[str, bytes]]:
    for directory, names, files in os.walk(top):
        names[:] = sorted(name for name in names if name not in _SKIPPED)
        for name in sorted(files):
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                yield os.path.relpath(path, top).replace(os.sep, "/"), file.read()


def load_claude_files() -> Mapping[str, bytes]:
    """Commands and agent definitions, by their path below `.claude`, in the order of these."""
    return dict(sorted(_walk_resources(resources.files("porch").joinpath("integration", "claude"))))


def _walk_resources(directory: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    """Only what Claude Code reads: copies that an editor left behind shall not be installed."""
    for entry in directory.iterdir():
        path = f"{prefix}{entry.name}"
        if entry.is_dir():
            yield from _walk_resources(entry, f"{path}/")
        elif path.endswith(_MARKDOWN_ENDING):
            yield path, entry.read_bytes()
