"""What a decision is about: named files by content, so that committing them changes nothing."""

import os
import re
from collections.abc import Iterable, Mapping

from porch.account.consequences import FilesNow
from porch.errors import OutsideError
from porch.machine.budgets import PLAN
from porch.machine.state import Run, RunState
from porch.model.artifact_names import (
    CHANGES,
    MISSING,
    fill_name,
    find_changes_base,
    has_wildcard,
    is_optional,
    is_pattern,
    list_alternatives,
    list_variables,
    make_values,
    name_changes,
    name_new_file,
    split_pattern,
)
from porch.model.protocol import TRACK, Agent, Protocol
from porch.run.engine.run_places import list_own_paths
from porch.store.run_rows import stamp_file
from porch.system.document_file import read_document
from porch.system.regular_file import NotRegularFile, open_followed, read_whole_file
from porch.text.late_pattern import late_pattern
from porch.text.sha256 import sha256

NOT_REGULAR = "not a regular file"
OUTSIDE = "not a regular file of this repository (a link leads out of it)"
UNREADABLE = "unreadable"
_NOT_WORK = tuple(
    path for place in ("projects", "executions") for path in list_own_paths(f"codev/{place}/*")
)
# Files that agents name may hold a number sign, too; these are the plans of tracks.
_PART = late_pattern(r"(^|/)(plan|track|tasks)\.xml#|/@(link|file)$", re.DOTALL)


def list_artifact_paths(
    workspace: str, run: Run, names: Iterable[str], item: str = ""
) -> list[str]:
    """The files that a protocol names, as paths from the workspace on.

    A pattern that no file fits stays there under its own name, and so it is missing.
    """
    found = (
        _find_artifacts(workspace, run, name, item) if name != CHANGES else list_changes(run)
        for name in names
    )
    return list(dict.fromkeys(path for paths in found for path in paths))


def list_changes(run: Run) -> list[str]:
    """What stands for all changes of a run; nothing where there is no repository."""
    return [name_changes(run.base)] if run.base else []


def name_artifact_file(workspace: str, run: Run, name: str, item: str = "") -> str:
    """The file to write: the one that is there, or the one that would fit first."""
    values = make_values(run.id, run.title, run.project_dir, item)
    found = _find_artifacts(workspace, run, name, item)
    if found and os.path.lexists(os.path.join(workspace, found[0])):
        return found[0]
    return os.path.normpath(name_new_file(list_alternatives(name)[0], values))


def name_documents(workspace: str, run: Run, own: Iterable[str], protocol: Protocol) -> str:
    """What the documents of a run are called where the protocol puts them, without the ending.

    The first one counts whose name depends on the project; those of the phase come before others.
    """
    actors = (state.actor for state in protocol.states.values())
    others = (name for each in actors if isinstance(each, Agent) for name in each.artifacts)
    for name in (*own, *others):
        if {"PROJECT_ID", "PROJECT_TITLE"}.intersection(list_variables(name)):
            path = name_artifact_file(workspace, run, name)
            if not has_wildcard(path) and not path.startswith(run.project_dir + os.sep):
                return os.path.splitext(os.path.basename(path))[0]
    return "-".join(filter(None, (run.id, run.title)))


def _find_artifacts(workspace: str, run: Run, name: str, item: str) -> list[str]:
    if not is_pattern(name):
        return [os.path.normpath(os.path.join(run.project_dir, name))]
    values = make_values(run.id, run.title, run.project_dir, item)
    alternatives = list_alternatives(name)
    for each in alternatives:
        path = os.path.normpath(fill_name(each, values))
        if has_wildcard(each):
            if fitting := _list_fitting_files(workspace, *split_pattern(each, values)):
                return fitting
        elif os.path.lexists(os.path.join(workspace, path)):
            return [path]
    return [] if is_optional(name) else [os.path.normpath(fill_name(alternatives[0], values))]


def _list_fitting_files(workspace: str, directory: str, fitting: re.Pattern[str]) -> list[str]:
    """Below one directory; links to directories are not followed, for agents can plant them."""
    top, start = os.path.realpath(workspace), os.path.join(workspace, directory)
    if os.path.commonpath((top, os.path.realpath(start))) != top:
        return []
    found: list[str] = []
    for parent, directories, files in os.walk(start):
        directories[:] = sorted(set(directories) - {".git"})
        paths = (os.path.relpath(os.path.join(parent, name), workspace) for name in files)
        found += [path for path in paths if fitting.fullmatch(path)]
    return sorted(found)


def hash_artifacts(workspace: str, project_dir: str, names: Iterable[str]) -> dict[str, str]:
    """Path relative to the workspace and SHA-256 of each artifact.

    Of names with their hashes, a pattern that no file had fitted is looked for again.
    """
    known = names if isinstance(names, Mapping) else {}
    paths = [
        path
        for name in names
        for path in (_look_again(workspace, name) if known.get(name) == MISSING else (name,))
    ]
    joined = (os.path.normpath(os.path.join(project_dir, path)) for path in paths)
    return {path: _hash_file(workspace, path) for path in joined}


def _look_again(workspace: str, name: str) -> list[str]:
    if not has_wildcard(name) or os.path.lexists(os.path.join(workspace, name)):
        return [name]
    pattern = split_pattern(name, make_values("", "", ""))
    return _list_fitting_files(workspace, *pattern) or [name]


def find_file_problem(workspace: str, path: str, template: str = "") -> str:
    """Why a document is not ready for a reader; empty if it is there and filled in."""
    found = _hash_file(workspace, path)
    if found == MISSING or list_odd_artifacts({path: found}):
        return found
    text = read_document(os.path.join(workspace, path), "replace")
    if not text.strip():
        return "empty"
    return "still the template" if text == template else ""


def list_odd_artifacts(known: Mapping[str, str]) -> list[str]:
    """What there is and cannot be read as a file, in words."""
    odd = (NOT_REGULAR, OUTSIDE, UNREADABLE)
    return [f"{path} is {found}" for path, found in known.items() if found.startswith(odd)]


def list_unreadable_artifacts(
    subject: str, asked: Mapping[str, str], known: Mapping[str, str]
) -> list[str]:
    """What nobody can have read, in words: it is not there, is no file, or lies elsewhere."""
    missing = [path for path, found in known.items() if found == MISSING]
    if subject == PLAN:
        # A plan may consist of prompts alone; what was there when it was asked about must be there.
        missing = [path for path in missing if asked.get(path, MISSING) != MISSING]
    elif subject == TRACK:
        # The work on a task may remove a file on purpose; the text of the task must be there.
        missing = [path for path in missing if is_plan_part(path)]
    return [*(f"{path} is missing" for path in missing), *list_odd_artifacts(known)]


def look_at_asked_files(workspace: str, protocol: Protocol, state: RunState) -> dict[str, FilesNow]:
    """The files of each open question as they are now, by its position.

    Nothing where the whole worktree is gone: it is made again with them.
    """
    if not os.path.isdir(workspace):
        return {}
    return {
        place: _look_at_files(workspace, protocol.subject, decision.artifacts)
        for place, decision in state.decisions.items()
        if decision.artifacts
    }


def _look_at_files(workspace: str, subject: str, asked: Mapping[str, str]) -> FilesNow:
    now = hash_artifacts(workspace, "", asked)
    unreadable = list_unreadable_artifacts(subject, asked, now)
    return FilesNow(now, tuple(unreadable), tuple(list_changed_files(asked, now)))


def list_changed_files(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What is different for a reader; a pattern that no file fitted is gone once one does."""
    return [
        path
        for path in changed_artifacts(then, now)
        if then.get(path, MISSING) != now.get(path, MISSING)
    ]


def stamp_artifacts(workspace: str, known: Mapping[str, str]) -> list[list[object]]:
    """Others once one of them is written; always others where a new file may fit a pattern."""
    files = ("" if _is_sought(name, found) else find_file(name) for name, found in known.items())
    paths = (file and os.path.join(workspace, file) for file in files)
    return [[path, *(stamp_file(path) if path else (0,))] for path in dict.fromkeys(paths)]


def _is_sought(name: str, found: str) -> bool:
    return found == MISSING and has_wildcard(name)


def find_file(name: str) -> str:
    """The file that a name is about, or in which a part lies."""
    from porch.model.track_names import FILE, LINK

    if name.endswith((LINK, FILE)):
        return name.removesuffix(LINK).removesuffix(FILE)
    if find_changes_base(name):
        return ""
    return name.rpartition("#")[0] if is_part(name) else name


def digest_hashes(known: Mapping[str, str]) -> str:
    """One digest over paths and contents, and nothing else."""
    whole = sha256()
    for path in sorted(known):
        whole.update(f"{path}\0{known[path]}\n".encode())
    return whole.hexdigest()


def changed_artifacts(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return sorted(path for path in {*then, *now} if then.get(path) != now.get(path))


def read_part(workspace: str, name: str) -> bytes | None:
    """The part of a plan that `FILE#ID` names, without its statuses; None if it is not there."""
    from porch.dialects.plan_xml.plan_parts import find_plan_part  # most runs have no parts
    from porch.model.track_names import FILE, LINK

    if base := find_changes_base(name):
        return read_changes(workspace, base)
    if name.endswith(LINK):
        return _read_link(os.path.join(workspace, name.removesuffix(LINK)))
    if name.endswith(FILE):
        return _read_odd_file(os.path.join(workspace, name.removesuffix(FILE)))
    file, _, id_ = name.rpartition("#")

    try:
        with open(os.path.join(workspace, file), "rb", opener=open_followed) as opened:
            return find_plan_part(opened.read(), id_)
    except (OSError, NotRegularFile):
        return None


def read_changes(workspace: str, base: str, head: str = "") -> bytes | None:
    """What differs from the base, in the files as they are or in a commit; None if git cannot say.

    What porch draws and what reviewers said is left out.
    """
    from porch.git import measured_tree, tree_changes

    try:
        tree = head or measured_tree.measure_tree(workspace)
        return tree_changes.read_patch(workspace, base, tree, _NOT_WORK)
    except (OutsideError, OSError):
        return None


def _read_link(path: str) -> bytes | None:
    try:
        return os.fsencode(os.readlink(path))
    except OSError:
        return None


def _read_odd_file(path: str) -> bytes | None:
    try:
        return read_whole_file(path)
    except OSError:
        return None


def is_part(name: str) -> bool:
    """Whether a name means something else than a file: a part of a plan, a link, all changes."""
    return _PART.search(name) is not None or bool(find_changes_base(name))


def is_plan_part(name: str) -> bool:
    """Whether a name means a part of a plan."""
    from porch.model.track_names import FILE, LINK

    return is_part(name) and not (name.endswith((FILE, LINK)) or find_changes_base(name))


def name_changed_file(workspace: str, path: str) -> str:
    """What a changed file is called where people confirm it; nothing for a directory."""
    from porch.model.track_names import FILE, LINK

    whole = os.path.join(workspace, path)
    if os.path.islink(whole):
        return f"{path}{LINK}"
    if os.path.isdir(whole):
        return ""
    return f"{path}{FILE}" if is_part(path) else path


def leads_out(workspace: str, name: str) -> bool:
    """Whether a path is, or lies behind, a link to somewhere outside of the workspace."""
    top, real = os.path.realpath(workspace), os.path.realpath(os.path.join(workspace, name))
    return not real.startswith(top.rstrip(os.sep) + os.sep)


def _hash_file(workspace: str, name: str) -> str:
    """Agents choose what lies there: a pipe must not hold anybody up, a device never end."""
    if is_part(name):
        part = read_part(workspace, name)
        return sha256(part).hexdigest() if part is not None else MISSING
    path = os.path.join(workspace, name)
    if leads_out(workspace, name):
        return OUTSIDE
    try:
        with open(path, "rb", opener=open_followed) as file:
            import hashlib

            return hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except NotRegularFile:
        return NOT_REGULAR
    except OSError as error:
        return f"{UNREADABLE}: {error.strerror}"
