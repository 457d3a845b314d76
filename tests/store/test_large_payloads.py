"""Large texts travel by hash and come back whole."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from porch.machine import facts as f
from porch.machine.records import JSON_FORM
from porch.store.large_payloads import INSIDE, expand_payloads, slim_fact, slim_wish_text
from porch.text.printable import TEXT_REF_KEY


def test_a_small_fact_travels_inside(tmp_path: Path) -> None:
    fact = f.ExitAccepted(
        effect="a#1/agent/a/0", exit="BLOCKED", payload={"reason": "which database?"}
    )
    assert slim_fact(str(tmp_path), fact) is fact
    assert list(tmp_path.iterdir()) == []


def test_a_long_reason_is_a_file_named_by_its_hash_and_comes_back_whole(tmp_path: Path) -> None:
    reason = "why? " * 2000
    fact = f.ExitAccepted(effect="a#1/agent/a/0", exit="BLOCKED", payload={"reason": reason})
    slimmed = slim_fact(str(tmp_path), fact)
    assert isinstance(slimmed, f.ExitAccepted)
    assert len(str(JSON_FORM.encode(slimmed))) < INSIDE
    assert expand_payloads(str(tmp_path), slimmed.payload) == {"reason": reason}
    assert slimmed.exit == "BLOCKED"


def test_titles_and_identities_always_travel_inside(tmp_path: Path) -> None:
    item = f.Item(
        id="phase_1", title="T" * 600, description="D" * 600, digest="x", text="text " * 2000
    )
    fact = f.ItemsRead(effect="a#1/items/a/0", reading="headings", items=(item,), digest="digest")
    slimmed = slim_fact(str(tmp_path), fact)
    assert isinstance(slimmed, f.ItemsRead)
    assert slimmed.items[0].title == item.title
    assert slimmed.items[0].description == item.description
    assert expand_payloads(str(tmp_path), slimmed.items[0].text) == item.text


def test_a_lost_payload_shows_how_it_began(tmp_path: Path) -> None:
    fact = f.ExitAccepted(
        effect="a#1/agent/a/0", exit="BLOCKED", payload={"reason": "begin " * 2000}
    )
    slimmed = slim_fact(str(tmp_path), fact)
    assert isinstance(slimmed, f.ExitAccepted)
    for file in tmp_path.iterdir():
        file.unlink()
    assert expand_payloads(str(tmp_path), slimmed.payload)["reason"].startswith("begin begin")


@given(findings=st.lists(st.text(max_size=2000), max_size=8))
def test_findings_of_any_length_come_back_as_they_were(findings: list[str]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        fact = f.ReviewEnded(
            effect="a#1/review/m/0", verdict="REQUEST_CHANGES", findings=tuple(findings)
        )
        slimmed = slim_fact(directory, fact)
        assert isinstance(slimmed, f.ReviewEnded)
        assert expand_payloads(directory, slimmed.findings) == findings


def test_a_long_text_can_be_put_aside_before_there_is_a_fact(tmp_path: Path) -> None:
    text = "\udce9 log " * 2000
    kept = slim_wish_text(str(tmp_path), text)
    assert len(str(kept)) < INSIDE
    assert expand_payloads(str(tmp_path), {"form": {"logs": kept}}) == {"form": {"logs": text}}
    fact = f.PlanMoved(action="x", payload={"form": {"logs": kept, "thoughts": "t" * INSIDE}})
    slimmed = slim_fact(str(tmp_path), fact)
    assert isinstance(slimmed, f.PlanMoved)
    assert expand_payloads(str(tmp_path), slimmed.payload)["form"]["logs"] == text
    assert slim_wish_text(str(tmp_path), "x" * INSIDE) == "x" * INSIDE


def test_what_only_looks_like_a_text_kept_aside_stays_as_it_is(tmp_path: Path) -> None:
    for odd in (
        {TEXT_REF_KEY: 1},
        {TEXT_REF_KEY: "a" * 64},
        {TEXT_REF_KEY: "a" * 64, "size": "1", "clip": 2},
    ):
        assert expand_payloads(str(tmp_path), odd) == odd
