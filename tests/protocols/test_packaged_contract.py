"""Every protocol in the box, whoever adds it, is found by its name and read without a complaint."""

from pathlib import Path

import pytest

from porch.run.definitions import library
from porch.store.where import find_project

PACKAGED = Path(library.PACKAGED)
NAMES = [
    found.name
    for found in library.list_protocols(find_project(str(PACKAGED)))
    if found.source == "packaged"
]
DIRECTORIES = [path.name for path in PACKAGED.iterdir() if path.is_dir()]


def test_every_directory_of_the_box_holds_a_protocol() -> None:
    told = [name for name in DIRECTORIES if not name.startswith("_") and name != "steps"]
    assert set(told) <= set(NAMES), "a directory without a definition that is found"


@pytest.mark.parametrize("name", NAMES)
def test_a_packaged_protocol_has_no_findings(name: str) -> None:
    found = library.find_protocol(find_project(str(PACKAGED)), name)
    loaded = library.load_protocol(found.file)
    assert [str(finding) for finding in loaded.findings] == []
    assert loaded.demand().protocol.name == name
