"""The editor's schema accepts what the reader accepts, and knows every key it knows."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from porch.dialects.phases.keys import KEYS
from porch.dialects.phases.schema import SCHEMA

ROOT = Path(__file__).parents[3]
FILES = [
    *sorted((ROOT / "tests" / "corpus" / "phases").glob("*.json")),
    *sorted((ROOT / "src" / "porch" / "protocols").glob("*/protocol.json")),
]
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_real_files_fit_the_schema(path: Path) -> None:
    assert list(VALIDATOR.iter_errors(json.loads(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize("kind", KEYS)
def test_every_key_of_the_reader_stands_in_the_schema(kind: str) -> None:
    shape = SCHEMA if kind == "protocol" else SCHEMA["$defs"][kind]
    assert set(shape["properties"]) == set(KEYS[kind])


@pytest.mark.parametrize(
    "document",
    [
        {"name": "p"},
        {"phases": [{"id": "a"}]},
        {"name": "p", "phases": []},
        {"name": "p", "phases": [{"name": "a"}]},
        {"name": "p", "phases": [{"id": "a", "phased": "yes"}]},
        {"name": "p", "phases": [{"id": "a", "checks": {"c": {"max_retries": -1}}}]},
        {"name": "p", "phases": [{"id": "a", "verification": {}}]},
        {"name": "p", "phases": [{"id": "a", "gate": 3}]},
    ],
)
def test_what_is_plainly_wrong_does_not_fit(document: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(document)
