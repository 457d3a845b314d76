"""Which paths differ, as git lists them in raw rows; a link is judged by where it leads."""

from collections.abc import Callable

from msgspec import Struct

_LINK = "120000"


class ChangedPath(Struct, frozen=True):
    """One path; status A, M, D or T (its type changed), renames being a D and an A.

    A link escapes if what it names lies, or may lie, outside the repository or in .git.
    """

    status: str
    path: str
    is_link: bool = False
    escapes: bool = False


def parse_raw_diff(raw: str, read_blob: Callable[[str], str]) -> list[ChangedPath]:
    """The rows of a raw comparison; a link is judged by where it leads."""
    fields = raw.split("\0")
    return [
        _parse_raw_row(row.split(" "), path, read_blob)
        for row, path in zip(fields[0::2], fields[1::2], strict=False)
    ]


def _parse_raw_row(row: list[str], path: str, read_blob: Callable[[str], str]) -> ChangedPath:
    _, mode, _, blob, status = row
    if mode != _LINK:
        return ChangedPath(status, path)
    return ChangedPath(status, path, True, _link_escapes(path, read_blob(blob)))


def _link_escapes(path: str, target: str) -> bool:
    parts = [part for part in target.split("/") if part != "."]
    ups = next((n for n, part in enumerate(parts) if part != ".."), len(parts))
    # A way up behind a name may start from wherever another link leads, so it counts as out.
    return (
        target.startswith("/")
        or ups > path.count("/")
        or ".." in parts[ups:]
        or any(part.lower() == ".git" for part in parts)
    )
