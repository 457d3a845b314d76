"""Which file a gate of a plan is answered in; for who only looks, so it loads almost nothing."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from porch.plan.files.plan_location import Plan

FILES: Mapping[str, str] = {
    "findings": "findings_gate",
    "plan": "plan_gate",
    "testing": "{item}_testing",
    "logging": "{item}_logging",
    "variants": "{item}_variants",
    "unfinished": "{item}_unfinished",
}
WITH_LOGS = ("testing", "logging")


def form_file(plan: Plan, gate: str, item: str) -> str:
    """The file in which a person answers this gate."""
    if gate == "clarifying":
        stem = f"{item}_review_questions" if item else "full_review_questions"
    else:
        stem = FILES[gate].format(item=item)
    return os.path.join(plan.feedback_dir, f"{stem}.yaml")


def logs_file(plan: Plan, gate: str, item: str) -> str:
    return os.path.join(plan.feedback_dir, f"{FILES[gate].format(item=item)}_logs.md")


def form_files(plan: Plan, gate: str, item: str) -> list[str]:
    if gate not in (*FILES, "clarifying"):
        return []
    logs = [logs_file(plan, gate, item)] if gate in WITH_LOGS else []
    return [form_file(plan, gate, item), *logs]
