"""A flood is cut before it is searched, and no cut leaves half a secret."""

from pathlib import Path

import pytest

from porch.agents import clean_output as cleaning
from porch.agents.clean_output import clean_output
from porch.agents.redaction import MASK, Redactor

SECRET = "correct-horse-battery"
KEEP, MARGIN = 400, 200


@pytest.fixture(autouse=True)
def _small_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleaning, "MARGIN", MARGIN)


@pytest.mark.parametrize("shift", range(0, 42, 3))
def test_half_a_secret_at_a_cut_is_not_kept(tmp_path: Path, shift: int) -> None:
    path = tmp_path / "out"
    path.write_text("." * shift + f"{SECRET} and\n" * 200 + "," * shift)
    clean_output(str(path), Redactor([SECRET]), KEEP)
    kept = path.read_text()
    head, gap, tail = kept.partition("\n[... ")
    assert MASK in head
    assert gap
    assert MASK in tail
    for part in ("correct", "horse", "battery", "rrec", "tter"):
        assert part not in kept
    assert len(kept) <= 2 * KEEP + 100


def test_a_flood_of_which_little_is_left_still_loses_what_stood_at_the_cut(tmp_path: Path) -> None:
    # Masks are shorter than this secret, so the two ends together are small at last.
    secret = "a" * 90 + "-the-end-of-it"
    path = tmp_path / "out"
    path.write_text(f"{secret}\n" * 100)
    clean_output(str(path), Redactor([secret]), KEEP)
    kept = path.read_text()
    assert "aaaa" not in kept
    assert "end-of" not in kept
    assert "bytes not shown" in kept


def test_what_is_short_is_searched_whole_and_cut_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("x" * 390 + SECRET + "y" * 700)
    clean_output(str(path), Redactor([SECRET]), KEEP)
    assert path.read_text().startswith("x" * 390 + MASK + "\n[... ")


def test_a_flood_keeps_its_mode_and_its_ends(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("first\n" + "middle\n" * 1000 + "last\n")
    path.chmod(0o640)
    clean_output(str(path), Redactor([SECRET]), KEEP)
    kept = path.read_text()
    assert kept.startswith("first\n")
    assert kept.endswith("last\n")
    assert len(kept.encode()) < 2 * KEEP + 60
    assert path.stat().st_mode & 0o777 == 0o640
