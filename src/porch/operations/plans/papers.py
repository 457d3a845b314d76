"""The file of a prompt: its text belongs to people and planners, some of its fields to the journal.

A field of the journal that is found changed in a file was edited: the file as it was found is kept
aside, the field is drawn again, and whoever calls hears of it.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from porch.adapters import atomic, plan_files
from porch.dialects import front_matter
from porch.dialects.front_matter import Page
from porch.errors import DefinitionError, FailedError, Finding, Place, PorchError
from porch.machine.prompts import FIELDS, Prompt, as_fields, made
from porch.model.prompt_ids import PromptId, parse
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


def listed(plan: Plan) -> list[PromptId]:
    """The prompts that have files; a name that is no id, or another spelling of one, is none."""
    found = []
    for name in plan_files.names(plan.prompts_dir, ".md"):
        with contextlib.suppress(PorchError):
            id_ = parse([name])
            found += [id_] if str(id_) == name else []
    return found


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
    words = {name: _shaped(name, written.get(name), path_of(plan, id_)) for name in AUTHORED}
    return {**written, **bare(id_, prompt), **words}


def bare(id_: PromptId, prompt: Prompt) -> dict[str, Any]:
    """All that is known of a prompt without its file."""
    return {**_ours(id_, prompt), **AUTHORED}


def _ours(id_: PromptId, prompt: Prompt) -> dict[str, Any]:
    return {"number": id_.number, "variant": id_.variant or None, **as_fields(prompt)}


def _shaped(name: str, value: Any, path: str) -> Any:
    """What a person wrote, as whoever reads it takes it; in another shape it could get lost."""
    if value is None:
        return AUTHORED[name]
    if isinstance(AUTHORED[name], str):
        if not isinstance(value, (list, dict)):
            return value if isinstance(value, str) else json.dumps(value)
        raise _misshaped(path, f"'{name}' must be a text")
    if not isinstance(value, list):
        raise _misshaped(path, f"'{name}' must be a list")
    if name == "walkthrough" and not all(map(_is_entry, value)):
        raise _misshaped(path, "each entry of 'walkthrough' needs the number of its 'iteration'")
    return value


def _is_entry(value: Any) -> bool:
    return isinstance(value, dict) and type(value.get("iteration")) is int


def _misshaped(path: str, message: str) -> DefinitionError:
    fix = "mend the file; nothing was written"
    return DefinitionError([Finding("bad-front-matter", message, Place(path), fix)])


def planned(plan: Plan, id_: PromptId) -> Prompt:
    """What a prompt that no command wrote says of its plan; what it says was done is nothing."""
    found = page_of(plan, id_).fields
    return made(
        {
            "kind": "debug" if found.get("kind") == "debug" else "feature",
            "depends_on": _numbers(found.get("depends_on"), path_of(plan, id_)),
            "requires_manual_testing": found.get("requires_manual_testing") is True,
            "planned_at": str(found.get("planned_at") or ""),
        }
    )


def _numbers(value: Any, path: str) -> list[int]:
    words = [str(each) for each in value] if isinstance(value, list) else [str(value or "")]
    if value is None or value == []:
        return []
    if not all(word.isdecimal() and len(word) < 7 for word in words):
        # A dependency that is left out lets work begin too early.
        raise _misshaped(path, "'depends_on' must be a list of numbers of prompts")
    return list(dict.fromkeys(int(word) for word in words))


def stamp_found(desk: Desk, id_: PromptId) -> None:
    """What a file says before it is drawn for the first time is nobody's edit."""
    _stamp(desk, id_, page_of(desk.plan, id_).fields)


def demand(desk: Desk, id_: PromptId) -> Prompt:
    """A prompt of the plan whose file can be drawn: what cannot be shown is not recorded."""
    prompt = desk.demand(id_)
    page_of(desk.plan, id_)
    return prompt


def demand_drawable(plan: Plan, id_: PromptId) -> None:
    """No file, or one that can be changed without a loss."""
    text = plan_files.text(path_of(plan, id_))
    if text is not None:
        front_matter.read(text, path_of(plan, id_))


def put(desk: Desk, id_: PromptId, authored: Mapping[str, Any], body: str | None = None) -> None:
    """The file of a prompt with these fields, and with ours drawn anew."""
    path, known = path_of(desk.plan, id_), desk.prompts[id_]
    ours = _ours(id_, known)
    old = plan_files.text(path)
    if old is None:
        # In the order in which people read them.
        fields = {"number": 0, "variant": None, **AUTHORED, **authored, **ours}
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
    path = path_of(desk.plan, id_)
    old = plan_files.text(path)
    if old is None:
        _note(desk, f"the file of prompt {id_} is gone; the journal still has its life")
        return
    wanted = _ours(id_, desk.prompts[id_])
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
    path = path_of(plan, id_)
    if not os.path.lexists(path):
        return ""
    aside = plan_files.keep_aside(path, os.path.join(plan.prompts_dir, "_archive"))
    os.unlink(path)
    return os.path.relpath(aside, plan.directory)
