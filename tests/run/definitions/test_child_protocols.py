"""Graphs whose children follow another graph: found beside them, read with its texts, pinned."""

from pathlib import Path

import pytest

from porch.errors import errors_in
from porch.run.definitions import library
from porch.store.where import find_project
from tests.dialects.graph.good_graphs import LEAF, OUTER

TEMPLATES = {"t.j2": "{{ instance.id }}\n", "join.j2": "{{ words | length }}\n"}


def write(directory: Path, name: str, text: str, work: str = "{{ item.id }}\n") -> Path:
    """A protocol in a directory of its own; `work` is the template of the leaf's work."""
    home = directory / name
    (home / "templates").mkdir(parents=True)
    for template, words in {**TEMPLATES, "work.j2": work}.items():
        (home / "templates" / template).write_text(words)
    file = home / f"{name}.graph.yaml"
    file.write_text(text)
    return file


@pytest.fixture
def outer(tmp_path: Path) -> Path:
    return write(tmp_path, "outer", OUTER)


def test_t3_the_other_graph_is_part_of_the_definition_with_its_texts(
    outer: Path, tmp_path: Path
) -> None:
    leaf = write(tmp_path, "leaf", LEAF, "Leaf {{ item.id }}\n")
    loaded = library.load_protocol(str(outer))
    assert loaded.findings == ()
    definition = loaded.demand()
    assert definition.prompts["leaf+work"] == "Leaf {{ item.id }}\n"
    assert set(definition.protocol.parts) == {"leaf"}
    assert str(leaf) in loaded.files
    assert str(leaf.parent / "templates" / "work.j2") in loaded.files


def test_t3_what_changes_in_the_other_graph_changes_the_digest(outer: Path, tmp_path: Path) -> None:
    leaf = write(tmp_path, "leaf", LEAF)
    before = library.load_protocol(str(outer)).digest
    (leaf.parent / "templates" / "work.j2").write_text("Otherwise {{ item.id }}\n")
    after = library.load_protocol(str(outer)).digest
    assert before
    assert before != after


def test_t3_a_graph_by_itself_beside_the_file_is_found(outer: Path) -> None:
    (outer.parent / "leaf.graph.yaml").write_text(LEAF)
    assert library.load_protocol(str(outer)).findings == ()


def test_t3_a_graph_of_the_project_is_found_by_its_name(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write(project / "codev" / "protocols", "leaf", LEAF)
    elsewhere = write(tmp_path / "elsewhere", "outer", OUTER)
    assert [f.code for f in library.load_protocol(str(elsewhere)).findings][:1] == ["unknown-child"]
    found = library.load_protocol(str(elsewhere), find_project(str(project)))
    assert found.findings == ()


def test_t3_a_packaged_graph_can_be_followed(tmp_path: Path) -> None:
    """v3 below a graph of one's own: its specs and its results are known."""
    text = OUTER.replace("protocol: leaf", "protocol: v3").replace(
        "  Part: {id: Text, file: FilePath}",
        "  Part:\n    id: Text\n    description: Text\n"
        '    acceptanceCriteria: "[Criterion]"\n    targetPath: FilePath\n    testPath: FilePath\n'
        "  Criterion: {id: Text, text: Text}",
    )
    text = text.replace("merged.words", "merged.impactLevel")
    (told,) = library.load_protocol(str(write(tmp_path, "outer", text))).findings
    assert (told.code, "parent.instance.spec" in told.message) == ("bad-child", True)
    spec = "Job: {id: Text, size: Int}"
    fitting = text.replace(
        spec,
        "Job:\n    id: Text\n    description: Text\n"
        '    acceptanceCriteria: "[Criterion]"\n    targetPath: FilePath\n    testPath: FilePath',
    )
    loaded = library.load_protocol(str(write(tmp_path / "fitting", "outer", fitting)))
    assert loaded.findings == ()
    assert "v3+impl" in loaded.demand().prompts


def test_a_template_of_the_other_graph_that_is_wrong_is_told(outer: Path, tmp_path: Path) -> None:
    write(tmp_path, "leaf", LEAF, "{{ item.nothing }}\n")
    loaded = library.load_protocol(str(outer))
    (found,) = errors_in(loaded.findings)
    assert loaded.definition is None
    assert found.place is not None
    assert found.place.file.endswith("leaf/templates/work.j2")


@pytest.mark.parametrize("name", ["nobody", "../leaf", "outer"])
def test_a_name_that_leads_nowhere_is_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path, "leaf", LEAF)
    file = write(tmp_path, "outer", OUTER.replace("protocol: leaf", f"protocol: {name}"))
    codes = [f.code for f in library.load_protocol(str(file)).findings]
    assert codes[0] in ("unknown-child", "bad-child")


def test_t8_an_input_that_neither_template_nor_check_uses_is_told_at_its_line(
    tmp_path: Path,
) -> None:
    text = LEAF.replace(
        "input: {item: instance.spec}",
        "input: {item: instance.spec, more: instance.id, file: instance.spec.file}",
    ).replace("exits: {Done", "checks: {Done: [{exists: file}]}, exits: {Done")
    file = write(tmp_path, "leaf", text, "{{ item.id }}\n")
    (found,) = library.load_protocol(str(file)).findings
    assert (found.code, found.severity) == ("unread-input", "warning")
    assert "'more'" in found.message
    assert found.place is not None
    assert "more: instance.id" in text.splitlines()[found.place.line - 1]
