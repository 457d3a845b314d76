"""How far an old project is, read from its documents where it has no status file.

The status files that a migration writes are made here, too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from porch.dialects.plan_headings import read_plan
from porch.dialects.status_file import ForeignStatus
from porch.fleet.migration.old_tree import OldProject
from porch.machine.approvals import list_gates
from porch.model.protocol import Protocol

SPEC_GATE, PLAN_GATE = "specify_approval", "plan_approval"
# `**Status**: approved`, `Status: Approved (2025-01-02)`, `approved: 2025-01-02` at the top.
_APPROVED = re.compile(
    r"^\W*(?:status\W*:\W*(?:approved|accepted)\b|approved\W*:\W*(?:\d|true|yes))",
    re.IGNORECASE | re.MULTILINE,
)
# Whoever writes a status writes it at the top.
_HEAD = 2000


class OldProgress(Struct, frozen=True):
    """Where a project stands by its documents, and the gates that they say it has passed."""

    state: str
    claims: tuple[tuple[str, str], ...]

    def render_status(self, project: OldProject, plan: str) -> str:
        """A status file as `porch run` adopts it."""
        phases = read_plan(plan, "plan.md").phases if self.state == "implement" else ()
        rows = [f"  - {{id: {_quote(p.id)}, title: {_quote(p.title)}}}" for p in phases]
        gates = [f"  {gate}: {{status: approved}}" for gate, _ in self.claims]
        return _render(
            project.id,
            project.title,
            "spider",
            self.state,
            [*(["gates:", *gates] if gates else ()), *(["plan_phases:", *rows] if rows else ())],
        )


def judge_progress(project: OldProject, texts: Mapping[str, str]) -> OldProgress:
    claims = tuple(_list_claims(project, texts))
    gates = {gate for gate, _ in claims}
    if PLAN_GATE in gates:
        return OldProgress("implement", claims)
    if SPEC_GATE in gates:
        return OldProgress("plan:gate" if "plan.md" in texts else "plan:draft", claims)
    return OldProgress("specify:gate", ())


def _list_claims(project: OldProject, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    has_review, has_plan = "review.md" in texts, "plan.md" in texts
    if _says_approved(texts["spec.md"]):
        yield SPEC_GATE, f"{project.files['spec.md']} says so"
    elif has_plan or has_review:
        yield SPEC_GATE, f"there is {project.files.get('plan.md') or project.files['review.md']}"
    if has_plan and _says_approved(texts["plan.md"]):
        yield PLAN_GATE, f"{project.files['plan.md']} says so"
    elif has_review:
        yield PLAN_GATE, f"there is {project.files['review.md']}"


def _says_approved(text: str) -> bool:
    return _APPROVED.search(text[:_HEAD]) is not None


def render_history(project: OldProject, status: ForeignStatus | None, state: str) -> str:
    """The status file of a project that has ended; nobody needs its protocol to read this."""
    return _render(project.id, project.title, status.protocol if status else "", state)


def render_without_approvals(
    status: ForeignStatus, protocol: Protocol, passed: Sequence[str]
) -> str:
    """The same status in front of the first gate that nobody here has passed."""
    gates = [gate.name for gate, human in list_gates(protocol) if human.name in passed]
    state = gates[0] if gates else status.state
    return _render(status.id, status.title, status.protocol, state)


def _render(id_: str, title: str, protocol: str, state: str, more: Iterable[str] = ()) -> str:
    lines = [
        "# Written by `codev migrate` from the files of the old shape.",
        f"id: {_quote(id_)}",
        f"title: {_quote(title)}",
        *([f"protocol: {_quote(protocol)}"] if protocol else ()),
        f"state: {_quote(state)}",
        *more,
    ]
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
