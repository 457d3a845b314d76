"""A protocol and the texts that it names: found from everywhere, and missed where they are not."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from porch.errors import Finding, UsageError, errors_in
from porch.run.definitions import definition_texts, library
from porch.store.where import find_project

ROOT = Path(__file__).resolve().parents[3]
WHOLE = [
    *sorted((ROOT / "src" / "porch" / "protocols").glob("*/protocol.json")),
    *sorted((ROOT / "src" / "porch" / "protocols").glob("*/*.graph.yaml")),
    *sorted((ROOT / "src" / "porch" / "protocols" / "steps").glob("*.yaml")),
    *sorted((ROOT / "examples").rglob("protocol.json")),
    *sorted((ROOT / "skeleton").rglob("protocol.json")),
]


def write(directory: Path, phase: dict[str, Any], **files: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "protocol.json"
    path.write_text(json.dumps({"name": "p", "phases": [{"id": "a", **phase}]}, indent=1))
    for name, text in files.items():
        file = directory / name.replace("__", "/").replace("_md", ".md")
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return path


def findings(path: Path, code: str) -> list[Finding]:
    return [f for f in library.load_protocol(str(path)).findings if f.code == code]


def reviewed(kind: str) -> dict[str, Any]:
    return {"consultation": {"models": ["claude"], "type": kind}}


def test_l4_an_unknown_review_is_an_error_with_the_known_ones(tmp_path: Path) -> None:
    path = write(tmp_path, reviewed("spec-reviw"))
    (finding,) = findings(path, "unknown-review")
    assert finding.severity == "error"
    assert finding.fix.startswith("did you mean 'spec-review'? known reviews: generic, ")
    assert "or write reviews/spec-reviw.md" in finding.fix
    assert finding.place is not None
    assert (finding.place.line, finding.place.column) == (10, 13)
    assert library.load_protocol(str(path)).definition is None


def test_l4_a_packaged_review_or_one_beside_the_protocol_is_known(tmp_path: Path) -> None:
    assert findings(write(tmp_path / "a", reviewed("spec-review")), "unknown-review") == []
    own = write(tmp_path / "b", reviewed("security"), reviews__security_md="Look.\n")
    assert findings(own, "unknown-review") == []
    assert library.load_protocol(str(own)).demand().reviews["security"] == "Look.\n"
    assert findings(write(tmp_path / "c", {"consultation": {"models": ["claude"]}}), "x") == []


@pytest.mark.parametrize("kind", ["impl", "pr-ready", "critique"])
def test_l4_a_review_of_another_tool_is_a_note(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, reviewed(kind))
    assert [f.severity for f in findings(path, "unknown-review")] == ["note"]
    assert library.load_protocol(str(path)).definition is not None


def test_l16_a_prompt_that_is_missing_is_an_error(tmp_path: Path) -> None:
    (finding,) = findings(write(tmp_path, {"prompt": "work.md"}), "missing-prompt")
    assert finding.severity == "error"
    assert finding.place is not None
    assert finding.fix == "write prompts/work.md next to the protocol file"
    assert findings(write(tmp_path, {"prompt": "work.md"}, prompts__work_md="x"), "x") == []
    assert library.load_protocol(str(tmp_path / "protocol.json")).definition is not None


def test_all_findings_of_a_file_and_of_its_texts_are_said_at_once(tmp_path: Path) -> None:
    phase = {"prompt": "none.md", "type": "onec", "steps": ["x", {"id": "y", "prompt": "y.md"}]}
    path = write(tmp_path, {**phase, **reviewed("nothing")}, prompts__y_md="{{ nonsense }}\n")
    codes = [finding.code for finding in library.load_protocol(str(path)).findings]
    assert sorted(codes) == ["missing-prompt", "unknown-review", "unknown-variable", "wrong-value"]
    (tmp_path / "prompts" / "y.md").write_bytes(b"\xff")
    codes = [finding.code for finding in library.load_protocol(str(path)).findings]
    assert sorted(codes) == ["missing-prompt", "not-utf8", "unknown-review", "wrong-value"]


def test_l16_a_phase_that_names_no_prompt_needs_none(tmp_path: Path) -> None:
    assert library.load_protocol(str(write(tmp_path, {}))).findings == ()


WAYS = [
    ("protocols/x", "protocol.json"),
    ("protocols/x", "./protocol.json"),
    ("protocols/x", "."),
    ("protocols/x/prompts", ".."),
    ("protocols/x/prompts", "../protocol.json"),
    ("protocols", "x"),
    ("protocols", "x/"),
    (".", "protocols/x/protocol.json"),
]


@pytest.mark.parametrize("here, word", WAYS)
def test_l17_prompts_are_found_from_every_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: str, word: str
) -> None:
    phase = {"prompt": "work.md", **reviewed("own")}
    texts = {"prompts__work_md": "{{ nonsense }}\n", "reviews__own_md": "Look.\n"}
    write(tmp_path / "protocols" / "x", phase, **texts)
    monkeypatch.chdir(tmp_path / here)
    found = library.locate_protocol(find_project(os.getcwd()), word)
    loaded = library.load_protocol(found.file, found.home)
    assert [f.code for f in loaded.findings] == ["unknown-variable"], "the prompt is read"
    place = loaded.findings[0].place
    assert place is not None
    assert os.path.samefile(place.file, tmp_path / "protocols" / "x" / "prompts" / "work.md")


def test_l17_a_prompt_outside_of_the_directory_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name beside is no name inside: /p/x-secret does not lie in /p/x."""
    write(tmp_path / "x", {"prompt": "work.md"})
    (tmp_path / "x-secret").mkdir()
    (tmp_path / "x-secret" / "work.md").write_text("x")
    monkeypatch.chdir(tmp_path / "x")
    texts = definition_texts.DefinitionTexts("", library_reading(), [])
    assert texts._first("../x-secret/work.md") is None
    assert texts._first("protocol.json") == "protocol.json"


def library_reading() -> Any:
    from porch.dialects.result import ProtocolReading

    return ProtocolReading(None)


def test_l18_a_known_name_is_never_taken_for_a_directory_of_this_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "tick", {})
    monkeypatch.chdir(tmp_path)
    where = find_project(os.getcwd())
    assert library.locate_protocol(where, "tick").file.startswith(library.PACKAGED)
    assert library.locate_protocol(where, "./tick").file == "tick/protocol.json"


def test_l18_a_word_that_is_neither_a_name_nor_a_path_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no protocol 'spidr'") as refused:
        library.locate_protocol(find_project(str(tmp_path)), "spidr")
    assert "did you mean 'spider'?" in refused.value.findings[0].fix


def test_l18_a_directory_with_a_graph_is_a_protocol_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "small"
    directory.mkdir()
    text = (ROOT / "tests" / "corpus" / "graph" / "small.graph.yaml").read_text(encoding="utf-8")
    (directory / "small.graph.yaml").write_text(text)
    monkeypatch.chdir(directory)
    where = find_project(os.getcwd())
    assert library.locate_protocol(where, ".").file == "small.graph.yaml"
    assert library.locate_protocol(where, str(directory)).file.endswith("small/small.graph.yaml")


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_no_packaged_or_example_protocol_has_an_error(path: Path) -> None:
    assert errors_in(library.load_protocol(str(path)).findings) == []
