"""Everything a handler may know of the world outside: one frozen value, made at the door."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from porch.adapters.agents.base import Agent
from porch.adapters.settings import Settings
from porch.errors import OutsideError
from porch.machine.effects import Shown
from porch.machine.state import State
from porch.model.definition import Definition
from porch.runtime.clock import Clock
from porch.runtime.payloading import expand

# The marks that every effect id has: these alone make no two names alike.
_USUAL = str.maketrans(dict.fromkeys("/:#", "_"))
Progress = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class World:
    """The workspace and directories of one run, its settings, its agent, and who watches."""

    workspace: str
    directory: str
    mark: str
    settings: Settings
    agent: Agent
    clock: Clock
    state: Callable[[], State]
    definition: Callable[[], Definition]
    progress: Progress
    script: str = ""
    subject_text: str = ""
    in_git: bool = False
    environ: Mapping[str, str] | None = None

    def project_file(self, name: str) -> str:
        """A path inside the project directory; one that escapes it is nobody's artifact."""
        path = os.path.join(self.workspace, self.state().run.project_dir, name)
        # Agents can plant links, so what counts is where a path really leads.
        real = os.path.realpath(path)
        if not real.startswith(os.path.realpath(self.workspace) + os.sep):
            raise OutsideError(
                f"{name} leads outside the workspace, to {real}",
                fix="remove the link, or name a file inside the project",
                code="path-escape",
            )
        return real

    def shown(self, shown: tuple[Shown, ...]) -> tuple[Shown, ...]:
        """What an actor gets to see, with texts that are kept by hash whole again."""
        store = self.payload_directory
        return tuple(Shown(each.label, expand(store, each.payload)) for each in shown)

    @property
    def payload_directory(self) -> str:
        return os.path.join(self.directory, "payloads")

    def turn_directory(self, effect: str) -> str:
        """Where the files of one effect lie; its name is the effect's own, made safe."""
        safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in effect)
        if safe != effect.translate(_USUAL):
            # Two names may look alike once they are made safe.
            safe = f"{safe[:100]}-{sha256(effect.encode()).hexdigest()[:12]}"
        path = os.path.join(self.directory, "turns", safe)
        os.makedirs(path, mode=0o700, exist_ok=True)
        return path

    def new_turn_directory(self, effect: str) -> str:
        """The same, empty: after a repair the ids of lost effects are given again."""
        path = self.turn_directory(effect)
        if os.listdir(path):
            number = 1
            while os.path.exists(aside := f"{path}.old-{number}"):
                number += 1
            os.rename(path, aside)
        return self.turn_directory(effect)

    def effect_mark(self, effect: str) -> str:
        """What the environment of every process of an effect carries."""
        return f"{self.mark}:{effect.replace(' ', '_')}"

    def own_paths(self) -> tuple[str, ...]:
        """What porch writes itself; none of it counts as the agent's or the check's work."""
        project = self.state().run.project_dir
        return (
            "codev/projects/*/status*.yaml*",
            "codev/executions/*/status*.yaml*",
            f"{project}/consultation-*.md" if project else "codev/.porch",
            "codev/.porch",
        )
