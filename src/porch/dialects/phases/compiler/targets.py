"""Words that lead somewhere: phases, states, plan phases, `complete`, `next_phase` and null."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from porch.dialects.phases.compiler.protocol_draft import COMPLETE
from porch.dialects.phases.compiler.stages import PhaseLayout, Stage
from porch.dialects.phases.file_records import SignalRecord
from porch.dialects.phases.mapping_reader import Findings, did_you_mean
from porch.errors import Finding
from porch.model.protocol import Exit, Target
from porch.text.late_pattern import late_pattern
from porch.text.nodes import ScalarNode

VERIFY = "verify"  # how build-and-verify files call the phase's own reviewers
ONWARD_WORDS = ("next_phase", "next_phase_or_review", "next", VERIFY)
AGAIN_WORDS = ("current_phase", "retry")
ESCALATE = "escalate"
_ITEM = late_pattern(r"phase_[A-Za-z0-9_-]+")
# onward: as the phase says; via: to a later stage, past the checks; leave: as the phase says, then
# out to this target; direct: straight to the target, because nothing is claimed to be finished.
RouteKind = Literal["onward", "via", "leave", "direct"]


class ResolvedTarget(Struct, frozen=True):
    """`onward` is the phase's own way; otherwise a target, and how far along it lies."""

    target: Target = Target()
    onward: bool = False
    phase: int = -1
    stage: str = ""


class ExitRoute(Struct, frozen=True):
    """An exit of an agent and where it leads."""

    exit: Exit
    manner: RouteKind = "onward"
    target: Target = Target()
    signal: SignalRecord | None = None

    @property
    def is_forward(self) -> bool:
        return self.manner != "direct"


class PhaseLookup(Struct, frozen=True):
    """All phases of a file, to look words up in."""

    layouts: Mapping[str, PhaseLayout]
    order: tuple[str, ...]
    ends: frozenset[str]
    findings: Findings

    def goal(self, word: ScalarNode, here: PhaseLayout | None, what: str) -> ResolvedTarget | None:
        """Where a word leads from a phase; a finding and nothing if it leads nowhere."""
        found = self.find_goal(word, here)
        if found is None:
            self._report(word, here, what)
        return found

    def find_goal(self, word: ScalarNode, here: PhaseLayout | None) -> ResolvedTarget | None:
        return self._special(word, here) or self._stage(word, here) or self._phase(word)

    def _special(self, word: ScalarNode, here: PhaseLayout | None) -> ResolvedTarget | None:
        text, end = word.text, ResolvedTarget(COMPLETE, phase=len(self.order))
        if word.kind == "null":
            return end
        if text in self.layouts:
            return None
        if text == "complete" or text in self.ends:
            return end
        if here is not None and text in ONWARD_WORDS and here.stage(text) is None:
            return ResolvedTarget(onward=True)
        if here is not None and text in AGAIN_WORDS:
            return ResolvedTarget(Target(here.first), phase=here.index, stage=here.first)
        if here is not None and text == ESCALATE:
            return ResolvedTarget(Target(here.escalated), phase=here.index, stage=here.escalated)
        return None

    def _stage(self, word: ScalarNode, here: PhaseLayout | None) -> ResolvedTarget | None:
        if here is None or word.text in self.layouts:
            return None
        stage = here.stage(word.text)
        gate = here.phase.gate
        if stage is None and gate and word.text in (gate.name, "gate", f"{here.phase.id}:gate"):
            stage = here.gate
        return (
            ResolvedTarget(Target(stage.state), phase=here.index, stage=stage.state)
            if stage
            else None
        )

    def _phase(self, word: ScalarNode) -> ResolvedTarget | None:
        id_, colon, rest = word.text.partition(":")
        layout = self.layouts.get(id_)
        if layout is None:
            return None
        if not colon:
            return ResolvedTarget(Target(layout.first), phase=layout.index, stage=layout.first)
        stage = layout.stage(word.text)
        if stage is not None:
            return ResolvedTarget(Target(stage.state), phase=layout.index, stage=stage.state)
        if layout.loop and _ITEM.fullmatch(rest):
            return ResolvedTarget(
                Target(layout.first, rest), phase=layout.index, stage=layout.first
            )
        return None

    def _report(self, word: ScalarNode, here: PhaseLayout | None, what: str) -> None:
        """Once for each word: what stands at the top of a file is looked up from every phase."""
        if any(f.code == "unknown-state" and f.place == word.place for f in self.findings):
            return
        id_ = word.text.partition(":")[0]
        owner = self.layouts.get(id_)
        known = [*self.layouts, "complete"]
        if owner is not None:
            known = [stage.state for stage in owner.stages]
        elif here is not None:
            known += [stage.name for stage in here.stages if stage.name] + [
                *ONWARD_WORDS[:2],
                ESCALATE,
            ]
        message = f"{what} leads to '{word.text[:80]}', which is not a state of this protocol"
        fix = did_you_mean(word.text, known) or f"known here: {', '.join(known[:20])}"
        self.findings.append(Finding("unknown-state", message, word.place, fix))

    def following(self, here: PhaseLayout) -> Target:
        """What comes after a phase when the file says nothing else."""
        if here.is_last_of_loop:
            return Target(next_of=here.loop)
        return self.behind(here)

    def behind(self, here: PhaseLayout) -> Target:
        """The first state of the next phase in the file."""
        at = self.order.index(here.phase.id) + 1
        if here.phase.id in self.ends or at >= len(self.order):
            return COMPLETE
        layout = self.layouts.get(self.order[at])
        return Target(layout.first) if layout else COMPLETE

    def way(self, word: ScalarNode | None, here: PhaseLayout, what: str) -> Target | None:
        """Where completing a phase leads; back to the loop's beginning means its next item."""
        if word is None:
            return None
        goal = self.goal(word, here, what)
        if goal is not None and goal.stage == here.escalated:
            message = f"{what} leads to a person also when nothing is wrong"
            fix = "write 'escalate' in 'signals', 'on_fail' or 'on_too_complex'; or write a gate"
            self.findings.append(Finding("wrong-value", message, word.place, fix))
            return None
        if goal is None:
            return None
        return self.following(here) if goal.onward else self.looped(goal.target, here)

    def looped(self, target: Target, here: PhaseLayout) -> Target:
        first = self.layouts[here.loop].first if here.loop else None
        if here.is_last_of_loop and target == Target(first or ""):
            return Target(next_of=here.loop)
        return target

    def is_beyond_loop(self, target: Target, here: PhaseLayout) -> bool:
        """Whether a target lies behind all phases of the loop that this phase belongs to."""
        members = [each.index for each in self.layouts.values() if each.loop == here.loop]
        layout = self.layouts.get(target.state.partition(":")[0])
        is_later = layout is not None and layout.index > members[-1]
        return bool(here.loop) and (is_later or target == COMPLETE)

    def leave(self, here: PhaseLayout) -> Target:
        """Where a phase leads when it is done: the gate's word, the transition's, the order's."""
        out = self.declared_way(here) or self.following(here)
        # What comes behind the loop comes when every item is done; the loop itself leads there.
        is_early = here.is_last_of_loop and self.is_beyond_loop(out, here)
        return Target(next_of=here.loop) if is_early else out

    def declared_way(self, here: PhaseLayout) -> Target | None:
        """Where the file says that a phase leads, if it says so."""
        gate = here.phase.gate
        said = gate.next if gate and self.inner_next(here) is None else None
        by_gate = self.way(said, here, f"the gate of '{here.phase.id}'")
        own = self.way(here.phase.ways.on_complete, here, f"phase '{here.phase.id}'")
        return by_gate or own or self.panel_way(here)

    def inner_next(self, here: PhaseLayout) -> Stage | None:
        """The stage of the same phase that `next` of the gate names, if it names one."""
        word = here.phase.gate.next if here.phase.gate else None
        if word is None or word.kind == "null" or word.text in self.layouts:
            return None
        return here.stage(word.text)

    def earlier(self, word: ScalarNode | None, here: PhaseLayout) -> Target | None:
        """Where a word leads, if that lies before this phase."""
        goal = self._phase(word) if word is not None else None
        return goal.target if goal is not None and goal.phase < here.index else None

    def panel_way(self, here: PhaseLayout) -> Target | None:
        """`next` of a consultation that names another phase says where approval leads."""
        panel = here.phase.consultation
        if panel is None or panel.next is None or here.stage(panel.next.text) is not None:
            return None
        if self.earlier(panel.next, here) is not None:
            return None
        return self.way(panel.next, here, f"the consultation of '{here.phase.id}'")
