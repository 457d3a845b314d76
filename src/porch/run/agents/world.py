"""Everything a handler may know of the world outside: one frozen value, made at the door."""

import os
from collections.abc import Callable, Mapping

from msgspec import Struct

from porch.agents.environment import scrub_environment
from porch.errors import OutsideError
from porch.machine.effects import QuotedInput
from porch.machine.state import RunState, Standing
from porch.model.definition import Definition
from porch.run.agents.roster import EmployedAgent, Roster
from porch.run.engine import run_places
from porch.run.settings import Settings
from porch.store.large_payloads import expand_payloads
from porch.store.worktree_records import PORT_VARIABLE, WorktreeRecord
from porch.system.clock import Clock
from porch.text.sha256 import sha256

Progress = Callable[[str, str], None]


class World(Struct, frozen=True):
    """The workspace and directories of one run, its settings, its agent, and who watches."""

    workspace: str
    directory: str
    mark: str
    settings: Settings
    roster: Roster
    clock: Clock
    state: Callable[[], RunState]
    definition: Callable[[], Definition]
    progress: Progress
    script: str = ""
    subject_text: str = ""
    in_git: bool = False
    environ: Mapping[str, str] | None = None
    secret: str = ""
    worktree: WorktreeRecord | None = None  # where porch made it for this run
    root: str = ""  # the main checkout, where the person works; empty if there is none

    def project_file(self, name: str) -> str:
        """A path inside the project directory; one that escapes it is nobody's artifact."""
        return self.workspace_file(os.path.join(self.state().run.project_dir, name))

    def workspace_file(self, name: str) -> str:
        """A path inside the workspace, as it really leads."""
        path = os.path.join(self.workspace, name)
        # Agents can plant links, so what counts is where a path really leads.
        real = os.path.realpath(path)
        if not real.startswith(os.path.realpath(self.workspace) + os.sep):
            raise OutsideError(
                f"{name} is a link to {real}, outside the workspace",
                fix="remove the link, or use a file inside the project",
                code="path-escape",
            )
        return real

    def post_of(self, role: str, state: str, asked: tuple[str, ...] = ()) -> EmployedAgent:
        """Who does the work of a state, and on what terms."""
        kind = self.definition().protocol.states.get(state)
        return self.roster.worker(role, kind.group if kind else "", asked)

    def shown(self, shown: tuple[QuotedInput, ...]) -> tuple[QuotedInput, ...]:
        """What an actor gets to see, with texts that are kept by hash whole again."""
        store = self.payload_directory
        return tuple(
            QuotedInput(each.label, expand_payloads(store, each.payload)) for each in shown
        )

    @property
    def payload_directory(self) -> str:
        return os.path.join(self.directory, "payloads")

    @property
    def tree_room(self) -> str:
        return run_places.tree_room(self.directory)

    def turn_directory(self, effect: str) -> str:
        """Where the files of one effect lie; its name is the effect's own, made safe."""
        from porch.agents.transcripts import turn_directory_name  # of a turn, not of a drive

        path = os.path.join(self.directory, "turns", turn_directory_name(effect))
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

    def phase_entry_file(self, standing: Standing) -> str:
        """Where it is kept how a phase found the files."""
        group = self.definition().protocol.states[standing.state].group
        name = "\0".join((standing.instance, group, standing.item))
        return os.path.join(self.directory, "phase-entries", sha256(name.encode()).hexdigest()[:20])

    def effect_mark(self, effect: str) -> str:
        """What the environment of every process of an effect carries."""
        return f"{self.mark}:{effect.replace(' ', '_')}"

    def nonce(self, name: str) -> str:
        """A word that nobody could have written down before; empty unless it is asked for."""
        if not self.settings.nonce:
            return ""
        return sha256(f"{self.secret}/{name}".encode()).hexdigest()[:12]

    def check_environment(self) -> dict[str, str]:
        """Of the caller's environment what checks get: they run what agents wrote."""
        environ = self.environ if self.environ is not None else os.environ
        allowed = scrub_environment(environ, self.settings.check_env)
        # Names of ours are never inherited: what a run was not given is not there.
        kept = {k: v for k, v in allowed.items() if not k.startswith(("GIT_", "PORCH_"))}
        return {**kept, **self.port_environment()}

    def port_environment(self) -> dict[str, str]:
        """The first of the ports that only this worktree uses; nothing in a person's checkout."""
        known = self.worktree
        return {PORT_VARIABLE: str(known.port_base)} if known and known.port_base else {}

    def own_paths(self) -> tuple[str, ...]:
        """What porch writes itself; none of it counts as the agent's or the check's work."""
        return run_places.list_own_paths(self.state().run.project_dir)
