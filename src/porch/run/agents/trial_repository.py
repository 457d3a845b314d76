"""A throw-away repository in which an agent is tried out, by the same turns that a run takes."""

import asyncio
import os
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.agents.port import Turn
from porch.agents.transcripts import read_turn_summary
from porch.errors import OutsideError
from porch.git import command
from porch.machine.state import RunState
from porch.model.definition import Definition
from porch.run.agents import trial_tasks as tasks
from porch.run.agents import turn as turns
from porch.run.agents.roster import EmployedAgent, Roster
from porch.run.agents.world import World
from porch.run.settings import Settings
from porch.system.clock import Clock


class TrialBench(Struct, frozen=True):
    """The throw-away place, and who is asked there."""

    world: World
    post: EmployedAgent
    work: tasks.TrialWords
    workspace: str
    outside: str
    timeout_s: float

    async def take(self, name: str, prompt: str, **more: Any) -> turns.EndedTurn:
        post = replace(self.post, permissions=more.get("permissions", self.post.permissions))
        turn = Turn(
            effect=f"test/{name}",
            prompt=prompt,
            request={},
            workspace=self.workspace,
            directory=self.world.new_turn_directory(f"test/{name}"),
            model=post.model,
            command=post.command,
            env=post.env,
            **{"permissions": post.permissions, **more},
        )
        taken = await turns.run_turn(self.world, post, turn, wall_s=self.timeout_s, idle_s=0)
        if isinstance(taken, turns.StoppedTurn):
            raise asyncio.CancelledError
        if taken.outcome.kind == "auth":
            raise _not_logged_in_error(post, taken.outcome.detail)
        return taken

    def tools_used(self, name: str) -> int:
        """How often a tool was started in a turn that is over."""
        directory = self.world.turn_directory(f"test/{name}")
        path = os.path.join(directory, turns.TRANSCRIPT)
        return read_turn_summary(path, self.post.agent.feed).tools


def _not_logged_in_error(post: EmployedAgent, detail: str) -> OutsideError:
    return OutsideError(
        f"the agent '{post.name}' is not logged in: {detail}",
        fix=post.agent.LOGIN or "log in; [agents.NAME] env names the environment variables it gets",
        code="agent-login",
    )


def make_empty_world(known: Settings, roster: Roster) -> World:
    """A world without a run, which is all that a turn needs."""
    return World(
        workspace="",
        directory="",
        mark=f"porch-test-{os.getpid()}",
        settings=known,
        roster=roster,
        clock=Clock(),
        state=RunState,
        definition=_no_definition,
        progress=lambda _effect, _text: None,
    )


def _no_definition() -> Definition:
    raise LookupError("a test of an agent follows no protocol")


def lay_out_repository(empty: World, place: str, timeout_s: float) -> TrialBench:
    """A repository with one file in a directory that is there and empty."""
    workspace, outside = os.path.join(place, "repository"), os.path.join(place, "outside")
    os.mkdir(workspace)
    os.mkdir(outside)
    work = tasks.draw_words()
    with open(os.path.join(workspace, tasks.GIVEN), "w", encoding="ascii") as file:
        file.write(work.given)
    command.run_git(workspace, "init", "-q", "-b", "main")
    command.run_git(workspace, "add", "-A")
    identity = ("-c", "user.name=porch", "-c", "user.email=porch@localhost")
    command.run_git(workspace, *identity, "commit", "-qm", "A place to try an agent")
    printed = command.run_git(workspace, "hash-object", tasks.GIVEN).strip()
    made = replace(empty, workspace=workspace, directory=os.path.join(place, "run"))
    post = made.roster.worker("", "")
    forbidden = os.path.join(outside, tasks.FORBIDDEN)
    return TrialBench(made, post, replace(work, printed=printed), workspace, forbidden, timeout_s)
