"""A phases file as it was written: one record per thing, targets still words with their places."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from porch.dialects.nodes import Scalar
from porch.errors import Place
from porch.model.protocol import Command, Limits

DEFAULT_RETRIES = 3
DEFAULT_DELAY_S = 5.0
DEFAULT_ROUNDS = 3
DEFAULT_RESPAWNS = 5


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """A command, and what its failure does."""

    command: Command
    place: Place
    on_fail: Scalar | None = None
    max_retries: int = DEFAULT_RETRIES
    delay_s: float = DEFAULT_DELAY_S


@dataclass(frozen=True, slots=True)
class Verification:
    """Checks whose exhaustion is shown at the gate instead of failing the phase."""

    place: Place
    checks: tuple[CheckRecord, ...]
    max_retries: int = DEFAULT_RESPAWNS


@dataclass(frozen=True, slots=True)
class Consultation:
    """Who reviews, of what type, how often, and where in the phase."""

    place: Place
    models: tuple[str, ...]
    review: str = "generic"
    parallel: bool = True
    max_rounds: int = DEFAULT_ROUNDS
    on: Scalar | None = None
    next: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """A point where a person decides."""

    place: Place
    name: str = ""
    description: str = ""
    requires: tuple[Scalar, ...] = ()
    after: Scalar | None = None
    next: Scalar | None = None
    artifacts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Signal:
    """A word an agent may end with; `common` ones stand at the top of the file."""

    name: str
    place: Place
    target: Scalar | None = None
    needs_reason: bool = False
    description: str = ""
    common: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A named part of a phase."""

    name: str
    place: Place
    prompt: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Ways:
    """Where a phase leads, as words."""

    on_complete: Scalar | None = None
    on_fail: Scalar | None = None
    on_all_complete: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase with everything that belongs to it, whichever generation wrote it."""

    id: str
    place: Place
    name: str = ""
    description: str = ""
    prompt: str = ""
    prompt_place: Place | None = None
    artifacts: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    first_step: Scalar | None = None
    signals: tuple[Signal, ...] = ()
    is_phased: bool = False
    phases_from: Scalar | None = None
    checks: tuple[CheckRecord, ...] = ()
    verification: Verification | None = None
    consultation: Consultation | None = None
    gate: Gate | None = None
    ways: Ways = Ways()
    commits: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    is_end: bool = False

    @property
    def title(self) -> str:
        return self.name or self.id


@dataclass(frozen=True, slots=True)
class Definition:
    """The whole file."""

    name: str
    place: Place
    phases: tuple[Phase, ...]
    version: str = ""
    description: str = ""
    subject: str = "project"
    initial: Scalar | None = None
    signals: tuple[Signal, ...] = ()
    phase_completion: tuple[CheckRecord, ...] = ()
    limits: Limits = Limits()
    ends: Mapping[str, Place] = field(default_factory=dict)
