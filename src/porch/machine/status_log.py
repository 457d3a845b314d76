"""The log that people read: what each record meant, in the words of the status file."""

from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.records import JournalRecord
from porch.machine.state import effect_parts

LogEntry = Mapping[str, Any]


def render_log_entries(record: JournalRecord) -> Iterator[LogEntry]:
    """The log entries of one record: its fact, then the change of position it caused."""
    described = _describe_fact(record)
    if described is not None:
        event, details = described
        yield {"ts": record.at, "event": event, **details}
    source = None
    for move in record.moves:
        if isinstance(move, m.Left):
            source = source or position_label(move.position)
        elif isinstance(move, m.Entered):
            yield _state_change_entry(record, source, position_label(move.position))
        elif isinstance(move, m.Ended):
            yield _state_change_entry(record, source, move.outcome)


def _state_change_entry(record: JournalRecord, source: str | None, target: str) -> LogEntry:
    return {"ts": record.at, "event": "state_change", "from": source, "to": target}


# Facts that say nothing by themselves; what they moved may.
_QUIET = (f.RunStarted, f.ItemsRead, f.FeedbackWritten, f.TimerFired, f.CommitEnded)


def has_entries(record: JournalRecord) -> bool:
    """Whether a record has any entries, without writing them."""
    if not isinstance(record.fact, _QUIET):
        return True
    return any(isinstance(move, (m.Entered, m.Ended)) for move in record.moves)


def position_label(position: str) -> str:
    return position.rpartition("#")[0] or position


def _describe_fact(record: JournalRecord) -> tuple[str, dict[str, Any]] | None:
    fact = record.fact
    match fact:
        case f.ExitAccepted() | f.TurnEndedSilent() | f.ReviewEnded() | f.CheckEnded():
            return _describe_work(record, fact)
        case f.EffectFailed() | f.EffectInterrupted() | f.EffectStopped():
            return _describe_lost_effect(fact)
        case f.DecisionAsked(effect=effect):
            return "asked", {"decision": effect_parts(effect)[0]}
        case f.BudgetReached() | f.CommandsDue() | f.ApprovalOutdated() | f.ApprovalRestored():
            return _describe_aside_fact(fact)
        case f.PlanMoved() | f.QuestionPosed():
            return _describe_plan_fact(fact)
        case f.WishTaken() | f.WishRefused():
            return _describe_wish(fact)
        case (
            f.RunnerStarted()
            | f.RunAdopted()
            | f.JournalRepaired()
            | f.StatusEdited()
            | f.WorkFinished()
        ):
            return _describe_run_fact(fact)
        case _:
            return None


def _describe_aside_fact(
    fact: f.BudgetReached | f.CommandsDue | f.ApprovalOutdated | f.ApprovalRestored,
) -> tuple[str, dict[str, Any]]:
    match fact:
        case f.BudgetReached(budget=budget, spent=spent, limit=limit):
            return "budget_reached", {"budget": budget, "spent": spent, "limit": limit}
        case f.CommandsDue(commands=commands, results=results):
            known = {"results": dict(results)} if results else {}
            return "commands_due", {"commands": list(commands), **known}
        case f.ApprovalOutdated(gate=gate, question=asked):
            return "approval_outdated", {"gate": gate, "reason": asked.reason.partition("\n")[0]}
        case f.ApprovalRestored(gate=gate):
            return "approval_restored", {"gate": gate}
        case _:
            assert_never(fact)


def _describe_plan_fact(fact: f.PlanMoved | f.QuestionPosed) -> tuple[str, dict[str, Any]]:
    if isinstance(fact, f.QuestionPosed):
        item = f":{fact.item}" if fact.item else ""
        return "asked", {"decision": f"{fact.state}{item}"}
    told = {"prompts": list(fact.prompts), "by": fact.who, "agent": fact.agent}
    said = {name: value for name, value in told.items() if value}
    return fact.action, {**said, "forced": list(fact.forced)} if fact.forced else said


def _describe_lost_effect(
    fact: f.EffectFailed | f.EffectInterrupted | f.EffectStopped,
) -> tuple[str, dict[str, Any]]:
    match fact:
        case f.EffectFailed(effect=effect, why=why):
            return "effect_failed", {"effect": effect, "why": why}
        case f.EffectInterrupted(effect=effect):
            return "interrupted", {"effect": effect}
        case f.EffectStopped(effect=effect):
            return "stopped", {"effect": effect}
        case _:
            assert_never(fact)


def _describe_run_fact(
    fact: f.RunnerStarted | f.RunAdopted | f.JournalRepaired | f.StatusEdited | f.WorkFinished,
) -> tuple[str, dict[str, Any]]:
    match fact:
        case f.RunnerStarted(resumed=resumed):
            return ("resumed" if resumed else "started"), {}
        case f.RunAdopted(notes=notes):
            return "adopted", {"notes": list(notes)}
        case f.JournalRepaired(kept=kept, lost_bytes=lost):
            return "repaired", {"kept": kept, "lost_bytes": lost}
        case f.StatusEdited(aside=aside):
            return "status_edited", {"aside": aside}
        case f.WorkFinished(how=how, into=into, url=url, by=by):
            told = {"how": how, "into": into, "url": url, "by": by}
            return "finished", {name: value for name, value in told.items() if value}
        case _:
            assert_never(fact)


def _describe_work(
    record: JournalRecord, fact: f.ExitAccepted | f.TurnEndedSilent | f.ReviewEnded | f.CheckEnded
) -> tuple[str, dict[str, Any]]:
    match fact:
        case f.ExitAccepted(signal=signal, exit=exit_, notes=notes):
            said: dict[str, Any] = {"signal": signal or exit_, "result": _resulting_state(record)}
            return "signal", {**said, "notes": list(notes)} if notes else said
        case f.TurnEndedSilent(notes=notes):
            return "no_signal", {"notes": list(notes)}
        case f.ReviewEnded(effect=effect, verdict=verdict):
            return "review", {"model": effect_parts(effect)[2], "verdict": verdict}
        case f.CheckEnded(effect=effect, result=result, flaky=flaky):
            ended = {"check": effect_parts(effect)[2], "result": result}
            return "check", {**ended, "flaky": True} if flaky else ended
        case _:
            assert_never(fact)


def _describe_wish(fact: f.WishTaken | f.WishRefused) -> tuple[str, dict[str, Any]]:
    wish = fact.wish
    said = {"wish": wish.exit or wish.kind, "for": position_label(wish.position), "by": wish.who}
    if isinstance(fact, f.WishRefused):
        return "refused", {**said, "reason": fact.reason}
    return "wish", {**said, "text": wish.text} if wish.text else said


def _resulting_state(record: JournalRecord) -> str | None:
    for move in record.moves:
        if isinstance(move, m.Entered):
            return position_label(move.position)
        if isinstance(move, m.Ended):
            return move.outcome
    return None
