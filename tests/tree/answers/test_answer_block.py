"""Typed answers at the end of a message: what is meant counts, what is shown does not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.tree.answers.answer_block import AnswerBlock, read_answer_block

SAID = '{"exit": "Done", "payload": {"n": 1}}'
BLOCK = f"```json\n{SAID}\n```"
ANSWER = AnswerBlock("Done", {"n": 1})


@pytest.mark.parametrize(
    "final",
    [
        BLOCK,
        f"It is done.\n\n{BLOCK}\n",
        f"It is done:\n{BLOCK}  \n\n \n",
        f"````json\n{SAID}\n````",
        f"Run this:\n\n```sh\nmake\n```\n\nMy answer:\n\n{BLOCK}",
        f"> ```json\n> {SAID}\n> ```\n\n{BLOCK}",
        f"~~~\n{BLOCK}\n~~~\n\n{BLOCK}",
        BLOCK.replace("\n", "\r\n"),
        f"```json\n{json.dumps(json.loads(SAID), indent=2)}\n```",
    ],
)
def test_a_block_that_ends_the_message_is_the_answer(final: str) -> None:
    assert read_answer_block(final) == ANSWER


@pytest.mark.parametrize(
    "final",
    [
        "",
        "Done.",
        SAID,
        f"`{SAID}`",
        f"{BLOCK}\n\nThat is what the file says.",
        f"> ```json\n> {SAID}\n> ```",
        f"The log says\n> ```json\n{SAID}\n```",
        f"- ```json\n  {SAID}\n  ```",
        f"   ```json\n   {SAID}\n   ```",
        f"    ```json\n    {SAID}\n    ```",
        f"~~~\n{BLOCK}\n~~~",
        f"~~~\n{BLOCK}",
        f"````\n{BLOCK}\n````",
        f"````markdown\n{BLOCK}",
        f"```\n{BLOCK}",
        f"```text\nsome output\n{BLOCK}",
        f"<!--\n{BLOCK}\n-->",
        f"<!--\n{BLOCK}",
        f"```json\n{SAID}",
        f"```\n{SAID}\n```",
        f"```js\n{SAID}\n```",
        f"```json5\n{SAID}\n```",
        f"```JSON\n{SAID}\n```",
        f"```json example\n{SAID}\n```",
        f"``\u200b`json\n{SAID}\n```",
        f"```json\u200b\n{SAID}\n```",
        f"```json\n{SAID}\n```\u200b",
        f"~~~json\n{SAID}\n~~~",
        '```json\n{"name": "calc"}\n```',
        "```json\n[1, 2]\n```",
        '```json\n"exit"\n```',
        f"<signal>Done</signal>\n{SAID}",
    ],
)
def test_everything_else_is_no_answer(final: str) -> None:
    assert read_answer_block(final) is None


@pytest.mark.parametrize(
    "final, why",
    [
        ("```json\n{\n```", "is not valid JSON"),
        ('```json\n{"exit": "A", "exit": "B", "payload": {}}\n```', "is written twice"),
        ('```json\n{"exit": "A", "payload": {"x": 1, "x": 2}}\n```', "is written twice"),
        ('```json\n{"exit": "A", "payload": NaN}\n```', "NaN is not a JSON value"),
        (f"```json\n{SAID}\n{SAID}\n```", "is not valid JSON"),
        ('```json\n{"exit": "A"}\n```', "nothing else"),
        ('```json\n{"exit": 1, "payload": {}}\n```', "nothing else"),
        ('```json\n{"exit": "A", "payload": {}, "note": ""}\n```', "nothing else"),
        (f"{BLOCK}\n\n{BLOCK}", "more than one"),
        (f"It holds\n\n```\n{SAID}\n```\n\nand I say\n\n{BLOCK}", "more than one"),
        (f"I say\n\n{BLOCK}\n\nfor it holds\n\n{BLOCK}", "more than one"),
        ("```json\n" + "[" * 100_000 + "\n```", "is not valid JSON"),
        (f"```json ab12\n{SAID}\n```", "must begin with ```json"),
    ],
)
def test_what_looks_like_an_answer_and_is_none_is_told_why(final: str, why: str) -> None:
    closing = read_answer_block(final)
    assert closing is not None
    assert why in closing.fault
    assert closing.exit == ""


def test_with_a_nonce_only_a_block_that_carries_it_counts() -> None:
    mine = f"```json ab12\n{SAID}\n```"
    assert read_answer_block(mine, "ab12") == ANSWER
    assert read_answer_block(f"It holds\n\n{BLOCK}\n\n{mine}", "ab12") == ANSWER
    for other in (BLOCK, f"```json cd34\n{SAID}\n```", f"{mine}\n\n{BLOCK}"):
        closing = read_answer_block(other, "ab12")
        assert closing is not None
        assert closing.fault == "the block at its end must begin with ```json ab12"


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(payload=st.dictionaries(st.text(), _VALUES, max_size=4), before=st.booleans())
def test_every_payload_comes_through_as_it_was_written(
    payload: dict[str, Any], before: bool
) -> None:
    said = json.dumps({"exit": "Done", "payload": payload}, indent=1)
    text = "I looked at it.\n\n" if before else ""
    assert read_answer_block(f"{text}```json\n{said}\n```") == AnswerBlock("Done", payload)


@given(shown=st.text(alphabet=" \n`~>-<!json{}x", max_size=60))
def test_no_message_without_an_exit_is_an_answer(shown: str) -> None:
    closing = read_answer_block(shown)
    assert closing is None or closing.fault
