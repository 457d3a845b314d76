"""Whether all views of a run say what the oracle says; one function for each view.

The oracle decides what each phase came to. A view is asked what it shows of it, and every
disagreement is a sentence that names the view, the phase and both.
"""

from collections.abc import Iterable, Iterator, Mapping

from tests.whole.truth import oracle, views
from tests.whole.truth.oracle import Fate, Story
from tests.whole.truth.views import Row, Seen

GAPS = ("failed", "could not measure", "skipped", "waived", "stopped", "stale")


def disagreements(seen: Seen) -> list[str]:
    story = oracle.tell(seen.records)
    fates = oracle.phases(seen.definition, story)
    items = oracle.plan_phases(seen.definition, story)
    is_track = seen.definition["protocol"].get("subject") == "track"
    shown = _add_tasks(seen, story, fates) if is_track else fates
    return [
        *_look_at_checklist(seen, story, shown, is_track),
        *_look_at_status(seen, story, shown, items, is_track),
        *_look_at_data(seen, shown, items, _failed_children(story), is_track),
        *_look_at_page(seen, shown, items, _failed_children(story), is_track),
        *_look_at_graph(seen, story),
        *_look_at_questions(seen, story),
        *_look_at_finish(seen, story, fates),
    ]


def _add_tasks(seen: Seen, story: Story, fates: Mapping[str, Fate]) -> dict[str, Fate]:
    """A phase of a plan is as good as its worst task; until the end more can become of it."""
    parts: dict[str, dict[str, Fate]] = {}
    for kind in seen.definition["protocol"]["states"].values():
        if kind["group"] in fates:
            parts.setdefault(kind["description"], {})[kind["group"]] = fates[kind["group"]]
    whole = {words.split()[0]: found for words, found in parts.items()}
    return {
        name: _worst_of(whole[name].values()) if name in whole else fate
        for name, fate in fates.items()
        if story.outcome or name not in whole or fate.outcome == "waiting"
    }


def _worst_of(fates: Iterable[Fate]) -> Fate:
    return min(fates, key=lambda fate: oracle.WORST_FIRST.index(fate.outcome))


def _say(view: str, name: str, fate: str, shown: object) -> str:
    return f"{view} says of {name}: {shown}; the journal says: {fate}"


def _compare(view: str, rows: list[Row], fates: Mapping[str, Fate], words: bool) -> Iterator[str]:
    """Each phase stands there once, in order, with a sign and a word that mean what it came to."""
    if [row.name for row in rows] != list(fates):
        yield f"{view} lists {[row.name for row in rows]}, the protocol has {list(fates)}"
        return
    for row in rows:
        outcome = fates[row.name].outcome
        if outcome not in row.meaning:
            yield _say(view, row.name, outcome, row.told)
        if words and (said := views.SAID.get(outcome)) and said not in row.told:
            yield _say(view, row.name, outcome, row.told)


def _compare_track(view: str, rows: list[Row], fates: Mapping[str, Fate]) -> Iterator[str]:
    """Of a track confirmations have rows of their own, so a task may be shown as worked on."""
    shown = {row.name.split()[0]: row for row in rows}
    for name, fate in fates.items():
        row = shown.get(name)
        own = [each for key, each in shown.items() if key.startswith(f"{name}-")]
        if row is None:
            yield f"{view} does not show {name}"
        elif fate.outcome == "waiting":
            if not any("waiting" in each.meaning for each in (row, *own)):
                yield _say(view, name, fate.outcome, row.told)
        elif fate.outcome == "stale":
            # Work behind a task that is reopened stays done; it is confirmed again.
            if "passed" in row.meaning:
                yield _say(view, name, fate.outcome, row.told)
        elif fate.outcome not in row.meaning:
            yield _say(view, name, fate.outcome, row.told)


def _look_at_checklist(
    seen: Seen, story: Story, fates: Mapping[str, Fate], is_track: bool
) -> Iterator[str]:
    rows = views.read_checklist(seen.texts["checklist"])
    failed = {name: Fate("failed") for name in _failed_children(story)}
    if is_track:
        yield from _compare_track("af status", rows, fates)
    else:
        count = len(fates) + len(failed)
        yield from _compare("af status", rows[:count], {**fates, **failed}, words=True)
        # A question that belongs to no phase has a row of its own.
        yield from (
            _say("af status", row.name, "asked", row.told)
            for row in rows[count:]
            if "waiting" not in row.meaning or "waiting for you" not in row.told
        )
    told = seen.texts["checklist"]
    if story.is_paused and not story.outcome and "stopped by a person" not in told:
        yield "af status does not say that the run is stopped"
    if story.outcome and f"the run is {story.outcome}" not in told:
        yield f"af status does not say that the run is {story.outcome}"
    for visit in story.visits:
        name = _question_name(seen, visit.state)
        is_open = visit.is_asked and not visit.left and name and not is_track
        if is_open and f"waiting for you: {name}" not in told:
            yield f"af status does not say that {name} waits for a person"


def _question_name(seen: Seen, state: str) -> str:
    kind = seen.definition["protocol"]["states"].get(state)
    return str(kind["actor"].get("name", "")) if kind else ""


def _look_at_status(
    seen: Seen,
    story: Story,
    fates: Mapping[str, Fate],
    items: Mapping[str, Fate],
    is_track: bool,
) -> Iterator[str]:
    gaps, plan = views.read_status(seen.texts["status"])
    expected = {name: fate for name, fate in fates.items() if fate.outcome in GAPS and not is_track}
    failed = {name: Fate("failed") for name in _failed_children(story)}
    yield from _compare("porch status", gaps, {**expected, **failed}, words=True)
    if is_track:
        yield from _compare_track("porch status, plan", plan, fates)
    else:
        yield from _compare("porch status, plan", plan, items, words=False)
    shown = views.read_gates(seen.texts["status"])
    for name, word in oracle.gates(seen.definition, story).items():
        if shown.get(name) != word:
            yield _say("porch status", f"gate {name}", word, shown.get(name))
        if seen.data["status"]["gates"].get(name, {}).get("status") != word:
            yield _say("status --json", f"gate {name}", word, seen.data["status"]["gates"])


def _look_at_data(
    seen: Seen,
    fates: Mapping[str, Fate],
    items: Mapping[str, Fate],
    failed: list[str],
    is_track: bool,
) -> Iterator[str]:
    data = seen.data["status"]
    told = data["outcomes"]
    children = [each["phase"] for each in told if each.get("kind") == "child"]
    if children != failed:
        yield f"status --json lists the failed children {children}, the journal has {failed}"
    if is_track:
        rows = [Row(each["phase"], frozenset({each["outcome"]}), str(each)) for each in told]
        yield from _compare_track("status --json", rows, fates)
        return
    shown = {each["phase"]: each for each in told if each.get("kind") != "child"}
    if list(shown) != list(fates):
        yield f"status --json lists {list(shown)}, the protocol has {list(fates)}"
    for name, fate in fates.items():
        each = shown.get(name, {})
        if each.get("outcome") != fate.outcome:
            yield _say("status --json", name, fate.outcome, each)
        if fate.outcome in ("skipped", "waived") and fate.who and each.get("by") != fate.who:
            yield _say("status --json", name, f"{fate.outcome} by {fate.who}", each)
    for item, fate in items.items():
        word = data["phases"].get(item, {})
        means = views.WORDS.get(word.get("status", ""), frozenset())
        if fate.outcome not in means or word.get("outcome", fate.outcome) != fate.outcome:
            yield _say("status --json", item, fate.outcome, word)


def _look_at_page(
    seen: Seen,
    fates: Mapping[str, Fate],
    items: Mapping[str, Fate],
    children: list[str],
    is_track: bool,
) -> Iterator[str]:
    if "page" not in seen.texts:
        return
    rows = views.read_page(seen.texts["page"])
    if is_track:
        yield from _compare_track("the page", rows, fates)
        return
    failed = {name: Fate("failed") for name in children}
    phases, plan = rows[: len(fates) + len(failed)], rows[len(rows) - len(items) :]
    yield from _compare("the page", phases, {**fates, **failed}, words=False)
    named = [Row(item, row.meaning, row.told) for item, row in zip(items, plan, strict=False)]
    yield from _compare("the page, plan", named, items, words=False)
    short = views.read_decision_page(seen.texts["inbox"])
    if short:
        short = short[: len(fates) + len(failed)]
        yield from _compare("the inbox", short, {**fates, **failed}, words=False)


def _look_at_graph(seen: Seen, story: Story) -> Iterator[str]:
    """Where it stands, and how often each state was entered."""
    if "graph" not in seen.texts:
        return
    if seen.definition["protocol"].get("subject") == "track":
        yield from _look_at_track_graph(seen, story)
        return
    here, entered = views.read_graph(seen.texts["graph"])
    counted: dict[str, int] = {}
    for visit in story.visits:
        counted[visit.state] = counted.get(visit.state, 0) + 1
    drawn = {name: times for name, times in counted.items() if name in seen.texts["graph"]}
    if entered != drawn:
        yield _say("the graph", "the states", str(drawn), entered)
    standing = {visit.state for visit in story.visits if not visit.left}
    if here != standing:
        yield _say("the graph", "the place", str(standing), here)


def _look_at_track_graph(seen: Seen, story: Story) -> Iterator[str]:
    """It is drawn from the plan, whose statuses say less than outcomes do."""
    shown = views.read_track_graph(seen.texts["graph"])
    for name, fate in oracle.phases(seen.definition, story).items():
        if name in shown and fate.outcome not in views.STATUSES[shown[name]]:
            yield _say("the graph", name, fate.outcome, shown[name])


def _look_at_questions(seen: Seen, story: Story) -> Iterator[str]:
    asked = {visit.position for visit in story.visits if visit.is_asked and not visit.left}
    pending = views.read_pending(seen.data["pending"], seen.run)
    if pending != asked:
        yield _say("porch pending", "the run", f"asked: {asked}", pending)
    if seen.decisions and set(seen.decisions) != asked:
        yield _say("the decision pages", "the run", f"asked: {asked}", set(seen.decisions))
    for visit in story.visits:
        if visit.position not in asked:
            continue
        for name in oracle.troubles(seen.definition, story, visit):
            if name not in seen.texts["pending"]:
                yield f"porch pending does not name {name}, which is not good at {visit.position}"
            if visit.position in seen.decisions and name not in seen.decisions[visit.position]:
                yield f"the decision page does not name {name}, which is not good"


def _look_at_finish(seen: Seen, story: Story, fates: Mapping[str, Fate]) -> Iterator[str]:
    """What is over is offered with everything that has not passed; what is not is refused."""
    data = seen.data["finish"]
    if not story.outcome:
        findings = [each["code"] for each in data.get("error", {}).get("findings", ())]
        if findings != ["finish-too-early"]:
            yield _say("porch finish", "the run", "not ended", findings or data)
        return
    if "error" in data:
        return  # a plan and a round of questions have no work to finish
    expected = {name for name, fate in fates.items() if fate.outcome in GAPS}
    expected |= set(_failed_children(story))
    named = {place for place, _ in views.read_not_passed(data["not_passed"])}
    gaps, checks = views.read_body(seen.texts["body"])
    for view, shown in (("porch finish --json", named), ("the pull request", set(gaps))):
        if shown - {"the run"} != expected:
            yield f"{view} names {sorted(shown)}, the journal has {sorted(expected)}"
    for line in data["not_passed"]:
        if line[:60] not in seen.texts["finish"]:
            yield f"porch finish does not print what its --json has: {line}"
    for place, told in checks.items():
        phase, _, check = place.partition(", ")
        if told.startswith("passed") and check in fates.get(phase, Fate("")).gaps:
            yield _say("the pull request", place, fates[phase].outcome, told)


def _failed_children(story: Story) -> list[str]:
    return [name for name, outcome in story.ended.items() if name and outcome == "failed"]
