"""Taking temporary debug lines out of a worktree, and saying what could not be taken."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from porch.adapters import sources
from porch.adapters.where import Where
from porch.errors import UsageError
from porch.model import markers

_PROSE = (".md", ".markdown", ".rst", ".adoc", ".txt")
_FENCED = (".yaml", ".yml")
# What agents are told, in whatever format, and what they wrote about their work.
_TOLD = (".claude/", "codev/")


@dataclass(slots=True)
class Cleaned:
    """What was done in all files, and what was not."""

    dry_run: bool
    modified: list[str] = field(default_factory=list)
    removed: int = 0
    lines: int = 0
    mentions: int = 0
    unmatched: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not self.unmatched and not self.refused

    def as_json(self) -> dict[str, Any]:
        return {
            "success": self.is_clean,
            "dry_run": self.dry_run,
            "files_modified": self.modified,
            "markers_removed": self.removed,
            "lines_removed": self.lines,
            "unmatched_markers": self.unmatched,
            "refused_blocks": self.refused,
            "skipped_files": self.skipped,
            "mentions": self.mentions,
            "message": self.message,
        }

    @property
    def message(self) -> str:
        verb = "would be removed" if self.dry_run else "removed"
        done = f"{self.removed} markers {verb} from {len(self.modified)} files"
        left = f"{len(self.refused)} blocks refused, {len(self.unmatched)} markers left"
        return done if self.is_clean else f"{done}; {left}"


def cleaned(where: Where, *, dry_run: bool = False, force: bool = False) -> Cleaned:
    """Remove every marked block of the worktree we stand in that is nothing but a block."""
    if not where.common_dir or where.is_bare:
        raise UsageError(
            f"{where.workspace} is no worktree of git",
            fix="go to the worktree whose debug lines are to be removed",
            code="no-repository",
        )
    told = Cleaned(dry_run)
    for name in sources.holding(where.workspace, markers.MARK):
        source = sources.read(where.workspace, name)
        if isinstance(source, str):
            told.skipped.append({"path": name, "reason": source})
        else:
            _clean(told, name, source, force)
    return told


def _clean(told: Cleaned, name: str, source: sources.Source, force: bool) -> None:
    text = source.data.decode("latin-1")
    judged = markers.judge(text, _manner(name))
    going = [block for block in judged.blocks if force or not block.refusal]
    staying = [block for block in judged.blocks if block not in going]
    told.mentions += judged.mentions
    trouble = _removed(told, name, source, markers.without(text, going)) if going else ""
    if trouble:
        told.refused += [_refused(name, block, block.begin, trouble) for block in going]
        going = []
    gone = [] if told.dry_run else going
    told.refused += [
        _refused(name, block, _now(block.begin, gone), _readable(block.refusal))
        for block in staying
    ]
    told.unmatched += [_left(name, left, _now(left.line, gone)) for left in judged.leftovers]
    told.removed += len(going)
    told.lines += sum(block.end - block.begin for block in going)


def _manner(name: str) -> markers.Manner:
    if name.startswith(_TOLD) or name.lower().endswith(_PROSE):
        return "prose"
    return "fenced" if name.lower().endswith(_FENCED) else "code"


def _removed(told: Cleaned, name: str, source: sources.Source, after: str) -> str:
    trouble = "" if told.dry_run else sources.write(source, after.encode("latin-1"))
    if not trouble:
        told.modified.append(name)
    return trouble


def _now(line: int, gone: Sequence[markers.Block]) -> int:
    """Where a line stands once these blocks are gone."""
    return line - sum(block.end - block.begin for block in gone if block.end <= line)


def _refused(name: str, block: markers.Block, at: int, reason: str) -> dict[str, Any]:
    return {"path": name, "line": at + 1, "lines": block.end - block.begin, "reason": reason}


def _left(name: str, left: markers.Leftover, at: int) -> dict[str, Any]:
    return {"path": name, "line": at + 1, "text": _readable(left.text), "reason": left.reason}


def _readable(text: str) -> str:
    """Judged as single bytes, shown as what they most likely are."""
    return text.encode("latin-1").decode("utf-8", "replace")
