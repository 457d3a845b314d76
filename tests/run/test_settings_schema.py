"""The editor's schema of the settings says yes and no where the reader does."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from porch.fleet.setup.config_text import render_config
from porch.run.setting_keys import KEYS
from porch.run.settings import TABLES, load_settings
from porch.run.settings_schema import make_settings_schema

VALIDATOR = jsonschema.Draft202012Validator(make_settings_schema())
VALUES: tuple[Any, ...] = (
    "x", "", " ", 0, 1, 2.5, -1, True, [], ["a"], ["a", "a"], [""], [1, 2, 3.5], [1], ["a b"],
    ["write:src/**"], "claude", {},
)  # fmt: skip
# A list of permissions is read word by word, which no schema says.
_LOOSER = {"permissions": [["a"], ["a", "a"], ["a b"]]}


@pytest.mark.parametrize("key", KEYS)
def test_each_key_takes_what_the_reader_takes(key: str) -> None:
    section, _, name = key.partition(".")
    for value in VALUES:
        assert VALIDATOR.is_valid({section: {name: value}}) == KEYS[key].kind.fits(value), value


@pytest.mark.parametrize("section", TABLES)
def test_each_table_takes_what_the_reader_takes(section: str) -> None:
    for name, known in TABLES[section].items():
        for value in VALUES:
            fits = bool(known.kind.fits(value)) or value in _LOOSER.get(name, [])
            assert VALIDATOR.is_valid({section: {"n": {name: value}}}) == fits, (name, value)


@pytest.mark.parametrize(
    "document",
    [{"agnet": {}}, {"agent": {"nmae": "x"}}, {"commands": {"test": 1}}, {"roles": {"a b": {}}}],
)
def test_a_slip_does_not_fit(document: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(document)


def test_the_settings_that_codev_writes_fit_and_are_read(tmp_path: Path) -> None:
    import tomllib

    text = render_config([])
    assert VALIDATOR.is_valid(tomllib.loads(text))
    (tmp_path / "codev").mkdir()
    # Every line that is commented out is right as it stands.
    bare = "\n".join(
        line.removeprefix("# ") if " = " in line and line.startswith("# ") else line
        for line in text.splitlines()
    )
    assert VALIDATOR.is_valid(tomllib.loads(bare))
    (tmp_path / "codev" / "config.toml").write_text(bare)
    assert load_settings(str(tmp_path), "").commands["test"] == "your command"
