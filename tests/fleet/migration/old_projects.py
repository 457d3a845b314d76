"""Made-up projects of the old layout, in every shape that real ones have, and what they become."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.repositories import sh

PLAN = (
    "# Plan\n\n## Implementation Phases\n\n### Phase 1: Table\n\n- a table\n\n### Phase 2: Page\n"
)
HOUSE = {
    "name": "house",
    "phases": [
        {"id": "specify", "prompt": "write.md", "artifact": "spec.md", "gate": "spec-approval"},
        {"id": "implement", "prompt": "write.md"},
    ],
}
# It keeps its documents where the old layout has them, one under the same name.
SHARED = {
    "name": "shared",
    "phases": [
        {
            "id": "specify",
            "prompt": "write.md",
            "artifact": "codev/specs/${PROJECT_ID}-*.md",
            "gate": "spec-approval",
        },
        {"id": "plan", "prompt": "write.md", "artifact": "codev/plans/${PROJECT_TITLE}.md"},
    ],
}
STATUS = """\
id: '{id}'
title: '{name}'
protocol: PROTOCOL
phase: PHASE
plan_phases:
  - id: phase_1
    title: Table
    status: complete
  - id: phase_2
    title: Page
    status: in_progress
current_plan_phase: phase_2
gates:
  specify_approval:
    status: approved
    approved_at: '2026-02-14T14:33:23.076Z'
  plan_approval:
    status: approved
iteration: 1
build_complete: false
history:
  - iteration: 1
    plan_phase: phase_1
started_at: '2026-02-14T14:33:11.161Z'
updated_at: '2026-02-14T16:58:15.896Z'
"""
LIST = """\
# Project List

```yaml
projects:
  - id: "NNNN"              # Four-digit project number
    status: conceived|specified|planned|implementing|implemented|committed|integrated
    files:
      spec: codev/specs/NNNN-name.md       # Required after "specified"
```

## Projects
"""
# What a builder says on its own branch, when the main branch knows nothing of it yet.
AHEAD = """\
id: '0001'
title: builder-1
protocol: spider
phase: implement
plan_phases:
  - {id: phase_1, title: Table, status: complete}
  - {id: phase_2, title: Page}
gates:
  specify_approval: {status: approved}
  plan_approval: {status: approved}
"""
SEAL = f"# porch seq=41 sha256={'a' * 64}\n"
SPEC, PLANNED = "codev/specs/{id}-{name}.md", ("codev/plans/{id}-{name}.md", PLAN)
REVIEWED = ("codev/reviews/{id}-{name}-review.md", "# Review, so far\n")


def _listed(status: str, spec: str = "null", archive: str = "") -> tuple[str, str]:
    entry = f'\n  - id: "{{id}}"\n    title: "A title"\n    status: {status}\n    files:\n'
    text = f'{entry}      spec: {spec}\n      plan: null\n    notes: "it is: done"\n'
    return f"codev/projectlist{archive}.md", text


def _status(protocol: str, phase: str, more: str = "") -> tuple[str, str]:
    text = STATUS.replace("PROTOCOL", protocol).replace("PHASE", phase)
    return "codev/projects/{id}-{name}/status.yaml", text + more


# What lies there of a project of each shape, beside its specification.
FILES: Mapping[str, Sequence[tuple[str, str]]] = {
    "with-a-plan": [PLANNED],
    "builder": [PLANNED],
    "approved": [
        (SPEC, "# {name}\n\n**Status**: Approved (2025-01-02)\n"),
        (PLANNED[0], f"---\napproved: 2025-01-03\n---\n{PLAN}"),
    ],
    "reviewed": [PLANNED, REVIEWED],
    "listed-integrated": [PLANNED, _listed("integrated", SPEC)],
    "listed-in-a-table": [("codev/projectlist.md", "\n| {id} | A title | **integrated** |\n")],
    "archived": [_listed("abandoned", archive="-archive")],
    "listed-implementing": [PLANNED, REVIEWED, _listed("implementing")],
    "status-implement": [PLANNED, REVIEWED, _status("spider", "implement")],
    "status-complete": [_status("gone", "complete")],
    "status-and-list-differ": [_status("spider", "implement"), _listed("committed")],
    "own-protocol": [
        ("codev/projects/{id}-{name}/status.yaml", "id: '{id}'\nprotocol: house\nphase: specify\n")
    ],
    "shared-places": [
        PLANNED,
        ("codev/projects/{id}-{name}/status.yaml", "id: '{id}'\nprotocol: shared\nphase: plan\n"),
    ],
    "protocol-missing": [_status("spir", "implement")],
    "protocol-broken": [_status("broken", "implement")],
    "state-unknown": [_status("spider", "pondering")],
    "no-status": [("codev/projects/{id}-{name}/status.yaml", "- just\n- a list\n")],
    "other-clone": [_status("spider", "implement", SEAL)],
    "newer-document": [("codev/projects/{id}-{name}/spec.md", "# Newer\n")],
    "twin": [
        ("codev/specs/{id}-{name}-again.md", "# Again\n"),
        ("codev/plans/{id}-of-one-of-them.md", PLAN),
    ],
}
# What becomes of a project of each shape if its approvals count.
OUTCOMES = {
    "only-a-spec": "paused",
    "with-a-plan": "paused",
    "approved": "paused",
    "reviewed": "history",
    "listed-integrated": "history",
    "listed-in-a-table": "history",
    "archived": "history",
    "listed-implementing": "paused",
    "status-implement": "paused",
    "status-complete": "history",
    "status-and-list-differ": "history",
    "own-protocol": "paused",
    "shared-places": "paused",
    "protocol-missing": "left",
    "protocol-broken": "left",
    "state-unknown": "left",
    "no-status": "left",
    "other-clone": "left",
    "newer-document": "left",
    "odd näme & Co": "paused",
    "twin": "paused",
    "builder": "paused",
}
SHAPES = tuple(OUTCOMES)


def make_old_project(root: Path, shapes: Sequence[str], first: int = 1) -> dict[str, str]:
    """Write and commit projects of these shapes; returns the shape of each by its run's name."""
    files: dict[str, str] = {
        "codev/specs/README.md": "not a specification\n",
        "codev/plans/9999-lonely.md": PLAN,
        "codev/protocols/house/protocol.json": json.dumps(HOUSE),
        "codev/protocols/house/prompts/write.md": "Write.\n",
        "codev/protocols/shared/protocol.json": json.dumps(SHARED),
        "codev/protocols/shared/prompts/write.md": "Write.\n",
        "codev/protocols/broken/protocol.json": json.dumps({**HOUSE, "name": "broken"}),
        "codev/protocols/broken/prompts/write.md": "{{> there_is_no_such_partial}}\n",
        "codev/projectlist.md": LIST,
        "codev/projectlist-archive.md": LIST,
    }
    runs = {}
    for number, shape in enumerate(shapes, first):
        id_, name = f"{number:04}", f"{shape}-{number}"
        for template, content in [(SPEC, "# {name}\n"), *FILES.get(shape, ())]:
            path, text = (each.format(id=id_, name=name) for each in (template, content))
            files[path] = files.get(path, "") + text if "projectlist" in path else text
        slug = name.lower().replace(" & ", "-").replace(" ", "-")
        runs[f"{id_}-{slug}"] = shape
        if shape == "twin":
            runs[f"{id_}-{slug}-again"] = shape
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    sh(root, "add", "-A")
    sh(root, "commit", "-qm", "The old layout")
    for run, shape in runs.items():
        if shape == "builder":
            make_builder(root, run)
    return runs


def make_builder(root: Path, run: str) -> Path:
    """A worktree of the old kind, with work that is not committed."""
    place = root / ".builders" / run[:4]
    sh(root, "worktree", "add", "-q", "-b", f"builder/{run}", str(place))
    (place / "work.py").write_text("committed\n")
    sh(place, "add", "-A")
    sh(place, "commit", "-qm", "work")
    (place / "work.py").write_text("changed\n")
    return place
