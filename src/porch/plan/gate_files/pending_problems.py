"""Says with a question of a plan why the file of its answer cannot be used; for `porch pending`."""

from __future__ import annotations

import os

from porch.machine.budgets import PLAN
from porch.plan.files import plan_location
from porch.plan.gate_files import form_notice, form_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from porch.show.shapes import DecisionShape
    from porch.store.where import ProjectPaths


def add_form_problems(where: ProjectPaths, decisions: Iterable[DecisionShape]) -> None:
    """As the files are now: a person edits them while nobody looks."""
    for each in decisions:
        if each.get("subject") == PLAN:
            problems = _list_problems(where, each)
            if problems:
                each["problems"] = problems


def _list_problems(where: ProjectPaths, decision: DecisionShape) -> list[str]:
    gate, _, item = decision["position"].rpartition("#")[0].partition(":")
    if gate not in (*form_paths.FILES, "clarifying"):
        return []
    plan = plan_location.plan_of_branch(where, decision["title"])
    path = form_paths.form_file(plan, gate, item)
    name = os.path.relpath(path, where.base)
    return [f"{name}: {told}" for told in form_notice.list_form_problems(path)]
