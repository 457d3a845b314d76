"""Reading the file of a prompt: the words are people's, what counts is the journal's."""

import contextlib
import json
import os
from collections.abc import Mapping
from typing import Any

from porch.adapters import plan_files
from porch.dialects import front_matter
from porch.dialects.front_matter import Page
from porch.errors import DefinitionError, FailedError, Finding, Place, PorchError
from porch.machine.prompts import Prompt, as_fields, made
from porch.model.prompt_ids import PromptId, parse
from porch.operations.plans.place import Plan

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
    return {**ours(id_, prompt), **AUTHORED}


def ours(id_: PromptId, prompt: Prompt) -> dict[str, Any]:
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


def demand_drawable(plan: Plan, id_: PromptId) -> None:
    """No file, or one that can be changed without a loss."""
    text = plan_files.text(path_of(plan, id_))
    if text is not None:
        front_matter.read(text, path_of(plan, id_))
