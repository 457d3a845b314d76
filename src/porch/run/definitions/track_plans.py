"""The plan of a track: found in its directory, read with its file, taken as it is at the start."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from porch.errors import DefinitionError, Finding, Place, UsageError
from porch.model.track_names import CODUMENT
from porch.run.engine.drive_options import RunRequest
from porch.run.engine.run_places import workspace_of
from porch.store.where import PLAN_FILES, ProjectPaths
from porch.system.document_file import read_document

if TYPE_CHECKING:
    from porch.dialects.plan_xml.track_plan import TrackReading
    from porch.machine.state import RunState


def take_track(where: ProjectPaths, wanted: RunRequest) -> RunRequest:
    """The one word behind the protocol is the directory of the track, or its plan."""
    if len(wanted.words) != 1 or wanted.request_option or wanted.issue:
        raise UsageError(
            "a track is named by its directory, and asks for nothing else",
            fix="porch run codument TRACK_DIR",
            code="no-track",
        )
    track = locate_track(where, wanted.words[0])
    named = read_plan_file(find_plan_file(os.path.join(where.workspace, track))).plan.name
    from porch.show.prompt import one_line  # most runs are of no track

    return replace(wanted, words=(), subject=track, title=wanted.title or one_line(named))


def locate_track(where: ProjectPaths, word: str) -> str:
    """The directory of a track, as seen from the checkout that we stand in."""
    path = os.path.abspath(word)
    if os.path.basename(path) in PLAN_FILES and os.path.isfile(path):
        path = os.path.dirname(path)
    find_plan_file(path)
    top, real = os.path.realpath(where.workspace), os.path.realpath(path)
    if not real.startswith(top + os.sep):
        raise UsageError(
            f"{word} lies outside the project {where.workspace}",
            fix="give a directory of a track inside the project",
            code="no-track",
        )
    return os.path.relpath(real, top)


def find_plan_file(directory: str) -> str:
    found = [os.path.join(directory, name) for name in PLAN_FILES]
    found = [path for path in found if os.path.isfile(path)]
    if not found:
        raise UsageError(
            f"{directory} is not the directory of a track: it has no plan.xml",
            fix="give the directory in which plan.xml or track.xml is",
            code="no-track",
        )
    return found[0]


def find_track(where: ProjectPaths, state: "RunState") -> str:
    """Where the plan of a run is now; nothing if it is no track."""
    directory = os.path.join(workspace_of(where, state), state.run.project_dir)
    return directory if state.run.protocol == CODUMENT else ""


def read_plan_file(path: str) -> "TrackReading":
    """A plan with everything that was noticed; DefinitionError where not even a tree comes out."""
    from porch.dialects.plan_xml.reader import read_track_plan
    from porch.text.xml_tree import read_xml

    return read_track_plan(read_xml(_read_plan_text(path), path))


def _read_plan_text(path: str) -> str:
    try:
        return read_document(path)
    except UnicodeDecodeError as error:
        raise not_utf8_error(path) from error


def not_utf8_error(path: str) -> DefinitionError:
    """A plan is UTF-8, whatever its first line says."""
    fix = "save the file as UTF-8"
    return DefinitionError([Finding("not-utf8", "the plan is not UTF-8 text", Place(path), fix)])


def read_settled(
    where: ProjectPaths, track: str
) -> tuple[Mapping[str, Mapping[str, Any]], list[str]]:
    """What the file says of states that a new run then passes; consent that nobody gave here."""
    from porch.dialects.plan_xml.file_statuses import describe_settled, list_settled

    found = read_plan_file(find_plan_file(os.path.join(where.workspace, track)))
    return list_settled(found.plan), list(describe_settled(found.plan))
