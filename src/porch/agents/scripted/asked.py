"""What a turn of the scripted agent is asked, read from its request.

Loaded with each turn, so it loads neither typing nor msgspec.
"""

from __future__ import annotations

from porch.text.late_pattern import late_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

BAD_SCRIPT = "the script or the request cannot be read"
_PLACEHOLDER = late_pattern(r"\{(project_dir|id|title|item|visit|round|try)\}")


class ScriptedRequest:
    """What is asked; see docs/reference/script.md for who fills it in."""

    def __init__(self, given: Mapping[str, Any]):
        self.effect: str = given["effect"]
        self.kind: str = given.get("kind") or "agent"
        self.state: str = given.get("state") or ""
        self.item: str = given.get("item") or ""
        self.visit = int(given.get("visit") or 1)
        self.try_ = int(given.get("try") or 1)
        self.name: str = given.get("name") or ""
        self.form: str = (given.get("review") or {}).get("form") or "verdict"
        self.round = int((given.get("review") or {}).get("round") or self.visit)
        self.artifacts: list[str] = [each["path"] for each in given.get("artifacts") or ()]
        self.project_dir: str = given.get("project_dir") or "."
        self.legal: list[str] = list(given.get("legal") or ())
        self.session: str = given.get("resume") or _make_session_id(self.effect)
        self.id: str = given.get("id") or ""
        self.title: str = given.get("title") or ""
        self.instance: str = given.get("instance") or ""
        self.turn = int(given.get("turn") or 1)
        self.origin: str = given.get("fork") or ""

    def fill(self, text: str) -> str:
        """Only these names are placeholders; every other brace stays what it is."""
        values = {
            "project_dir": self.project_dir,
            "id": self.id,
            "title": self.title,
            "item": self.item,
            "visit": str(self.visit),
            "round": str(self.round),
            "try": str(self.try_),
        }
        return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _make_session_id(effect: str) -> str:
    from porch.text.sha256 import sha256

    return "scripted-" + sha256(effect.encode()).hexdigest()[:12]
