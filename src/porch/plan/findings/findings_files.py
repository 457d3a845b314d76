"""The findings of a plan: what specialists write down, one file each, and what a gate makes of it.

Whoever changes something here holds the lock of the plan; reading needs none.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from porch.errors import DefinitionError, FailedError, Finding, PorchError, UsageError
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_ids import require_specialist_name as valid
from porch.plan.files import plan_files
from porch.plan.files.plan_location import Plan
from porch.plan.files.project_paths import check_project_paths
from porch.plan.findings import approach_answers as answers
from porch.plan.findings import approach_list_reader
from porch.plan.findings import approaches as changes
from porch.plan.findings import design_manifest as manifest
from porch.plan.findings import findings_reader as dialect
from porch.plan.findings.approach_answers import AnsweredFindings
from porch.plan.findings.approaches import Approach, Findings, SpecialistQuestion
from porch.plan.findings.findings_results import (
    AddressedQuestion,
    AllFindings,
    ApproachCleared,
    ApproachLine,
    ApproachWritten,
    DesignFiles,
    FindingWritten,
    FoundApproach,
    NotesWritten,
    SpecialistFindings,
    WholeApproach,
)
from porch.system import atomic

_ENDING = ".yaml"
_ARCHIVE = "_archive"
MANIFEST = "manifest.yaml"


def write_finding(plan: Plan, specialist: str, notes: str, approaches: str) -> FindingWritten:
    """All that the specialist says, in place of what it said before."""
    path = _findings_path(plan, specialist)
    listed = approach_list_reader.read_approach_list(
        approaches, lambda name: _check_one_path(plan, name)
    )

    def written(old: Findings) -> Findings:
        extras = {each.id: each.extra for each in old.approaches}
        kept = [replace(each, extra=extras.get(each.id, {})) for each in listed]
        return replace(old, notes=notes, approaches=tuple(kept))

    created = _change_findings(path, specialist, written)
    return FindingWritten(
        specialist=specialist,
        created=created,
        updated=not created,
        approach_count=len(listed),
    )


def write_notes(plan: Plan, specialist: str, notes: str) -> NotesWritten:
    path = _findings_path(plan, specialist)
    created = _change_findings(path, specialist, lambda old: changes.with_notes(old, notes))
    return NotesWritten(specialist=specialist, created=created, updated=not created)


def write_approach(
    plan: Plan,
    specialist: str,
    id_: PromptId,
    *,
    description: str,
    context: str | None = None,
    files: str | None = None,
    questions: str | None = None,
) -> ApproachWritten:
    """Text and files that are not given stay as they were; questions and answers do not."""
    path = _findings_path(plan, specialist)
    if not description.strip():
        fix = "say in a sentence or two what it does: --description TEXT"
        raise UsageError("an approach needs a description", fix, code="missing-description")
    paths = None if files is None else tuple(check_project_paths(plan.where, files.split(",")))
    asked = tuple(
        SpecialistQuestion(each.strip()) for each in (questions or "").split("|") if each.strip()
    )
    known = _read_known_findings(path, specialist)
    old = next((each for each in known.approaches if each.id == id_), None)
    before = old or Approach(id_.number, id_.variant)
    new = Approach(
        id_.number,
        id_.variant,
        description=description,
        detail=before.detail if context is None else context,
        relevant_files=before.relevant_files if paths is None else paths,
        questions=asked,
    )
    _change_findings(path, specialist, lambda findings: changes.with_approach(findings, new))
    return ApproachWritten(
        specialist=specialist,
        approach_id=str(id_),
        approach_number=id_.number,
        variant=id_.variant or None,
        created=old is None,
        updated=old is not None,
    )


def clear_approach(plan: Plan, specialist: str, id_: PromptId) -> ApproachCleared:
    """One approach; without a letter everything that has the number."""
    path = _findings_path(plan, specialist)
    known = _require_findings(plan, path, specialist)
    gone = [str(each.id) for each in changes.find_matching_approaches(known, id_)]
    _change_findings(path, specialist, lambda findings: changes.without_approach(findings, id_))
    left = len(known.approaches) - len(gone)
    return ApproachCleared(specialist=specialist, cleared=gone, remaining_count=left)


def get_approach(plan: Plan, specialist: str, id_: PromptId) -> FoundApproach:
    known = _require_findings(plan, _findings_path(plan, specialist), specialist)
    found = [_whole_approach(each) for each in changes.find_matching_approaches(known, id_)]
    alone = found[0] if len(found) == 1 else None
    return FoundApproach(
        specialist=specialist,
        approach_id=alone.approach_id if alone else str(id_),
        approach=alone,
        approaches=found,
    )


def get_findings(plan: Plan, *, full: bool = False) -> AllFindings:
    known = read_all_findings(plan)
    rows = [
        _approach_line(each.specialist, approach) for each in known for approach in each.approaches
    ]
    whole = [
        SpecialistFindings(
            specialist=each.specialist,
            notes=each.notes,
            approaches=[_whole_approach(approach) for approach in each.approaches],
        )
        for each in known
    ]
    return AllFindings(approaches=rows, specialists=whole if full else [])


def read_design_manifest(plan: Plan, file: str = "") -> DesignFiles:
    """The pictures there are; with a name that one, as the manifest calls it or without folders."""
    path = os.path.join(plan.design_dir, MANIFEST)
    text = plan_files.read_file_text(path)
    designs = () if text is None else manifest.read_manifest(text, path)
    wanted = [each for each in designs if file in ("", each.file, os.path.basename(each.file))]
    return DesignFiles(exists=text is not None, directory=plan.design_dir, designs=wanted)


def read_all_findings(plan: Plan) -> tuple[Findings, ...]:
    """Those of every specialist, by name; all that is wrong in any of their files is told."""
    known: list[Findings] = []
    problems: list[Finding] = []
    for name in _list_specialists(plan):
        try:
            known.append(_read_known_findings(_findings_path(plan, name), name))
        except DefinitionError as error:
            problems.extend(error.findings)
    if problems:
        raise DefinitionError(problems)
    return tuple(known)


def list_answer_problems(plan: Plan, form: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Why the feedback of the findings gate cannot be taken as it is."""
    return answers.list_feedback_problems(read_all_findings(plan), _read_feedback(form))


def apply_answers(plan: Plan, form: Mapping[str, Any]) -> AnsweredFindings:
    """Bring the findings to what was answered; done again, it finds nothing to do."""
    known = read_all_findings(plan)
    result = answers.apply_feedback(known, _read_feedback(form), again=True)
    for old, new in zip(known, result.findings, strict=True):
        path = _findings_path(plan, new.specialist)
        if len(new.approaches) < len(old.approaches):
            # What a person rejects was somebody's work; only the plan has it no longer.
            plan_files.copy_aside(path, os.path.join(plan.findings_dir, _ARCHIVE))
        if old != new:
            _replace_findings(path, new)
    return result


def archive_findings(plan: Plan) -> list[str]:
    """Put all findings away; returns where they are now, seen from the directory of the plan."""
    moves = _plan_archive_moves(plan)
    for old, new in moves:
        atomic.ensure_directory(os.path.dirname(new))
        try:
            os.rename(old, new)
        except OSError as error:
            raise atomic.disk_error(new, "write", error) from error
    if moves:
        atomic.sync_directory(os.path.dirname(moves[0][1]))
        atomic.sync_directory(plan.findings_dir)
    return [os.path.relpath(new, plan.directory) for _, new in moves]


def list_archive_names(plan: Plan) -> list[str]:
    """Where the findings will be once they are archived."""
    return [os.path.relpath(new, plan.directory) for _, new in _plan_archive_moves(plan)]


def _plan_archive_moves(plan: Plan) -> list[tuple[str, str]]:
    target = os.path.join(plan.findings_dir, _ARCHIVE)
    return [
        (_findings_path(plan, name), _find_free_path(target, name))
        for name in _list_specialists(plan)
    ]


def _find_free_path(directory: str, name: str) -> str:
    number, path = 1, os.path.join(directory, name + _ENDING)
    while os.path.lexists(path):
        number += 1
        path = os.path.join(directory, f"{name}-{number}{_ENDING}")
    return path


def _read_feedback(form: Mapping[str, Any]) -> answers.Feedback:
    given = form.get("approach_feedback")
    return given if isinstance(given, Mapping) else {}


def _findings_path(plan: Plan, specialist: str) -> str:
    return os.path.join(plan.findings_dir, valid(specialist) + _ENDING)


def _list_specialists(plan: Plan) -> list[str]:
    """Files that a command could have written; what else lies there is not ours."""
    found = []
    for name in plan_files.list_file_names(plan.findings_dir, _ENDING):
        try:
            found.append(valid(name))
        except PorchError:
            continue
    return found


def _read_known_findings(path: str, specialist: str) -> Findings:
    text = plan_files.read_file_text(path)
    return Findings(specialist) if text is None else dialect.read_findings(text, path)


def _require_findings(plan: Plan, path: str, specialist: str) -> Findings:
    if not os.path.lexists(path):
        names = ", ".join(_list_specialists(plan)) or "none"
        message = f"{specialist} has not written findings"
        raise FailedError(message, f"specialists with findings: {names}", code="not-found")
    return _read_known_findings(path, specialist)


def _change_findings(path: str, specialist: str, change: Callable[[Findings], Findings]) -> bool:
    """Whether the file is new."""
    is_new = not os.path.lexists(path)
    _replace_findings(path, change(_read_known_findings(path, specialist)))
    return is_new


def _replace_findings(path: str, new: Findings) -> None:
    """What could not be read again is not written."""
    text = plan_files.read_file_text(path)
    result = dialect.render_findings(new) if text is None else _render_changed_file(text, path, new)
    dialect.read_findings(result, path)
    if result != text:
        plan_files.write_file(path, result)


def _render_changed_file(text: str, path: str, new: Findings) -> str:
    from porch.plan.findings import findings_edit

    return findings_edit.render_changed_findings(text, path, new)


def _check_one_path(plan: Plan, name: str) -> str:
    """Blank names are dropped where people list them; here somebody wrote one down."""
    found: Sequence[str] = check_project_paths(plan.where, [name])
    if not found:
        fix = "write paths from the root of the project, such as src/app.py"
        raise UsageError(f"{name!r} is not a path in the project", fix, code="bad-path")
    return found[0]


def _approach_line(specialist: str, approach: Approach) -> ApproachLine:
    return ApproachLine(
        specialist=specialist,
        approach_id=str(approach.id),
        number=approach.number,
        variant=approach.variant or None,
        description=approach.description,
        relevant_files=list(approach.relevant_files),
    )


def _whole_approach(approach: Approach) -> WholeApproach:
    return WholeApproach(
        approach_id=str(approach.id),
        number=approach.number,
        variant=approach.variant or None,
        description=approach.description,
        relevant_files=list(approach.relevant_files),
        user_addressed_questions=[
            AddressedQuestion(question=each.question, answer=each.answer)
            for each in approach.answers
        ],
        user_requested_changes=approach.user_requested_changes,
        pending_refinement=approach.user_requested_changes,
        approach_detail=approach.detail,
    )
