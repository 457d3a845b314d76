"""A throw-away repository in which an agent is tried out, by the same turns that a run takes."""

import asyncio
import os
from dataclasses import dataclass, replace
from typing import Any

from porch.adapters import git_command
from porch.adapters.agents.base import Turn
from porch.adapters.agents.events import summary_of
from porch.adapters.settings import Settings
from porch.errors import OutsideError
from porch.machine.state import State
from porch.model.definition import Definition
from porch.operations import trial_tasks as tasks
from porch.runtime import turns
from porch.runtime.clock import Clock
from porch.runtime.roster import Post, Roster
from porch.runtime.world import World

LOGIN = {
    "claude": "run `claude` once and log in, or set ANTHROPIC_API_KEY",
    "codex": "run `codex login`, or set CODEX_API_KEY",
    "gemini": "run `gemini` once and log in, or set GEMINI_API_KEY",
}


@dataclass(frozen=True, slots=True)
class Bench:
    """The throw-away place, and who is asked there."""

    world: World
    post: Post
    work: tasks.Work
    workspace: str
    outside: str
    timeout_s: float

    async def take(self, name: str, prompt: str, **more: Any) -> turns.Taken:
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
        taken = await turns.take(self.world, post, turn, self.timeout_s, 0)
        if isinstance(taken, turns.Stopped):
            raise asyncio.CancelledError
        if taken.outcome.kind == "auth":
            raise _not_logged_in(post, taken.outcome.detail)
        return taken

    def tools_used(self, name: str) -> int:
        """How often a tool was started in a turn that is over."""
        directory = self.world.turn_directory(f"test/{name}")
        path = os.path.join(directory, turns.TRANSCRIPT)
        return summary_of(path, self.post.agent.feed).tools


def _not_logged_in(post: Post, detail: str) -> OutsideError:
    return OutsideError(
        f"the agent '{post.name}' is not logged in: {detail}",
        fix=LOGIN.get(post.kind, "give it its credentials; [agents.NAME] env lets variables pass"),
        code="agent-login",
    )


def world(known: Settings, roster: Roster) -> World:
    """A world without a run, which is all that a turn needs."""
    return World(
        workspace="",
        directory="",
        mark=f"porch-test-{os.getpid()}",
        settings=known,
        roster=roster,
        clock=Clock(),
        state=State,
        definition=_no_definition,
        progress=lambda _effect, _text: None,
    )


def _no_definition() -> Definition:
    raise LookupError("a test of an agent follows no protocol")


def laid_out(empty: World, place: str, timeout_s: float) -> Bench:
    """A repository with one file in a directory that is there and empty."""
    workspace, outside = os.path.join(place, "repository"), os.path.join(place, "outside")
    os.mkdir(workspace)
    os.mkdir(outside)
    work = tasks.drawn()
    with open(os.path.join(workspace, tasks.GIVEN), "w", encoding="ascii") as file:
        file.write(work.given)
    git_command.ask(workspace, "init", "-q", "-b", "main")
    git_command.ask(workspace, "add", "-A")
    identity = ("-c", "user.name=porch", "-c", "user.email=porch@localhost")
    git_command.ask(workspace, *identity, "commit", "-qm", "A place to try an agent")
    printed = git_command.ask(workspace, "hash-object", tasks.GIVEN).strip()
    made = replace(empty, workspace=workspace, directory=os.path.join(place, "run"))
    post = made.roster.worker("", "")
    forbidden = os.path.join(outside, tasks.FORBIDDEN)
    return Bench(made, post, replace(work, printed=printed), workspace, forbidden, timeout_s)
