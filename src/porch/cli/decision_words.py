"""The words that decide: approve, reject, answer, retry, skip; of commands and of the prompt.

`read_decision` is what both make of them. What one of them refuses, the other refuses as well.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from porch.cli.verbs import PERSON, Args, Argument, make_argument, refuse_empty_values

if TYPE_CHECKING:
    from porch.run.verbs.decide import DecisionRequest
    from porch.run.verbs.read_run import ReadRun

_ID = make_argument("id", help="the run: id, short id or directory name; `.` means here")
_HERE = make_argument(
    "id", nargs="?", default="", help="the run: id, short id or directory name; default: here"
)
_ACCEPT = make_argument(
    "--accept-changes",
    action="store_true",
    help="approve files that changed since porch asked, as you were shown them last",
)
ARGUMENTS: Mapping[str, tuple[Argument, ...]] = {
    "approve": (
        _ID,
        make_argument("gate", nargs="?", help="the gate; not needed if only one is waiting"),
        make_argument("--note", help="a note to keep with the approval"),
        make_argument("--override", help="approve although a check failed; give the reason"),
        _ACCEPT,
        PERSON,
    ),
    "reject": (
        _ID,
        make_argument("gate", nargs="?", help="the gate; not needed if only one is waiting"),
        make_argument("--reason", required=True, help="what must change; the agent gets this text"),
        PERSON,
    ),
    "answer": (
        _ID,
        make_argument("question", help="the name of the decision; see `porch pending`"),
        make_argument(
            "text",
            nargs="*",
            help="at a question, the answer, whatever it says; elsewhere one of the possible "
            "answers and its reason in quotes",
        ),
        make_argument(
            "--option",
            metavar="NAME",
            help="choose this possible answer; at a question that is the only way to choose "
            "one, for example `stopped`, which ends the run; the text is its reason",
        ),
        _ACCEPT,
        PERSON,
    ),
    "retry": (
        _HERE,
        make_argument("--note", help="a note to keep with it"),
        make_argument(
            "--keep-settings",
            action="store_true",
            help="try again with the settings that the run keeps, although a setting on "
            "which it failed was changed",
        ),
        PERSON,
    ),
    "skip": (
        _HERE,
        make_argument("--reason", required=True, help="why it may be skipped"),
        PERSON,
    ),
}


def read_decision(verb: str, args: Args, found: "ReadRun") -> tuple[str, "DecisionRequest"]:
    """Which question is answered, and how; the words of one of the commands below."""
    from porch.run.verbs import decide
    from porch.run.verbs.decide import DecisionRequest

    # An empty name is a slip, and nobody's decision.
    refuse_empty_values(args, "gate", "question", "override", "option")
    name = getattr(args, "gate", None) or getattr(args, "question", None) or ""
    match verb:
        case "approve":
            exit_, text = "waived" if args.override else "approved", args.override or args.note
        case "reject":
            exit_, text = "rejected", args.reason
        case "answer":
            exit_, text = decide.choose_answer(found, name, args.text, args.option or "")
        case _:
            exit_, text = verb, args.note if verb == "retry" else args.reason
            name = decide.resolve_failure(found, exit_)
    return name, DecisionRequest(
        exit_,
        text or "",
        args.as_person,
        keeps_settings=getattr(args, "keep_settings", False),
        accept_changes=getattr(args, "accept_changes", False),
    )
