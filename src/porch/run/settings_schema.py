"""A JSON Schema of the settings for editors, made of the table of keys that the reader uses."""

from collections.abc import Mapping
from typing import Any

from porch.agents import AGENTS
from porch.run import setting_keys as k
from porch.run.settings import AGENT_KIND, TABLES

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string", "pattern": r"\S"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_NAME: Schema = {"type": "string", "pattern": f"^{k.NAME.pattern}$"}
_MORE_THAN_0: Schema = {"type": "number", "exclusiveMinimum": 0}
_FROM_0: Schema = {"type": "number", "minimum": 0}
# By words, which are as different as the kinds: a kind is no key of a mapping.
KINDS: Mapping[str, Schema] = {
    k.TEXT.words: _TEXT,
    k.FLAG.words: {"type": "boolean"},
    k.COUNT.words: {"type": "integer", "minimum": 1},
    k.SECONDS.words: _MORE_THAN_0,
    k.SECONDS_OR_OFF.words: _FROM_0,
    k.TEXTS.words: _TEXTS,
    k.NAMES.words: {"type": "array", "items": _NAME, "uniqueItems": True},
    k.AMOUNT.words: _MORE_THAN_0,
    k.TOGETHER.words: {"enum": ["off", "last-task"]},
    k.UNATTENDED.words: {"enum": ["park", "deny"]},
    k.PRICES.words: {"type": "array", "items": _FROM_0, "minItems": 3, "maxItems": 3},
    k.PERMISSIONS.words: {**_TEXTS, "minItems": 1},
    AGENT_KIND.words: {"enum": list(AGENTS)},
}


def make_settings_schema() -> Schema:
    """Sections with their keys; a key that nobody knows is an error there, and so it is here."""
    sections: dict[str, Schema] = {}
    for key, known in k.KEYS.items():
        section, _, name = key.partition(".")
        sections.setdefault(section, {})[name] = _describe_key(known)
    commands = dict.fromkeys(k.COMMANDS_USED, _TEXT)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of porch",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "commands": {"type": "object", "properties": commands, "additionalProperties": _TEXT},
            **{name: _closed(keys) for name, keys in sections.items()},
            **{name: _named_tables(keys) for name, keys in TABLES.items()},
        },
    }


def _named_tables(keys: Mapping[str, k.SettingKey]) -> Schema:
    inner = _closed({name: _describe_key(known) for name, known in keys.items()})
    return {"type": "object", "propertyNames": _NAME, "additionalProperties": inner}


def _closed(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _describe_key(known: k.SettingKey) -> Schema:
    said = "; ".join(filter(None, (known.kind.words, k.VOUCH if known.only_user else "")))
    return {**KINDS[known.kind.words], "description": said}
