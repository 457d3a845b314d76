"""Finding the modules of porch where they lie, instead of asking all finders of Python for each.

A command that drives loads hundreds of them. Compiled code counts here as it does for Python: if it
was made from the file as it is now. Whatever is not plainly so is left to Python itself.
"""

from __future__ import annotations

import _frozen_importlib
import _frozen_importlib_external
import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType

_FRONT = "porch."
_COMPILED = f".{sys.implementation.cache_tag}.pyc"
# Compiled by this Python, and to be compared with the time and the size of the file.
_BY_TIME = _frozen_importlib_external.MAGIC_NUMBER + bytes(4)
_HEADER = 16
_WORD = 0xFFFFFFFF


class _QuickLoader(_frozen_importlib_external.SourceFileLoader):
    """Python's own, but for the way to code that was compiled before."""

    def __init__(self, name: str, path: str, cached: str, seen: os.stat_result):
        super().__init__(name, path)
        self._cached = cached
        self._seen = seen

    def get_code(self, fullname: str) -> CodeType | None:
        data = _read_whole(self._cached)
        made_from = (int(self._seen.st_mtime) & _WORD, self._seen.st_size & _WORD)
        stamp = b"".join(each.to_bytes(4, "little") for each in made_from)
        if data[:_HEADER] != _BY_TIME + stamp:
            return super().get_code(fullname)
        # The same bytes of the same file that Python would load.
        code: CodeType = marshal.loads(memoryview(data)[_HEADER:])  # noqa: S302
        return code


def _read_whole(path: str) -> bytes:
    """By descriptor: a file object costs double."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, os.fstat(file).st_size)
    finally:
        os.close(file)


class _QuickFinder:
    """A module is a file, and a package a directory with one, in the place of what is around it."""

    @staticmethod
    def find_spec(
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,  # noqa: ARG004 - only who reloads a module gives it
    ) -> _frozen_importlib.ModuleSpec | None:
        if path is None or not name.startswith(_FRONT):
            return None
        last = name.rpartition(".")[2]
        base = f"{path[0]}/{last}"
        return _make_spec(name, path[0], last, None) or _make_spec(name, base, "__init__", [base])


def _make_spec(
    name: str, place: str, last: str, inside: list[str] | None
) -> _frozen_importlib.ModuleSpec | None:
    file, cached = f"{place}/{last}.py", f"{place}/__pycache__/{last}{_COMPILED}"
    try:
        seen = os.stat(file)
    except OSError:
        return None
    loader = _QuickLoader(name, file, cached, seen)
    spec = _frozen_importlib.ModuleSpec(name, loader, origin=file)
    spec.submodule_search_locations = inside
    spec.has_location = True
    spec.cached = cached
    return spec


def find_own_modules_quickly() -> None:
    """For whoever has the process to itself, before it loads anything of ours."""
    is_plain = not sys.flags.optimize and sys.pycache_prefix is None
    if is_plain and _QuickFinder not in sys.meta_path:
        sys.meta_path.insert(0, _QuickFinder)
