"""The machine under us: Python, git, node, and whether files and locks do what they must."""

import re
import sys
from collections.abc import Callable, Iterator

from porch.fleet.health import platform_probe
from porch.show.fleet.doctor_line import DoctorLine
from porch.store.where import ProjectPaths

# What git must be able to do: merge two commits without a checkout.
OLDEST_GIT = (2, 38)


def examine_machine(where: ProjectPaths) -> Iterator[DoctorLine]:
    yield _check_python()
    yield check_git()
    yield _check_node()
    if not sys.platform.startswith("linux"):
        what = "porch is tested on Linux; macOS is expected to work, and not tested"
        fix = "use Linux if something does not work"
        yield DoctorLine("warning", f"{sys.platform}: {what}", fix)
    yield from _check_platform(where)


def _check_python() -> DoctorLine:
    # An older one would not have come as far as this line.
    return DoctorLine("ok", f"Python {'.'.join(map(str, sys.version_info[:3]))}")


def check_git() -> DoctorLine:
    said = platform_probe.read_program_version("git", "--version")
    if not said:
        return DoctorLine("missing", "git", "install git and add it to PATH", stops=True)
    number = tuple(int(part) for part in re.findall(r"\d+", said)[:2])
    if number < OLDEST_GIT:
        return DoctorLine(
            "warning",
            said,
            "install git 2.38 or later; protocols that use a tree of worktrees (v3) need it",
            limit=f"not v3: {said} is too old",
        )
    return DoctorLine("ok", said)


def _check_node() -> DoctorLine:
    said = platform_probe.read_program_version("node", "--version")
    if said:
        return DoctorLine("ok", f"node {said}")
    fix = "install node 20 or later if you want to install claude or codex with npm"
    return DoctorLine("missing", "node", fix)


def _check_platform(where: ProjectPaths) -> Iterator[DoctorLine]:
    directory = where.state_dir
    try:
        with platform_probe.make_trial_directory(directory) as place:
            yield _describe_writing(directory, platform_probe.find_writing_fault(place))
            yield _describe_locks(directory, platform_probe.find_lock_fault(place))
            yield _check_fault(
                "two files can be swapped in one step (renameat2)",
                lambda: platform_probe.find_swap_fault(place),
                "nothing to do; a file that porch rewrites may be missing for a very short time",
            )
    except OSError as error:
        yield _describe_writing(directory, error.strerror or str(error))
    yield _check_fault(
        "file events (inotify)",
        platform_probe.find_watching_fault,
        "raise fs.inotify.max_user_instances; without it porch checks files at intervals",
    )


def _describe_writing(directory: str, fault: str) -> DoctorLine:
    if not fault:
        return DoctorLine("ok", f"state directory {directory} is writable")
    what = f"state directory {directory} is not writable: {fault}"
    return DoctorLine(
        "missing", what, "free some space there, or give this user permission to write", stops=True
    )


def _describe_locks(directory: str, fault: str) -> DoctorLine:
    if not fault:
        return DoctorLine("ok", "file locks work there (flock)")
    what = f"file locks do not work in {directory}: {fault}"
    return DoctorLine(
        "missing", what, "move the repository to a local disk of this machine", stops=True
    )


def _check_fault(what: str, fault_of: Callable[[], str], fix: str) -> DoctorLine:
    fault = fault_of()
    return DoctorLine("warning", f"{what}: {fault}", fix) if fault else DoctorLine("ok", what)
