"""Bringing the index to what the files are: only what changed is read, and only that is written."""

from __future__ import annotations

import os

from porch.knowledge import document_files
from porch.knowledge.index import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from porch.store.where import ProjectPaths

DEFAULT_PATHS = ("docs",)
LARGEST_BYTES = 2 * 1024 * 1024
_PROJECT_SETTINGS = ("codev", "config.toml")


def find_current_worktree(where: ProjectPaths, index: Index) -> int:
    """The number of this worktree if nothing has changed since it was indexed; otherwise 0."""
    number, paths, pruned, settings, _, picture = index.worktree(where.workspace)
    if not number or settings != _stamp_settings(where):
        return 0
    seen = document_files.scan_documents(where, _split_lines(paths), set(_split_lines(pruned)))
    return number if seen.picture() == picture else 0


def list_changed_documents(where: ProjectPaths, index: Index) -> list[str]:
    """The documents whose stamps are not what they were, without looking into any."""
    number, paths, pruned, *_ = index.worktree(where.workspace)
    seen = document_files.scan_documents(where, _split_lines(paths), set(_split_lines(pruned)))
    known, _ = document_files.list_project_files(where, _split_lines(paths))
    now = {path: s for path, s in seen.stamps.items() if known is None or path in known}
    before = index.stamps(number)
    return sorted(path for path in now.keys() | before if now.get(path) != before.get(path))


def refresh_index(where: ProjectPaths, index: Index, afresh: bool = False) -> tuple[int, list[str]]:
    """Index what changed, inside the caller's transaction; the worktree and the changed paths."""
    number, kept_paths, kept_pruned, settings, listing, _ = index.worktree(where.workspace)
    stamp = _stamp_settings(where)
    if number and settings == stamp:
        paths, pruned = _split_lines(kept_paths), set(_split_lines(kept_pruned))
    else:
        paths, pruned, listing = _read_document_paths(where), set(), ""
    seen = document_files.scan_documents(where, paths, pruned)
    before = index.stamps(number)
    if afresh or not number or seen.listing() != listing:
        known, pruned = document_files.list_project_files(where, paths)
        # Once more: what git ignores is known only now, and must look the same next time.
        seen = document_files.scan_documents(where, paths, pruned)
        wanted = {p: s for p, s in seen.stamps.items() if known is None or p in known}
        _forget_lost_worktrees(index, number)
    else:
        wanted = {p: s for p, s in seen.stamps.items() if p in before}
    listing = seen.listing()
    seen.stamps = document_files.distrust_fresh_stamps(seen.stamps)
    texts = ("\n".join(paths), "\n".join(sorted(pruned)), stamp, listing, seen.picture())
    number = index.keep_worktree(where.workspace, texts)
    moved = [path for path, known_as in wanted.items() if before.get(path) != known_as]
    for path in moved:
        _index_file(where, index, number, path=path, stamp=seen.stamps[path])
    for path in before.keys() - wanted.keys():
        index.forget(number, path)
    return number, sorted({*moved, *(before.keys() - wanted.keys())})


def refresh_documents(where: ProjectPaths, index: Index, names: list[str]) -> list[tuple[str, str]]:
    """Bring these files up to date, inside the caller's transaction; what became of each."""
    number, paths, *_ = index.worktree(where.workspace)
    if not number:
        number, _ = refresh_index(where, index)
        _, paths, *_ = index.worktree(where.workspace)
    told = [
        (name, _index_named_file(where, index, number, name=name, paths=_split_lines(paths)))
        for name in names
    ]
    # The next search looks at all stamps again; those brought here are as they are.
    index.keep_picture(number, "")
    return told


def _index_named_file(
    where: ProjectPaths, index: Index, number: int, *, name: str, paths: list[str]
) -> str:
    path = os.path.relpath(os.path.join(where.workspace, name), where.workspace)
    path = path.replace(os.sep, "/")
    try:
        known = os.lstat(os.path.join(where.workspace, path))
    except OSError:
        return "removed" if index.forget(number, path) else "not a document"
    if index.stamp(number, path) is None and not _is_new_document(where, path, paths):
        return "not a document"
    told = document_files.distrust_fresh_stamps({path: document_files.make_stamp(known)})[path]
    return "indexed" if _index_file(where, index, number, path=path, stamp=told) else "unchanged"


def _is_new_document(where: ProjectPaths, path: str, paths: list[str]) -> bool:
    """Whether a path that the index does not know is one that a search would take in."""
    full = os.path.join(where.workspace, path)
    is_inside = any(top in (".", path) or path.startswith(f"{top}/") for top in paths)
    is_file = os.path.isfile(full) and not os.path.islink(full)
    if (
        path.startswith("../")
        or not is_inside
        or not is_file
        or not document_files.is_document(path)
    ):
        return False
    known, _ = document_files.list_project_files(where, [path])
    return known is None or path in known


def _index_file(where: ProjectPaths, index: Index, number: int, *, path: str, stamp: str) -> bool:
    """Read one file and index it if that content is new here; whether anything changed."""
    import hashlib

    from porch.knowledge import sections

    data, why = document_files.read_document_bytes(where.workspace, path, LARGEST_BYTES)
    if why:
        index.see(number, path, stamp, None, why)
        return True
    digest = hashlib.sha256(data).hexdigest()
    document = index.known(path, digest)
    is_new = document is None
    if document is None:
        read = sections.parse_document(path, data.decode("utf-8", "replace"))
        document = index.add(path, digest, read, estimate_tokens(data))
    return index.see(number, path, stamp, document, "") or is_new


def estimate_tokens(data: bytes) -> int:
    """About how many tokens a model would count; nobody's tokenizer is asked."""
    return (len(data) + 3) // 4


def _forget_lost_worktrees(index: Index, number: int) -> None:
    for other, path in index.other_worktrees(number):
        if not os.path.isdir(path):
            index.forget_worktree(other)


def _split_lines(text: str) -> list[str]:
    return text.split("\n") if text else []


def _stamp_settings(where: ProjectPaths) -> str:
    """The settings are read again only if one of their files is not what it was."""
    from porch.store.compiled_protocols import stamp_files
    from porch.system.variables import find_config_home

    own = os.path.join(find_config_home(os.environ), "porch", "config.toml")
    return str(stamp_files([os.path.join(where.root, *_PROJECT_SETTINGS), own]))


def _read_document_paths(where: ProjectPaths) -> list[str]:
    """The directories of `[knowledge] paths`; `docs` where nothing is set."""
    from porch.run import settings

    return normalize_document_paths(
        settings.load_settings(where.root).knowledge_paths or DEFAULT_PATHS
    )


def normalize_document_paths(chosen: Iterable[str]) -> list[str]:
    """Paths from the root, without those that lie in another one; refused if one leads out."""
    from porch.errors import UsageError

    found = list(dict.fromkeys(os.path.normpath(path) for path in chosen))
    for path in found:
        if path.startswith(("/", "../")) or path == "..":
            raise UsageError(
                f"[knowledge] paths: '{path}' is outside the project",
                fix="write directories relative to the root of the project",
                code="knowledge-path",
            )
    if "." in found:
        return ["."]
    return [path for path in found if not any(path.startswith(f"{top}/") for top in found)]
