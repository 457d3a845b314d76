"""The file of a prompt: its text belongs to people and planners, some of its fields to the journal.

A field of the journal that is found changed in a file was edited: the file as it was found is kept
aside, the field is drawn again, and whoever calls hears of it.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from porch.adapters import atomic, plan_files
from porch.dialects import front_matter
from porch.dialects.front_matter import Page
from porch.errors import FailedError
from porch.machine.prompts import FIELDS, Prompt, as_fields
from porch.model.prompt_ids import PromptId
from porch.operations.plans.desk import Desk
from porch.operations.plans.place import Plan

HEADING = "# Approach & Plan"
EDITED = "_edited"
# Written by whoever plans; everything else in a prompt's fields is ours.
AUTHORED: Mapping[str, Any] = {
    "description": "",
    "relevant_files": [],
    "success_criteria": "",
    "design_files": [],
    "reviews": [],
    "walkthrough": [],
}


def path_of(plan: Plan, id_: PromptId) -> str:
    return os.path.join(plan.prompts_dir, f"{id_}.md")


def text_of(plan: Plan, id_: PromptId) -> str:
    found = plan_files.text(path_of(plan, id_))
    if found is None:
        raise FailedError(
            f"the file of prompt {id_} is gone: {path_of(plan, id_)}",
            fix="restore it, or write the prompt again with `envoy plan write-prompt`",
            code="not-found",
        )
    return found


def page_of(plan: Plan, id_: PromptId) -> Page:
    return front_matter.read(text_of(plan, id_), path_of(plan, id_))


def fields_of(plan: Plan, id_: PromptId, prompt: Prompt) -> dict[str, Any]:
    """All fields of a prompt: those of the file, with ours as the journal has them."""
    written = page_of(plan, id_).fields
    named = {"number": id_.number, "variant": id_.variant or None}
    return {**named, **AUTHORED, **written, **as_fields(prompt)}


def put(desk: Desk, id_: PromptId, authored: Mapping[str, Any], body: str | None = None) -> None:
    """The file of a prompt with these fields, and with ours drawn anew."""
    path, known = path_of(desk.plan, id_), desk.prompts[id_]
    changes = {"number": id_.number, "variant": id_.variant or None, **authored, **as_fields(known)}
    old = plan_files.text(path)
    if old is None:
        fields = {"number": 0, "variant": None, **AUTHORED, **changes}
        text = front_matter.fresh(fields, body or HEADING)
    else:
        text = front_matter.changed(old, path, changes)
        text = text if body is None else front_matter.with_body(text, path, body)
    if text != old:
        plan_files.write(path, text)
    _stamp(desk, id_, as_fields(known))


def draw(desk: Desk, id_: PromptId) -> None:
    """Bring our fields in a file up to date, and say so if somebody else has changed them."""
    path = path_of(desk.plan, id_)
    old = plan_files.text(path)
    if old is None:
        desk.notes.append(f"the file of prompt {id_} is gone; the journal still has its life")
        return
    wanted = as_fields(desk.prompts[id_])
    found = front_matter.read(old, path).fields
    if all(found.get(name, _UNKNOWN) == value for name, value in wanted.items()):
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
    path = path_of(plan, id_)
    if not os.path.lexists(path):
        return ""
    aside = plan_files.keep_aside(path, os.path.join(plan.prompts_dir, "_archive"))
    os.unlink(path)
    return os.path.relpath(aside, plan.directory)
