"""The findings of a plan: what specialists write down, one file each, and what a gate makes of it.

Whoever changes something here holds the lock of the plan; reading needs none.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from porch.adapters import atomic, plan_files
from porch.dialects import approach_list, finding_lines
from porch.dialects import design_manifest as manifest
from porch.dialects import findings as dialect
from porch.errors import DefinitionError, FailedError, Finding, PorchError, UsageError
from porch.model import finding_answers as answers
from porch.model import findings as changes
from porch.model.finding_answers import Answered
from porch.model.findings import Approach, Asked, Findings
from porch.model.prompt_ids import PromptId
from porch.model.prompt_ids import specialist as valid
from porch.operations.plans.paths import project_paths
from porch.operations.plans.place import Plan

_ENDING = ".yaml"
_ARCHIVE = "_archive"
MANIFEST = "manifest.yaml"

Told = dict[str, Any]


def write_finding(plan: Plan, specialist: str, notes: str, approaches: str) -> Told:
    """All that the specialist says, in place of what it said before."""
    path = _path(plan, specialist)
    listed = approach_list.read(approaches, lambda name: _one_path(plan, name))

    def written(old: Findings) -> Findings:
        extras = {each.id: each.extra for each in old.approaches}
        kept = [replace(each, extra=extras.get(each.id, {})) for each in listed]
        return replace(old, notes=notes, approaches=tuple(kept))

    created = _change(path, specialist, written)
    return {
        "specialist": specialist,
        "created": created,
        "updated": not created,
        "approach_count": len(listed),
    }


def write_notes(plan: Plan, specialist: str, notes: str) -> Told:
    path = _path(plan, specialist)
    created = _change(path, specialist, lambda old: changes.with_notes(old, notes))
    return {"specialist": specialist, "created": created, "updated": not created}


def write_approach(
    plan: Plan,
    specialist: str,
    id_: PromptId,
    *,
    description: str,
    context: str | None = None,
    files: str | None = None,
    questions: str | None = None,
) -> Told:
    """Text and files that are not given stay as they were; questions and answers do not."""
    path = _path(plan, specialist)
    if not description.strip():
        fix = "say in a sentence or two what it does: --description TEXT"
        raise UsageError("an approach needs a description", fix, code="missing-description")
    paths = None if files is None else tuple(project_paths(plan.where, files.split(",")))
    asked = tuple(Asked(each.strip()) for each in (questions or "").split("|") if each.strip())
    known = _known(path, specialist)
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
    _change(path, specialist, lambda findings: changes.upserted(findings, new))
    return {
        "specialist": specialist,
        "approach_id": str(id_),
        "approach_number": id_.number,
        "variant": id_.variant or None,
        "created": old is None,
        "updated": old is not None,
    }


def clear_approach(plan: Plan, specialist: str, id_: PromptId) -> Told:
    """One approach; without a letter everything that has the number."""
    path = _path(plan, specialist)
    known = _demand(plan, path, specialist)
    gone = [str(each.id) for each in changes.matching(known, id_)]
    _change(path, specialist, lambda findings: changes.cleared(findings, id_))
    left = len(known.approaches) - len(gone)
    return {"specialist": specialist, "cleared": gone, "remaining_count": left}


def get_approach(plan: Plan, specialist: str, id_: PromptId) -> Told:
    known = _demand(plan, _path(plan, specialist), specialist)
    found = [_whole(each) for each in changes.matching(known, id_)]
    alone = found[0] if len(found) == 1 else None
    return {
        "specialist": specialist,
        "approach_id": alone["approach_id"] if alone else str(id_),
        "approach": alone,
        "approaches": found,
    }


def get_findings(plan: Plan, *, full: bool = False) -> Told:
    known = read_all(plan)
    rows = [
        {"specialist": each.specialist, **_short(approach)}
        for each in known
        for approach in each.approaches
    ]
    whole = [
        {
            "specialist": each.specialist,
            "notes": each.notes,
            "approaches": [_whole(approach) for approach in each.approaches],
        }
        for each in known
    ]
    return {"approaches": rows, "specialists": whole if full else []}


def read_design_manifest(plan: Plan, file: str = "") -> Told:
    """The pictures there are; with a name that one, as the manifest calls it or without folders."""
    path = os.path.join(plan.design_dir, MANIFEST)
    text = plan_files.text(path)
    designs = () if text is None else manifest.read(text, path)
    wanted = [each for each in designs if file in ("", each.file, os.path.basename(each.file))]
    return {
        "exists": text is not None,
        "directory": plan.design_dir,
        "designs": [each._asdict() for each in wanted],
    }


def read_all(plan: Plan) -> tuple[Findings, ...]:
    """Those of every specialist, by name; all that is wrong in any of their files is told."""
    known: list[Findings] = []
    problems: list[Finding] = []
    for name in _names(plan):
        try:
            known.append(_known(_path(plan, name), name))
        except DefinitionError as error:
            problems.extend(error.findings)
    if problems:
        raise DefinitionError(problems)
    return tuple(known)


def complaints(plan: Plan, form: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Why the feedback of the findings gate cannot be taken as it is."""
    return answers.complaints(read_all(plan), _feedback(form))


def settle(plan: Plan, form: Mapping[str, Any]) -> Answered:
    """Bring the findings to what was answered; done again, it finds nothing to do."""
    known = read_all(plan)
    result = answers.answered(known, _feedback(form), again=True)
    for old, new in zip(known, result.findings, strict=True):
        path = _path(plan, new.specialist)
        if len(new.approaches) < len(old.approaches):
            # What a person rejects was somebody's work; only the plan has it no longer.
            plan_files.keep_aside(path, os.path.join(plan.findings_dir, _ARCHIVE))
        if old != new:
            _replace(path, new)
    return result


def archive(plan: Plan) -> list[str]:
    """Put all findings away; returns where they are now, seen from the directory of the plan."""
    moves = _archiving(plan)
    for old, new in moves:
        atomic.ensure_directory(os.path.dirname(new))
        try:
            os.rename(old, new)
        except OSError as error:
            raise atomic.refusal(new, "write", error) from error
    if moves:
        atomic.sync_directory(os.path.dirname(moves[0][1]))
        atomic.sync_directory(plan.findings_dir)
    return [os.path.relpath(new, plan.directory) for _, new in moves]


def archive_names(plan: Plan) -> list[str]:
    """Where the findings will be once they are archived."""
    return [os.path.relpath(new, plan.directory) for _, new in _archiving(plan)]


def _archiving(plan: Plan) -> list[tuple[str, str]]:
    target = os.path.join(plan.findings_dir, _ARCHIVE)
    return [(_path(plan, name), _free(target, name)) for name in _names(plan)]


def _free(directory: str, name: str) -> str:
    number, path = 1, os.path.join(directory, name + _ENDING)
    while os.path.lexists(path):
        number += 1
        path = os.path.join(directory, f"{name}-{number}{_ENDING}")
    return path


def _feedback(form: Mapping[str, Any]) -> answers.Feedback:
    given = form.get("approach_feedback")
    return given if isinstance(given, Mapping) else {}


def _path(plan: Plan, specialist: str) -> str:
    return os.path.join(plan.findings_dir, valid(specialist) + _ENDING)


def _names(plan: Plan) -> list[str]:
    """Files that a command could have written; what else lies there is not ours."""
    found = []
    for name in plan_files.names(plan.findings_dir, _ENDING):
        try:
            found.append(valid(name))
        except PorchError:
            continue
    return found


def _known(path: str, specialist: str) -> Findings:
    text = plan_files.text(path)
    return Findings(specialist) if text is None else dialect.read(text, path)


def _demand(plan: Plan, path: str, specialist: str) -> Findings:
    if not os.path.lexists(path):
        names = ", ".join(_names(plan)) or "none"
        message = f"{specialist} has written no findings"
        raise FailedError(message, f"specialists with findings: {names}", code="not-found")
    return _known(path, specialist)


def _change(path: str, specialist: str, change: Callable[[Findings], Findings]) -> bool:
    """Whether the file is new."""
    is_new = not os.path.lexists(path)
    _replace(path, change(_known(path, specialist)))
    return is_new


def _replace(path: str, new: Findings) -> None:
    """What could not be read again is not written."""
    text = plan_files.text(path)
    result = dialect.write(new) if text is None else finding_lines.changed(text, path, new)
    dialect.read(result, path)
    if result != text:
        plan_files.write(path, result)


def _one_path(plan: Plan, name: str) -> str:
    """Blank names are dropped where people list them; here somebody wrote one down."""
    found: Sequence[str] = project_paths(plan.where, [name])
    if not found:
        fix = "name paths from the root of the project, such as src/app.py"
        raise UsageError(f"{name!r} is no path in the project", fix, code="bad-path")
    return found[0]


def _short(approach: Approach) -> Told:
    return {
        "approach_id": str(approach.id),
        "number": approach.number,
        "variant": approach.variant or None,
        "description": approach.description,
        "relevant_files": list(approach.relevant_files),
    }


def _whole(approach: Approach) -> Told:
    """What readers get: what the specialist asked is between the gate and the user."""
    return {
        **_short(approach),
        "user_addressed_questions": [
            {"question": each.question, "answer": each.answer} for each in approach.answers
        ],
        "user_requested_changes": approach.user_requested_changes,
        "pending_refinement": approach.user_requested_changes,
        "approach_detail": approach.detail,
    }
