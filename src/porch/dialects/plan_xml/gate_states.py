"""Confirmations: who is asked, and where each answer leads; nothing but a yes or a waiver goes on.

What is remembered of a gate is its last verdict and nothing else, so that its status can be told
from the memory alone.
"""

from collections.abc import Iterable, Iterator, Sequence

from porch.dialects.plan_xml import stage_texts
from porch.dialects.plan_xml.protocol_draft import ABANDONED, TrackDraft
from porch.dialects.plan_xml.stage_ways import StageWays
from porch.dialects.plan_xml.walk import PlanStage
from porch.model.memory_paths import last_words_path
from porch.model.protocol import AskKind, Guard, Human, Input, Option, Panel
from porch.model.track_names import (
    CONTINUE,
    DONE,
    HelperKind,
    helper_state,
    intent_state,
    rework_state,
    state_name,
)

# How often somebody is asked, counting the first time.
PEOPLE_ATTEMPTS = 5
REVIEW_ATTEMPTS = 3
GAP_ROUNDS = 5
FIXES = ":fixes"  # the budget of rounds that nobody is asked about; none, unless a setting says so
_BUDGETS = (FIXES, ":attempts")
_GATE_EXITS = ("approved", "rejected", "declined", "stopped", "waived", "changes", "undecided")
_HELPER_EXITS = ("approved", "rejected", "declined", "stopped", "waived", "retry")
_HELPERS: tuple[HelperKind, ...] = ("issues", "fallback", "halted")
_WAIVER = Option("waived", "go on without this confirmation; it counts as waived", needs_text=True)
_ABANDON = Option("stopped", "end the run")


def verdict_paths(gate: str) -> Iterator[str]:
    """Everything that a gate and its helpers remember."""
    yield from (f"{gate}.{exit_}" for exit_ in _GATE_EXITS)
    for what in _HELPERS:
        state = helper_state(gate, what)
        yield from (f"{state}.{exit_}" for exit_ in _HELPER_EXITS)


def change_paths(stage: PlanStage) -> tuple[str, ...]:
    """Under which paths it is said what has to change, for whoever changes it."""
    gate = stage.state
    own = f"{gate}.rejected" if stage.kind == "gate" else f"{gate}.changes"
    more = [f"{helper_state(gate, 'halted')}.rejected"]
    if stage.kind == "review":
        more += [f"{helper_state(gate, 'issues')}.retry"]
        more += [f"{helper_state(gate, 'fallback')}.rejected"]
    return (own, *more)


def draw_done(
    draft: TrackDraft, state: str, onward: str, gates: Iterable[PlanStage], ways: StageWays
) -> None:
    """Whoever was sent back and changed nothing does not come to the same question again."""
    for gate in gates:
        halted = (helper_state(gate.state, "halted"), *ways.mates_of(gate))
        for cause in change_paths(gate):
            guards = (Guard(cause, "cause"), Guard(f"{state}.{DONE}.unchanged", "filled"))
            draft.edge(state, DONE, *halted, guards=guards)
    draft.edge(state, DONE, onward)


def draw_gate(
    draft: TrackDraft,
    stage: PlanStage,
    onward: str,
    back: str,
    mates: Sequence[PlanStage],
    paired: Sequence[str] = (),
) -> None:
    """`back` is where a change is made; whoever stands at the same moment is asked again then.

    So is a question that is put at the same time (`paired`).
    """
    ways = _GateWays(draft, stage, onward, back, mates, paired)
    if stage.kind == "gate":
        ways.draw_person()
    else:
        ways.draw_review()
    ways.draw_halted()


class _GateWays:
    def __init__(
        self,
        draft: TrackDraft,
        stage: PlanStage,
        onward: str,
        back: str,
        mates: Sequence[PlanStage],
        paired: Sequence[str],
    ):
        self.draft, self.stage, self.onward, self.back = draft, stage, onward, back
        self.gate = stage.state
        self.halted = helper_state(self.gate, "halted")
        self.paired = tuple(paired)
        self.message = stage_texts.render_message(stage)
        self.about = stage_texts.describe_node(stage)
        if paired:
            self.about = f"{stage_texts.PAIRED} {self.about}".rstrip()
        self.artifacts = (f"{draft.plan.file_name}#{stage.node.id}",)
        others = (*(mate.state for mate in mates if mate is not stage), *paired)
        self.others = [path for other in others for path in verdict_paths(other)]
        self.shows = tuple(_shown_paths(stage, mates))

    def draw_person(self) -> None:
        options = (
            Option("approved", "confirm, and go on"),
            Option("rejected", "say what has to change; it is changed, and asked again", True),
            Option("declined", "do not go on; nothing is changed"),
            Option("stopped", "stop here and wait for instructions"),
            _WAIVER,
        )
        self._draw_question(self.gate, self.stage.name, options, CONTINUE)
        attempts = self.draft.budget(f"{self.gate}:attempts", PEOPLE_ATTEMPTS - 1, 1)
        self._answer_edges(self.gate, attempts)

    def _draw_question(
        self,
        state: str,
        name: str,
        options: tuple[Option, ...],
        question: str,
        kind: AskKind = "gate",
    ) -> None:
        ask = Human(
            kind,
            name,
            f"{self.message} {question}",
            options,
            self.about,
            self.artifacts,
            self.shows,
            files_of=tuple(_file_paths(self.stage)),
        )
        given = [Input("shown", path) for path in self.shows if path.startswith("said.")]
        self.draft.add(self.stage, state, ask, name, given)

    def _answer_edges(self, state: str, attempts: str) -> None:
        """Of a question that can be answered with yes, with changes, with no, and with stop."""
        self._pass_edge(state, "approved")
        self._back_edge(state, "rejected", attempts)
        for exit_ in ("declined", "stopped"):
            self.draft.edge(state, exit_, self.halted, forgets=self._forgotten(state, exit_))
        self._pass_edge(state, "waived")

    def _pass_edge(self, state: str, exit_: str) -> None:
        self.draft.edge(state, exit_, self.onward, forgets=self._forgotten(state, exit_))

    def _back_edge(self, state: str, exit_: str, charges: str = "") -> None:
        """To whoever changes it; a confirmation of what is changed now counts no more."""
        forgets = (*self._forgotten(state, exit_), *self.others)
        self._draw_back(state, exit_, charges, self.halted if charges else "", forgets)

    def _draw_back(
        self, state: str, exit_: str, charges: str, spent: str, forgets: Iterable[str]
    ) -> None:
        """What is put at the same time is withdrawn: it is about work that changes now."""
        self.draft.edge(
            state,
            exit_,
            self.back,
            charges=charges,
            spent=(spent, *self.paired) if spent else (),
            forgets=forgets,
            is_alone=bool(self.paired),
        )

    def _forgotten(self, state: str, exit_: str) -> list[str]:
        keeps = {f"{state}.{exit_}"}
        if state != self.gate:
            keeps.add(f"{self.gate}.changes" if exit_ in ("retry", "stopped") else "")
        return [path for path in verdict_paths(self.gate) if path not in keeps]

    def draw_review(self) -> None:
        stage, draft, gate = self.stage, self.draft, self.gate
        # By the name of the gate, so that no two of a node keep their rounds in one file.
        panel = Panel((stage.agent,), stage.name, stage.name, 1, form="issues")
        inputs = [
            Input("What was found before", f"{gate}.changes"),
            *(Input("What was said to that", p) for p in self.shows if p.startswith("said.")),
        ]
        draft.add(stage, gate, panel, stage.name, inputs)
        draft.texts[stage.name] = stage_texts.render_review(draft.plan, stage)
        draft.reviewers.setdefault(stage.agent, stage.node.place)
        fixes = draft.budget(f"{gate}{FIXES}", _fix_rounds(stage))
        issues, fallback = helper_state(gate, "issues"), helper_state(gate, "fallback")
        self._pass_edge(gate, "approved")
        forgets = (*self._forgotten(gate, "changes"), *self.others)
        self._draw_back(gate, "changes", fixes, issues, forgets)
        # Within the round it was asked again already, where that could help.
        draft.edge(gate, "undecided", fallback, forgets=self._forgotten(gate, "undecided"))
        self._draw_issues(issues)
        self._draw_fallback(fallback)

    def _draw_issues(self, state: str) -> None:
        """Blocking issues are shown to a person, who starts the next round or ends the matter."""
        ask = Human(
            "question",
            f"{self.stage.name}:issues",
            f"{self.message} Issues-first report: blocking issues were found.",
            (
                Option("retry", "let them be fixed, and reviewed again"),
                Option("waived", "accept the risk and go on; it counts as waived", needs_text=True),
                Option("stopped", "stop here and wait for instructions"),
            ),
            self.about,
            shows=(f"{self.gate}.changes", *self._work_shown()),
        )
        self.draft.add(self.stage, state, ask, f"{self.stage.name}: blocking issues")
        rounds = self.draft.budget(f"{self.gate}:attempts", REVIEW_ATTEMPTS - 1, 1)
        self._back_edge(state, "retry", rounds)
        self._pass_edge(state, "waived")
        self.draft.edge(state, "stopped", self.halted, forgets=self._forgotten(state, "stopped"))

    def _work_shown(self) -> Iterator[str]:
        """What the issues are about; before the work there is nothing to look at."""
        return _work_paths(self.stage) if self.stage.moment == "after" else iter(())

    def _draw_fallback(self, state: str) -> None:
        """A reviewer who does not come to a report leaves it to a person."""
        options = (
            Option("approved", "confirm it in the reviewer's place, and go on"),
            Option("rejected", "say what has to change; then it is reviewed again", True),
            Option("declined", "do not go on; nothing is changed"),
            Option("stopped", "stop here and wait for instructions"),
            _WAIVER,
        )
        question = f"The reviewer gave no report. {CONTINUE}"
        self.shows = (f"{self.gate}.undecided", *self.shows)
        name = f"{self.stage.name}:fallback"
        self._draw_question(state, name, options, question, "undecided")
        self._answer_edges(state, f"{self.gate}:attempts")

    def draw_halted(self) -> None:
        """Declined, stopped, out of attempts, or nothing changed: only a person goes on."""
        gate, halted, draft = self.gate, self.halted, self.draft
        ask = Human(
            "failure",
            f"{self.stage.name}:halted",
            f"{self.stage.name} is not confirmed, and the run waits for instructions",
            (
                Option("retry", "ask again"),
                Option("rejected", "say what has to change; it is changed, and asked again", True),
                _WAIVER,
                _ABANDON,
            ),
            self.about,
            shows=tuple(dict.fromkeys((*verdict_paths(gate), f"{self.back}.{DONE}"))),
        )
        draft.add(self.stage, halted, ask, f"{self.stage.name}: halted")
        budgets = [name for each in _BUDGETS if (name := f"{gate}{each}") in draft.budgets]
        forgets = self._forgotten(halted, "retry")
        draft.edge(halted, "retry", gate, resets=budgets, forgets=forgets)
        forgets = [*self._forgotten(halted, "rejected"), *self.others]
        paired = bool(self.paired)
        draft.edge(halted, "rejected", self.back, resets=budgets, forgets=forgets, is_alone=paired)
        self._pass_edge(halted, "waived")
        draft.edge(halted, "stopped", ABANDONED)


def _fix_rounds(stage: PlanStage) -> int:
    """Gaps and criteria are closed without asking; issues of a confirmation are shown first."""
    return {"gap": GAP_ROUNDS, "criteria": REVIEW_ATTEMPTS}.get(stage.gate, 0)


def _shown_paths(stage: PlanStage, mates: Sequence[PlanStage]) -> Iterator[str]:
    """What people see of the work: what was done, what was said, and what reviewers noted."""
    if stage.moment == "before":
        yield last_words_path(intent_state(stage.node.id))
    else:
        yield from _work_paths(stage)
    yield from (f"{mate.state}.approved" for mate in mates if mate.kind == "review")


def _work_paths(stage: PlanStage) -> Iterator[str]:
    for state in _work_states(stage):
        yield f"{state}.{DONE}"
        yield last_words_path(state)


def _file_paths(stage: PlanStage) -> Iterator[str]:
    """A consent behind the work is for the files that it changed, beside the words of the plan."""
    if stage.moment == "after":
        yield from (f"{state}.{DONE}" for state in _work_states(stage))


def _work_states(stage: PlanStage) -> Iterator[str]:
    tasks = (stage.task,) if stage.task is not None else stage.phase.tasks
    yield from (state_name(task.id) for task in tasks)
    if stage.task is None:
        yield rework_state(stage.node.id)
