"""What porch wrote into a project, with its digests, so that `codev remove` takes back just that.

It lies beside the runs, not in the project: it is of this machine, and holds the earlier content of
files that porch added to. An agent may be able to write there. So nothing in it is believed that
`removal` cannot check: a path must be one that porch writes to, and a file must have its digest.
"""

import os
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, ValidationError, json

from porch.errors import StateError
from porch.fleet.setup.additions import WrittenFile, hash_content, remove_additions
from porch.fleet.setup.additive_files import PlannedFile, read_existing
from porch.store.where import find_project
from porch.system import atomic
from porch.system.regular_file import open_regular

FILE = "setup.json"


class SetupRecord(Struct, frozen=True):
    """All files that porch wrote or added to, and the directories that it made for them."""

    files: dict[str, WrittenFile] = {}
    directories: tuple[str, ...] = ()


def read_record(root: str) -> SetupRecord | None:
    """None where porch has written nothing, or has no record of it."""
    try:
        with open(_find_file(root), "rb", opener=open_regular) as file:
            return json.decode(file.read(), type=SetupRecord)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, ValidationError) as error:
        raise damaged_record_error(root, str(error)) from error


def damaged_record_error(root: str, why: str) -> StateError:
    path = _find_file(root)
    return StateError(
        f"{path} cannot be used: {why}",
        fix=f"remove it (`rm {path}`); `codev remove` then compares with the packaged files",
        code="setup-record",
    )


def record_planned(root: str, planned: Iterable[PlannedFile]) -> None:
    """Note what is about to be written. A kill may come before: then there is nothing to remove."""
    changes = [each for each in planned if each.is_change]
    if not changes:
        return
    record = read_record(root) or SetupRecord()
    new = {each.path: _make_entry(root, each, record.files.get(each.path)) for each in changes}
    made = (*record.directories, *_list_missing_directories(root, changes))
    keep_record(root, SetupRecord({**record.files, **new}, tuple(dict.fromkeys(made))))


def _make_entry(root: str, planned: PlannedFile, known: WrittenFile | None) -> WrittenFile:
    """What an earlier call added does not belong to what stood there before."""
    before = read_existing(root, planned.path)
    if before is not None and known is not None:
        left = remove_additions(planned.path, before, known)
        if left.fate in ("removed", "shortened"):
            before = None if left.fate == "removed" else left.data
    return WrittenFile(hash_content(planned.data), before)


def _list_missing_directories(root: str, changes: Sequence[PlannedFile]) -> Iterator[str]:
    for each in changes:
        parts = each.path.split("/")[:-1]
        above = ("/".join(parts[:end]) for end in range(1, len(parts) + 1))
        yield from (path for path in above if not os.path.isdir(os.path.join(root, path)))


def keep_record(root: str, record: SetupRecord) -> None:
    """Without a file or a directory in it, the record itself goes."""
    path = _find_file(root)
    if not (record.files or record.directories):
        atomic.try_os_call(os.unlink, path)
        return
    atomic.ensure_directory(os.path.dirname(path))
    atomic.replace_file(path, json.encode(record), sync=False, mode=0o600)


def _find_file(root: str) -> str:
    return os.path.join(find_project(root).state_dir, FILE)
