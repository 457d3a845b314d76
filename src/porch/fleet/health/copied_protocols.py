"""Copies of packaged protocols in a project: which of them are no longer the same.

A copy takes the place of the packaged protocol. After an upgrade of porch it may be an old one, and
nobody would notice.
"""

import os
from collections.abc import Iterator, Mapping

from porch.fleet.setup.package_files import load_protocol_files, load_step_files
from porch.run.definitions import step_files
from porch.show.fleet.doctor_line import DoctorLine
from porch.store.where import ProjectPaths
from porch.system.regular_file import NotRegularFile, open_regular

_NAMED = 3


def examine_copies(where: ProjectPaths) -> Iterator[DoctorLine]:
    yield from _compare(where.root, load_protocol_files(), step_files.PACKAGED_PROTOCOLS)
    yield from _compare(where.root, load_step_files(), step_files.PACKAGED)


def _compare(root: str, packaged: Mapping[str, bytes], source: str) -> Iterator[DoctorLine]:
    """A line for each protocol of which the project has a copy that differs."""
    groups: dict[str, list[str]] = {}
    for path in packaged:
        groups.setdefault("/".join(path.split("/")[:3]), []).append(path)
    for place, paths in groups.items():
        known = {path: _read(os.path.join(root, path)) for path in paths}
        there = {path: data for path, data in known.items() if data is not None}
        changed = [path for path, data in there.items() if data != packaged[path]]
        if changed:
            yield _describe(place, changed, os.path.join(source, os.path.basename(place)))


def _describe(place: str, changed: list[str], original: str) -> DoctorLine:
    name = os.path.splitext(os.path.basename(place))[0]
    files = [path.removeprefix(f"{place}/") for path in changed]
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    which = "" if files == [place] else f" in {', '.join(files[:_NAMED])}{more}"
    return DoctorLine(
        "warning",
        f"your copy of the protocol {name} differs from the packaged one{which}; runs use yours",
        f"nothing if you changed it; to use the packaged one, run `rm -r {place}`",
        (f"see the differences: diff -r {original} {place}",),
    )


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb", opener=open_regular) as file:
            return file.read()
    except (OSError, NotRegularFile):
        return None
