"""The projects that the dashboard shows, by short names: this one, and those a person lists."""

import os
from collections.abc import Mapping

from porch.fleet.fleet_rows import find_other_projects
from porch.store.where import ProjectPaths


def name_projects(where: ProjectPaths, environ: Mapping[str, str]) -> dict[str, ProjectPaths]:
    """Each under the name of its directory; a second one of that name gets a number."""
    others = find_other_projects(where, environ)
    named: dict[str, ProjectPaths] = {}
    for name, found in [(os.path.basename(where.root), where), *others]:
        number = 1
        while (key := name if number == 1 else f"{name}-{number}") in named:
            number += 1
        named[key or "project"] = found
    return named
