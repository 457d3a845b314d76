"""What people said, as the log of their input keeps it: a rule, a time, a label and the words."""

from collections.abc import Iterator, Mapping
from typing import Any

FILE = "user_input.md"
HEADING = "# User Input Log\n"
AnswerForm = Mapping[str, Any]


def render_entry(at: str, text: str, mark: str = "") -> str:
    """One entry; `mark` says which answer it keeps, so that it is kept once."""
    noted = f" {render_kept_part(mark, text)}" if mark else f"\n\n{text.strip()}\n"
    return f"\n---\n**{at}**{noted}"


def render_kept_part(mark: str, text: str) -> str:
    """The part of an entry that is the same whenever it is written."""
    return f"{render_mark(mark)}\n\n{text.strip()}\n"


def render_mark(mark: str) -> str:
    # Two dashes would end the comment.
    return f"<!-- {mark.replace('--', '-')} -->"


def render_answer(gate: str, item: str, form: AnswerForm) -> str:
    """Everything that a person said in one answer, each part under its label."""
    return "\n\n".join(part for part in _render_parts(gate, item, form) if part)


def _render_parts(gate: str, item: str, form: AnswerForm) -> Iterator[str]:
    yield _render_labelled(_TITLES[gate].format(item=item), _render_words(form))
    match gate:
        case "findings":
            yield from _render_approaches(form)
        case "plan":
            yield _render_labelled(
                "User Required Plan Changes", form.get("user_required_plan_changes"), True
            )
            for id_, given in form.get("prompt_feedback", {}).items():
                changes = given.get("user_required_changes")
                yield _render_labelled(f"User Required Changes for Prompt {id_}", changes, True)
        case "testing":
            changes = form.get("user_required_changes")
            yield _render_labelled(f"User Required Changes for {item}", changes, True)
        case "clarifying":
            yield _render_answers("", form.get("questions", ()))
            yield _render_labelled("Suggested Changes", form.get("suggested_changes"), True)
        case _:
            return


_TITLES: Mapping[str, str] = {
    "findings": "Findings Gate",
    "plan": "Plan Gate",
    "testing": "Testing Gate {item}",
    "variants": "Variants Gate {item}",
    "unfinished": "Unfinished Variant Gate {item}",
    "logging": "Logging Gate {item}",
    "clarifying": "Review Clarifications {item}",
    "rounds": "Review Rounds {item}",
    "budget": "Budget {item}",
}


def _render_words(form: AnswerForm) -> str:
    lines = [str(form.get("thoughts", "")).strip()]
    if "test_passed" in form:
        lines.append(f"test_passed: {str(bool(form['test_passed'])).lower()}")
    if form.get("decision"):
        lines.append(f"decision: {form['decision']}")
    for letter, given in form.get("variants", {}).items():
        reason = str(given.get("reason", "")).strip()
        lines.append(f"{letter}: {given.get('decision', '')}{f' - {reason}' if reason else ''}")
    return "\n".join(line for line in lines if line) or "(no words)"


def _render_approaches(form: AnswerForm) -> Iterator[str]:
    for key, given in form.get("approach_feedback", {}).items():
        specialist, _, id_ = _split_approach_key(key)
        name = f"{specialist} approach {id_}"
        yield _render_labelled(
            f"User Required Changes for {name}", given.get("user_required_changes"), True
        )
        if given.get("rejected"):
            yield _render_labelled(f"Rejected {name}", "rejected")
        answered = [each for each in given.get("question_answers", ()) if each.get("answer")]
        yield _render_answers(f"User Addressed Questions for {name}", answered)


def _split_approach_key(key: str) -> tuple[str, str, str]:
    """`backend_1_2_A` is approach 2_A of backend_1."""
    front, _, last = key.rpartition("_")
    if last.isalpha() and len(last) == 1:
        name, _, number = front.rpartition("_")
        return name, "_", f"{number}_{last}"
    return front, "_", last


def _render_answers(label: str, rows: Any) -> str:
    told = "\n".join(f"Q: {each.get('question', '')}\nA: {each.get('answer', '')}" for each in rows)
    return (_render_labelled(label, told) if label else told) if told else ""


def _render_labelled(label: str, text: Any, only_if_said: bool = False) -> str:
    said = str(text or "").strip()
    return "" if only_if_said and not said else f"[{label}]\n{said}"
