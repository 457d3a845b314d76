"""How far an old project had come, told by its documents: nothing else of it was written down."""

import re

from msgspec import Struct

from porch.dialects.plan_headings import read_plan
from porch.fleet.migration.old_tree import OldProject

SPEC_GATE, PLAN_GATE = "specify_approval", "plan_approval"
PROTOCOL = "spider"
# `**Status**: approved`, `Status: Approved (2025-01-02)`, `approved: 2025-01-02` at the top.
_APPROVED = re.compile(
    r"^\W*(?:status\W*:\W*(?:approved|accepted)\b|approved\W*:\W*(?:\d|true|yes))",
    re.IGNORECASE | re.MULTILINE,
)
# Whoever writes a status writes it at the top.
_HEAD = 2000


class OldProgress(Struct, frozen=True):
    """Where a project stands if its claims are accepted, where if not, and why it claims them."""

    state: str
    state_without: str
    claims: tuple[tuple[str, str], ...]

    @property
    def gates(self) -> tuple[str, ...]:
        return tuple(gate for gate, _ in self.claims)


def judge_progress(project: OldProject, texts: dict[str, str]) -> OldProgress:
    claims = tuple(_list_claims(project, texts))
    gates = {gate for gate, _ in claims}
    if "review.md" in texts:
        return OldProgress("complete", "complete", claims)
    if PLAN_GATE in gates:
        return OldProgress("implement", "specify:gate", claims)
    if SPEC_GATE in gates:
        state = "plan:gate" if "plan.md" in texts else "plan:draft"
        return OldProgress(state, "specify:gate", claims)
    return OldProgress("specify:gate", "specify:gate", ())


def _list_claims(project: OldProject, texts: dict[str, str]) -> list[tuple[str, str]]:
    has_review, has_plan = "review.md" in texts, "plan.md" in texts
    plan_says = has_plan and _says_approved(texts["plan.md"])
    claims = []
    if _says_approved(texts["spec.md"]):
        claims.append((SPEC_GATE, f"{project.files['spec.md']} says so"))
    elif has_plan or has_review:
        later = project.files.get("plan.md") or project.files["review.md"]
        claims.append((SPEC_GATE, f"there is {later}"))
    if plan_says:
        claims.append((PLAN_GATE, f"{project.files['plan.md']} says so"))
    elif has_review:
        claims.append((PLAN_GATE, f"there is {project.files['review.md']}"))
    return claims


def _says_approved(text: str) -> bool:
    return _APPROVED.search(text[:_HEAD]) is not None


def render_status(
    project: OldProject, progress: OldProgress, plan: str, *, with_claims: bool
) -> str:
    """A status file as `porch run` adopts it; it carries no approval that nobody accepted."""
    lines = [
        "# Written by `codev migrate` from the files of the old shape.",
        f"id: '{project.id}'",
        f"title: '{project.title}'",
        f"protocol: {PROTOCOL}",
        f"state: {progress.state if with_claims else progress.state_without}",
    ]
    gates = progress.gates if with_claims else ()
    if gates:
        lines += ["gates:", *(f"  {gate}: {{status: approved}}" for gate in gates)]
    if progress.state == "implement" and with_claims:
        lines += _plan_phase_lines(plan)
    return "\n".join(lines) + "\n"


def _plan_phase_lines(plan: str) -> list[str]:
    phases = read_plan(plan, "plan.md").phases
    rows = [f"  - {{id: {_quote(p.id)}, title: {_quote(p.title)}}}" for p in phases]
    return ["plan_phases:", *rows] if rows else []


def _quote(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
