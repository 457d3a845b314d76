"""What the pages about protocols and worktrees say."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from porch.errors import Finding
from porch.system.disk_use import DiskUse
from porch.web.pages.page_words import count_of, describe_size, run_address


def protocol_address(project: str, name: str) -> str:
    return f"/protocols/{quote(project, safe='')}/{quote(name, safe='')}"


def make_protocols(
    project: str,
    rows: Sequence[Mapping[str, str]],
    faults: Mapping[str, Sequence[Finding]],
    used: Sequence[str],
) -> dict[str, Any]:
    return {
        "project": project,
        "rows": [
            {
                "name": row["name"],
                "version": row["version"],
                "description": row["description"],
                "source": row["source"],
                "address": protocol_address(project, row["name"]),
                "runs": used.count(row["name"]),
                **_describe_faults(faults.get(row["name"], ())),
            }
            for row in rows
        ],
    }


def _describe_faults(found: Sequence[Finding]) -> dict[str, str]:
    errors = [each for each in found if each.severity == "error"]
    if errors:
        return {"look": "bad", "lint": count_of(len(errors), "error")}
    if found:
        return {"look": "warn", "lint": count_of(len(found), "warning")}
    return {"look": "good", "lint": "no problems"}


def make_protocol(
    project: str, row: Mapping[str, str], faults: Sequence[Finding]
) -> dict[str, Any]:
    return {
        "project": project,
        "name": row["name"],
        "version": row["version"],
        "description": row["description"],
        "file": row["file"],
        "picture": f"{protocol_address(project, row['name'])}/graph.svg",
        "faults": [
            {"look": "bad" if each.severity == "error" else "warn", "text": str(each)}
            for each in faults
        ],
    }


def _describe_disk(use: DiskUse | None) -> str:
    if use is None:
        return ""
    return f"{'' if use.is_whole else 'more than '}{describe_size(use.size)} on disk"


def make_worktrees(
    project: str, rows: Sequence[Mapping[str, Any]], conflicts: Sequence[str]
) -> dict[str, Any]:
    return {
        "project": project,
        "conflicts": conflicts,
        "rows": [
            {
                "trouble": "",
                "changed": 0,
                "ahead": 0,
                "behind": 0,
                **row,
                "disk": _describe_disk(row.get("disk")),
                "run_address": run_address(project, str(row["run"])),
                "remove": run_address(project, str(row["run"]), "remove-worktree"),
            }
            for row in rows
        ],
    }
