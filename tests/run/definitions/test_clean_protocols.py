"""Lint looks again whenever something has changed that has a say, and only then."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from porch.run.definitions import clean_protocols, library, protocol_list
from porch.store.snapshots import user_key
from porch.store.where import find_project

PROTOCOL = {
    "name": "p",
    "phases": [
        {"id": "one", "prompt": "one.md"},
        {
            "id": "two",
            "prompt": "two.md",
            "consultation": {"type": "spec-review", "models": ["claude"]},
        },
    ],
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A protocol without a fault, in a project that has a place for what is kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    directory = tmp_path / "codev" / "protocols" / "p"
    (directory / "prompts").mkdir(parents=True)
    (tmp_path / "codev" / ".porch").mkdir()
    (directory / "protocol.json").write_text(json.dumps(PROTOCOL))
    (directory / "prompts" / "one.md").write_text("Do {{ title }}.\n")
    (directory / "two.md").write_text("Do it.\n")
    return directory


def lint(place: Path) -> list[str]:
    where = find_project(str(place.parent.parent.parent))
    found = protocol_list.lint_protocols(where, [str(place / "protocol.json")])
    return [finding.code for finding in found]


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The protocols that were read."""
    seen: list[str] = []
    real = library.load_protocol

    def load_protocol(file: str, where: object) -> library.LoadedDefinition:
        seen.append(file)
        return real(file, where)  # type: ignore[arg-type]

    monkeypatch.setattr(library, "load_protocol", load_protocol)
    return seen


def test_a_protocol_without_a_fault_is_read_once(place: Path, loads: list[str]) -> None:
    assert lint(place) == lint(place) == []
    assert len(loads) == 1


def rewrite(path: str, text: str) -> Callable[[Path], object]:
    def act(place: Path) -> None:
        (place / path).parent.mkdir(exist_ok=True)
        (place / path).write_text(text)

    return act


CHANGES: dict[str, Callable[[Path], object]] = {
    "the protocol itself": rewrite("protocol.json", "{"),
    "a prompt, to the same length": rewrite("prompts/one.md", "Do {{ titel }}.\n"),
    "a prompt that wins over another": rewrite("prompts/two.md", "{{ nobody }}\n"),
    "a review of the protocol's own": rewrite("reviews/spec-review.md", "{{ nobody }}\n"),
    "a prompt that is gone": lambda place: (place / "two.md").unlink(),
}


@pytest.mark.parametrize("change", list(CHANGES))
def test_it_is_read_again_after_a_change(place: Path, loads: list[str], change: str) -> None:
    assert lint(place) == []
    CHANGES[change](place)
    assert lint(place) != []
    assert lint(place) != []
    assert len(loads) == 3


def test_a_new_file_among_the_templates_is_looked_at(place: Path, loads: list[str]) -> None:
    lint(place)
    (place / "templates").mkdir()
    (place / "templates" / "x.md").write_bytes(b"\xff")
    assert lint(place) == ["not-utf8"]


def test_other_settings_have_a_say(place: Path, loads: list[str]) -> None:
    lint(place)
    (place.parent.parent / "config.toml").write_text("[agent]\nback_off = 0.5\n")
    assert lint(place) == []
    assert len(loads) == 2


def test_another_release_looks_itself(
    place: Path, loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lint(place)
    monkeypatch.setattr("porch.__version__", "99.0")
    assert lint(place) == []
    assert len(loads) == 2


def record_of(place: Path) -> Path:
    (found,) = (place.parent.parent / ".porch" / "cache").glob("clean-*")
    return found


def test_a_record_that_porch_did_not_write_is_not_believed(place: Path, loads: list[str]) -> None:
    (place / "two.md").write_text("{{ nobody }}\n")
    assert lint(place) != []
    good = place.parent / "good"
    shutil.copytree(place, good)
    (good / "two.md").write_text("Do it.\n")
    assert lint(good) == []
    record = record_of(place)
    where = find_project(str(place.parent.parent.parent))
    located = library.locate_protocol(where, str(place / "protocol.json"))
    target = Path(clean_protocols._record_path(located))
    target.write_text(record.read_text().replace(str(good), str(place)))
    assert lint(place) != []
    # With a good mark, too, it is the record of another file.
    target.write_bytes(record.read_bytes())
    assert lint(place) != []


def test_without_a_key_nothing_is_kept(
    place: Path, loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_key, "make_key", lambda: None)
    assert lint(place) == lint(place) == []
    assert len(loads) == 2
    assert not (place.parent.parent / ".porch" / "cache").exists()


def test_a_record_that_is_torn_counts_as_none(place: Path, loads: list[str]) -> None:
    lint(place)
    record = record_of(place)
    record.write_bytes(record.read_bytes()[:50])
    assert lint(place) == []
    assert len(loads) == 2
