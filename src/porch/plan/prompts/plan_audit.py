"""What a careful reader would ask about a plan before accepting it; nothing is refused here.

It is shown where a person decides about the plan, and `envoy plan audit` shows it to its author.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from porch.errors import PorchError
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import Prompt, Prompts
from porch.plan.files import plan_snapshot, prompt_files, prompt_pictures
from porch.plan.files.plan_location import Plan
from porch.plan.prompts.dependencies import find_cycles
from porch.store.where import ProjectPaths

_NAMED = 5
_SHOWN = 10
_WRITE = "envoy plan write-prompt"
_DEPEND = "envoy plan update-prompt-dependencies"


class AuditNote(Struct, frozen=True, kw_only=True):
    """One thing to ask about: which prompts, what was seen, and what would settle it."""

    code: str
    prompts: Sequence[str]
    message: str
    suggestion: str


class PlanAudited(Struct, frozen=True, kw_only=True):
    """All of them; a plan without any may still be a bad plan."""

    clean: bool
    notes: Sequence[AuditNote]
    total_prompts: int


class _ReadPrompt(Struct, frozen=True):
    """The words of a prompt that are looked at; `trouble` where its file cannot be read."""

    criteria: str = ""
    context: str = ""
    files: tuple[str, ...] = ()
    trouble: str = ""


_Read = Mapping[PromptId, _ReadPrompt]


def audit_current_plan(where: ProjectPaths) -> PlanAudited:
    found = plan_snapshot.read_current_plan(where)
    notes = audit_plan(found.plan, found.prompts)
    return PlanAudited(clean=not notes, notes=notes, total_prompts=len(found.prompts))


def describe_audit(plan: Plan, prompts: Prompts) -> list[str]:
    """A line for each, as the file of the gate shows them."""
    notes = audit_plan(plan, prompts)
    told = [f"to check: {note.message}" for note in notes[:_SHOWN]]
    more = len(notes) - _SHOWN
    return [*told, *([f"to check: {more} more: envoy plan audit"] if more > 0 else [])]


def audit_plan(plan: Plan, prompts: Prompts) -> list[AuditNote]:
    read = {id_: _read_prompt(plan, id_, prompt) for id_, prompt in prompts.items()}
    return [
        *_list_unreadable(read),
        *_list_unsaid(read),
        *_list_dependencies(prompts),
        *_list_gaps(prompts),
        *_list_shared_files(prompts, read),
        *_list_missing_files(plan, read),
    ]


def _read_prompt(plan: Plan, id_: PromptId, prompt: Prompt) -> _ReadPrompt:
    try:
        file = prompt_files.read_prompt_file(plan, id_)
        fields = prompt_files.prompt_fields(file, id_, prompt)
    except PorchError as error:
        return _ReadPrompt(trouble=error.findings[0].message)
    return _ReadPrompt(
        str(fields["success_criteria"]).strip(),
        file.page.body.strip().removeprefix(prompt_pictures.HEADING.strip()),
        tuple(os.path.normpath(str(name)) for name in fields["relevant_files"]),
    )


def _list_unreadable(read: _Read) -> Iterator[AuditNote]:
    for id_, each in read.items():
        if each.trouble:
            message = f"prompt {id_} cannot be read: {each.trouble}"
            yield _make_note("unreadable", [id_], message, f"write it again: {_WRITE} {id_}")


def _list_unsaid(read: _Read) -> Iterator[AuditNote]:
    readable = {id_: each for id_, each in read.items() if not each.trouble}
    unsaid = [id_ for id_, each in readable.items() if not each.criteria]
    if unsaid:
        message = f"no success criteria: {_name(map(str, unsaid))}"
        yield _make_note("no-criteria", unsaid, message, f'{_WRITE} N --criteria "..."')
    empty = [id_ for id_, each in readable.items() if not each.context]
    if empty:
        message = f"no text that says what is to be done: {_name(map(str, empty))}"
        yield _make_note("no-context", empty, message, f'{_WRITE} N --context "..."')


def _list_dependencies(prompts: Prompts) -> Iterator[AuditNote]:
    numbers = {id_.number for id_ in prompts}
    for id_, prompt in prompts.items():
        gone = [number for number in prompt.depends_on if number not in numbers]
        if gone:
            message = (
                f"prompt {id_} depends on {_name(map(str, gone))}, which the plan does not have"
            )
            yield _make_note("unknown-dependency", [id_], message, f"{_DEPEND} {id_}")
    for ring in find_cycles(prompts):
        way = " -> ".join(map(str, ring))
        mine = [id_ for id_ in prompts if id_.number in ring]
        message = f"prompts depend on each other: {way}"
        yield _make_note("dependency-cycle", mine, message, f"remove one of these with {_DEPEND}")


def _list_gaps(prompts: Prompts) -> Iterator[AuditNote]:
    numbers = {id_.number for id_ in prompts}
    gaps = sorted(set(range(1, max(numbers, default=0) + 1)) - numbers)
    if gaps:
        message = f"numbers without a prompt: {_name(map(str, gaps))}"
        yield _make_note("number-gap", [], message, "check whether a prompt was forgotten")


def _list_shared_files(prompts: Prompts, read: _Read) -> Iterator[AuditNote]:
    """Of prompts that may be worked on at the same time; variants are never both merged."""
    before = _find_ancestors(prompts)
    ids = list(prompts)
    for index, first in enumerate(ids):
        for second in ids[index + 1 :]:
            one, two = first.number, second.number
            is_ordered = one == two or one in before[two] or two in before[one]
            shared = sorted(set(read[first].files) & set(read[second].files))
            if shared and not is_ordered:
                message = f"{first} and {second} may run at once and both name {_name(shared)}"
                fix = f"let one depend on the other: {_DEPEND} {second}"
                yield _make_note("shared-files", [first, second], message, fix)


def _find_ancestors(prompts: Prompts) -> dict[int, set[int]]:
    """Of each number all that come before it, however far."""
    direct: dict[int, set[int]] = {}
    for id_, prompt in prompts.items():
        direct.setdefault(id_.number, set()).update(prompt.depends_on)
    found: dict[int, set[int]] = {}
    for number, first in direct.items():
        seen: set[int] = set()
        ahead = list(first)
        while ahead:
            each = ahead.pop()
            if each not in seen:
                seen.add(each)
                ahead += direct.get(each, ())
        found[number] = seen
    return found


def _list_missing_files(plan: Plan, read: _Read) -> Iterator[AuditNote]:
    """A new file is one, so this only asks; a directory that is missing too is rarely meant."""
    root = plan.where.workspace
    for id_, each in read.items():
        gone = [name for name in each.files if not os.path.lexists(os.path.join(root, name))]
        if gone:
            message = f"prompt {id_} names files that do not exist yet: {_name(gone)}"
            fix = f"if they are not new, correct their paths: {_WRITE} {id_} --files"
            yield _make_note("missing-files", [id_], message, fix)


def _make_note(code: str, ids: Sequence[PromptId], message: str, fix: str) -> AuditNote:
    return AuditNote(code=code, prompts=list(map(str, ids)), message=message, suggestion=fix)


def _name(names: Iterator[str] | Sequence[str]) -> str:
    known = list(names)
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    return ", ".join(known[:_NAMED]) + more
