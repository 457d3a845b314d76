"""The file of a prompt: its text belongs to people and planners, some of its fields to the journal.

A field of the journal that is found changed in a file was edited: the file as it was found is kept
aside, the field is drawn again, and whoever calls hears of it.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from porch.adapters import atomic, plan_files
from porch.dialects import front_matter
from porch.errors import PorchError
from porch.machine.prompts import FIELDS, Prompt
from porch.model.prompt_ids import PromptId
from porch.operations.plans import pages
from porch.operations.plans.desk import Desk
from porch.operations.plans.place import Plan

HEADING = "# Approach & Plan"
EDITED = "_edited"


def stamp_found(desk: Desk, id_: PromptId) -> None:
    """What a file says before it is drawn for the first time is nobody's edit."""
    _stamp(desk, id_, pages.page_of(desk.plan, id_).fields)


def demand(desk: Desk, id_: PromptId) -> Prompt:
    """A prompt of the plan whose file can be drawn: what cannot be shown is not recorded."""
    prompt = desk.demand(id_)
    pages.page_of(desk.plan, id_)
    return prompt


def put(desk: Desk, id_: PromptId, authored: Mapping[str, Any], body: str | None = None) -> None:
    """The file of a prompt with these fields, and with ours drawn anew."""
    path, known = pages.path_of(desk.plan, id_), desk.prompts[id_]
    ours = pages.ours(id_, known)
    old = plan_files.text(path)
    if old is None:
        # In the order in which people read them.
        fields = {"number": 0, "variant": None, **pages.AUTHORED, **authored, **ours}
        text = front_matter.fresh(fields, body or HEADING)
    else:
        text = front_matter.changed(old, path, {**ours, **authored})
        text = text if body is None else front_matter.with_body(text, path, body)
    if text != old:
        plan_files.write(path, text)
    _stamp(desk, id_, ours)


def draw_all(desk: Desk, ids: Iterable[PromptId]) -> None:
    """One broken file keeps nobody from the others; who needs it hears all of it."""
    for id_ in ids:
        try:
            draw(desk, id_)
        except PorchError as error:
            _note(desk, str(error))


def _note(desk: Desk, text: str) -> None:
    if text not in desk.notes:
        desk.notes.append(text)


def draw(desk: Desk, id_: PromptId) -> None:
    """Bring our fields in a file up to date, and say so if somebody else has changed them."""
    path = pages.path_of(desk.plan, id_)
    old = plan_files.text(path)
    if old is None:
        _note(desk, f"the file of prompt {id_} is gone; the journal still has its life")
        return
    wanted = pages.ours(id_, desk.prompts[id_])
    found = front_matter.read(old, path).fields
    if all(found.get(name, _UNKNOWN) == value for name, value in wanted.items()):
        _stamp(desk, id_, wanted)
        return
    if _sum({name: found.get(name) for name in FIELDS}) != _stamps(desk).get(str(id_)):
        aside = plan_files.keep_aside(path, os.path.join(desk.plan.prompts_dir, EDITED))
        desk.notes.append(
            f"fields of prompt {id_} were changed by hand, which counts for nothing; "
            f"the file as it was is kept as {os.path.relpath(aside, desk.plan.directory)}"
        )
    plan_files.write(path, front_matter.changed(old, path, wanted))
    _stamp(desk, id_, wanted)


_UNKNOWN = object()


def _stamps_file(desk: Desk) -> str:
    return os.path.join(desk.found.directory, "drawn.json")


def _stamps(desk: Desk) -> dict[str, str]:
    text = plan_files.text(_stamps_file(desk))
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _stamp(desk: Desk, id_: PromptId, fields: Mapping[str, Any]) -> None:
    known = _stamps(desk)
    now = _sum({name: fields.get(name) for name in FIELDS})
    if known.get(str(id_)) != now:
        data = json.dumps({**known, str(id_): now}).encode()
        atomic.replace(_stamps_file(desk), data, sync=False)


def _sum(fields: Mapping[str, Any]) -> str:
    data = json.dumps(fields, sort_keys=True, default=str).encode()
    return hashlib.sha256(data).hexdigest()


def put_aside(plan: Plan, id_: PromptId) -> str:
    """Take the file of a prompt out of the plan; nothing of it is lost."""
    path = pages.path_of(plan, id_)
    if not os.path.lexists(path):
        return ""
    aside = plan_files.keep_aside(path, os.path.join(plan.prompts_dir, "_archive"))
    os.unlink(path)
    return os.path.relpath(aside, plan.directory)
