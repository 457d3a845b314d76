"""Copies of packaged protocols in a project, which people and agents read without tools."""

import os
from collections.abc import Iterator, Mapping

from porch.errors import UsageError, suggest_name
from porch.fleet.setup import package_files
from porch.fleet.setup.additive_files import PlannedFile, plan_new_file, write_planned_file
from porch.fleet.setup.setup_record import record_planned
from porch.run.definitions import library, step_files


def load_protocol_copy(name: str) -> Mapping[str, bytes]:
    """The files of one packaged protocol, by their path in a project; none for another name."""
    steps = {f"{package_files.STEPS}/{name}{step_files.ENDING}"}
    known = package_files.load_step_files().items()
    return {
        **package_files.load_protocol_copies(name),
        **{path: data for path, data in known if path in steps},
    }


def load_every_copy() -> Mapping[str, bytes]:
    """Those that `codev/protocols` takes."""
    return package_files.load_protocol_copies()


def copy_protocol(root: str, name: str) -> list[PlannedFile]:
    """Write a packaged protocol and those that it needs; UsageError where a file was changed."""
    planned = [
        plan_new_file(root, path, data)
        for each in _list_needed(name)
        for path, data in load_protocol_copy(each).items()
    ]
    changed = [each.path for each in planned if each.fate == "kept"]
    if changed:
        raise UsageError(
            f"the project has other content in {', '.join(changed)}; nothing was written",
            fix=f"to take the packaged protocol {name}, move these files away first",
            code="protocol-changed",
        )
    record_planned(root, planned)
    for each in planned:
        write_planned_file(root, each)
    return planned


def _list_needed(name: str) -> Iterator[str]:
    """The protocol itself, and others whose files it uses: those it extends, those of children."""
    packaged = {each.name: each.file for each in library.list_packaged_protocols()}
    if name not in packaged:
        raise UsageError(
            f"porch has no protocol '{name}'",
            fix=f"{suggest_name(name, [*packaged])}packaged protocols: {', '.join(packaged)}",
            code="unknown-protocol",
        )
    files = library.load_protocol(packaged[name]).files
    owners = {_name_owner(file) for file in files} & packaged.keys()
    yield name
    yield from sorted(owners - {name})


def _name_owner(file: str) -> str:
    """The packaged protocol that a file belongs to, as a name that may be none."""
    parts = os.path.relpath(file, step_files.PACKAGED_PROTOCOLS).split(os.sep)
    is_step = parts[0] == os.path.basename(step_files.PACKAGED)
    return parts[-1].removesuffix(step_files.ENDING) if is_step else parts[0]
