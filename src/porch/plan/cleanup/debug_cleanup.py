"""Taking temporary debug lines out of a worktree, and saying what could not be taken."""

import os
from collections.abc import Sequence

from msgspec import Struct, field

from porch.errors import UsageError
from porch.plan.cleanup import debug_markers, source_files
from porch.plan.cleanup.source_text import DecodedSource
from porch.store.where import ProjectPaths

_PROSE = (".md", ".markdown", ".rst", ".adoc", ".txt")
_FENCED = (".yaml", ".yml")
# What agents are told, in whatever format, and what they wrote about their work.
_TOLD = (".claude/", "codev/")


class UnmatchedMarker(Struct, frozen=True, kw_only=True):
    """A marker that begins or ends no block."""

    path: str
    line: int
    text: str
    reason: str


class RefusedBlock(Struct, frozen=True, kw_only=True):
    """Marked lines that may be more than debug lines."""

    path: str
    line: int
    lines: int
    reason: str


class SkippedFile(Struct, frozen=True, kw_only=True):
    """A file that was not looked into."""

    path: str
    reason: str


class DebugCleanup(Struct, frozen=True, kw_only=True):
    """What came of taking debug lines out."""

    success: bool
    dry_run: bool
    files_modified: list[str]
    markers_removed: int
    lines_removed: int
    unmatched_markers: list[UnmatchedMarker]
    refused_blocks: list[RefusedBlock]
    skipped_files: list[SkippedFile]
    mentions: int
    message: str


class _CleanupTally(Struct):
    """What was done in all files, and what was not."""

    dry_run: bool
    modified: list[str] = field(default_factory=list)
    removed: int = 0
    lines: int = 0
    mentions: int = 0
    unmatched: list[UnmatchedMarker] = field(default_factory=list)
    refused: list[RefusedBlock] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not self.unmatched and not self.refused

    def result(self) -> DebugCleanup:
        return DebugCleanup(
            success=self.is_clean,
            dry_run=self.dry_run,
            files_modified=self.modified,
            markers_removed=self.removed,
            lines_removed=self.lines,
            unmatched_markers=self.unmatched,
            refused_blocks=self.refused,
            skipped_files=self.skipped,
            mentions=self.mentions,
            message=self.message,
        )

    @property
    def message(self) -> str:
        """The marker of a block that was refused is still in its file, as a loose one is."""
        verb = "would be removed" if self.dry_run else "removed"
        done = f"{self.removed} markers {verb} from {len(self.modified)} files"
        refused, loose = len(self.refused), len(self.unmatched)
        left = f"{refused + loose} markers left: {refused} of refused blocks, {loose} of no block"
        return done if self.is_clean else f"{done}; {left}"


def remove_debug_lines(
    where: ProjectPaths, *, dry_run: bool = False, force: bool = False
) -> DebugCleanup:
    """Remove every marked block of the worktree we stand in that is nothing but a block."""
    if not where.common_dir or where.is_bare:
        raise UsageError(
            f"{where.workspace} is not a git worktree",
            fix="go to the worktree with the debug lines",
            code="no-repository",
        )
    told = _CleanupTally(dry_run)
    for name in source_files.list_files_with(where.workspace, debug_markers.MARK):
        source = source_files.read_source(where.workspace, name)
        if isinstance(source, str):
            told.skipped.append(SkippedFile(path=name, reason=source))
        else:
            _clean_file(told, name, source, force)
    for name in source_files.list_submodules(where.workspace):
        _report_submodule(told, where.workspace, name)
    return told.result()


def _report_submodule(told: _CleanupTally, workspace: str, name: str) -> None:
    """Nothing is removed there: it has commits of its own, and may be somebody else's."""
    place = os.path.join(workspace, name)
    reason = f"it is in the submodule {name}; go there, run the same command, and commit"
    for file in source_files.list_files_with(place, debug_markers.MARK):
        source = source_files.read_source(place, file)
        path = f"{name}/{file}"
        if isinstance(source, str):
            told.skipped.append(SkippedFile(path=path, reason=source))
            continue
        judged = judge_source(file, source.source)
        told.mentions += judged.mentions
        told.refused += [_refused_block(path, b, b.begin, reason) for b in judged.blocks]
        told.unmatched += [
            _unmatched_marker(path, left, left.line, source.source) for left in judged.leftovers
        ]


def judge_source(name: str, source: DecodedSource) -> debug_markers.JudgedText:
    """The markers of a file; what its name says decides which of them only show."""
    return debug_markers.judge_markers(source.text, _marker_style(name))


def _clean_file(
    told: _CleanupTally, name: str, source: source_files.SourceFile, force: bool
) -> None:
    text = source.source.text
    judged = judge_source(name, source.source)
    going = [block for block in judged.blocks if force or not block.refusal]
    staying = [block for block in judged.blocks if block not in going]
    told.mentions += judged.mentions
    trouble = (
        _write_without_blocks(told, name, source, debug_markers.remove_blocks(text, going))
        if going
        else ""
    )
    if trouble:
        told.refused += [_refused_block(name, block, block.begin, trouble) for block in going]
        going = []
    gone = [] if told.dry_run else going
    told.refused += [
        _refused_block(
            name,
            block,
            _line_after_removal(block.begin, gone),
            source.source.show(block.refusal),
        )
        for block in staying
    ]
    told.unmatched += [
        _unmatched_marker(name, left, _line_after_removal(left.line, gone), source.source)
        for left in judged.leftovers
    ]
    told.removed += len(going)
    told.lines += sum(block.end - block.begin for block in going)


def _marker_style(name: str) -> debug_markers.MarkerStyle:
    if name.startswith(_TOLD) or name.lower().endswith(_PROSE):
        return "prose"
    return "fenced" if name.lower().endswith(_FENCED) else "code"


def _write_without_blocks(
    told: _CleanupTally, name: str, source: source_files.SourceFile, after: str
) -> str:
    data = source.source.encode(after)
    trouble = "" if told.dry_run else source_files.write_source(source, data)
    if not trouble:
        told.modified.append(name)
    return trouble


def _line_after_removal(line: int, gone: Sequence[debug_markers.DebugBlock]) -> int:
    """Where a line stands once these blocks are gone."""
    return line - sum(block.end - block.begin for block in gone if block.end <= line)


def _refused_block(
    name: str, block: debug_markers.DebugBlock, at: int, reason: str
) -> RefusedBlock:
    return RefusedBlock(path=name, line=at + 1, lines=block.end - block.begin, reason=reason)


def _unmatched_marker(
    name: str, left: debug_markers.LooseMarker, at: int, source: DecodedSource
) -> UnmatchedMarker:
    return UnmatchedMarker(path=name, line=at + 1, text=source.show(left.text), reason=left.reason)
