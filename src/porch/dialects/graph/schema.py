"""A JSON Schema for editors of graph files; a test holds its keys to those that the reader knows.

It says what may be written where. Whether paths lead somewhere, only the reader says.
"""

from typing import Any, get_args

from porch.model import protocol as p

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number", "minimum": 0}
TEXTS: Schema = {"anyOf": [TEXT, {"type": "array", "items": TEXT}]}
ANY: Schema = {}


def _object(properties: Schema, *required: str) -> Schema:
    shape: Schema = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    return {**shape, "required": list(required)} if required else shape


def _by_name(value: Schema) -> Schema:
    return {"type": "object", "additionalProperties": value}


def _one_or_more(value: Schema) -> Schema:
    return {"anyOf": [value, {"type": "array", "items": value}]}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


_EDGE: Schema = {
    "to": TEXTS,
    "when": TEXT,
    "unless": TEXT,
    "charge": TEXT,
    "spent": TEXT,
    "spent_as": TEXT,
    "reset": TEXTS,
    "forget": TEXTS,
    "keep": _by_name(ANY),
    "spec": _by_name(TEXT),
    "same_epoch": FLAG,
    "free": FLAG,
    "alone": FLAG,
}
_EVERY_STATE: Schema = {"title": TEXT, "description": TEXT, "holds": TEXTS}
_AGENT: Schema = {
    **_EVERY_STATE,
    "role": TEXT,
    "template": TEXT,
    "input": _by_name(ANY),
    "exits": _by_name(ANY),
    "unused": TEXTS,
    "checks": _by_name(_one_or_more({"anyOf": [TEXT, _by_name(ANY)]})),
    "severity": _by_name(TEXT),
    "hints": _by_name(TEXT),
    "workspace": {"enum": list(get_args(p.Workspace))},
    "of_parent": FLAG,
    "fork": TEXT,
    "allows": TEXTS,
    "denies": TEXTS,
    "mechanical": FLAG,
    "memory": TEXTS,
    "fresh_when_stalled": TEXT,
    "at": TEXT,
    "diff": _object({"from": TEXT, "to": TEXT}),
    "timeout": NUMBER,
}
_GIT: Schema = {
    **_EVERY_STATE,
    "git": {"enum": [op for op in get_args(p.GitOp) if op != "commit"]},
    "message": TEXT,
    "reads": TEXTS,
    "approved": TEXT,
    "own": TEXTS,
    "candidate": TEXT,
}
_HUMAN: Schema = {
    **_EVERY_STATE,
    "human": {"enum": [kind for kind in get_args(p.AskKind) if kind != "undecided"]},
    "options": _by_name(_object({"means": TEXT, "text": FLAG}, "means")),
    "shows": TEXTS,
}
_END: Schema = {
    **_EVERY_STATE,
    "end": {"enum": list(get_args(p.Outcome))},
    "shows": TEXTS,
    "gives": TEXT,
}
STATES: dict[str, Schema] = {"agent": _AGENT, "git": _GIT, "human": _HUMAN, "end": _END}
BLOCKS: Schema = {
    "document": _object(
        {"name": TEXT, "version": TEXT, "description": TEXT, "subject": TEXT}, "name"
    ),
    "spec": TEXT,
    "types": _by_name({"anyOf": [TEXT, _by_name(TEXT)]}),
    "budgets": _by_name({"anyOf": [COUNT, _object({"limit": COUNT, "first": COUNT}, "limit")]}),
    "epoch": _object({"state": TEXT, "charge": TEXT, "spent": TEXT, "reset": TEXTS}),
    "supervision": _object(
        {"silence": NUMBER, "nudges": COUNT, "silent": TEXT, "exhausted": TEXT, "no_progress": TEXT}
    ),
    "spawn": _object(
        {
            **dict.fromkeys(("state", "specs", "protocol", "rework", "suite"), TEXT),
            **dict.fromkeys(("inherit", "from_parent"), TEXTS),
            **dict.fromkeys(("depth", "fan_out", "instances"), COUNT),
        }
    ),
    "interrupts": _object(
        {
            "sibling": _object(
                {
                    "state": TEXT,
                    "on": TEXT,
                    "event": TEXT,
                    "before": TEXTS,
                    "adapted": _by_name(TEXT),
                }
            )
        }
    ),
    "states": _by_name({"anyOf": [_ref(kind) for kind in STATES]}),
    "joins": _by_name(_object({**_EDGE, "rearm": TEXTS, "latched": TEXTS})),
    "choices": _by_name(_one_or_more(_object({"when": TEXT, "unless": TEXT, "to": TEXTS}))),
    "edges": _by_name(_one_or_more(_ref("edge"))),
}
SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A porch protocol as a graph",
    **_object(BLOCKS, "document", "states"),
    "$defs": {
        "agent": _object(_AGENT, "role", "template", "exits"),
        "git": _object(_GIT, "git"),
        "human": _object(_HUMAN, "human", "options"),
        "end": _object(_END, "end"),
        "edge": _object(_EDGE),
    },
}
