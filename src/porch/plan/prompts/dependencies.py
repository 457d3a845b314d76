"""Whether prompts can be carried out in some order: variants, dependencies and rings of them."""

from collections.abc import Iterator

from porch.errors import Finding
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import Prompts


def list_order_problems(prompts: Prompts, id_: PromptId) -> Iterator[Finding]:
    same = [each for each in prompts if each.number == id_.number and each != id_]
    if any(bool(each.variant) != bool(id_.variant) for each in same):
        code = "standalone-exists" if id_.variant else "variants-exist"
        names = ", ".join(map(str, same))
        said = f"prompt {id_} and {names} exist: a number has one prompt, or variants with letters"
        yield Finding(code, said, None, f"remove {names} with `envoy plan clear-prompt` first")
    numbers = {each.number for each in prompts}
    for number in prompts[id_].depends_on:
        if number == id_.number:
            yield Finding("self-dependency", f"prompt {id_} depends on itself", None, "remove it")
        elif number not in numbers:
            fix = f"{_describe_other_numbers(numbers - {id_.number})}; write it first"
            yield Finding("unknown-dependency", f"there is no prompt {number}", None, fix)
    for ring in find_cycles(prompts):
        if id_.number in ring and len(ring) > 2:
            way = " -> ".join(map(str, ring))
            yield Finding("dependency-cycle", f"prompts depend on each other: {way}", None, _CUT)


def _describe_other_numbers(numbers: set[int]) -> str:
    if not numbers:
        return "the plan has no other prompts yet"
    return f"other numbers of the plan: {', '.join(map(str, sorted(numbers)))}"


_CUT = "remove one of these dependencies with `envoy plan update-prompt-dependencies`"


def find_cycles(prompts: Prompts) -> list[tuple[int, ...]]:
    """Each ring of numbers once, from its smallest number on, and back to it."""
    ways: dict[int, set[int]] = {}
    for id_, prompt in prompts.items():
        ways.setdefault(id_.number, set()).update(prompt.depends_on)
    rings: dict[tuple[int, ...], None] = {}
    for start in sorted(ways):
        found = _find_way_back(ways, start)
        if found:
            rings[found] = None
    return list(rings)


def _find_way_back(ways: dict[int, set[int]], start: int) -> tuple[int, ...]:
    """The shortest way from a number to itself over numbers that are not smaller."""
    ahead: list[tuple[int, ...]] = [(start,)]
    seen: set[int] = set()
    for way in ahead:
        for number in sorted(ways.get(way[-1], ())):
            if number == start:
                return (*way, start)
            if number > start and number not in seen:
                seen.add(number)
                ahead.append((*way, number))
    return ()
