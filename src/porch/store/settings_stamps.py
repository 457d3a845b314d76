"""The settings files as they were when a run pinned its settings.

Lists are read often and quickly. By these stamps they see whether the settings may differ from
those of a run, and only then is it worth comparing them.
"""

from __future__ import annotations

import json
import os

from porch.store.compiled_protocols import are_files_unchanged, stamp_files
from porch.system.regular_file import open_fresh, open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = "settings-files.json"


def write_settings_stamps(directory: str, files: Sequence[str]) -> None:
    path = os.path.join(directory, _NAME)
    with open(f"{path}.{os.getpid()}.tmp", "w", encoding="utf-8", opener=open_fresh) as file:
        json.dump(stamp_files(list(files)), file)
    os.replace(f"{path}.{os.getpid()}.tmp", path)


def may_have_changed(directory: str) -> bool:
    """Also of a run of an earlier release, which has no stamps."""
    try:
        path = os.path.join(directory, _NAME)
        with open(path, encoding="utf-8", opener=open_regular) as file:
            return not are_files_unchanged(json.load(file))
    except (OSError, ValueError, TypeError):
        return True
