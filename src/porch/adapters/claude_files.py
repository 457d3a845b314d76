"""What Claude Code is given to follow our protocols: files of the package, for `.claude`."""

from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable

_ENDING = ".md"


def files() -> Mapping[str, bytes]:
    """Commands and agent definitions, by their path below `.claude`, in the order of these."""
    return dict(sorted(_below(resources.files("porch").joinpath("integration", "claude"))))


def _below(directory: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    """Only what Claude Code reads: copies that an editor left behind shall not be installed."""
    for entry in directory.iterdir():
        path = f"{prefix}{entry.name}"
        if entry.is_dir():
            yield from _below(entry, f"{path}/")
        elif path.endswith(_ENDING):
            yield path, entry.read_bytes()
