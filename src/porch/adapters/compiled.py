"""A compiled form of each protocol, kept by the stamps of its files, for the fast path."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from porch.adapters.where import Where

    Stamp = list[Any]


def cached(where: Where, name: str) -> dict[str, Any] | None:
    """What `protocols show` prints, if no file of the protocol has changed since."""
    import json

    try:
        with open(_path(where, name), encoding="utf-8") as file:
            kept = json.load(file)
        if kept["search"] == candidates(where, name) and are_as_they_were(kept["files"]):
            shown: dict[str, Any] = kept["shown"]
            return shown
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None


def keep(where: Where, name: str, files: list[str], shown: dict[str, Any]) -> None:
    """A cache that cannot be written is no cache, and nobody's problem."""
    import json

    search = candidates(where, name)
    kept = {"search": search, "files": stamps([*search, *files]), "shown": shown}
    path = _path(where, name)
    try:
        for directory in (where.state_dir, os.path.dirname(path)):
            # One by one: makedirs would give only the last of them this mode.
            os.makedirs(directory, mode=0o700, exist_ok=True)
        with open(f"{path}.{os.getpid()}.tmp", "w", encoding="utf-8") as file:
            json.dump(kept, file)
        os.replace(f"{path}.{os.getpid()}.tmp", path)
    except OSError:
        return


def keep_stamps(directory: str, digest: str, files: tuple[str, ...]) -> None:
    """The files that gave a definition, so that a read command can see at a glance.

    By digest, because a definition may be offered to a run that then refuses it.
    """
    import json

    path = os.path.join(directory, "files.json")
    kept = {**_by_digest(directory), digest: stamps(list(files))}
    with open(f"{path}.{os.getpid()}.tmp", "w", encoding="utf-8") as file:
        json.dump(kept, file)
    os.replace(f"{path}.{os.getpid()}.tmp", path)


def kept_stamps(directory: str, digest: str) -> list[Stamp]:
    return _by_digest(directory).get(digest, [])


def _by_digest(directory: str) -> dict[str, list[Stamp]]:
    import json

    try:
        with open(os.path.join(directory, "files.json"), encoding="utf-8") as file:
            kept: dict[str, list[Stamp]] = json.load(file)
    except (OSError, ValueError):
        return {}
    return kept


def stamps(files: list[str]) -> list[Stamp]:
    """By what files are known to be as they were; one that is not there has a stamp, too."""
    return [_stamp(path) for path in files]


def _stamp(path: str) -> Stamp:
    try:
        known = os.stat(path)
    except OSError:
        return [path, -1, 0]
    return [path, known.st_size, known.st_mtime_ns]


def are_as_they_were(kept: list[Stamp]) -> bool:
    return stamps([path for path, _, _ in kept]) == kept


def candidates(where: Where, name: str) -> list[str]:
    """The places that win over a packaged protocol; a file that appears there changes things."""
    places = (
        os.path.join(where.workspace, "codev", "protocols", name, "protocol.json"),
        os.path.join(where.root, "codev", "protocols", name, "protocol.json"),
        os.path.join(where.root, ".claude", "protocols", f"{name}.yaml"),
        os.path.join(where.root, "codev-skeleton", "protocols", name, "protocol.json"),
    )
    return list(dict.fromkeys(places))


def _path(where: Where, name: str) -> str:
    safe = "".join(c if c.isalnum() or c in "._-" else "_" for c in name)
    return os.path.join(where.state_dir, "cache", f"protocol-{safe}.json")
