"""Every key of the dialect, once: the reader knows no other, the schema is made of them."""

from collections.abc import Mapping
from typing import Any

Fragment = Mapping[str, Any]


def _of(*types: str) -> Fragment:
    return {"type": list(types)}


def _refer(*kinds: str, also: tuple[Fragment, ...] = ()) -> Fragment:
    return {"anyOf": [*({"$ref": f"#/$defs/{kind}"} for kind in kinds), *also]}


ANY: Fragment = {}
TEXT = _of("string", "number", "null")
FLAG = _of("boolean", "null")
COUNT: Fragment = {"type": ["integer", "null"], "minimum": 0}
SECONDS: Fragment = {"type": ["number", "null"], "minimum": 0}
TARGET: Fragment = {"type": ["string", "null"], "description": "a phase, a state or 'complete'"}
TEXTS: Fragment = {"anyOf": [TEXT, {"type": "array", "items": {"type": ["string", "number"]}}]}
NULL = _of("null")
_STEPS: Fragment = {
    "anyOf": [NULL, {"type": "array", "items": _refer("step", also=(_of("string", "number"),))}]
}
_CHECKS = _refer("checks", also=(NULL,))
_CONSULTATION = _refer("consultation", also=(NULL,))
_SIGNALS = _refer("signals", also=(NULL,))

KEYS: Mapping[str, Mapping[str, Fragment]] = {
    "protocol": {
        "name": {"type": ["string", "number"], "description": "how the protocol is called"},
        "version": TEXT,
        "description": TEXT,
        "alias": ANY,
        "subject": {**TEXT, "description": "what a run is about: project, issue, amendment, none"},
        "input": _refer("input", also=(NULL,)),
        "phases": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/phase"}},
        "initial": TARGET,
        "initial_state": TARGET,
        "signals": _SIGNALS,
        "gates": _refer("gates", also=(NULL,)),
        "transitions": _refer("transitions", also=(NULL,)),
        "phase_completion": _CHECKS,
        "defaults": _refer("defaults", also=(NULL,)),
        "permissions": _refer("permissions", also=(NULL,)),
        "config": _refer("config", also=(NULL,)),
        "terminal": TEXTS,
        "hooks": ANY,
    },
    "phase": {
        "id": {"type": ["string", "number"], "description": "letters, digits, _ and -"},
        "name": TEXT,
        "description": TEXT,
        "type": {**TEXT, "examples": ["once", "per_plan_phase", "build_verify"]},
        "prompt": TEXT,
        "build": _refer("build", also=(NULL,)),
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
        "verification": _refer("verification", also=(NULL,)),
        "consultation": _CONSULTATION,
        "verify": _CONSULTATION,
        "max_iterations": COUNT,
        "max_consultation_rounds": COUNT,
        "gate": _refer("gate", also=(_of("string", "null"),)),
        "transition": _refer("transition", also=(NULL,)),
        "next": TARGET,
        "on_complete": _refer("on_complete", also=(NULL,)),
        "permissions": TEXTS,
        "terminal": FLAG,
        "input": ANY,
        "hooks": ANY,
    },
    "step": {"id": TEXT, "name": TEXT, "prompt": TEXT, "description": TEXT},
    "build": {"prompt": TEXT, "artifact": TEXTS, "artifacts": TEXTS},
    "check": {
        "name": TEXT,
        "command": TEXT,
        "setting": {
            **TEXT,
            "description": "a command of the project's settings: build, test, lint",
        },
        "if_missing": {"enum": ["skip", "skip-scripted", "fail", None]},
        "net_lines_below": COUNT,
        "description": TEXT,
        "on_fail": TARGET,
        "max_retries": COUNT,
        "retry_delay": SECONDS,
        "timeout": SECONDS,
        "cwd": TEXT,
        "optional": FLAG,
        "required": FLAG,
    },
    "verification": {"checks": {"$ref": "#/$defs/checks"}, "max_retries": COUNT},
    "consultation": {
        "on": TARGET,
        "trigger": TARGET,
        "models": TEXTS,
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
    "transition": {"on_complete": TARGET, "on_fail": TARGET, "on_all_phases_complete": TARGET},
    "state_transition": {
        "from": TARGET,
        "to": TARGET,
        "on": TEXT,
        "default": TARGET,
        "on_complete": TARGET,
        "on_fail": TARGET,
        "on_all_phases_complete": TARGET,
        "on_gate_pass": TARGET,
        "wait_for": TEXT,
        "on_backpressure_pass": TARGET,
        "on_backpressure_fail": TARGET,
    },
    "on_complete": {"commit": {"anyOf": [FLAG, TEXTS]}, "push": ANY},
    "config": {
        "claude_timeout": SECONDS,
        "consultation_timeout": SECONDS,
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
