"""Arguments that the commands of `envoy plan` have in common."""

import re
from collections.abc import Sequence

from porch.errors import UsageError
from porch.model.prompt_ids import PromptId, parse
from porch.surfaces.cli.command import Args, arg

NUMBER = arg("number", help="the number of the prompt; 2_A, 2A and `2 A` all name a variant")
VARIANT = arg("variant", nargs="?", default="", help="the letter of its variant")
AGENT = arg("--agent", default="", metavar="NAME", help="who is calling; goes into the log")
FORCE = arg("--force", action="store_true", help="set the rules of its life aside; it is logged")
PROMPT = (NUMBER, VARIANT)
_NUMBER = re.compile("[0-9]{1,6}")


def prompt_of(args: Args) -> PromptId:
    return parse([args.number, args.variant])


def numbers(text: str) -> list[int]:
    """`1,2` or `[1, 2]`; whatever is no number is refused, for a dependency must not get lost."""
    words = [word.strip() for word in text.strip().strip("[]").split(",")]
    wrong = [word[:40] for word in words if word and not _NUMBER.fullmatch(word)]
    if wrong:
        raise UsageError(
            f"{', '.join(wrong)} is no number of a prompt",
            fix="give numbers, separated by commas: --depends-on 1,2 (variants have no say here)",
            code="invalid-number",
        )
    return list(dict.fromkeys(int(word) for word in words if word))


def paths(text: str) -> Sequence[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
