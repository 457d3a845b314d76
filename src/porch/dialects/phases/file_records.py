"""A phases file as it was written: one record per thing, targets still words with their places."""

from collections.abc import Mapping

from msgspec import Struct, field

from porch.errors import Place
from porch.model.protocol import Command, Finish, Limits
from porch.text.nodes import ScalarNode

DEFAULT_RETRIES = 3
DEFAULT_DELAY_S = 5.0
DEFAULT_ROUNDS = 3
DEFAULT_RESPAWNS = 5
TOO_COMPLEX = "TOO_COMPLEX"  # the signal of `on_too_complex`


class CheckRecord(Struct, frozen=True):
    """A command, and what its failure does; `is_limited` if the file says how often."""

    command: Command
    place: Place
    on_fail: ScalarNode | None = None
    max_retries: int = DEFAULT_RETRIES
    delay_s: float = DEFAULT_DELAY_S
    is_limited: bool = False


class Verification(Struct, frozen=True):
    """Checks whose exhaustion is shown at the gate instead of failing the phase."""

    place: Place
    checks: tuple[CheckRecord, ...]
    max_retries: int = DEFAULT_RESPAWNS


class Consultation(Struct, frozen=True):
    """Who reviews, of what type, how often, and where in the phase; no models: default panel."""

    place: Place
    models: tuple[str, ...]
    review: str = "generic"
    parallel: bool = True
    max_rounds: int = DEFAULT_ROUNDS
    on: ScalarNode | None = None
    next: ScalarNode | None = None
    models_place: Place | None = None
    review_place: Place | None = None
    max_reviewers: int = 0


class GateRecord(Struct, frozen=True):
    """A point where a person decides."""

    place: Place
    name: str = ""
    description: str = ""
    requires: tuple[ScalarNode, ...] = ()
    after: ScalarNode | None = None
    next: ScalarNode | None = None
    artifacts: tuple[str, ...] = ()


class SignalRecord(Struct, frozen=True):
    """A word an agent may end with; `common` ones are not about the end of one phase."""

    name: str
    place: Place
    target: ScalarNode | None = None
    needs_reason: bool = False
    description: str = ""
    common: bool = False


class StepRecord(Struct, frozen=True):
    """A named part of a phase."""

    name: str
    place: Place
    prompt: str = ""
    description: str = ""


class PhaseTargets(Struct, frozen=True):
    """Where a phase leads, as words."""

    on_complete: ScalarNode | None = None
    on_fail: ScalarNode | None = None
    on_all_complete: ScalarNode | None = None


class Phase(Struct, frozen=True):
    """One phase with everything that belongs to it, whichever generation wrote it."""

    id: str
    place: Place
    name: str = ""
    description: str = ""
    prompt: str = ""
    prompt_place: Place | None = None
    artifacts: tuple[str, ...] = ()
    steps: tuple[StepRecord, ...] = ()
    first_step: ScalarNode | None = None
    signals: tuple[SignalRecord, ...] = ()
    is_phased: bool = False
    phases_from: ScalarNode | None = None
    checks: tuple[CheckRecord, ...] = ()
    verification: Verification | None = None
    consultation: Consultation | None = None
    gate: GateRecord | None = None
    ways: PhaseTargets = PhaseTargets()
    commits: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    is_end: bool = False
    may_write: tuple[str, ...] | None = None

    @property
    def title(self) -> str:
        return self.name or self.id


class PhasesFile(Struct, frozen=True):
    """The whole file."""

    name: str
    place: Place
    finish_place: Place
    phases: tuple[Phase, ...]
    version: str = ""
    description: str = ""
    subject: str = "project"
    initial: ScalarNode | None = None
    signals: tuple[SignalRecord, ...] = ()
    phase_completion: tuple[CheckRecord, ...] = ()
    limits: Limits = Limits()
    ends: Mapping[str, Place] = field(default_factory=dict)
    protected: tuple[str, ...] = ()
    is_protecting: bool = False
    finish: Finish = ""
