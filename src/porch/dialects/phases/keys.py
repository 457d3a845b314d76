"""Every key of the dialect, once: the reader knows no other, the schema is made of them."""

from collections.abc import Mapping
from typing import Any

SchemaFragment = Mapping[str, Any]


def _type_fragment(*types: str) -> SchemaFragment:
    return {"type": list(types)}


def _ref_fragment(*kinds: str, also: tuple[SchemaFragment, ...] = ()) -> SchemaFragment:
    return {"anyOf": [*({"$ref": f"#/$defs/{kind}"} for kind in kinds), *also]}


ANY: SchemaFragment = {}
TEXT = _type_fragment("string", "number", "null")
FLAG = _type_fragment("boolean", "null")
COUNT: SchemaFragment = {"type": ["integer", "null"], "minimum": 0}
POSITIVE_SECONDS: SchemaFragment = {"type": ["number", "null"], "exclusiveMinimum": 0}
SECONDS: SchemaFragment = {"type": ["number", "null"], "minimum": 0}
TARGET: SchemaFragment = {
    "type": ["string", "null"],
    "description": "a phase, a state, 'complete' or 'escalate'",
}
TEXTS: SchemaFragment = {
    "anyOf": [TEXT, {"type": "array", "items": {"type": ["string", "number"]}}]
}
GLOBS: SchemaFragment = {
    **TEXTS,
    "description": "globs from the top of the repository, @tests or @configuration",
}
NULL = _type_fragment("null")
_STEPS: SchemaFragment = {
    "anyOf": [
        NULL,
        {
            "type": "array",
            "items": _ref_fragment("step", also=(_type_fragment("string", "number"),)),
        },
    ]
}
_CHECKS = _ref_fragment("checks", also=(NULL,))
_CONSULTATION = _ref_fragment("consultation", also=(NULL,))
_SIGNALS = _ref_fragment("signals", also=(NULL,))

KEYS: Mapping[str, Mapping[str, SchemaFragment]] = {
    "protocol": {
        "name": {"type": ["string", "number"], "description": "the name of the protocol"},
        "version": TEXT,
        "description": TEXT,
        "alias": ANY,
        "subject": {**TEXT, "description": "what a run is about: project, issue, amendment, none"},
        "input": _ref_fragment("input", also=(NULL,)),
        "phases": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/phase"}},
        "initial": TARGET,
        "initial_state": TARGET,
        "signals": _SIGNALS,
        "gates": _ref_fragment("gates", also=(NULL,)),
        "transitions": _ref_fragment("transitions", also=(NULL,)),
        "phase_completion": _CHECKS,
        "defaults": _ref_fragment("defaults", also=(NULL,)),
        "permissions": _ref_fragment("permissions", also=(NULL,)),
        "config": _ref_fragment("config", also=(NULL,)),
        "protected": GLOBS,
        "finish": {
            "enum": ["merge", "squash", None],
            "description": "merge the work once the run is complete; a gate has to stand before",
        },
        "terminal": TEXTS,
        "hooks": ANY,
    },
    "phase": {
        "id": {"type": ["string", "number"], "description": "letters, digits, _ and -"},
        "name": TEXT,
        "description": TEXT,
        "type": {"enum": ["once", "per_plan_phase", "build_verify", None]},
        "prompt": TEXT,
        "build": _ref_fragment("build", also=(NULL,)),
        "artifact": TEXTS,
        "artifacts": TEXTS,
        "substates": _STEPS,
        "steps": _STEPS,
        "initial_substate": TARGET,
        "signals": _SIGNALS,
        "phased": FLAG,
        "phases_from": TEXT,
        "checks": _CHECKS,
        "backpressure": _CHECKS,
        "verification": _ref_fragment("verification", also=(NULL,)),
        "consultation": _CONSULTATION,
        "verify": _CONSULTATION,
        "max_iterations": COUNT,
        "max_consultation_rounds": COUNT,
        "gate": _ref_fragment("gate", also=(_type_fragment("string", "null"),)),
        "transition": _ref_fragment("transition", also=(NULL,)),
        "next": TARGET,
        "on_too_complex": TARGET,
        "on_complete": _ref_fragment("on_complete", also=(NULL,)),
        "permissions": TEXTS,
        "may_write": GLOBS,
        "terminal": FLAG,
        "input": ANY,
        "hooks": ANY,
    },
    "step": {"id": TEXT, "name": TEXT, "prompt": TEXT, "description": TEXT},
    "build": {"prompt": TEXT, "artifact": TEXTS, "artifacts": TEXTS},
    "check": {
        "name": TEXT,
        "command": _type_fragment("string", "null"),
        "setting": {
            **TEXT,
            "description": "a command of the project's settings: build, test, lint",
        },
        "if_missing": {"enum": ["skip", "skip-scripted", "fail", None]},
        "net_lines_below": {"type": "integer", "minimum": 1},
        "changed": {"const": True},
        "rerun": COUNT,
        "runner": {"enum": ["pytest", None]},
        "plugins": TEXTS,
        "description": TEXT,
        "on_fail": TARGET,
        "max_retries": COUNT,
        "retry_delay": SECONDS,
        "timeout": POSITIVE_SECONDS,
        "cwd": TEXT,
        "optional": FLAG,
        "required": FLAG,
        "once": FLAG,
        "about": {"enum": ["files", "form", "outside", None]},
    },
    "verification": {"checks": {"$ref": "#/$defs/checks"}, "max_retries": COUNT},
    "consultation": {
        "on": TARGET,
        "trigger": TARGET,
        "models": TEXTS,
        "max_reviewers": {"type": ["integer", "null"], "minimum": 1},
        "type": TEXT,
        "parallel": FLAG,
        "max_rounds": COUNT,
        "max_consultation_rounds": COUNT,
        "next": TARGET,
        "enabled": FLAG,
    },
    "gate": {
        "name": TEXT,
        "id": TEXT,
        "description": TEXT,
        "requires": TEXTS,
        "after": TARGET,
        "after_state": TARGET,
        "phase": TARGET,
        "next": TARGET,
        "next_state": TARGET,
        "type": TEXT,
        "artifact": TEXTS,
        "artifacts": TEXTS,
    },
    "signal": {
        "name": TEXT,
        "description": TEXT,
        "transitions_to": TARGET,
        "next": TARGET,
        "requires": TEXTS,
    },
    "transition": {
        "on_complete": TARGET,
        "on_fail": TARGET,
        "on_all_phases_complete": TARGET,
        "on_too_complex": TARGET,
    },
    "state_transition": {
        "from": TARGET,
        "to": TARGET,
        "on": TEXT,
        "default": TARGET,
        "on_complete": TARGET,
        "on_fail": TARGET,
        "on_all_phases_complete": TARGET,
        "on_too_complex": TARGET,
        "on_gate_pass": TARGET,
        "wait_for": TEXT,
        "on_backpressure_pass": TARGET,
        "on_backpressure_fail": TARGET,
    },
    "on_complete": {"commit": {"anyOf": [FLAG, TEXTS]}, "push": ANY},
    "config": {
        "claude_timeout": POSITIVE_SECONDS,
        "consultation_timeout": POSITIVE_SECONDS,
        "gate_poll_interval": SECONDS,
        "poll_interval": SECONDS,
        "max_gate_wait": SECONDS,
        "max_consultation_rounds": COUNT,
        "max_iterations": COUNT,
        "max_retries": COUNT,
        "prompts_dir": TEXT,
    },
    "defaults": {
        "mode": ANY,
        "max_iterations": COUNT,
        "max_retries": COUNT,
        "max_consultation_rounds": COUNT,
        "checks": _CHECKS,
        "verify": _CONSULTATION,
        "consultation": _CONSULTATION,
    },
    "input": {"type": TEXT, "required": ANY, "default_for": ANY},
}
