"""A compiled form of each protocol, kept by the stamps of its files, for the fast path."""

from __future__ import annotations

import os

from porch.system.regular_file import open_fresh, open_regular
from porch.text.quick_json import parse_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from porch.show.shapes import ListedProtocolShape, ShownProtocolShape
    from porch.store.where import ProjectPaths

    Stamp = list[Any]


def read_cached_protocol(where: ProjectPaths, name: str) -> ShownProtocolShape | None:
    """What `protocols show` prints, if no file of the protocol has changed since."""
    try:
        with open(_cache_path(where, name), encoding="utf-8", opener=open_regular) as file:
            kept = parse_value(file.read())
        if kept["search"] == candidate_paths(where, name) and are_files_unchanged(kept["files"]):
            shown: ShownProtocolShape = kept["shown"]
            return shown
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None


def write_cached_protocol(
    where: ProjectPaths, name: str, files: list[str], shown: ShownProtocolShape
) -> None:
    """A cache that cannot be written is no cache, and nobody's problem."""
    search = candidate_paths(where, name)
    kept = {"search": search, "files": stamp_files([*search, *files]), "shown": shown}
    _write_cache(where, _cache_path(where, name), kept)


def kept_rows(where: ProjectPaths) -> dict[str, ListedProtocolShape]:
    """What `protocols list` said of each file, of those that are as they were."""
    import json

    try:
        with open(_listing_path(where), encoding="utf-8", opener=open_regular) as file:
            kept = json.load(file)
        return {f: each for f, each in kept.items() if are_files_unchanged(each["files"])}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def keep_rows(where: ProjectPaths, rows: dict[str, ListedProtocolShape]) -> None:
    """By file: the stamps of all that had a say in it, and what is listed."""
    _write_cache(where, _listing_path(where), rows)


def _listing_path(where: ProjectPaths) -> str:
    # No protocol can be kept under this name: their files begin with `protocol-`.
    return os.path.join(where.state_dir, "cache", "listing.json")


def _write_cache(where: ProjectPaths, path: str, kept: object) -> None:
    import json

    if not where.common_dir and not os.path.isdir(where.state_dir):
        return  # outside git only a run makes a directory of ours; reading leaves nothing behind
    try:
        for directory in (where.state_dir, os.path.dirname(path)):
            # One by one: makedirs would give only the last of them this mode.
            os.makedirs(directory, mode=0o700, exist_ok=True)
        with open(f"{path}.{os.getpid()}.tmp", "w", encoding="utf-8", opener=open_fresh) as file:
            json.dump(kept, file)
        os.replace(f"{path}.{os.getpid()}.tmp", path)
    except OSError:
        return


def write_file_stamps(directory: str, digest: str, files: tuple[str, ...]) -> None:
    """The files that gave a definition, so that a read command can see at a glance.

    By digest, because a definition may be offered to a run that then refuses it.
    """
    import json

    path = os.path.join(directory, "files.json")
    kept = {**_read_stamps_by_digest(directory), digest: stamp_files(list(files))}
    with open(f"{path}.{os.getpid()}.tmp", "w", encoding="utf-8", opener=open_fresh) as file:
        json.dump(kept, file)
    os.replace(f"{path}.{os.getpid()}.tmp", path)


def read_file_stamps(directory: str, digest: str) -> list[Stamp]:
    return _read_stamps_by_digest(directory).get(digest, [])


def _read_stamps_by_digest(directory: str) -> dict[str, list[Stamp]]:
    import json

    try:
        with open(
            os.path.join(directory, "files.json"), encoding="utf-8", opener=open_regular
        ) as file:
            kept: dict[str, list[Stamp]] = json.load(file)
    except (OSError, ValueError):
        return {}
    return kept


def stamp_files(files: list[str]) -> list[Stamp]:
    """By what files are known to be as they were; one that is not there has a stamp, too."""
    return [_stamp_file(path) for path in files]


def _stamp_file(path: str) -> Stamp:
    try:
        known = os.stat(path)
    except OSError:
        return [path, -1, 0]
    return [path, known.st_size, known.st_mtime_ns]


def are_files_unchanged(kept: list[Stamp]) -> bool:
    return stamp_files([path for path, _, _ in kept]) == kept


def candidate_paths(where: ProjectPaths, name: str) -> list[str]:
    """The places that win over a packaged protocol; a file that appears there changes things."""
    places = (
        os.path.join(where.workspace, "codev", "protocols", name, "protocol.json"),
        os.path.join(where.root, "codev", "protocols", name, "protocol.json"),
        os.path.join(where.root, ".claude", "protocols", f"{name}.yaml"),
        os.path.join(where.root, "codev-skeleton", "protocols", name, "protocol.json"),
    )
    return list(dict.fromkeys(places))


def _cache_path(where: ProjectPaths, name: str) -> str:
    safe = "".join(c if c.isalnum() or c in "._-" else "_" for c in name)
    return os.path.join(where.state_dir, "cache", f"protocol-{safe}.json")
