"""What `make sabotage` switches off, and who must notice."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Guard:
    """What to cut out of which module, and the test that must notice, wherever it stands."""

    name: str
    module: str
    text: str
    without: str
    test: str
