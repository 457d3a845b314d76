"""What a project of the old shape holds: numbered specifications, plans and reviews."""

import os
import re
from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from porch.errors import UsageError
from porch.run.definitions.subject_names import check_title

# Which directory held what, and what it is called in the directory of a project.
DOCUMENTS: Mapping[str, str] = {
    "spec.md": "codev/specs",
    "plan.md": "codev/plans",
    "review.md": "codev/reviews",
}
_FILE = re.compile(r"(?P<id>[0-9]+)-(?P<name>.+)\.md")
# What may be somebody's document all the same; a README is about the directory.
_OTHER = re.compile(r"[0-9]|(?!readme\.|\.).+\.md$", re.IGNORECASE)


class OldProject(Struct, frozen=True):
    """One specification and what belongs to it; `files` by what they will be called."""

    id: str
    title: str
    files: Mapping[str, str]
    is_id_shared: bool = False

    @property
    def run(self) -> str:
        return f"{self.id}-{self.title}"

    @property
    def directory(self) -> str:
        return f"codev/projects/{self.run}"

    @property
    def documents(self) -> dict[str, str]:
        """From the old path of each to the new one."""
        return {old: f"{self.directory}/{new}" for new, old in self.files.items()}


class OldTree(Struct, frozen=True):
    """All old projects of a checkout, and files that belong to none, with the reason."""

    projects: tuple[OldProject, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)

    @property
    def runs_by_id(self) -> dict[str, str]:
        """No number that several share: nobody could say which one is meant."""
        return {each.id: each.run for each in self.projects if not each.is_id_shared}


def read_old_tree(root: str) -> OldTree:
    """Read it; projects that were moved before still count where a number has to mean one alone."""
    files = {name: _list_numbered(root, place) for name, place in DOCUMENTS.items()}
    directories = list_project_directories(root)
    titles = {name.partition("-")[2] for name in directories}
    left = {
        path: "its name is not NUMBER-name.md"
        for place in DOCUMENTS.values()
        for path in _list_unnumbered(root, place)
        # A document that is called as a project belongs to it.
        if os.path.basename(path).removesuffix(".md") not in titles
    }
    specs: dict[str, OldProject] = {}
    for path, (id_, stem) in files["spec.md"].items():
        try:
            specs[path] = OldProject(id_, check_title(stem), {"spec.md": path})
        except UsageError:
            left[path] = "its name cannot be the name of a directory"
    owners: dict[str, set[str]] = {}
    for project in specs.values():
        owners.setdefault(project.id, set()).add(project.run)
    for name in directories:
        if os.path.exists(os.path.join(root, "codev", "projects", name, "spec.md")):
            owners.setdefault(name.partition("-")[0], set()).add(name)
    projects = []
    for path, project in specs.items():
        is_shared = len(owners[project.id]) > 1
        documents = {"spec.md": path}
        for name in ("plan.md", "review.md"):
            companion = _find_companion(files[name], files["spec.md"][path], is_shared)
            if companion:
                documents[name] = companion
        projects.append(
            replace(
                project,
                title=_find_title(project, directories, is_shared),
                files=documents,
                is_id_shared=is_shared,
            )
        )
    used = {path for project in projects for path in project.files.values()}
    for name in ("plan.md", "review.md"):
        for path in files[name]:
            if path not in used:
                left[path] = "there is no specification with this number and name"
    return OldTree(tuple(projects), left)


def list_project_directories(root: str) -> list[str]:
    return _list_names(root, "codev/projects")


def _list_numbered(root: str, place: str) -> dict[str, tuple[str, str]]:
    """Number and name of each file, by its path."""
    matches = ((name, _FILE.fullmatch(name)) for name in _list_names(root, place))
    return {f"{place}/{name}": (m["id"], m["name"]) for name, m in matches if m is not None}


def _list_unnumbered(root: str, place: str) -> list[str]:
    """Documents, and directories with a number, that are no project of the old shape by name."""
    return [
        f"{place}/{name}"
        for name in _list_names(root, place)
        if _OTHER.match(name) and not _FILE.fullmatch(name)
    ]


def _list_names(root: str, place: str) -> list[str]:
    try:
        return sorted(os.listdir(os.path.join(root, place)))
    except OSError:
        return []


def _find_companion(
    files: Mapping[str, tuple[str, str]], spec: tuple[str, str], is_id_shared: bool
) -> str:
    """The file of the same name, or the only one of a number that only one project has."""
    same = [path for path, each in files.items() if each == spec]
    numbered = [path for path, each in files.items() if each[0] == spec[0]]
    return same[0] if same else numbered[0] if len(numbered) == 1 and not is_id_shared else ""


def _find_title(project: OldProject, directories: list[str], is_id_shared: bool) -> str:
    """A number that has a directory already keeps it, whatever the file is called."""
    mine = [name for name in directories if name.partition("-")[0] == project.id]
    is_named = len(mine) == 1 and not is_id_shared and "-" in mine[0]
    return mine[0].partition("-")[2] if is_named else project.title
