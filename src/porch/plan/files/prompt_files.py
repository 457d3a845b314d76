"""Reading the file of a prompt: the words are people's, what counts is the journal's."""

import contextlib
import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from porch.errors import DefinitionError, FailedError, Finding, Place, PorchError
from porch.machine.plan.prompt_ids import PromptId, parse_prompt_id
from porch.machine.plan.prompt_lifecycle import Prompt, as_fields, prompt_from_fields
from porch.plan.files import front_matter, plan_files
from porch.plan.files.front_matter import Page
from porch.plan.files.plan_location import Plan

# The front matter of a file; people may write any fields into it.
Fields = Mapping[str, Any]

# Written by whoever plans; everything else in a prompt's fields is ours.
AUTHORED: Fields = {
    "description": "",
    "relevant_files": [],
    "success_criteria": "",
    "design_files": [],
    "reviews": [],
    "walkthrough": [],
}


def prompt_path(plan: Plan, id_: PromptId) -> str:
    return os.path.join(plan.prompts_dir, f"{id_}.md")


def list_prompt_files(plan: Plan, known: frozenset[str] = frozenset()) -> list[PromptId]:
    """The prompts that have files, but for those whose names are known already.

    A name that is no id, or another spelling of one, is none.
    """
    found = []
    for name in set(plan_files.list_file_names(plan.prompts_dir, ".md")) - known:
        with contextlib.suppress(PorchError):
            id_ = parse_prompt_id([name])
            found += [id_] if str(id_) == name else []
    return sorted(found)


def _read_text(plan: Plan, id_: PromptId) -> str:
    found = plan_files.read_file_text(prompt_path(plan, id_))
    if found is None:
        raise FailedError(
            f"the file of prompt {id_} is gone: {prompt_path(plan, id_)}",
            fix="restore it, or write the prompt again with `envoy plan write-prompt`",
            code="not-found",
        )
    return found


class PromptFile(NamedTuple):
    """The file of a prompt as it was read, and what it says."""

    path: str
    text: str
    page: Page


def read_prompt_file(plan: Plan, id_: PromptId) -> PromptFile:
    path, text = prompt_path(plan, id_), _read_text(plan, id_)
    return PromptFile(path, text, front_matter.read_page(text, path))


def prompt_fields(file: PromptFile, id_: PromptId, prompt: Prompt) -> Fields:
    """All fields of a prompt: those of the file, with ours as the journal has them."""
    written = file.page.fields
    words = {name: _check_field_shape(name, written.get(name), file.path) for name in AUTHORED}
    return {**written, **fields_without_file(id_, prompt), **words}


def fields_without_file(id_: PromptId, prompt: Prompt) -> Fields:
    """All that is known of a prompt without its file."""
    return {**journal_fields(id_, prompt), **AUTHORED}


def journal_fields(id_: PromptId, prompt: Prompt) -> Fields:
    """What its file shows of the journal."""
    return {"number": id_.number, "variant": id_.variant or None, **as_fields(prompt)}


def _check_field_shape(name: str, value: Any, path: str) -> Any:
    """What a person wrote, as whoever reads it takes it; in another shape it could get lost."""
    if value is None:
        return AUTHORED[name]
    if isinstance(AUTHORED[name], str):
        if not isinstance(value, (list, dict)):
            return value if isinstance(value, str) else json.dumps(value)
        raise _wrong_shape_error(path, f"'{name}' must be text")
    if not isinstance(value, list):
        raise _wrong_shape_error(path, f"'{name}' must be a list")
    if name == "walkthrough" and not all(map(_is_entry, value)):
        raise _wrong_shape_error(
            path, "each entry of 'walkthrough' needs the number of its 'iteration'"
        )
    return value


def _is_entry(value: Any) -> bool:
    return isinstance(value, dict) and type(value.get("iteration")) is int


def _wrong_shape_error(path: str, message: str) -> DefinitionError:
    fix = "fix the file; nothing was written"
    return DefinitionError([Finding("bad-front-matter", message, Place(path), fix)])


def planned_prompt(file: PromptFile) -> Prompt:
    """What a prompt that no command wrote says of its plan; what it says was done is nothing."""
    found = file.page.fields
    return prompt_from_fields(
        {
            "kind": "debug" if found.get("kind") == "debug" else "feature",
            "depends_on": _parse_dependencies(found.get("depends_on"), file.path),
            "requires_manual_testing": found.get("requires_manual_testing") is True,
            "planned_at": str(found.get("planned_at") or ""),
        }
    )


def _parse_dependencies(value: Any, path: str) -> list[int]:
    words = [str(each) for each in value] if isinstance(value, list) else [str(value or "")]
    if value is None or value == []:
        return []
    if not all(word.isdecimal() and len(word) < 7 for word in words):
        # A dependency that is left out lets work begin too early.
        raise _wrong_shape_error(path, "'depends_on' must be a list of prompt numbers")
    return list(dict.fromkeys(int(word) for word in words))


def find_prompt_file(plan: Plan, id_: PromptId) -> PromptFile | None:
    """No file, or one that can be changed without a loss."""
    path = prompt_path(plan, id_)
    text = plan_files.read_file_text(path)
    return None if text is None else PromptFile(path, text, front_matter.read_page(text, path))
