"""Repairing the plan of a track: what would change is shown, and written only if asked for."""

from difflib import unified_diff

from msgspec import Struct

from porch.dialects.plan_xml.repair import repair_plan_text
from porch.errors import DefinitionError
from porch.run.definitions.track_plans import not_utf8_error
from porch.system import atomic
from porch.system.regular_file import read_whole_file
from porch.text.xml_tree import read_xml


class RepairedPlan(Struct, frozen=True):
    """What a repair does to a file, line by line; nothing if the file is fine."""

    difference: str
    is_written: bool = False


def repair_plan(path: str, *, write: bool) -> RepairedPlan:
    try:
        text = read_whole_file(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8_error(path) from error
    if _is_readable(text, path):
        return RepairedPlan("")
    fresh = repair_plan_text(text)
    # Says what is still wrong, with its place.
    read_xml(fresh, path)
    lines = unified_diff(
        text.splitlines(),
        fresh.splitlines(),
        f"{path} (now)",
        f"{path} (repaired)",
        lineterm="",
        n=1,
    )
    if write:
        atomic.replace_file(path, fresh.encode("utf-8"), sync=True)
    return RepairedPlan("\n".join(lines), write)


def _is_readable(text: str, path: str) -> bool:
    try:
        read_xml(text, path)
    except DefinitionError:
        return False
    return True
