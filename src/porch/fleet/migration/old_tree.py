"""What a project of the old shape holds: numbered specifications, plans and reviews."""

import os
import re
from collections.abc import Mapping

from msgspec import Struct, field

from porch.errors import UsageError
from porch.run.definitions.subject_names import check_title

# Which directory held what, and what it is called in the directory of a project.
DOCUMENTS: Mapping[str, str] = {
    "spec.md": "codev/specs",
    "plan.md": "codev/plans",
    "review.md": "codev/reviews",
}
_FILE = re.compile(r"(?P<id>[0-9]+)-(?P<name>.+)\.md")


class OldProject(Struct, frozen=True):
    """One specification and what belongs to it; `files` by what they will be called."""

    id: str
    title: str
    files: Mapping[str, str]

    @property
    def run(self) -> str:
        return f"{self.id}-{self.title}"

    @property
    def directory(self) -> str:
        return f"codev/projects/{self.run}"


class OldTree(Struct, frozen=True):
    """All old projects of a checkout, and files that belong to none, with the reason."""

    projects: tuple[OldProject, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)


def read_old_tree(root: str) -> OldTree:
    found = {name: _list_numbered(root, place) for name, place in DOCUMENTS.items()}
    left: dict[str, str] = {}
    projects = []
    for path, (id_, stem) in found["spec.md"].items():
        title = _slug(stem)
        if not title:
            left[path] = "its name cannot be the name of a directory"
            continue
        files = {"spec.md": path}
        for name in ("plan.md", "review.md"):
            if theirs := _find_companion(found[name], id_, stem, found["spec.md"]):
                files[name] = theirs
        projects.append(OldProject(id_, title, files))
    taken = {path for project in projects for path in project.files.values()}
    for name in ("plan.md", "review.md"):
        for path in found[name]:
            if path not in taken:
                left[path] = "there is no specification with this number and name"
    return OldTree(tuple(projects), left)


def _list_numbered(root: str, place: str) -> dict[str, tuple[str, str]]:
    """Number and name of each file, by its path."""
    try:
        names = sorted(os.listdir(os.path.join(root, place)))
    except OSError:
        return {}
    matches = ((name, _FILE.fullmatch(name)) for name in names)
    return {f"{place}/{name}": (m["id"], m["name"]) for name, m in matches if m is not None}


def _find_companion(
    known: Mapping[str, tuple[str, str]], id_: str, stem: str, specs: Mapping[str, tuple[str, str]]
) -> str:
    """The file of the same name, or the only one of a number that only one project has."""
    same = [path for path, each in known.items() if each == (id_, stem)]
    if same:
        return same[0]
    numbered = [path for path, each in known.items() if each[0] == id_]
    owners = [each for each in specs.values() if each[0] == id_]
    return numbered[0] if len(numbered) == 1 and len(owners) == 1 else ""


def _slug(stem: str) -> str:
    try:
        return check_title(stem)
    except UsageError:
        return ""
