"""Starting runs and going on with them."""

from porch.adapters.where import Where
from porch.errors import UsageError
from porch.machine import plans
from porch.operations import inputs, specs
from porch.operations.asking import Driven, Wanted, Watch
from porch.operations.beginning import begun
from porch.operations.defining import current
from porch.operations.driving import drive, tidy
from porch.operations.employing import demand_agents
from porch.operations.matching import matching
from porch.operations.names import Subject, subject
from porch.operations.session import held
from porch.runtime import takeover
from porch.runtime.driver import Manner

__all__ = ["Driven", "Wanted", "Watch", "resume", "run"]


def run(where: Where, wanted: Wanted, manner: Manner, watch: Watch) -> Driven:
    """Start a run, or go on with the one of this name; a finished one is left alone."""
    loaded = current(where, wanted.protocol)
    protocol = loaded.demand().protocol
    specs.refuse_words(protocol, wanted)
    wanted = inputs.named(loaded, wanted)
    about = subject(where, protocol.name, protocol.subject, wanted.subject, wanted.title)
    known = _known_run(where, about, wanted)
    if known:
        return resume(where, known, wanted, manner, watch)
    if where.workspace == where.common_dir:
        raise UsageError(
            "a bare repository has no files to work on",
            fix="run it in a worktree: git worktree add ../work",
            code="bare-repository",
        )
    inputs.demand(loaded, wanted)
    demand_agents(where, wanted, protocol, "")
    if protocol.spec:
        # Before anything is written: whatever is wrong with the spec, all of it.
        specs.demand(where, about, protocol, wanted)
    with begun(where, about, loaded, wanted, watch) as started:
        return drive(started, wanted, manner, watch, resumed=False)


def resume(where: Where, name: str, wanted: Wanted, manner: Manner, watch: Watch) -> Driven:
    """Take a run over and go on from the last record."""
    with held(where, name, "porch run") as found:
        state = found.book.state
        if found.book.definition.protocol.subject == plans.NAME:
            raise UsageError(
                f"{state.run.id} has nobody to drive: commands of envoy move it",
                fix="`porch pending` shows what it asks; `envoy plan next` what can be done",
                code="no-driver",
            )
        if wanted.protocol and state.run.protocol != wanted.protocol:
            raise UsageError(
                f"{name} runs {state.run.protocol}, not {wanted.protocol}",
                fix=f"`porch resume {state.run.id}`, or take another id",
                code="other-protocol",
            )
        if state.outcome:
            # A wish that was left too late is still answered, and one that is known goes.
            found.drain()
            tidy(found, watch)
            watch.notice(f"{name} is already {state.outcome}; nothing was changed")
            return Driven(name, "ended", state)
        takeover.refuse_elsewhere(found.raws, state, wanted.take_over)
        demand_agents(where, wanted, found.book.definition.protocol, state.run.agent)
        if wanted.inputs:
            watch.notice("a run keeps the inputs it began with; --input changes nothing here")
        return drive(found, wanted, manner, watch, resumed=True)


def _known_run(where: Where, about: Subject, wanted: Wanted) -> str:
    """The run that is meant: by its name, or by an id alone, padded or not."""
    runs_ = where.runs()
    if about.run in runs_:
        return about.run
    fits = matching(runs_, wanted.subject) if wanted.subject and not wanted.title else []
    mine = [name for name in fits if _kind(name) == _kind(about.run)]
    return mine[0] if len(mine) == 1 else ""


def _kind(name: str) -> str:
    """`tick` of tick_0073_x; nothing for a project."""
    front = name.partition("-")[0]
    return front.partition("_")[0] if "_" in front else ""
