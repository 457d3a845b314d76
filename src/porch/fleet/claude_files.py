"""What Claude Code is given to follow our protocols: files of the package, for `.claude`."""

from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable

_MARKDOWN_ENDING = ".md"


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
