"""`envoy plan block-...-gate`, `envoy gate answer`, `envoy review`: where people are waited for."""

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from porch.adapters import where as places
from porch.errors import UsageError
from porch.model.prompt_ids import parse
from porch.operations import decisions
from porch.operations.decisions import Verdict
from porch.operations.plans import gates, place
from porch.operations.plans.gates import Came, Gate
from porch.operations.wishing import refuse_agents
from porch.surfaces.cli.command import Args, Command, View, arg, text
from porch.surfaces.cli.enveloping import failing, shown, told, waiting
from porch.surfaces.cli.plan_words import AGENT, FORCE, NUMBER, PROMPT, VARIANT, prompt_of

if TYPE_CHECKING:  # agents and processes are loaded only where somebody reviews
    from porch.operations.plans.reviewing import Wanted

_WAIT = arg(
    "--wait",
    type=float,
    default=None,
    metavar="SECONDS",
    help="then answer pending with exit 3; default: BLOCKING_GATE_TIMEOUT_MS, or 12 hours",
)


def _came(run: Callable[[Args], Came]) -> Callable[[Args], View]:
    def answered(args: Args) -> View:
        came = run(args)
        return waiting(came.data, came.code)

    return shown(answered)


def _wait_s(args: Args) -> float:
    if args.wait is None:
        return gates.longest_s(os.environ)
    if not args.wait >= 0:
        raise UsageError(f"--wait {args.wait:g} is no time", fix="give seconds, 0 or more")
    return float(args.wait)


def _block(name: str, args: Args) -> Came:
    id_ = prompt_of(args) if hasattr(args, "number") else None
    force = getattr(args, "force", False)
    gate = Gate(places.find(os.getcwd()), name, id_, force, args.agent)
    return gates.block(gate, _wait_s(args))


def _gate(name: str, help_: str, *arguments: Any) -> Command:
    run = _came(partial(_block, name))
    return Command(f"plan {gates.COMMANDS[name]}", help_, run, (*arguments, _WAIT, AGENT))


def _answer(args: Args) -> dict[str, Any]:
    """The same as `porch answer`, for the plan of the branch one stands on."""
    refuse_agents(os.environ, args.as_person)
    where = places.find(os.getcwd())
    plan = place.demand(place.current(where))
    name = _named(args.gate, args.id)
    verdict = Verdict("answered", args.form, args.as_person)
    answered = decisions.decide(where, plan.run, name, verdict)
    return {
        "decision": answered.name,
        "position": answered.position,
        "message": answered.message,
        "notice": answered.notice,
    }


def _named(gate: str, id_: str) -> str:
    """As decisions are named: variants are chosen among for a number, whichever is named."""
    if not id_:
        return gate
    prompt = parse([id_])
    return f"{gate}:{prompt.number if gate == 'variants' else prompt}"


def _review(default_by: str, args: Args) -> View:
    from porch.operations.plans import reviewing

    came = reviewing.review(places.find(os.getcwd()), _wanted(default_by, args))
    if came.data.get("verdict") == "error":
        fix = "ask again; if that does not help, let a person look (it is not passed)"
        return failing(came.data, "review_error", str(came.data["why"]) or "no verdict", fix)
    return waiting(came.data, came.code)


def _wanted(default_by: str, args: Args) -> "Wanted":
    from porch.operations.plans.reviewing import Wanted, named

    if bool(args.number) == bool(args.full):
        raise UsageError(
            "a review is of one prompt, or of everything with --full",
            fix="envoy review N [V], or envoy review --full",
            code="missing-argument",
        )
    if args.max_rounds is not None and args.max_rounds < 1:
        raise UsageError("--max-rounds must be at least 1", fix="give a number from 1 on")
    return Wanted(
        id=prompt_of(args) if args.number else None,
        by=named(args.by or getattr(args, "provider", "") or default_by),
        max_rounds=args.max_rounds or 0,
        wait_s=_wait_s(args),
        script=os.path.abspath(args.script) if args.script else "",
        force=args.force,
        caller=args.agent,
    )


_REVIEW = (
    arg("number", nargs="?", default="", help="the number of the prompt"),
    VARIANT,
    arg("--full", action="store_true", help="the whole plan and everything that changed"),
    arg("--by", default="", metavar="AGENT,AGENT", help="who reviews; all of them must pass"),
    arg("--max-rounds", type=int, default=None, metavar="N", help="default: [review] max_rounds"),
    arg("--script", default="", metavar="FILE", help="answers for the scripted agent"),
    FORCE,
    _WAIT,
    AGENT,
)
_ANY = shown(partial(_review, ""))
_PROVIDERS = {"gemini": "gemini", "openai": "codex"}
_PROVIDER = arg(
    "--provider",
    default="",
    type=lambda word: _PROVIDERS.get(word, word),
    metavar="NAME",
    help="gemini, openai, or an agent of yours",
)

_FORM = text(
    "--form", "--file", required=True, metavar="YAML", help="the fields of its feedback file"
)

COMMANDS: tuple[Command, ...] = (
    _gate("findings", "wait until a person has looked at the findings"),
    _gate("plan", "wait until a person has accepted the plan"),
    _gate("testing", "wait until a person has tried it", *PROMPT, FORCE),
    _gate("variants", "wait until a person has chosen", NUMBER, VARIANT, FORCE),
    _gate("logging", "wait for the logs of a fault", *PROMPT, FORCE),
    Command(
        "gate answer",
        "answer a gate of this branch's plan; for people",
        told(_answer),
        (
            arg("gate", help="findings, plan, testing, variants, logging or clarifying"),
            arg("id", nargs="?", default="", help="the prompt, or the number for variants"),
            *_FORM,
            arg("--as-person", action="store_true", help="say that a person decides; recorded"),
            AGENT,
        ),
    ),
    Command("review", "have a prompt or the plan reviewed", _ANY, _REVIEW),
    Command("gemini review", "the same by gemini", shown(partial(_review, "gemini")), _REVIEW),
    Command(
        "oracle review",
        "the same by a provider",
        shown(partial(_review, "")),
        (*_REVIEW, _PROVIDER),
    ),
)
