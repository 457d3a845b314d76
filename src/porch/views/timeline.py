"""A journal as people read it: one line for each record, from raw JSON, so that it is quick."""

from __future__ import annotations

from porch.views.board import clip, moment, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Raw = dict[str, Any]

_LONGEST = 200


def lines(raw_records: Iterable[Raw]) -> Iterator[str]:
    """Time, number, what happened, where it moved."""
    for raw in raw_records:
        at = one_line(moment(str(raw.get("at", ""))))
        yield f"{at} {raw.get('seq', 0):>5}  {sentence(raw)}"


def sentence(raw: Raw) -> str:
    """What happened in one record and where it moved."""
    what = clip(one_line(_happened(_short(raw.get("fact") or {}))), _LONGEST)
    moved = clip(one_line("".join(_moved(raw))), _LONGEST)
    return f"{what} {moved}".rstrip()


def is_quiet(raw: Raw) -> bool:
    """Whether whoever watches is better off without it: nobody misses a timer that was put down."""
    fact = raw.get("fact") or {}
    return fact.get("is") == "EffectStopped" and _effect(fact)[1] in ("stale", "timer")


def _short(value: Any) -> Any:
    """A text that is kept by its hash shows how it begins."""
    if isinstance(value, dict):
        if "$sha256" in value:
            return f"{value.get('clip', '')} ..."
        return {key: _short(each) for key, each in value.items()}
    return [_short(each) for each in value] if isinstance(value, list) else value


def _happened(fact: Raw) -> str:
    kind = str(fact.get("is", ""))
    tell = _TELL.get(kind)
    return tell(fact) if tell else kind or "nothing that is known"


def _moved(raw: Raw) -> Iterator[str]:
    fact, moves = raw.get("fact") or {}, raw.get("moves") or []
    if _is_late(fact, [move.get("is") for move in moves]):
        yield " (late: the run had moved on, nothing changed)"
    for move in moves:
        tell = _MOVES.get(move.get("is"))
        if tell:
            yield tell(move)


def _is_late(fact: Raw, moves: list[Any]) -> bool:
    """Something ended, was put down and moved nothing; stopping alone is meant to do that."""
    if "effect" not in fact or fact.get("is") in ("EffectStopped", "EffectInterrupted"):
        return False
    return set(moves) <= {"Settled"}


def _effect(fact: Raw) -> tuple[str, str, str]:
    """Position, kind and name; instances in front and names behind may hold slashes."""
    front, mark, back = str(fact.get("effect", "")).partition("#")
    visit, _, rest = back.partition("/")
    kind, _, name = rest.rpartition("/")[0].partition("/")
    return (f"{front}{mark}{visit}", kind, name) if name else (front, "effect", "")


def _begun(fact: Raw) -> str:
    by = f" by {fact['by']}" if fact.get("by") else ""
    return f"run {fact.get('run')} of {fact.get('protocol')} began{by}"


def _adopted(fact: Raw) -> str:
    notes = "; ".join(str(note) for note in fact.get("notes", ()))
    return f"a status file was adopted at {fact.get('state')}{': ' + notes if notes else ''}"


def _runner(fact: Raw) -> str:
    how = "resumed" if fact.get("resumed") else "started"
    return f"runner {how} (pid {fact.get('pid')} on {fact.get('host')})"


def _exit(fact: Raw) -> str:
    reason = (fact.get("payload") or {}).get("reason")
    at = _effect(fact)[0]
    said = fact.get("signal") or fact.get("exit")
    return f"{at}: the agent said {said}{': ' + str(reason) if reason else ''}"


def _silent(fact: Raw) -> str:
    return f"{_effect(fact)[0]}: the agent ended without a signal"


def _failure(fact: Raw) -> str:
    at, kind, name = _effect(fact)
    wait = f"; it is asked again in {_duration(fact['wait_s'])}" if fact.get("wait_s") else ""
    why = ": ".join(str(fact[key]) for key in ("why", "detail") if fact.get(key))
    return f"{at}: {kind} {name} failed: {why}{wait}"


def _duration(seconds: float) -> str:
    """No more exact than people need it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _interrupted(fact: Raw) -> str:
    at, kind, name = _effect(fact)
    return f"{at}: the runner died under {kind} {name}"


def _stopped(fact: Raw) -> str:
    at, kind, name = _effect(fact)
    return f"{at}: {kind} {name} was stopped"


def _check(fact: Raw) -> str:
    at, _, name = _effect(fact)
    reused = ", on evidence that is still fresh" if fact.get("reused") else ""
    took = f" in {fact['seconds']:.1f} s" if fact.get("seconds") else ""
    return f"{at}: check {name} {fact.get('result')}{took}{reused}"


def _review(fact: Raw) -> str:
    at, _, name = _effect(fact)
    why = f" ({fact['why']})" if fact.get("why") else ""
    return f"{at}: {name} says {fact.get('verdict')}{why} {fact.get('summary', '')}"


def _items(fact: Raw) -> str:
    names = ", ".join(str(item.get("id")) for item in fact.get("items", ()))
    return f"{_effect(fact)[0]}: the plan has {names or 'no phases'}"


def _asked(fact: Raw) -> str:
    at, _, name = _effect(fact)
    return f"{at}: a person is asked for {name}"


def _feedback(fact: Raw) -> str:
    return f"{_effect(fact)[0]}: the reviews are in {fact.get('path')}"


def _timer(fact: Raw) -> str:
    at, _, name = _effect(fact)
    return f"{at}: the wait '{name}' is over"


def _branches(fact: Raw) -> str:
    at, _, name = _effect(fact)[:3]
    payload, exit_ = fact.get("payload") or {}, fact.get("exit")
    said = payload.get("details") or payload.get("reason") or payload.get("report") or ""
    return f"{at}: {name} is {exit_}" + (f": {said}" if said and exit_ != "clean" else "")


def _commit(fact: Raw) -> str:
    at = _effect(fact)[0]
    if fact.get("refused"):
        return f"{at}: git refused: {fact['refused']}"
    return f"{at}: committed {fact['commit'][:12]}" if fact.get("commit") else f"{at}: no change"


def _wish(fact: Raw) -> str:
    wish = fact.get("wish") or {}
    what = f"{wish.get('exit') or wish.get('kind')} {wish.get('position', '')}".strip()
    by = f" by {wish.get('who') or 'unknown'}"
    channel = f" ({wish['channel']})" if wish.get("channel") else ""
    channel += " (said to be a person)" if wish.get("as_person") is True else ""
    text = f": {wish['text']}" if wish.get("text") else ""
    if fact.get("is") == "WishRefused":
        return f"refused: {what}{by}{channel}: {fact.get('reason')}"
    return f"{what}{by}{channel}{text}"


def _repaired(fact: Raw) -> str:
    kept, lost = fact.get("kept"), fact.get("lost_bytes")
    return f"the journal was repaired: {kept} records kept, {lost} bytes lost ({fact.get('aside')})"


def _edited(fact: Raw) -> str:
    return f"the status file had been edited; that copy is {fact.get('aside')}"


def _over_budget(fact: Raw) -> str:
    return f"the budget {fact.get('budget')} is used up: {fact.get('spent')} of {fact.get('limit')}"


def _plan(fact: Raw) -> str:
    about = ", ".join([*(fact.get("prompts") or {}), *_about(fact.get("payload") or {})])
    agent = f" (agent {fact['agent']})" if fact.get("agent") else ""
    forced = f", forced past {', '.join(fact['forced'])}" if fact.get("forced") else ""
    return f"{fact.get('action')} {about}".strip() + f" by {fact.get('who')}{agent}{forced}"


def _about(payload: Raw) -> list[str]:
    """What was said beside the prompts, as far as one line has room for it."""
    named = [
        str(payload[key]) for key in ("subject", "iteration", "type", "verdict") if key in payload
    ]
    return [each for each in named if each]


def _posed(fact: Raw) -> str:
    return f"a person is asked: {fact.get('state')} {fact.get('item', '')}".strip()


_MOVES: dict[Any, Callable[[Raw], str]] = {
    "Entered": lambda move: f" -> {move.get('position')}",
    "Ended": lambda move: f" -> {move.get('outcome')}",
    "Finished": lambda move: f"; {move.get('item')} is done",
    "Paused": lambda _: "; stopped",
    "Resumed": lambda _: "; goes on",
}
_TELL: dict[str, Callable[[Raw], str]] = {
    "RunStarted": _begun,
    "RunAdopted": _adopted,
    "RunnerStarted": _runner,
    "ExitAccepted": _exit,
    "TurnEndedSilent": _silent,
    "EffectFailed": _failure,
    "EffectInterrupted": _interrupted,
    "EffectStopped": _stopped,
    "CheckEnded": _check,
    "ReviewEnded": _review,
    "ItemsRead": _items,
    "DecisionAsked": _asked,
    "FeedbackWritten": _feedback,
    "TimerFired": _timer,
    "CommitEnded": _commit,
    "GitEnded": _branches,
    "WishTaken": _wish,
    "WishRefused": _wish,
    "JournalRepaired": _repaired,
    "StatusEdited": _edited,
    "BudgetReached": _over_budget,
    "PlanMoved": _plan,
    "QuestionPosed": _posed,
}
