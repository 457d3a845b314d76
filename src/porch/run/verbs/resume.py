"""Going on with a run; apart from starting one, for most commands need no more than this."""

import os

from porch.errors import UsageError
from porch.machine import facts as f
from porch.machine.budgets import DRIVERLESS, PLAN
from porch.machine.state import RunState
from porch.run.agents.turn_grants import distrust_grants_of_lost_turns
from porch.run.drive import takeover
from porch.run.drive.agent_preflight import require_agents
from porch.run.drive.drive import drive_run, remove_finished_work
from porch.run.engine.caller import refuse_agents
from porch.run.engine.drive_options import DriveResult, DriveWatch, RunRequest
from porch.run.engine.driver import DriveManner
from porch.run.engine.run_places import workspace_of
from porch.run.engine.session import hold_run
from porch.run.handlers.products import Products
from porch.run.pinned_settings import load_settings_of_run, read_pinned_settings
from porch.run.trust_requests import require_trust
from porch.run.verbs.lease import lease_of_run
from porch.run.worktrees.restore import restore_run_worktree
from porch.store.where import ProjectPaths


def resume_run(
    where: ProjectPaths,
    name: str,
    wanted: RunRequest,
    manner: DriveManner,
    *,
    watch: DriveWatch,
    products: Products,
    is_whole: bool = True,
) -> DriveResult:
    """Take a run over and go on from the last record; all of its journal is read and checked.

    Only a short command, which has just held the run itself, does without (`is_whole`).
    """
    with hold_run(where, name, "porch run", is_whole=is_whole) as found:
        state = found.book.state
        if found.book.definition.protocol.subject in DRIVERLESS:
            raise _no_driver_error(found.book.definition.protocol.subject, state.run.id)
        if wanted.protocol and state.run.protocol != wanted.protocol:
            raise UsageError(
                f"{name} runs {state.run.protocol}, not {wanted.protocol}",
                fix=f"run `porch resume {name}`, or use another id",
                code="other-protocol",
            )
        if state.outcome:
            # A wish that was left too late is still answered, and one that is known goes.
            found.drain()
            remove_finished_work(found, watch, products)
            watch.notice(f"{name} is already {state.outcome}; nothing was changed")
            return DriveResult(name, "ended", state)
        if set(wanted.trust) - set(state.run.trust):
            pinned = f.SettingsPinned(digest=state.run.settings, trust=wanted.trust)
            found.book.record(pinned)
            state = found.book.state
        for note in distrust_grants_of_lost_turns(where, state):
            watch.notice(note)
        now = load_settings_of_run(where, state)
        require_trust(now.untrusted)
        restore_run_worktree(where, state.run, watch.notice)
        if state.in_hand:
            takeover.refuse_elsewhere(found.records_after(0), state, wanted.take_over)
        governing = read_pinned_settings(where, name, state.run.settings, now)
        require_agents(governing, wanted, found.book.definition.protocol, state.run.agent)
        there = _places_of_run(where, state)
        with lease_of_run(there, name, found.book.definition.protocol):
            pass
        if state.run.commits_nothing and not state.run.base_tree and where.common_dir:
            from porch.run.verbs.start import measure_base  # only of a run that was adopted paused

            refuse_agents(os.environ, wanted.as_person)
            found.book.record(measure_base(there, state))
        if is_whole and not state.run.own_worktree:
            from porch.run.worktrees.checkout_state import describe_checkout  # few work there

            for note in describe_checkout(where, state):
                watch.notice(note)
        if wanted.inputs:
            watch.notice("--input is ignored: a run keeps the inputs it started with")
        return drive_run(found, wanted, manner, watch, products=products, resumed=True)


def _no_driver_error(subject: str, id_: str) -> UsageError:
    if subject == PLAN:
        return UsageError(
            f"{id_} is a plan: it moves only by `envoy` commands",
            fix="`porch pending` shows its open questions, `envoy plan next` what to do next",
            code="no-driver",
        )
    return UsageError(
        f"{id_} is a round of questions: nothing is left to do but to answer them",
        fix=f'read them with `porch pending`, then: porch answer {id_} questions "..."',
        code="no-driver",
    )


def _places_of_run(where: ProjectPaths, state: RunState) -> ProjectPaths:
    """The places of the project as seen from where the run works."""
    there = workspace_of(where, state)
    return ProjectPaths(where.root, there, where.common_dir, where.state_dir, where.base)
