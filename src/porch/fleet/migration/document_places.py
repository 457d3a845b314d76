"""Where the documents of an old project belong: where the protocol of its run looks for them."""

import os
from collections.abc import Iterator, Mapping

from porch.model.artifact_names import (
    PROJECT_DIR,
    TOP,
    Values,
    fill_name,
    has_wildcard,
    list_alternatives,
    list_variables,
    make_values,
    name_new_file,
    split_pattern,
)
from porch.model.protocol import Agent, Protocol
from porch.run.definitions.subject_names import RunSubject


def place_documents(
    protocol: Protocol, about: RunSubject, documents: Mapping[str, str]
) -> dict[str, str]:
    """For each document its new path; it is the old one where the protocol looks for it there."""
    values = make_values(about.id, about.title, about.project_dir)
    names = list(dict.fromkeys(_list_names(protocol)))
    return {old: _place_document(names, values, old, new) for old, new in documents.items()}


def _list_names(protocol: Protocol) -> Iterator[str]:
    for state in protocol.states.values():
        if isinstance(state.actor, Agent):
            yield from state.actor.artifacts


def _place_document(names: list[str], values: Values, old: str, new: str) -> str:
    """The directory of the project is preferred; what no name means goes there, too."""
    for path in (new, old):
        if any(_fits(each, path, values) for name in names for each in list_alternatives(name)):
            return path
    for name in names:
        path = os.path.normpath(name_new_file(list_alternatives(name)[0], values))
        is_own = bool({"PROJECT_ID", "PROJECT_TITLE"}.intersection(list_variables(name)))
        if is_own and not has_wildcard(path) and os.path.dirname(path) == os.path.dirname(old):
            return path
    return new


def _fits(name: str, path: str, values: Values) -> bool:
    if has_wildcard(name):
        pattern = name if name.startswith(TOP) else f"{PROJECT_DIR}{name}"
        return split_pattern(pattern, values)[1].fullmatch(path) is not None
    return os.path.normpath(fill_name(name, values)) == path
