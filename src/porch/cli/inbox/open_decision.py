"""One decision opened: what is asked and known, what each answer does, and giving an answer.

An approval is for the files as they were shown. Their digest goes with every answer, and if they
are different by then, nothing is recorded and the person reads them again. Files that changed since
porch asked are approved only where the person was shown the difference and confirms it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from porch.cli.inbox.inbox_rows import NAMED
from porch.cli.inbox.opened_row import (
    Action,
    Block,
    OpenedRow,
    RowPage,
    ShownMovedError,
    list_action_blocks,
)
from porch.cli.inbox.run_pages import (
    CHANNEL,
    GONE,
    continue_run,
    make_cost_page,
    make_difference_page,
    make_log_page,
    make_pause,
    make_resume,
    stamp_journal,
)
from porch.errors import UsageError
from porch.machine.approvals import APPROVED
from porch.machine.state import Decision
from porch.model.protocol import TRACK
from porch.plan.gate_files.pending_problems import add_form_problems
from porch.run.decisions import asked_files, decision_evidence
from porch.run.decisions.asked_files import NO_FILES, AskedFile, AskedFiles
from porch.run.decisions.decision_facts import DecisionHistory, ReviewerWords, WorkMeasure
from porch.run.decisions.settled_questions import describe_settled
from porch.run.decisions.shown_files import ASKED, note_shown_files
from porch.run.verbs import decide
from porch.run.verbs.decide import ChangedFilesError, DecisionRequest, FormReader
from porch.run.verbs.liveness import complete_status
from porch.run.verbs.read_run import ReadRun, read_run
from porch.run.verbs.setting_changes import add_setting_changes
from porch.show.board import list_failure_notes
from porch.store import run_drivers
from porch.store.where import ProjectPaths
from porch.web.pages.answers import KINDS, list_answers
from porch.web.pages.chips import list_chips
from porch.web.pages.decision_cards import describe_message

_DOCUMENTS = (".md", ".markdown")
_REPORT_LINES = 30
_LOOKS: Mapping[str, Any] = {"good": "good", "bad": "bad", "warn": "warn"}
# The answer that `a` gives is the first of these that a question has.
_FIRST = ("approved", "answered", "waived", "retry")
_BACK = "rejected"
_VERDICTS = {"APPROVE": "approves", "REQUEST_CHANGES": "asks for changes", "ABSTAIN": "no verdict"}


class ShownDecision(Struct, frozen=True, kw_only=True):
    """A decision as a person was shown it; an answer is for this and nothing else."""

    where: ProjectPaths
    run: ReadRun
    decision: Decision
    told: Mapping[str, Any]
    picture: Mapping[str, Any]
    files: AskedFiles
    history: DecisionHistory
    work: WorkMeasure | None
    read_form: FormReader

    @property
    def changed(self) -> list[str]:
        """The files that are not as they were when porch asked."""
        return [each.path for each in self.files.files if each.change]


def open_decision(where: ProjectPaths, run: str, position: str, read_form: FormReader) -> OpenedRow:
    stamp = stamp_journal(where, run)
    shown = _read_decision(where, run, position, read_form)
    told, state = shown.told, shown.run.state
    kind = KINDS.get(str(told["kind"]), "Decision")
    if told["kind"] in NAMED:
        kind = f"{kind} {told['name']}"
    heading = told.get("heading") or told["title"]
    has_files = bool(shown.files.files)
    pages = [
        RowPage("Overview", "o", lambda: list(_list_overview(shown))),
        *([RowPage("Document", "d", lambda: list(_list_files(shown.files)))] if has_files else []),
        make_difference_page(where, state, list(_list_differences(shown))),
        make_log_page(where, run, str(told["id"])),
        make_cost_page(shown.picture),
    ]
    return OpenedRow(
        title=f"{told['id']}  {heading}  ·  {kind}",
        sentence=describe_message(told),
        warning=_describe_changed(shown),
        pages=tuple(pages),
        first_page=next(n for n, p in enumerate(pages) if p.key == "f") if shown.changed else 0,
        actions=tuple(_list_actions(shown)),
        watch=lambda: _find_news(shown, stamp),
    )


def _read_decision(
    where: ProjectPaths, run: str, position: str, read_form: FormReader
) -> ShownDecision:
    found = read_run(where, run)
    protocol, state = found.definition.protocol, found.state
    decision = state.decisions.get(position)
    if decision is None:
        said = describe_settled(protocol, state, position)
        raise UsageError(said or f"{run} no longer asks this", code="not-asked")
    picture = found.picture()
    decisions = complete_status(where, run, picture)["decisions"]
    told = next(each for each in decisions if each["position"] == position)
    add_form_problems(where, [told])
    add_setting_changes(where, [told])
    history = decision_evidence.read_history(where, protocol, state, decision)
    last = history.last_round
    rejected = last.artifacts if last and last.answer not in APPROVED else NO_FILES
    files = asked_files.read_asked_files(where, state, decision, rejected)
    note_shown_files(where, state, decision, {each.path: each.digest for each in files.files})
    return ShownDecision(
        where=where,
        run=found,
        decision=decision,
        told=told,
        picture=picture,
        files=files,
        history=history,
        work=decision_evidence.measure_work(where, protocol, state, decision),
        read_form=read_form,
    )


def _describe_changed(shown: ShownDecision) -> str:
    if not shown.changed:
        return ""
    return f"{', '.join(shown.changed)} changed since {ASKED}. Read the difference."


def _list_overview(shown: ShownDecision) -> Iterator[Block]:
    told = shown.told
    sentence = describe_message(told)
    # Of a gate the question is only its name once more.
    question = "" if told["kind"] == "gate" else told["question"]
    remarks = (question, told["description"], *str(told["reason"]).split("\n"))
    for text in dict.fromkeys(str(each).strip() for each in remarks if each):
        if text and text != sentence:
            yield Block("text", text)
    for key, front in (("problems", "Your answer cannot be used yet: "), ("settings", "")):
        for text in told.get(key) or ():
            yield Block("warn", f"{front}{text}")
    for chip in list_chips(told, shown.work):
        more = f" ({chip['more']})" if chip["more"] else ""
        yield Block(_LOOKS.get(chip["look"], "plain"), f"{chip['text']}{more}")
    if shown.run.state.paused:
        yield Block("warn", "This run is paused: after your answer it waits until it is resumed")
    yield from list_action_blocks(list(_list_actions(shown)))
    yield from _list_failure(told)
    yield from _list_findings(told, shown.history.reviewers)
    if request := told.get("request"):
        yield Block("title", "Asked for")
        yield Block("quote", "\n".join(request))
    if paths := [each.path for each in shown.files.files]:
        yield Block("title", "Files to read")
        front = f"{told['worktree']}/" if told.get("worktree") else ""
        yield Block("quote", "\n".join(f"{front}{path}" for path in paths))


def _list_failure(told: Mapping[str, Any]) -> Iterator[Block]:
    if failure := told.get("failure"):
        yield Block("title", "Why it failed")
        for note in list_failure_notes(failure):
            yield Block("text", note)
    for name, report in (told.get("reports") or {}).items():
        yield Block("title", name)
        yield Block("quote", "\n".join(str(report).strip().splitlines()[-_REPORT_LINES:]))


def _list_findings(told: Mapping[str, Any], reviewers: Sequence[ReviewerWords]) -> Iterator[Block]:
    """Reviewers in their own words; of others what they found."""
    for each in reviewers:
        look = "good" if each.verdict == "APPROVE" else "warn"
        yield Block("title", f"Review of {each.name}")
        verdict = _VERDICTS.get(each.verdict, each.verdict)
        said = ": ".join(filter(None, (verdict, each.why or each.summary)))
        yield Block(_LOOKS[look], said)
        for finding in each.findings:
            yield Block("text", f"- {finding}")
    names = {each.name for each in reviewers}
    others = [each for each in told.get("findings") or () if each["by"] not in names]
    if others:
        yield Block("title", "Findings")
    for found in others:
        yield Block("text", f"{found['by']}: {found['finding']}")


def _list_files(files: AskedFiles) -> Iterator[Block]:
    for file in files.files:
        yield Block("title", file.path)
        if file.trouble:
            yield Block("warn", file.trouble)
        elif file.text:
            is_document = file.path.lower().endswith(_DOCUMENTS)
            yield Block("document" if is_document else "quote", file.text)
        else:
            yield Block("plain", "This file is empty.")


def _list_differences(shown: ShownDecision) -> Iterator[Block]:
    """What changed since porch asked, and since the round before or an approval."""
    for file in shown.files.files:
        yield from _list_file_changes(file)
    for path, text in (shown.told.get("difference") or {}).items():
        yield Block("title", f"{path}: what changed since its approval")
        yield Block("difference", text)


def _list_file_changes(file: AskedFile) -> Iterator[Block]:
    if file.change:
        yield Block("title", f"{file.path}: changed since {ASKED}")
        yield Block("difference", file.change)
    elif file.difference:
        yield Block("title", f"{file.path}: what is different since {file.since}")
        yield Block("difference", file.difference)


def _list_actions(shown: ShownDecision) -> Iterator[Action]:
    """The answers in the order of the protocol, each with a key; then the run itself."""
    answers = list(list_answers(shown.told))
    given = [str(each["answer"]) for each in answers]
    first = next((each for each in _FIRST if each in given), "")
    keys = {first: "a", _BACK: "s"}
    for number, each in enumerate(answers, 1):
        answer = str(each["answer"])
        is_changed = each["is_approval"] and bool(shown.changed)
        changed = f"{', '.join(shown.changed)} changed since {ASKED}."
        yield Action(
            key=keys.get(answer, str(number)),
            label=str(each["verb"]),
            effect=str(each["effect"]),
            takes_text=bool(each["needs_text"]),
            needs_text=bool(each["needs_text"]),
            text_label=str(each["text_label"]),
            question=f"{changed} {each['verb']} as it is now?" if is_changed else "",
            perform=lambda text, each=each: give_answer(shown, each, text),  # type: ignore[misc]
        )
    yield from _list_run_actions(shown)


def _list_run_actions(shown: ShownDecision) -> Iterator[Action]:
    if shown.run.state.paused:
        yield make_resume(shown.where, shown.run.name)
    elif run_drivers.find_driver(shown.where.run_dir(shown.run.name)).holder is not None:
        yield make_pause(shown.where, shown.run.name)


def give_answer(shown: ShownDecision, choice: Mapping[str, Any], text: str) -> str:
    """What came of it; nothing is recorded for other files than those that were shown."""
    answer = str(choice["answer"])
    where, run, decision = shown.where, shown.run.name, shown.decision
    state = read_run(where, run).state
    if decision.position not in state.decisions:
        said = describe_settled(shown.run.definition.protocol, state, decision.position)
        raise UsageError(f"{said} Nothing was changed.", code="not-asked")
    if asked_files.digest_asked_files(where, state, decision) != shown.files.digest:
        raise ShownMovedError(
            "the files changed after they were shown, so nothing was recorded",
            fix="read them again, then decide",
        )
    is_accepted = answer in APPROVED and bool(shown.changed)
    request = DecisionRequest(
        answer, text, digest=shown.files.digest, channel=CHANNEL, accept_changes=is_accepted
    )
    try:
        done = decide.decide_question(
            where, run, decision.position, request, read_form=shown.read_form
        )
    except ChangedFilesError as error:
        raise ShownMovedError(error.message, fix="read the difference, then decide") from error
    told = [f"{done.message}."]
    if not done.notice and shown.told["kind"] not in NAMED:
        told = ["Answered." if answer == "answered" else f"Answered: {choice['verb']}."]
    if shown.run.definition.protocol.subject == TRACK:
        from porch.track.plan_picture import draw_track_of

        told += draw_track_of(where, run)
    if done.notice:
        return " ".join([*told, "Nothing was changed."])
    return " ".join(filter(None, [*told, *done.notes, continue_run(where, run)]))


def _find_news(shown: ShownDecision, stamp: tuple[int, int] | None) -> str:
    """What is different since it was shown; empty if a person can still answer this."""
    where, run, decision = shown.where, shown.run.name, shown.decision
    now = stamp_journal(where, run)
    if now is None:
        return GONE
    if now != stamp:
        state = read_run(where, run).state
        if decision.position not in state.decisions:
            protocol = shown.run.definition.protocol
            said = describe_settled(protocol, state, decision.position)
            return said or "This is no longer asked."
    if asked_files.digest_asked_files(where, shown.run.state, decision) != shown.files.digest:
        return "The files changed after they were shown. Press u to read them again."
    return ""
