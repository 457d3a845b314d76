"""Writes the page of question and confirm protocols that `codev init` installs, from its source.

Prompts name the blocks of that page by id. The numbers in them are those that the code holds, so a
page that is up to date is true.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from porch.claims.questions.question import Choice, Question, QuestionRound
from porch.claims.questions.question_file import HIGHEST_CAP, MOST_QUESTIONS
from porch.claims.questions.text_form import render_round
from porch.claims.questions.transports import TRANSPORTS
from porch.claims.questions.word_lists import FREE_LABELS

ROOT = Path(__file__).resolve().parent.parent
PAGE = "codument-protocols.md"
FILE = ROOT / "src" / "porch" / "integration" / PAGE


class ProtocolText(Struct, frozen=True):
    """One block: when it applies, what to do, and what it looks like."""

    id: str
    trigger: str
    rules: tuple[str, ...]
    example: str


_ONE = ("Ask one question, and wait for its answer before you ask the next.",)
_SEVERAL = (
    (
        f"Ask 2 to {MOST_QUESTIONS} questions at once. A prompt can set another limit, up to"
        f" {HIGHEST_CAP}."
    ),
    "Begin each question with `Q1`, `Q2` and so on, and ask for answers by label: `q1: ...`.",
    "Add a short context or an example to a question where it helps.",
    "A line of six hyphens (`------`) can end an answer of several lines.",
    "Ask again only for what was not answered, with the same numbers. After three rounds, wait.",
)
_LETTERS = "Give the options letters: `A)`, `B)`, `C)`."
_CLOSED = (
    _LETTERS,
    "Only the options are answers. Ask again after any other reply; never take the nearest option.",
)
_FREE = (
    "Offer two or three good options where you can.",
    _LETTERS,
    (
        "The last option takes text. Its label is up to you, for example"
        f" `{FREE_LABELS['en']}` or `{FREE_LABELS['zh']}`."
    ),
    "Do not add that option where the question tool has one of its own.",
)
_TOOLS = ", ".join(f"`{each.tool}`" for each in TRANSPORTS.values() if each.tool)
_ALWAYS = (
    (
        "Use the question tool of your environment, with the same content, if there is one:"
        f" {_TOOLS}. Never ask a question only to find out whether the tool works."
    ),
    "An empty, dismissed or unreadable reply is no answer. Nothing is chosen by default.",
    (
        "You ask; a person answers. With `porch ask FILE` the questions wait in `porch pending`,"
        " and the same command tells you the answers later."
    ),
)
_WHEN = (
    "`when` is `before`, `after` or `both`. `both` asks twice.",
    "Before: say what you will do and what it touches. After: say what was done. Then wait.",
)


def _example(*questions: Question) -> str:
    round_ = QuestionRound(questions)
    return render_round(round_, round_.ids)


def _ask_protocols() -> tuple[ProtocolText, ...]:
    closed = _make_sample("q1", "Which store?", "Redis", "Memory")
    free = _make_sample("q1", "How long do sessions live?", "One day", "One week", is_free=True)
    second = _make_sample("q2", "Are tests written first?", "Yes", "No")
    return (
        ProtocolText(
            "ask-single-question-closed",
            "You have one question, and only fixed options are possible answers.",
            (*_ONE, *_CLOSED, *_ALWAYS),
            _example(closed),
        ),
        ProtocolText(
            "ask-single-question-free",
            "You have one question, and a text of the person's own is possible, too.",
            (*_ONE, *_FREE, *_ALWAYS),
            _example(free),
        ),
        ProtocolText(
            "ask-multi-question-closed",
            "You have several questions, and only fixed options are possible answers.",
            (*_SEVERAL, *_CLOSED, *_ALWAYS),
            _example(closed, second),
        ),
        ProtocolText(
            "ask-multi-question-free",
            "You have several questions, and texts of the person's own are possible, too.",
            (*_SEVERAL, *_FREE, *_ALWAYS),
            _example(free, second),
        ),
    )


def _make_sample(id_: str, text: str, *labels: str, is_free: bool = False) -> Question:
    label = FREE_LABELS["en"] if is_free else ""
    options = tuple(map(Choice, labels))
    return Question(id=id_, text=text, options=options, free=is_free, free_label=label)


_CONFIRMS = (
    ProtocolText(
        "yield-human-confirm",
        'The current phase or task of `plan.xml` has a `<confirm protocol="yield-human-confirm">`.',
        (
            *_WHEN,
            "Porch asks, with three choices and a text: confirm, request changes, stop.",
            (
                "Only a plain yes confirms. A plain no halts. Any other text asks for changes: make"
                " them, and porch asks again."
            ),
            (
                "Porch writes `status`: IN_PROGRESS while it asks, DONE after a yes, BLOCKED"
                " otherwise. Never write it yourself."
            ),
        ),
        "Confirm (human) task T1.2: Write the parser. When=after. Summary: <summary>.\n"
        "   A) Confirm\n   B) Request changes\n   C) Stop\n   D) Other (type your answer)",
    ),
    ProtocolText(
        "yield-ai-confirm",
        'The current phase or task of `plan.xml` has a `<confirm protocol="yield-ai-confirm">` with'
        " `ai-agent`.",
        (
            *_WHEN,
            (
                "Porch starts the agent that `ai-agent` names, fresh and without the right to"
                " write. Its prompt has the absolute paths `workspace_dir` and `track_dir`."
            ),
            (
                "The report names blocking issues first, then the others, then a short summary. Say"
                ' "No blocking issues" if there are none.'
            ),
            (
                "Blocking issues stop the work until a person decides. Others are noted, and the"
                " work goes on."
            ),
            "If the reviewer fails or says nothing that can be read, a person is asked.",
        ),
        "Confirm (ai:<agent>) phase P2: Storage. When=before. Issues-first report:"
        " <blocking> / <others>.",
    ),
)


def list_protocol_texts() -> Mapping[str, ProtocolText]:
    """All blocks by their ids."""
    return {each.id: each for each in (*_ask_protocols(), *_CONFIRMS)}


def render_protocol_page() -> str:
    """The page for `codev/`: prompts name a block by its id and need not repeat it."""
    head = (
        "# Codument protocols\n\n"
        "Blocks for prompts. A prompt, or a `<confirm>` in `plan.xml`, names a block by its id.\n"
    )
    return "\n".join([head, *map(_render_block, list_protocol_texts().values())])


def _render_block(block: ProtocolText) -> str:
    rules = "\n".join(f"- {rule}" for rule in block.rules)
    return (
        f"## {block.id}\n\n**When:** {block.trigger}\n\n{rules}\n\n```text\n{block.example}\n```\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page; else compare it")
    args = parser.parse_args()
    page = render_protocol_page()
    if args.write:
        FILE.write_text(page, encoding="utf-8")
        return 0
    if FILE.read_text(encoding="utf-8") == page:
        return 0
    print(f"{FILE.relative_to(ROOT)} is out of date: run tools/protocol_texts.py --write")
    return 1


if __name__ == "__main__":
    sys.exit(main())
