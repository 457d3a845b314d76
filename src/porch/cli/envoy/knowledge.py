"""`envoy knowledge`: what the documents of the project say about a question."""

import os
from typing import TYPE_CHECKING

from porch.cli.command import Args, Verb, Verbs, make_argument
from porch.cli.envoy.envelope import answer_in_envelope
from porch.cli.envoy.fast_search import drop_program_name

if TYPE_CHECKING:
    from porch.knowledge.results import FilesReindexed, IndexStatus, Reindexed, SearchResult

_MOST = 100
# Said here, too, so that the help of a command does not load the index.
_LIMIT = 10
_BUDGET = 5000


def _search_documents(args: Args) -> "SearchResult":
    from porch.errors import UsageError
    from porch.knowledge import search
    from porch.store import where as places

    phrases = drop_program_name(args.phrase)
    for phrase in phrases:
        if not any(c.isalnum() for c in phrase):
            raise UsageError(
                f"the phrase '{phrase}' has no words",
                fix="describe what you look for in a few words",
                code="empty-phrase",
            )
    if not 1 <= args.limit <= _MOST or args.budget < 0:
        raise UsageError(
            f"--limit must be between 1 and {_MOST}, and --budget at least 0",
            fix="give a number in that range",
        )
    return search.search_documents(
        places.find_project(os.getcwd()),
        phrases,
        limit=args.limit,
        budget=args.budget,
        metadata_only=args.metadata_only,
    )


def _reindex_documents(_: Args) -> "Reindexed":
    from porch.knowledge import search
    from porch.store import where as places

    return search.rebuild_index(places.find_project(os.getcwd()))


def _reindex_changes(args: Args) -> "FilesReindexed":
    from porch.knowledge import search
    from porch.store import where as places

    return search.reindex_files(places.find_project(os.getcwd()), _read_paths(args.files))


def _read_paths(text: str) -> list[str]:
    """As `envoy git diff-base` lists them; plain paths will do, too."""

    import json

    from porch.errors import UsageError

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
            raise UsageError(f"{change!r} has no path", fix, code="bad-files")
        if not change["path"] or "\0" in change["path"]:
            raise UsageError(f"{change['path']!r} is not a path", fix, code="bad-files")
    return [change["path"] for change in changes]


def _show_index_status(_: Args) -> "IndexStatus":
    from porch.knowledge import search
    from porch.store import where as places

    return search.index_status(places.find_project(os.getcwd()))


_SEARCH = (
    make_argument(
        "phrase",
        nargs="+",
        help="[docs] and what to search for; results of several phrases are combined",
    ),
    make_argument("--metadata-only", action="store_true", help="show no excerpts and no texts"),
    make_argument(
        "--limit", type=int, default=_LIMIT, metavar="N", help="show at most N results; default: 10"
    ),
    make_argument(
        "--budget",
        type=int,
        default=_BUDGET,
        metavar="TOKENS",
        help="print at most about so many tokens of whole texts; default: 5000",
    ),
)
_FILES = (
    make_argument(
        "--files", required=True, metavar="JSON", help="a JSON list of paths or of changes"
    ),
)

COMMANDS: Verbs = {
    "knowledge search": Verb(answer_in_envelope(_search_documents), _SEARCH),
    "knowledge reindex": Verb(answer_in_envelope(_reindex_documents)),
    "knowledge reindex-all": Verb(answer_in_envelope(_reindex_documents)),
    "knowledge reindex-from-changes": Verb(answer_in_envelope(_reindex_changes), _FILES),
    "knowledge status": Verb(answer_in_envelope(_show_index_status)),
}
