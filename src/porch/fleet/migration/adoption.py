"""Beginning the journal of a migrated project, with approvals that a person has just accepted."""

from porch.fleet.migration.old_progress import PROTOCOL
from porch.run.definitions.current_definition import load_current_definition
from porch.run.definitions.subject_names import RunSubject
from porch.run.engine.drive_options import DriveWatch, RunRequest
from porch.run.verbs.read_run import read_run
from porch.run.verbs.start import begin_run
from porch.run.verbs.steer import stop_run
from porch.store.where import ProjectPaths


def adopt_project(where: ProjectPaths, run: str, *, is_complete: bool) -> None:
    """The status file becomes the first fact; nobody works on it until `porch resume`."""
    id_, _, title = run.partition("-")
    directory = f"codev/projects/{run}"
    about = RunSubject(run, id_, title, directory, f"{directory}/status.yaml")
    wanted = RunRequest(PROTOCOL, subject=id_, adopt=True)
    loaded = load_current_definition(where, PROTOCOL)
    with begin_run(where, about, loaded, wanted, DriveWatch()):
        pass
    # Read again from the disk: what cannot be read is not verified.
    read_run(where, run)
    if not is_complete:
        stop_run(where, run)
