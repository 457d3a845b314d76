"""Panels: n reviewers, a quorum, and a person where they do not come to a verdict."""

from porch.dialects.phases.compiler.phase_draft import PhaseDraft
from porch.dialects.phases.compiler.protocol_draft import ABANDONED
from porch.dialects.phases.compiler.stages import Stage
from porch.dialects.phases.file_records import Consultation
from porch.model.memory_paths import last_words_path
from porch.model.protocol import Human, Option, Panel, Target


def quorum_size(reviewers: int) -> int:
    """Two thirds, rounded up."""
    return -(-2 * reviewers // 3)


def undecided_state(bench: PhaseDraft) -> str:
    return f"undecided:{bench.phase.id}"


def draw_panel(bench: PhaseDraft, stage: Stage, said: Consultation) -> None:
    reviewers = len(said.models)
    panel = Panel(
        said.models, said.review, bench.phase.id, quorum_size(reviewers), said.parallel,
        bench.phase.artifacts, is_default=not said.models, max_reviewers=said.max_reviewers,
    )  # fmt: skip
    changes, undecided = f"{stage.state}.changes", Target(undecided_state(bench))
    bench.add(stage.state, panel, said.place)
    bench.draft.places[f"{stage.state}.review"] = said.review_place or said.place
    bench.draft.shown(bench.phase.id, "Findings of the reviewers", changes)
    answer = last_words_path(find_rework_target(bench, stage).state)
    bench.draft.memory_of.setdefault(bench.phase.id, []).append(answer)
    gate = bench.layout.gate_behind_panel
    budget = bench.budget(f"{bench.phase.id}:rounds", said.max_rounds - 1)
    bench.go_on(stage.state, "approved", stage, forgets=(changes,))
    bench.edge(
        stage.state,
        "changes",
        find_rework_target(bench, stage),
        charges=budget,
        spent=Target(gate.state) if gate else undecided,
    )
    bench.edge(stage.state, "undecided", undecided)


def find_rework_target(bench: PhaseDraft, panel: Stage) -> Target:
    """Who mends: the state that `next` names, the reviser, or the last agent before the panel."""
    said = bench.phase.consultation
    word = said.next if said else None
    stage = bench.layout.stage(word.text) if word is not None else None
    if stage is not None and stage.kind == "agent":
        return Target(stage.state)
    earlier = bench.atlas.earlier(word, bench.layout) if stage is None else None
    return earlier or Target(bench.layout.mender(panel).state)


def draw_undecided(bench: PhaseDraft, panel: Stage) -> None:
    state, mender = undecided_state(bench), find_rework_target(bench, panel)
    ask = Human(
        "undecided",
        f"{bench.phase.id}_review",
        f"{bench.phase.title}: too few reviewers gave a verdict",
        (
            Option("retry", "ask the reviewers again"),
            Option("waived", "continue without their verdict", needs_text=True),
            Option("rejected", f"send it back to {mender.state}", needs_text=True),
            Option("stopped", "end the run"),
        ),
        artifacts=bench.phase.artifacts,
        shows=(f"{panel.state}.changes", f"{panel.state}.undecided"),
    )
    budget = f"{bench.phase.id}:rounds"
    bench.add(state, ask, panel.place)
    bench.draft.shown(bench.phase.id, "Rejected by a person", f"{state}.rejected")
    bench.edge(state, "retry", Target(panel.state), resets=(budget,))
    bench.go_on(state, "waived", panel)
    bench.edge(state, "rejected", mender, resets=(budget,))
    bench.edge(state, "stopped", ABANDONED)
