"""The lines of a journal, cut and flipped at every byte: nothing is ever half believed."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.store import chain
from porch.testing import MemoryJournal

BODIES: list[dict[str, Any]] = [
    {"at": "2025-11-15T10:04:05Z", "fact": {"type": "RunStarted"}, "moves": [], "begun": ["a/1"]},
    {"at": "2025-11-15T10:04:06Z", "fact": {"note": 'é\u2028 "}\n\ud800'}, "moves": [1.5, None]},
    {"fact": {"a": 1, "sum": "f" * 64}},
]


def written(bodies: list[dict[str, Any]]) -> bytes:
    journal = MemoryJournal()
    for seq, body in enumerate(bodies, 1):
        journal.append(seq, body)
    return journal.data


WHOLE = written(BODIES)
ENDS = [at + 1 for at, byte in enumerate(WHOLE) if byte == ord("\n")]
RECORDS = chain.parse_records(WHOLE)[0].records


def forged(*texts: bytes) -> bytes:
    """Lines of any content that carry the right sum."""
    data, total = b"", chain.START
    for text in texts:
        total = chain._chain_sum(total.encode(), text).decode()
        data += text[:-1] + b',"sum":"' + total.encode() + b'"}\n'
    return data


def test_a_record_is_one_line_with_its_version_number_body_and_sum() -> None:
    assert len(ENDS) == len(BODIES)
    for seq, (record, body) in enumerate(zip(RECORDS, BODIES, strict=True), 1):
        assert record == {"v": 1, "seq": seq, **body, "sum": record["sum"]}
        assert list(record)[:2] == ["v", "seq"]


def test_the_sum_can_be_checked_with_nothing_but_sha256_and_the_bytes() -> None:
    from hashlib import sha256

    previous = "0" * 64
    for line in WHOLE.splitlines():
        body = re.sub(rb',"sum":"[0-9a-f]{64}"}$', b"}", line)
        previous = sha256(previous.encode() + body).hexdigest()
        assert line.endswith(b',"sum":"' + previous.encode() + b'"}')


def test_a_journal_cut_at_any_byte_holds_its_whole_records_and_a_torn_rest() -> None:
    for cut in range(len(WHOLE) + 1):
        found, trouble = chain.parse_records(WHOLE[:cut])
        whole = [end for end in ENDS if end <= cut]
        assert trouble is None
        assert found.records == RECORDS[: len(whole)]
        assert found.length == (whole[-1] if whole else 0)
        assert found.torn == WHOLE[found.length : cut]
        assert found.seq == len(whole)
        assert found.sum == (RECORDS[found.seq - 1]["sum"] if whole else chain.START)


@pytest.mark.parametrize("bit", range(8))
def test_a_bit_flipped_anywhere_is_damage_or_tears_the_last_record_off_whole(bit: int) -> None:
    for at in range(len(WHOLE)):
        flipped = bytearray(WHOLE)
        flipped[at] ^= 1 << bit
        found, trouble = chain.parse_records(bytes(flipped))
        hit = sum(end <= at for end in ENDS)
        assert found.records == RECORDS[:hit]
        if trouble is None:
            assert hit == len(ENDS) - 1
            assert found.torn == flipped[ENDS[-2] :]
        else:
            assert (trouble.line, trouble.newer) == (hit + 1, False)


def test_a_last_line_with_a_wrong_sum_and_its_end_is_damage() -> None:
    changed = WHOLE.replace(b'"a":1', b'"a":2')
    found, trouble = chain.parse_records(changed)
    assert trouble is not None
    assert (trouble.line, found.records) == (3, RECORDS[:2])


def test_a_last_line_that_is_no_json_but_has_its_end_is_damage() -> None:
    for rest in (b"\0" * 300 + b'"}\n', b'{"v":1,"se\n', b"\n", b"\xff\n"):
        found, trouble = chain.parse_records(WHOLE + rest)
        assert trouble is not None
        assert (trouble.line, found.records, found.torn) == (4, RECORDS, b"")


@pytest.mark.parametrize("rest", [b"{}\n", b"nothing\nmore", b"1\n2\n", b"[" * 100_000 + b"\n{}\n"])
def test_what_no_torn_write_can_leave_is_damage(rest: bytes) -> None:
    found, trouble = chain.parse_records(WHOLE + rest)
    assert trouble is not None
    assert (trouble.line, found.records, found.torn) == (4, RECORDS, b"")


def test_a_last_line_too_deep_to_parse_is_not_believed() -> None:
    _, trouble = chain.parse_records(WHOLE + b"[" * 100_000 + b"\n")
    assert trouble is not None


def test_a_record_whose_end_of_line_was_overwritten_is_damage_not_torn() -> None:
    _, trouble = chain.parse_records(WHOLE[:-1] + b"x")
    assert trouble is not None
    assert "no line end" in trouble.why
    _, trouble = chain.parse_records(WHOLE[: ENDS[1] - 1] + b" " + WHOLE[ENDS[1] :])
    assert trouble is not None
    assert trouble.line == 2


def test_records_taken_out_or_exchanged_are_damage() -> None:
    one, two, three = WHOLE.splitlines(keepends=True)
    for changed, line in ((one + three, 2), (two + three, 1), (one + three + two, 2)):
        _, trouble = chain.parse_records(changed)
        assert trouble is not None
        assert trouble.line == line


def test_a_chained_record_with_a_number_out_of_turn_is_damage() -> None:
    found, trouble = chain.parse_records(forged(b'{"v":1,"seq":1}', b'{"v":1,"seq":3}'))
    assert trouble is not None
    assert (trouble.line, found.seq, trouble.newer) == (2, 1, False)


@pytest.mark.parametrize(
    "text",
    [
        b'{"v":1}',
        b'{"seq":1}',
        b'{"v":"x","seq":1}',
        b'{"v":0,"seq":1}',
        b"{nonsense}",
        b'{"v":1,"seq":1},{"v":1,"seq":2}',
    ],
)
def test_a_chained_line_that_is_no_record_is_damage(text: bytes) -> None:
    found, trouble = chain.parse_records(forged(text))
    assert trouble is not None
    assert (trouble.line, found.records, found.length) == (1, [], 0)
    assert not trouble.newer


def test_a_chained_record_of_a_higher_version_is_newer_not_damaged() -> None:
    data = forged(b'{"v":1,"seq":1}', b'{"v":4,"seq":2,"other":1}', b'{"v":1,"seq":3}')
    found, trouble = chain.parse_records(data)
    assert trouble is not None
    assert (trouble.newer, trouble.line, found.seq) == (True, 2, 1)


def test_records_of_both_versions_are_read_as_they_are_side_by_side() -> None:
    data = forged(b'{"v":1,"seq":1}', b'{"v":2,"seq":2,"more":1}', b'{"v":1,"seq":3}')
    found, trouble = chain.parse_records(data)
    assert trouble is None
    assert [record["v"] for record in found.records] == [1, 2, 1]


def test_an_old_record_is_brought_up_to_date_by_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def upcast(record: dict[str, Any]) -> dict[str, Any]:
        return {**record, "v": 1, "fact": record["event"]}

    monkeypatch.setitem(chain.UPCASTS, 0, upcast)
    found, trouble = chain.parse_records(forged(b'{"v":0,"seq":1,"event":"x"}', b'{"v":1,"seq":2}'))
    assert trouble is None
    assert [record["v"] for record in found.records] == [1, 1]
    assert {"fact": "x"}.items() <= found.records[0].items()


def test_the_journal_writes_version_number_and_sum_itself() -> None:
    journal = MemoryJournal()
    journal.append(1, {"v": 1, "seq": 1, "fact": 1})
    for body in ({"v": 4}, {"seq": 5}, {"sum": "f" * 64}):
        with pytest.raises(ValueError, match="calls itself"):
            journal.append(2, body)
    assert journal.seq == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"x"])
def test_what_has_no_json_is_not_encoded(value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        chain.encode_json({"fact": value})


def test_what_could_not_be_read_back_for_its_depth_is_not_encoded() -> None:
    def nested(depth: int) -> object:
        value: object = 1
        for level in range(depth - 1):
            value = [value] if level % 2 else {"a": value}
        return value

    assert chain.nesting_depth(nested(7)) == 7
    assert json.loads(chain.encode_json(nested(chain.MAX_DEPTH))) == nested(chain.MAX_DEPTH)
    with pytest.raises(ValueError, match="nested"):
        chain.encode_json(nested(chain.MAX_DEPTH + 1))
    assert chain.encode_json([[]] * 1000)


def test_half_a_surrogate_pair_is_written_as_an_escape_that_any_reader_takes() -> None:
    data = chain.encode_json({"a": "\udc80é"})
    assert json.loads(data.decode("utf-8")) == {"a": "\udc80é"}


PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
TEXTS = st.text(st.characters()).filter(lambda text: not PAIR.search(text))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
ANY_BODY = st.dictionaries(TEXTS.filter(lambda k: k not in ("v", "seq", "sum")), VALUES, max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.lists(ANY_BODY, max_size=5), st.data())
def test_whatever_is_appended_is_read_back_also_from_the_middle(
    bodies: list[dict[str, Any]], data: st.DataObject
) -> None:
    whole = written(bodies)
    found, trouble = chain.parse_records(whole)
    assert trouble is None
    expected = [{"v": 1, "seq": seq, **body} for seq, body in enumerate(bodies, 1)]
    assert [{k: v for k, v in r.items() if k != "sum"} for r in found.records] == expected
    half, _ = chain.parse_records(whole[: data.draw(st.integers(0, len(whole)))])
    rest, trouble = chain.parse_records(whole[half.length :], half.seq, half.sum)
    assert trouble is None
    assert half.records + rest.records == found.records
    assert (rest.seq, rest.sum) == (found.seq, found.sum)
