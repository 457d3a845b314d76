"""`envoy knowledge`: what the documents of the project say about a question."""

import json
import os
from typing import Any

from porch.adapters import where as places
from porch.errors import UsageError
from porch.operations import knowledge
from porch.surfaces.cli.command import Args, Command, arg
from porch.surfaces.cli.enveloping import told
from porch.surfaces.cli.searching import without_name

_MOST = 100


def _search(args: Args) -> dict[str, Any]:
    phrases = without_name(args.phrase)
    for phrase in phrases:
        if not any(c.isalnum() for c in phrase):
            raise UsageError(
                f"there is no word in the phrase '{phrase}'",
                fix="say what you look for in a few words",
                code="empty-phrase",
            )
    if not 1 <= args.limit <= _MOST or args.budget < 0:
        raise UsageError(
            f"--limit must be between 1 and {_MOST}, and --budget at least 0",
            fix="give a number in that range",
        )
    return knowledge.search(
        places.find(os.getcwd()),
        phrases,
        limit=args.limit,
        budget=args.budget,
        metadata_only=args.metadata_only,
    )


def _reindex(_: Args) -> dict[str, Any]:
    return knowledge.reindex(places.find(os.getcwd()))


def _from_changes(args: Args) -> dict[str, Any]:
    return knowledge.reindex_from_changes(places.find(os.getcwd()), _changes(args.files))


def _changes(text: str) -> list[dict[str, Any]]:
    """As `envoy git diff-base` lists them; plain paths will do, too."""
    fix = 'write --files \'[{"path": "docs/a.md", "modified": true}]\''
    try:
        found = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--files is not JSON: {error}", fix, code="bad-files") from error
    if not isinstance(found, list):
        raise UsageError("--files is not a list", fix, code="bad-files")
    changes = [{"path": each} if isinstance(each, str) else each for each in found]
    for change in changes:
        if not isinstance(change, dict) or not isinstance(change.get("path"), str):
            raise UsageError(f"{change!r} names no path", fix, code="bad-files")
        if not change["path"] or "\0" in change["path"]:
            raise UsageError(f"{change['path']!r} is no path", fix, code="bad-files")
    return changes


def _status(_: Args) -> dict[str, Any]:
    return knowledge.status(places.find(os.getcwd()))


_SEARCH = (
    arg("phrase", nargs="+", help="[docs] and what is looked for, as a phrase; several are fused"),
    arg("--metadata-only", action="store_true", help="no excerpts and no texts"),
    arg("--limit", type=int, default=knowledge.LIMIT, metavar="N", help="at most N; default: 10"),
    arg(
        "--budget",
        type=int,
        default=knowledge.BUDGET,
        metavar="TOKENS",
        help="how much of whole texts may be printed, by estimate; default: 5000",
    ),
)
_FILES = (arg("--files", required=True, metavar="JSON", help="a list of paths or of changes"),)

COMMANDS: tuple[Command, ...] = (
    Command("knowledge search", "documents about a question", told(_search), _SEARCH),
    Command("knowledge reindex", "make the index again", told(_reindex)),
    Command("knowledge reindex-all", "the same as `reindex`", told(_reindex)),
    Command(
        "knowledge reindex-from-changes", "index named files only", told(_from_changes), _FILES
    ),
    Command("knowledge status", "what the index knows, and whether it is behind", told(_status)),
)
