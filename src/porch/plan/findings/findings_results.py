"""What the commands for specialists answer: the keys of their JSON, in its order."""

from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType

from porch.plan.findings.design_manifest import DesignPicture


class FindingWritten(Struct, frozen=True, kw_only=True):
    """All that a specialist says is in its file."""

    specialist: str
    created: bool
    updated: bool
    approach_count: int
    notes: Sequence[str] | UnsetType = UNSET


class NotesWritten(Struct, frozen=True, kw_only=True):
    """What holds for all approaches of a specialist is in its file."""

    specialist: str
    created: bool
    updated: bool
    notes: Sequence[str] | UnsetType = UNSET


class ApproachWritten(Struct, frozen=True, kw_only=True):
    """One approach of a specialist is in its file."""

    specialist: str
    approach_id: str
    approach_number: int
    variant: str | None
    created: bool
    updated: bool
    notes: Sequence[str] | UnsetType = UNSET


class ApproachCleared(Struct, frozen=True, kw_only=True):
    """Approaches that are out of the file of a specialist."""

    specialist: str
    cleared: Sequence[str]
    remaining_count: int
    notes: Sequence[str] | UnsetType = UNSET


WrittenFinding = FindingWritten | NotesWritten | ApproachWritten | ApproachCleared


class AddressedQuestion(Struct, frozen=True, kw_only=True):
    """A question of a specialist that a person has answered."""

    question: str
    answer: str


class WholeApproach(Struct, frozen=True, kw_only=True):
    """What readers get: what the specialist asked is between the gate and the user."""

    approach_id: str
    number: int
    variant: str | None
    description: str
    relevant_files: Sequence[str]
    user_addressed_questions: Sequence[AddressedQuestion]
    user_requested_changes: str
    pending_refinement: str
    approach_detail: str


class FoundApproach(Struct, frozen=True, kw_only=True):
    """One approach, or all variants of a number."""

    specialist: str
    approach_id: str
    approach: WholeApproach | None
    approaches: Sequence[WholeApproach]


class ApproachLine(Struct, frozen=True, kw_only=True):
    """An approach in the list of all."""

    specialist: str
    approach_id: str
    number: int
    variant: str | None
    description: str
    relevant_files: Sequence[str]


class SpecialistFindings(Struct, frozen=True, kw_only=True):
    """All that one specialist found."""

    specialist: str
    notes: str
    approaches: Sequence[WholeApproach]


class AllFindings(Struct, frozen=True, kw_only=True):
    """The approaches of all specialists."""

    approaches: Sequence[ApproachLine]
    specialists: Sequence[SpecialistFindings]


class DesignFiles(Struct, frozen=True, kw_only=True):
    """The pictures of a plan, as its manifest has them."""

    exists: bool
    directory: str
    designs: Sequence[DesignPicture]
