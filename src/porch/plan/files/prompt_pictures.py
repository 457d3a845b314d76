"""The file of a prompt: its text belongs to people and planners, some of its fields to the journal.

A field of the journal that is found changed in a file was edited: the file as it was found is kept
aside, the field is drawn again, and whoever calls hears of it.
"""

import os
from collections.abc import Iterable
from typing import NamedTuple

from porch.errors import PorchError
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import FIELDS, Prompt
from porch.plan.files import front_matter, plan_files, prompt_files
from porch.plan.files.drawn_files import Look, digest_fields, look_at_files
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.files.plan_location import Plan
from porch.plan.files.prompt_files import Fields, PromptFile
from porch.system.clock import Clock

HEADING = "# Approach & Plan"
EDITED = "_edited"


class OpenPrompt(NamedTuple):
    """A prompt that a command is about: what the journal has of it, and its file, read once."""

    prompt: Prompt
    file: PromptFile


def read_open_prompt(desk: LockedPlan, id_: PromptId) -> OpenPrompt:
    """A prompt of the plan whose file can be drawn: what cannot be shown is not recorded."""
    prompt = desk.demand(id_)
    return OpenPrompt(prompt, prompt_files.read_prompt_file(desk.plan, id_))


def stamp_found_file(desk: LockedPlan, id_: PromptId, file: PromptFile) -> None:
    """What a file says before it is drawn for the first time is nobody's edit."""
    _stamp_file(desk, id_, file.page.fields)


def draw_new_file(
    desk: LockedPlan, id_: PromptId, authored: Fields, body: str | None = None
) -> None:
    """The first file of a prompt, with its fields in the order in which people read them."""
    ours = prompt_files.journal_fields(id_, desk.prompts[id_])
    fields = {"number": 0, "variant": None, **prompt_files.AUTHORED, **authored, **ours}
    plan_files.write_file(
        prompt_files.prompt_path(desk.plan, id_),
        front_matter.render_new_page(fields, body or HEADING),
    )
    _stamp_file(desk, id_, ours)


def draw_file(
    desk: LockedPlan,
    id_: PromptId,
    file: PromptFile,
    *,
    authored: Fields | None = None,
    body: str | None = None,
) -> None:
    """The file as a command has read it, with our fields drawn anew, and with what is new in it."""
    ours = prompt_files.journal_fields(id_, desk.prompts[id_])
    text = front_matter.render_changed_page(
        file.text, file.path, {**ours, **(authored or {})}, file.page
    )
    text = text if body is None else front_matter.render_with_body(text, file.path, body)
    if text != file.text:
        plan_files.write_file(file.path, text)
    _stamp_file(desk, id_, ours)


def redraw_file(desk: LockedPlan, id_: PromptId, authored: Fields) -> None:
    """The same for who has not read the file yet, which need not be there."""
    file = prompt_files.find_prompt_file(desk.plan, id_)
    if file is None:
        draw_new_file(desk, id_, authored)
    else:
        draw_file(desk, id_, file, authored=authored)


def refresh_files(desk: LockedPlan, ids: Iterable[PromptId]) -> None:
    """Bring our fields in these files up to date; one that nobody has touched is not opened.

    One broken file keeps nobody from the others; who needs it hears all of it.
    """
    known, names = desk.prompts, {str(id_): id_ for id_ in ids}
    directory = desk.plan.prompts_dir
    paths = {name: os.path.join(directory, f"{name}.md") for name in names}
    looks = look_at_files(paths, Clock().wall(), {name: known[id_] for name, id_ in names.items()})
    for name in desk.drawn.touched(looks):
        try:
            _refresh_file(desk, names[name], looks[name])
        except PorchError as error:
            _add_note(desk, str(error))
    desk.drawn.save()


def _add_note(desk: LockedPlan, text: str) -> None:
    if text not in desk.notes:
        desk.notes.append(text)


def _refresh_file(desk: LockedPlan, id_: PromptId, look: Look) -> None:
    """Draw our fields again, and say so if somebody else has changed them."""
    file = prompt_files.find_prompt_file(desk.plan, id_)
    if file is None:
        _add_note(desk, f"the file of prompt {id_} is gone; the journal still has its history")
        return
    wanted, found = prompt_files.journal_fields(id_, desk.prompts[id_]), file.page.fields
    if not all(found.get(name, _UNKNOWN) == value for name, value in wanted.items()):
        _keep_edit(desk, id_, file.path, found)
        plan_files.write_file(
            file.path, front_matter.render_changed_page(file.text, file.path, wanted, file.page)
        )
        look = []
    desk.drawn.stamp(str(id_), _digest_journal_fields(wanted), look)


_UNKNOWN = object()


def _keep_edit(desk: LockedPlan, id_: PromptId, path: str, found: Fields) -> None:
    """Fields that we did not draw like this were changed by somebody."""
    if desk.drawn.has_sum(str(id_), _digest_journal_fields(found)):
        return
    aside = plan_files.copy_aside(path, os.path.join(desk.plan.prompts_dir, EDITED))
    desk.notes.append(
        f"fields of prompt {id_} were changed by hand; the change is ignored; "
        f"the file as it was is kept as {os.path.relpath(aside, desk.plan.directory)}"
    )


def _stamp_file(desk: LockedPlan, id_: PromptId, fields: Fields) -> None:
    """Of a file that has just been written; how it looks is told once it has rested."""
    desk.drawn.stamp(str(id_), _digest_journal_fields(fields), [])
    desk.drawn.save()


def _digest_journal_fields(fields: Fields) -> str:
    return digest_fields({name: fields.get(name) for name in FIELDS})


def set_file_aside(plan: Plan, id_: PromptId) -> str:
    """Take the file of a prompt out of the plan; nothing of it is lost."""
    path = prompt_files.prompt_path(plan, id_)
    if not os.path.lexists(path):
        return ""
    aside = plan_files.copy_aside(path, os.path.join(plan.prompts_dir, "_archive"))
    os.unlink(path)
    return os.path.relpath(aside, plan.directory)
