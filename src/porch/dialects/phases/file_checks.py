"""The documents that reviewers or a person are asked about are there before anybody is asked.

A document is due in the phase that writes it, if reviewers of that phase read it or its gate is
about it. A phase whose own checks look for the document needs no other check. A name with `**`
means any number of files, so it is no document. Where there may be none, none is due.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from porch.dialects.phases.file_records import DEFAULT_RETRIES, CheckRecord, Phase
from porch.model.artifact_names import is_optional, list_file_words
from porch.model.protocol import Command
from porch.text.nodes import ScalarNode

CHECK = "written_files"
_ABOUT = "The documents of this phase are there and filled in"


def add_file_check(phase: Phase) -> Phase:
    due = tuple(_list_due_files(phase))
    if not due or phase.is_end or any(each.command.name == CHECK for each in phase.checks):
        return phase
    command = Command(CHECK, description=_ABOUT, files=due)
    again = ScalarNode("retry", phase.place)
    record = CheckRecord(command, phase.place, again, DEFAULT_RETRIES, 0)
    return replace(phase, checks=(record, *phase.checks))


def _list_due_files(phase: Phase) -> Iterator[str]:
    asked = phase.artifacts if phase.consultation else ()
    if phase.gate is not None:
        asked = (*asked, *(phase.gate.artifacts or phase.artifacts))
    for name in phase.artifacts:
        is_document = "**" not in name and not is_optional(name)
        if name in asked and is_document and not _is_looked_for(name, phase):
            yield name


def _is_looked_for(name: str, phase: Phase) -> bool:
    """By a check that the phase has to pass and that names the file in its command."""
    records = (*phase.checks, *(phase.verification.checks if phase.verification else ()))
    shells = [each.command.shell for each in records if not each.command.optional]
    return any(word in shell for word in list_file_words(name) for shell in shells)
