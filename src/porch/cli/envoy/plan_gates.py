"""`envoy plan block-...-gate`, `envoy gate answer`, `envoy review`: where people are waited for."""

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from porch.cli.command import (
    PERSON,
    Args,
    Verb,
    Verbs,
    View,
    make_argument,
    make_text_arguments,
)
from porch.cli.envoy.envelope import (
    answer_in_envelope,
    catch_complaints,
    failing_view,
    success_view,
    waiting_view,
)
from porch.cli.envoy.plan_arguments import AGENT, FORCE, NUMBER, PROMPT, VARIANT, read_prompt_id

if TYPE_CHECKING:  # agents and processes are loaded only where somebody reviews
    from porch.plan.gates.gate_question import GateOutcome
    from porch.plan.reviews.review import ReviewRequest

_WAIT = make_argument(
    "--wait",
    type=float,
    default=None,
    metavar="SECONDS",
    help="wait so long, then exit 3; default: BLOCKING_GATE_TIMEOUT_MS or 12 hours",
)


def _view_outcome(run: "Callable[[Args], GateOutcome]") -> Callable[[Args], View]:
    def answered(args: Args) -> View:
        came = run(args)
        return waiting_view(came.data, came.code)

    return catch_complaints(answered)


def _read_wait_seconds(args: Args) -> float:
    from porch.plan.gates import gate_question

    if args.wait is None:
        return gate_question.default_wait_s(os.environ)
    if not args.wait >= 0:
        from porch.errors import UsageError

        raise UsageError(
            f"--wait {args.wait:g} is not a valid time", fix="give a number of seconds, 0 or more"
        )
    return float(args.wait)


def _wait_at_gate(name: str, args: Args) -> "GateOutcome":
    from porch.plan.gates import gate_question
    from porch.plan.gates.gate_question import WaitedGate
    from porch.store import where as places

    id_ = read_prompt_id(args) if hasattr(args, "number") else None
    force = getattr(args, "force", False)
    gate = WaitedGate(places.find_project(os.getcwd()), name, id_, force, args.agent)
    return gate_question.wait_at_gate(gate, _read_wait_seconds(args))


def _gate_verb(name: str, *arguments: Any) -> Verb:
    return Verb(partial(_wait_at_gate, name), (*arguments, _WAIT, AGENT), _view_outcome)


def _answer_gate(args: Args) -> dict[str, object]:
    """The same as `porch answer`, for the plan of the branch one stands on."""
    from porch.plan.files import plan_location
    from porch.plan.gates import typed_answers
    from porch.run.verbs import decide
    from porch.run.verbs.decide import DecisionRequest
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    plan = plan_location.require_plan(plan_location.find_current_plan(where))
    name = _decision_name(args.gate, args.id)
    request = DecisionRequest("answered", _read_typed_words(args), args.as_person)
    read_form = partial(typed_answers.read_typed_form, logs=args.logs)
    answered = decide.decide_question(where, plan.run, name, request, read_form=read_form)
    return {
        "decision": answered.name,
        "position": answered.position,
        "message": answered.message,
        "notice": answered.notice,
    }


def _read_typed_words(args: Args) -> str:
    """Logs alone are an answer where only logs are asked for."""
    if args.form is None and args.logs is None:
        from porch.errors import UsageError

        raise UsageError(
            "one of --form and --file is required",
            fix="give the text, or the path of its file with --file (- for stdin)",
        )
    return args.form or ""


def _decision_name(gate: str, id_: str) -> str:
    """As decisions are named: variants are chosen among for a number, whichever is named."""
    if not id_:
        return gate
    from porch.machine.plan.prompt_ids import parse_prompt_id

    prompt = parse_prompt_id([id_])
    return f"{gate}:{prompt.number if gate == 'variants' else prompt}"


def _review_work(named: str, args: Args) -> View:
    from porch.errors import EXIT_WAITING
    from porch.plan.reviews import review
    from porch.store import where as places

    came = review.review_work(places.find_project(os.getcwd()), _read_review_request(named, args))
    if isinstance(came, review.ReviewPending):
        return waiting_view(came, EXIT_WAITING)
    if came.verdict == "error":
        fix = "run the review again; if it fails again, ask a person (the review has not passed)"
        return failing_view(came, "review_error", came.why or "no verdict", fix)
    return success_view(came)


def _read_review_request(named: str, args: Args) -> "ReviewRequest":
    from porch.errors import UsageError
    from porch.plan.reviews.review import ReviewRequest, split_names

    if bool(args.number) == bool(args.full):
        raise UsageError(
            "say what to review: one prompt, or everything with --full",
            fix="envoy review N [V], or envoy review --full",
            code="missing-argument",
        )
    if args.max_rounds is not None and args.max_rounds < 1:
        raise UsageError("--max-rounds must be at least 1", fix="give a number, 1 or more")
    return ReviewRequest(
        id=read_prompt_id(args) if args.number else None,
        by=split_names(args.by),
        max_rounds=args.max_rounds or 0,
        wait_s=_read_wait_seconds(args),
        reviewers_s=args.wait or 0,
        script=os.path.abspath(args.script) if args.script else "",
        force=args.force,
        caller=args.agent,
        named=named or getattr(args, "provider", ""),
    )


_REVIEW_WAIT = make_argument(
    "--wait",
    type=float,
    default=None,
    metavar="SECONDS",
    help="wait so long for the reviewers, and for a person who has to answer them; 0 waits for no "
    "person; default: consultation_timeout, and BLOCKING_GATE_TIMEOUT_MS or 12 hours",
)
_REVIEW = (
    make_argument("number", nargs="?", default="", help="the number of the prompt"),
    VARIANT,
    make_argument("--full", action="store_true", help="review the whole plan and all changes"),
    make_argument("--by", default="", metavar="AGENT,AGENT", help="who reviews; all must pass"),
    make_argument(
        "--max-rounds", type=int, default=None, metavar="N", help="default: [review] max_rounds"
    ),
    make_argument("--script", default="", metavar="FILE", help="answers for the scripted agent"),
    FORCE,
    _REVIEW_WAIT,
    AGENT,
)
_PROVIDERS = {"gemini": "gemini", "openai": "codex"}
_PROVIDER = make_argument(
    "--provider",
    default="",
    type=lambda word: _PROVIDERS.get(word, word),
    metavar="NAME",
    help="gemini, openai, or the name of your own agent",
)

_FORM = make_text_arguments(
    "--form", "--file", metavar="YAML", help="the fields of its feedback file"
)
_LOGS = make_text_arguments(
    "--logs", metavar="TEXT", help="logs, for the gates `logging` and `testing`"
)

COMMANDS: Verbs = {
    "plan block-findings-gate": _gate_verb("findings"),
    "plan block-plan-gate": _gate_verb("plan"),
    "plan block-prompt-testing-gate": _gate_verb("testing", *PROMPT, FORCE),
    "plan block-prompt-variants-gate": _gate_verb("variants", NUMBER, VARIANT, FORCE),
    "plan block-debugging-logging-gate": _gate_verb("logging", *PROMPT, FORCE),
    "gate answer": Verb(
        _answer_gate,
        (
            make_argument("gate", help="findings, plan, testing, variants, logging or clarifying"),
            make_argument(
                "id", nargs="?", default="", help="the prompt, or the number for variants"
            ),
            *_FORM,
            *_LOGS,
            PERSON,
            AGENT,
        ),
        answer_in_envelope,
    ),
    "review": Verb(partial(_review_work, ""), _REVIEW, catch_complaints),
    **{
        f"{name} review": Verb(partial(_review_work, name), _REVIEW, catch_complaints)
        for name in ("claude", "codex", "gemini")
    },
    "oracle review": Verb(partial(_review_work, ""), (*_REVIEW, _PROVIDER), catch_complaints),
}
