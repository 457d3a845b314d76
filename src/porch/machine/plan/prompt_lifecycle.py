"""The life of a prompt: what must be so before each step, as one table; a plan is its prompts.

These fields live in the journal of the plan's run. The front matter of a prompt shows them, and
whoever writes something else there has changed a picture.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from msgspec import Struct
from msgspec.structs import asdict, replace

from porch.machine.facts import Payload
from porch.machine.plan.prompt_ids import PromptId, parse_prompt_id
from porch.machine.state import RunState

PROMPT_PATH = "prompt.is"
PLAN_PATH = "plan.is"
STATUSES = ("unimplemented", "implemented", "reviewed", "tested", "merged")


class Prompt(Struct, frozen=True):
    """What envoy knows of a prompt and nobody may write by hand."""

    kind: str = "feature"
    depends_on: tuple[int, ...] = ()
    requires_manual_testing: bool = False
    planned_at: str = ""
    status: str = "unimplemented"
    in_progress: bool = False
    current_iteration: int = 1
    delegated_to: str = ""
    worktree_branch_name: str = ""
    base_commit: str = ""
    started_at: str = ""
    owner: Mapping[str, Any] | None = None
    review: str = ""
    reviewed_tree: str = ""
    review_rounds: int = 0
    rounds_allowed: int = 0
    testing: str = ""
    tested_tree: str = ""
    completed_debug_logging: bool = False
    variant_solution: str = ""
    variant_reason: str = ""
    merge_commit_hash: str = ""
    documentation_extracted: bool = False
    blocked_reason: str = ""

    @property
    def is_written(self) -> bool:
        """Somebody has said what was done."""
        return self.status != "unimplemented"

    @property
    def needs_testing(self) -> bool:
        """A person tries every fix of a fault, whatever its prompt says."""
        return self.requires_manual_testing or self.kind == "debug"

    @property
    def is_put_aside(self) -> bool:
        return self.variant_solution in ("alternative", "discard")


class PromptFields(TypedDict, total=False):
    """Fields of a prompt as the journal and the front matter have them: empty texts are null."""

    kind: str | None
    depends_on: list[int]
    requires_manual_testing: bool
    planned_at: str | None
    status: str | None
    in_progress: bool
    current_iteration: int
    delegated_to: str | None
    worktree_branch_name: str | None
    base_commit: str | None
    started_at: str | None
    owner: Mapping[str, Any] | None
    review: str | None
    reviewed_tree: str | None
    review_rounds: int
    rounds_allowed: int
    testing: str | None
    tested_tree: str | None
    completed_debug_logging: bool
    variant_solution: str | None
    variant_reason: str | None
    merge_commit_hash: str | None
    documentation_extracted: bool
    blocked_reason: str | None


FIELDS = Prompt.__struct_fields__
Prompts = Mapping[PromptId, Prompt]


def prompts_of(state: RunState) -> dict[PromptId, Prompt]:
    """All prompts of a plan, in the order of their numbers and letters."""
    found = {
        parse_prompt_id([item]): prompt_from_fields(remembered[PROMPT_PATH])
        for (_, item), remembered in state.memory.items()
        if PROMPT_PATH in remembered
    }
    return dict(sorted(found.items()))


def prompt_from_fields(known: Payload) -> Prompt:
    """What is not known has its default: an older release did not write it."""
    given = {name: known[name] for name in FIELDS if known.get(name) is not None}
    return replace(Prompt(), **{**given, "depends_on": tuple(given.get("depends_on", ()))})


def as_fields(prompt: Prompt) -> PromptFields:
    """As the front matter shows them; nothing is said by null."""
    told = {**asdict(prompt), "depends_on": list(prompt.depends_on)}
    nulled: Any = {name: None if value == "" else value for name, value in told.items()}
    fields: PromptFields = nulled
    return fields


def variants_of(prompts: Prompts, number: int) -> list[PromptId]:
    return [each for each in prompts if each.number == number and each.variant]


def compared_variants(prompts: Prompts, number: int) -> list[PromptId]:
    """Those among which a person chooses: without what was left out before there was a choice."""
    every = variants_of(prompts, number)
    if any(prompts[id_].variant_solution == "main" for id_ in every):
        return every
    return [id_ for id_ in every if not prompts[id_].is_put_aside]


def unready_variants(prompts: Prompts, number: int) -> list[PromptId]:
    """Those for which nobody can choose yet."""
    step = "block-prompt-variants-gate"
    every = compared_variants(prompts, number)
    return [id_ for id_ in every if unmet_conditions(step, prompts, id_)]


def merged_numbers(prompts: Prompts) -> set[int]:
    """A number is done with whichever of its variants is merged."""
    return {id_.number for id_, prompt in prompts.items() if prompt.status == "merged"}


def unmerged_dependencies(prompts: Prompts, prompt: Prompt) -> list[int]:
    return sorted(set(prompt.depends_on) - merged_numbers(prompts))


class Condition(Struct, frozen=True):
    """Something that must be so; `code` is how callers tell one from another."""

    code: str
    holds: Callable[[Prompts, PromptId, Prompt], bool]
    otherwise: str
    fix: str


_ALREADY_MERGED = Condition(
    "already-merged",
    lambda _all, _id, prompt: prompt.status != "merged",
    "it is already merged",
    "write a new prompt for the missing work",
)
_PUT_ASIDE = Condition(
    "variant-put-aside",
    lambda _all, _id, prompt: not prompt.is_put_aside,
    "this variant was not chosen",
    "its branch stays as it is and is not merged; go on with the main variant",
)
_OTHER_MERGED = Condition(
    "other-variant-merged",
    lambda all_, id_, _prompt: id_.number not in merged_numbers(all_),
    "another variant of this number is already merged",
    "there is nothing left to do for this number",
)
_DEPENDENCIES = Condition(
    "dependencies-not-merged",
    lambda all_, _id, prompt: not unmerged_dependencies(all_, prompt),
    "it depends on prompts that are not merged yet",
    "run `envoy plan next` to see what can be started",
)
_STARTED = Condition(
    "not-started",
    lambda _all, _id, prompt: prompt.in_progress,
    "it has not been started",
    "start it first: `envoy plan start-prompt`",
)
_LOGGED = Condition(
    "logging-gate-open",
    lambda _all, _id, prompt: prompt.kind != "debug" or prompt.completed_debug_logging,
    "the bug has not been reproduced with logs yet",
    "pass `envoy plan block-debugging-logging-gate` first",
)
_WRITTEN = Condition(
    "invalid-status",
    lambda _all, _id, prompt: prompt.is_written,
    "no implementation has been recorded",
    "record it first: `envoy plan record-implementation`",
)
_TESTED = Condition(
    "testing-not-passed",
    lambda _all, _id, prompt: not prompt.needs_testing or prompt.testing == "passed",
    "a person must test it first and say that it passed",
    "pass `envoy plan block-prompt-testing-gate` first",
)
_REVIEWED = Condition(
    "review-not-passed",
    lambda _all, _id, prompt: prompt.review in ("", "passed"),
    "its last review asked for changes, or did not include the latest work",
    "record the changes and have it reviewed again: `envoy review`",
)
_RESOLVED = Condition(
    "variant-not-resolved",
    lambda all_, id_, prompt: (
        prompt.variant_solution == "main" or len(variants_of(all_, id_.number)) < 2
    ),
    "no variant has been chosen, or another one is main",
    "pass `envoy plan block-prompt-variants-gate` first; only the main variant is merged",
)
# Of a variant that was not chosen it is said that it was not, and nothing else.
_ASIDE_OR_RESOLVED = Condition(
    _RESOLVED.code,
    lambda all_, id_, prompt: prompt.is_put_aside or _RESOLVED.holds(all_, id_, prompt),
    _RESOLVED.otherwise,
    _RESOLVED.fix,
)
_WORKTREE = Condition(
    "no-worktree",
    lambda _all, _id, prompt: bool(prompt.worktree_branch_name),
    "it has no branch yet",
    "name one: `envoy plan start-prompt N --worktree BRANCH`",
)
_MERGED = Condition(
    "not-merged",
    # Of a variant that was not chosen, nobody is told to merge it.
    lambda _all, _id, prompt: bool(prompt.merge_commit_hash) or prompt.is_put_aside,
    "its work is not merged into the feature branch",
    "merge it first: `envoy git merge-worktree`",
)
_DEBUG = Condition(
    "not-debug",
    lambda _all, _id, prompt: prompt.kind == "debug",
    "it is not a debug prompt",
    "only prompts written with --debug need logs",
)
_NOT_BEGUN = Condition(
    "has-begun",
    lambda _all, _id, prompt: not prompt.started_at,
    "work on it has begun; this change would skip something a person must check",
    "ask a person to decide",
)
_IDLE = Condition(
    "already-in-progress",
    lambda _all, _id, prompt: not prompt.in_progress,
    "somebody is working on it",
    "wait for them, or release it: `envoy plan release-all-prompts`",
)

# What must hold before each step, in the order in which it is said.
STEP_CONDITIONS: Mapping[str, tuple[Condition, ...]] = {
    "write-prompt": (_ALREADY_MERGED, _IDLE),
    "clear-prompt": (_ALREADY_MERGED, _IDLE, _NOT_BEGUN),
    "update-prompt-dependencies": (_ALREADY_MERGED,),
    "start-prompt": (_ALREADY_MERGED, _PUT_ASIDE, _OTHER_MERGED, _DEPENDENCIES),
    "block-debugging-logging-gate": (_DEBUG, _ALREADY_MERGED, _STARTED),
    "record-implementation": (_ALREADY_MERGED, _PUT_ASIDE, _STARTED, _LOGGED),
    "review": (_WRITTEN,),
    "block-prompt-testing-gate": (_ALREADY_MERGED, _WRITTEN),
    "block-prompt-variants-gate": (_ALREADY_MERGED, _WRITTEN, _TESTED),
    "merge-worktree": (_WORKTREE, _WRITTEN, _REVIEWED, _TESTED, _PUT_ASIDE, _RESOLVED),
    "complete-prompt": (_PUT_ASIDE, _MERGED, _WRITTEN, _REVIEWED, _TESTED, _ASIDE_OR_RESOLVED),
}


def unmet_conditions(action: str, prompts: Prompts, id_: PromptId) -> Sequence[Condition]:
    """Everything that keeps a prompt from this step."""
    return [each for each in STEP_CONDITIONS[action] if not each.holds(prompts, id_, prompts[id_])]


# What was seen must be what is merged; these are asked of the files as they are then.
_REVIEW_FRESH = Condition(
    "review-outdated",
    lambda _all, _id, prompt: prompt.review != "passed",
    "its files changed after the review",
    "have them reviewed again: `envoy review`",
)
_TEST_FRESH = Condition(
    "testing-outdated",
    lambda _all, _id, prompt: not (prompt.needs_testing and prompt.testing == "passed"),
    "its files changed after a person tested them",
    "have them tested again: `envoy plan block-prompt-testing-gate`",
)


def outdated_conditions(
    prompt: Prompt, tree: str, *, is_without_logs: bool = False
) -> Sequence[Condition]:
    """What was said of other files than these.

    The logs of a fault are taken out after the test: `is_without_logs` if that is the difference.
    """
    is_reviewed = prompt.review == "passed" and prompt.reviewed_tree == tree
    is_tried = prompt.tested_tree == tree or (prompt.kind == "debug" and is_without_logs)
    asked = [] if is_reviewed else [_REVIEW_FRESH]
    asked += [] if is_tried else [_TEST_FRESH]
    return [each for each in asked if not each.holds({}, PromptId(1), prompt)]


def fields_after_review(prompt: Prompt, verdict: str, tree: str = "") -> PromptFields:
    """What was tested stays tested; a review that asks for changes takes back an earlier one."""
    if verdict == "passed":
        status = "reviewed" if prompt.status == "implemented" else prompt.status
        return {
            "review": verdict,
            "reviewed_tree": tree,
            "review_rounds": 0,
            "rounds_allowed": 0,
            "status": status,
        }
    if verdict == "failed":
        status = "implemented" if prompt.status == "reviewed" else prompt.status
        return {"review": verdict, "status": status}
    return {}


def fields_after_implementation(prompt: Prompt, iteration: int) -> PromptFields:
    """New work has not been tried by anybody, and what was reviewed is not what there is now."""
    review = "outdated" if prompt.review == "passed" else prompt.review
    return {
        "status": "implemented",
        "current_iteration": iteration,
        "testing": "",
        "review": review,
    }


def fields_after_replanning(prompt: Prompt) -> PromptFields:
    """What was reviewed and tried was asked for in other words."""
    return (
        fields_after_implementation(prompt, prompt.current_iteration) if prompt.is_written else {}
    )


def fields_after_test(prompt: Prompt, passed: bool, tree: str) -> PromptFields:
    if passed:
        return {"testing": "passed", "tested_tree": tree, "status": "tested"}
    status = "implemented" if prompt.status == "tested" else prompt.status
    return {"testing": "failed", "status": status}


def fields_after_choice(
    prompts: Prompts, number: int, decisions: Mapping[str, Payload]
) -> dict[str, Payload]:
    """By prompt, what a person's choice among variants makes of each; a fault has one fix."""
    found: dict[str, Payload] = {}
    for id_ in variants_of(prompts, number):
        given = decisions.get(id_.variant)
        if given is None:
            continue
        solution = str(given["decision"])
        if solution == "alternative" and prompts[id_].kind == "debug":
            solution = "discard"
        said = {"variant_solution": solution, "variant_reason": given.get("reason", "")}
        found[str(id_)] = said if solution == "main" else {**said, "in_progress": False}
    return found


def choose_without_unready(prompts: Prompts, number: int, decision: str) -> dict[str, Payload]:
    """The choice that leaves out what is not ready; the only variant that is left is main."""
    unready = unready_variants(prompts, number)
    ready = [id_ for id_ in compared_variants(prompts, number) if id_ not in unready]
    solution = "discard" if decision == "discard" else "alternative"
    chosen: dict[str, Payload] = {
        id_.variant: {"decision": solution, "reason": prompts[id_].blocked_reason}
        for id_ in unready
    }
    if len(ready) == 1:
        chosen[ready[0].variant] = {"decision": "main", "reason": "the only one that was finished"}
    return chosen
