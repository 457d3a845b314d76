"""Every row of DIALECTS reads its own files, knows no others', and complains with places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from porch.dialects.registry import DIALECTS, parse_definition
from porch.errors import DefinitionError, Finding, errors_in
from porch.model.protocol import Protocol
from porch.model.validate import validate_protocol
from porch.text import formats

ROOT = Path(__file__).resolve().parents[2]
CUTS = 12


@dataclass(frozen=True)
class Sample:
    """A file of this dialect, how one word of it is spoilt, and the page that explains it."""

    file: str
    word: str
    instead: str
    page: str

    @property
    def text(self) -> str:
        return (ROOT / self.file).read_text(encoding="utf-8")

    @property
    def spoilt(self) -> str:
        assert self.word in self.text
        return self.text.replace(self.word, self.instead, 1)


SAMPLES: Mapping[str, Sample] = {
    "graph": Sample("tests/corpus/graph/small.graph.yaml", "state: plan", "state: plann", "graph"),
    "phases": Sample(
        "src/porch/protocols/tick/protocol.json",
        '"initial": "understand"',
        '"initial": "understood"',
        "protocol-json",
    ),
    "plan_xml": Sample(
        "examples/track/tracks/login/plan.xml",
        "<dependencies>T1.1",
        "<dependencies>T7.7",
        "plan-xml",
    ),
    "steps": Sample("src/porch/protocols/steps/discovery.yaml", "steps:", "steppes:", "steps"),
}


@pytest.fixture(params=DIALECTS)
def name(request: pytest.FixtureRequest) -> str:
    found = str(request.param)
    assert found in SAMPLES, f"dialect {found} has no sample"
    return found


def test_a_sample_is_recognised_by_its_own_dialect_alone(name: str) -> None:
    sample = SAMPLES[name]
    root = formats.read_tree(sample.text, sample.file)
    assert [each for each, dialect in DIALECTS.items() if dialect.recognises(root)] == [name]


def test_a_sample_becomes_a_protocol_that_holds(name: str) -> None:
    reading = parse_definition(SAMPLES[name].text, SAMPLES[name].file)
    assert reading.protocol is not None, reading.findings
    assert errors_in(reading.findings) == []
    assert errors_in(validate_protocol(reading.protocol, reading.places)) == []
    assert parse_definition(SAMPLES[name].text, SAMPLES[name].file) == reading


def test_a_spoilt_sample_is_refused_with_the_place_of_its_fault(name: str) -> None:
    reading = parse_definition(SAMPLES[name].spoilt, SAMPLES[name].file)
    assert reading.protocol is None
    places = [finding.place for finding in errors_in(reading.findings)]
    assert any(place and place.file == SAMPLES[name].file for place in places)


def test_a_sample_that_is_cut_off_anywhere_is_refused_in_words(name: str) -> None:
    text = SAMPLES[name].text
    for cut in range(0, len(text), len(text) // CUTS):
        protocol, findings = _read(text[:cut], SAMPLES[name].file)
        assert protocol is not None or findings, f"nothing is said of the first {cut} letters"


def _read(text: str, file: str) -> tuple[Protocol | None, Sequence[Finding]]:
    try:
        reading = parse_definition(text, file)
    except DefinitionError as error:
        return None, error.findings
    return reading.protocol, reading.findings


def test_every_dialect_has_its_page(name: str) -> None:
    assert (ROOT / "docs" / "reference" / f"{SAMPLES[name].page}.md").is_file()
