"""Arguments that the commands of `envoy plan` have in common."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from porch.cli.command import Args, make_argument
from porch.text.late_pattern import late_pattern

if TYPE_CHECKING:
    from porch.machine.plan.prompt_ids import PromptId

NUMBER = make_argument(
    "number", help="the number of the prompt; write a variant as 2_A, 2A or `2 A`"
)
VARIANT = make_argument("variant", nargs="?", default="", help="the letter of its variant")
AGENT = make_argument(
    "--agent", default="", metavar="NAME", help="who is calling; goes into the log"
)
FORCE = make_argument(
    "--force",
    action="store_true",
    help="for people: ignore the rules for this prompt; this is logged",
)
PROMPT = (NUMBER, VARIANT)
_NUMBER = late_pattern("[0-9]{1,6}")


def read_prompt_id(args: Args) -> "PromptId":
    from porch.machine.plan.prompt_ids import parse_prompt_id

    return parse_prompt_id([args.number, args.variant])


def parse_numbers(text: str) -> list[int]:
    """`1,2` or `[1, 2]`; whatever is no number is refused, for a dependency must not get lost."""
    words = [word.strip() for word in text.strip().strip("[]").split(",")]
    wrong = [word[:40] for word in words if word and not _NUMBER.fullmatch(word)]
    if wrong:
        from porch.errors import UsageError

        raise UsageError(
            f"{', '.join(wrong)} is not a prompt number",
            fix="give numbers, separated by commas, without variants: --depends-on 1,2",
            code="invalid-number",
        )
    return list(dict.fromkeys(int(word) for word in words if word))


def parse_paths(text: str) -> Sequence[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
