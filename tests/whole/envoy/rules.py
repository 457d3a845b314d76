"""The sentences that the follower understands, each with what it does about them.

An action that answers False says that the rest of its line, and all below it, does not apply.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tests.whole.envoy.printed import Lost, Returned, Step

if TYPE_CHECKING:
    from tests.whole.envoy.follower import Follower

Found = re.Match[str]
Action = Callable[["Follower", Found, Step], bool | None]
# What has to be understood: a line without any of these is advice.
_DEMANDS = re.compile(
    r"`envoy [a-z]|\bsteps? \d|\breturn (?:\{|the |to )|\bgo (?:to|on)\b|ITERATION|\bcommit\b",
    re.IGNORECASE,
)


def _call(me: "Follower", found: Found, _: Step) -> None:
    me.call(found[1])


def _name(me: "Follower", found: Found, _: Step) -> None:
    me.known[found[1]] = found[2]


def _give_up(me: "Follower", found: Found, _: Step) -> None:
    if me.last.error == found[1]:
        me.fail(found[1])


def _look(me: "Follower", found: Found, _: Step) -> None:
    if me.known.get("WORKTREE_BRANCH") != found[1]:
        raise Lost(f"step {found[2]} named another branch than {found[1]}")
    me.has_begun_before = me.hands.has_branch(found[1])


def _make(me: "Follower", found: Found, _: Step) -> bool:
    if not me.has_begun_before:
        me.hands.enter(me.known["WORKTREE_BRANCH"], found[1])
    return not me.has_begun_before


def _go_on(me: "Follower", *_: object) -> bool:
    return me.has_begun_before


def _enter(me: "Follower", *_: object) -> None:
    me.hands.enter(me.known["WORKTREE_BRANCH"], "")


def _judge(me: "Follower", found: Found, _: Step) -> None:
    """Written and recorded, written only, or neither: the numbers come from the text."""
    prompt = me.before("plan read-prompt").data["front_matter"]
    iteration = prompt["current_iteration"]
    if prompt["status"] != "unimplemented":
        me.later[int(found[1])] = int(found[2])
    elif me.hands.has_written(iteration):
        me.later[int(found[1])] = next(
            n for n, step in me.page.steps.items() if "record-implementation" in step[0].text
        )


def _set(me: "Follower", found: Found, _: Step) -> None:
    me.known.update(dict(re.findall(r'\*\*(\w+) = "?(.*?)"?\*\*', found[0])))


def _take_up(me: "Follower", found: Found, _: Step) -> bool:
    if me.has_begun_before:
        me.call(found[1])
        prompt = me.last.data["front_matter"]
        told = (prompt["walkthrough"] or [{}])[-1]
        me.known["ITERATION"] = str(prompt["current_iteration"])
        me.known["REFINEMENT_REASON"] = told.get("refinement_reason") or ""
    return me.has_begun_before


def _write(me: "Follower", *_: object) -> None:
    me.hands.write("code", me.iteration)


def _log(me: "Follower", *_: object) -> None:
    me.hands.write("logs", me.iteration)


def _log_again(me: "Follower", found: Found, _: Step) -> None:
    for number in (found[1], found[2]):
        me.take(int(number))


def _raise(me: "Follower", found: Found, _: Step) -> None:
    field = found[3].partition(",")[0]
    said = me.last.data.get(field) or me.last.data["suggested_changes"]
    me.known[found[1]] = str(me.iteration + 1)
    me.known[found[2]] = found[0].partition('"')[2].partition("{")[0] + str(said)


def _ask_again(me: "Follower", *_: object) -> None:
    for _try in range(2):
        if me.last.data.get("verdict") in ("passed", "failed"):
            return
        me.is_settled()
        me.again()
    me.fail(me.last.error)


def _if_any(me: "Follower", found: Found, _: Step) -> bool:
    given = me.inputs.get(found[1])
    return bool(json.loads(given) if given else me.last.data.get(found[1]))


def _if_prompt(me: "Follower", found: Found, _: Step) -> bool:
    return bool(me.before("plan read-prompt").data["front_matter"][found[1]])


def _if_is(me: "Follower", found: Found, _: Step) -> bool:
    return bool(me.last.data[found[1]] == json.loads(found[2]))


def _go_back(me: "Follower", found: Found, _: Step) -> None:
    if me.before("gemini review").data["verdict"] != found[1]:
        me.jump = int(found[2])


def _none_left(me: "Follower", *_: object) -> None:
    told = me.before("gemini review").data
    if told["verdict"] != "passed" and not told["rounds_left"]:
        me.fail("no_rounds_left")


def _wait(me: "Follower", *_: object) -> None:
    while me.last.code == 3:
        me.again()


def _go_to(me: "Follower", found: Found, _: Step) -> None:
    me.jump = int(found[1])


def _chosen(me: "Follower", found: Found, _: Step) -> bool:
    return bool(me.last.data["variant_solution"] == found[1])


def _return(me: "Follower", found: Found, step: Step) -> None:
    texts = [line.text for line in step]
    first = next(f[1] for text in texts if (f := re.search(r"Return (\{.*?\})", text)))
    raise Returned(first if found[1] == "the same" else found[1])


def _mend_places(me: "Follower", *_: object) -> None:
    while me.last.code == 1:
        me.hands.write("mended", 1)
        me.again()


def _mend_named(me: "Follower", found: Found, _: Step) -> None:
    for attempt in range(1, 4):
        if me.last.data["verdict"] == found[1]:
            return
        me.hands.write("mended", attempt + 1)
        _commit(me)
        me.again()


def _commit(me: "Follower", *_: object) -> None:
    reason = me.known.get("REFINEMENT_REASON") or "as planned"
    me.hands.commit(f"Prompt {me.known['PROMPT_NUM']}: {reason}")


def _settle(me: "Follower", found: Found, _: Step) -> bool:
    if me.last.error != found[1]:
        return False
    me.is_settled()
    me.hands.settle(me.known["FEATURE_BRANCH"])
    return True


def _if_failed(me: "Follower", found: Found, _: Step) -> bool:
    if me.last.error not in (found[1], found[2]):
        return False
    me.is_settled()
    return True


def _if_one_failed(me: "Follower", found: Found, _: Step) -> bool:
    if me.last.error != found[1]:
        return False
    me.is_settled()
    return True


def _take_over(me: "Follower", found: Found, _: Step) -> None:
    if me.last.error == found[1]:
        words = [*me.last.words, found[2]]
        me.is_settled()
        me.run(words)


def _tell(me: "Follower", found: Found, _: Step) -> None:
    me.told_user += me.last.data[found[1]]


def _see(me: "Follower", *_: object) -> bool:
    return bool(me.hands.told.get("design"))


def _gather(me: "Follower", *_: object) -> None:
    paths = [path for each in me.hands.told["approaches"] for path in each["files"]]
    me.known["code"] = me.hands.look_at(paths)


def _lint(me: "Follower", *_: object) -> None:
    me.known["complaints"] = me.hands.check()


def _type_by_step(me: "Follower", *_: object) -> None:
    me.type = "initial" if me.iteration == 1 else me.raised


def _type_later(me: "Follower", found: Found, _: Step) -> None:
    me.type = "initial" if me.iteration == 1 else found[1]


def _type_named(me: "Follower", found: Found, _: Step) -> None:
    me.type = me.raised = found[1]


def _topics(me: "Follower", *_: object) -> None:
    me.each = [{"topic": topic} for topic in me.hands.told["topics"]]


def _references(me: "Follower", *_: object) -> None:
    me.each = [
        {key: str(value) for key, value in each.items()}
        for each in json.loads(me.inputs.get("approach_references", "[]"))
    ]


def _cite(me: "Follower", found: Found, _: Step) -> None:
    """By the number that is printed there: that step must be the one that searched."""
    if "`envoy knowledge search" not in me.page.steps[int(found[1])][0].text:
        raise Lost(f"step {found[1]} finds no documents")
    found_in = [a.data["results"] for a in me.answers if a.verb == "knowledge search"]
    paths = {each["path"] for results in found_in for each in results}
    me.known["notes"] = "\n".join([me.hands.told["notes"], *sorted(paths)])


def _notes(me: "Follower", *_: object) -> None:
    me.known["notes"] = str(me.hands.told["notes"])


def _proposals(me: "Follower", *_: object) -> None:
    me.each = [_proposal(me, each) for each in me.hands.told["approaches"]]


def _proposal(me: "Follower", each: dict[str, object]) -> dict[str, str]:
    """A reworked one answers what the user wanted different, in their words."""
    reworked = [a.data for a in me.answers if a.verb == "plan get-finding-approach"]
    wanted = [_wanted(data) for data in reworked]
    files, questions = list(each["files"]), list(each.get("questions") or ["", ""])  # type: ignore[call-overload]
    return {
        "approach_num": str(each["number"]),
        "desc": str(each["description"]),
        "hypothesis": str(each["description"]),
        "LETTER": str(each.get("letter", "")),
        "full_context": "\n".join([str(each["context"]), *wanted, me.known.get("complaints", "")]),
        "file1": files[0],
        "file2": files[-1],
        "q1": questions[0],
        "q2": questions[-1],
    }


def _wanted(data: dict[str, object]) -> str:
    return "\n".join(re.findall(r'"user_requested_changes": "([^"]*)"', json.dumps(data)))


_PREPARE: tuple[tuple[str, Action], ...] = (
    ((r"The walkthrough has the type `initial` while ITERATION is 1; later it has the type that"
      r" the step which raised ITERATION names"), _type_by_step),
    (r"The walkthrough has the type `initial` while ITERATION is 1, and `([a-z-]+)` later",
     _type_later),
    (r"(?:its|the) walkthrough ha(?:s|ving) the type `([a-z]+-refinement)`", _type_named),
    (r"Search once for each topic", _topics),
    (r"(?=.*get-finding-approach).*for each of them", _references),
    (r"^Write down what holds for all (?:approaches|hypotheses): ", _notes),
    (r"The documents that step (\d+) found, by path", _cite),
    (r"^Write each (?:approach|hypothesis): ", _proposals),
)  # fmt: skip
_ACT: tuple[tuple[str, Action], ...] = (
    ((r"^When earlier work is continued, take both from where that stopped: `envoy ([^`]+)`"
      r" shows `current_iteration` and the last walkthrough"), _take_up),
    (r"`envoy ([a-z][^`]+)`", _call),
    (r"^Name the branch to work on, (\w+): `([^`]+)`", _name),
    (r"`(\w+)` means that [^:]+: return the output of failure with that reason", _give_up),
    (r"^Look whether the branch (\S+) of step (\d+) is there already", _look),
    (r"^It is not: make a worktree with this branch, starting from (\S+)\.", _make),
    (r"^It is: earlier work is to be continued", _go_on),
    (r"^Work in its worktree; make one for the branch if that is gone", _enter),
    ((r"^Judge from the diff and the prompt what is finished\. After step (\d+), go on at the"
      r" first step that still has something to do; with everything written and recorded that is"
      r" step (\d+)"), _judge),
    (r"^Set \*\*ITERATION = .*\*\*", _set),
    (r"^Work through the todo list until it is done|^Fix the fault\.|^Make the changes;", _write),
    (r"^Add the logs of the todo list", _log),
    (r"Adjust the logs as in step (\d+) and pass the gate of step (\d+) again", _log_again),
    (r'Add 1 to (\w+), set (\w+) = "[^{]*\{([^}]*)\}"', _raise),
    (r"`error` is none: ask again, and give up if that does not help", _ask_again),
    (r"^If there are (\w+)", _if_any),
    (r"^If the prompt says (\w+), ", _if_prompt),
    (r"^If (\w+) = (\w+):", _if_is),
    (r"Unless the verdict was `(\w+)`, return to step (\d+)", _go_back),
    (r"when the answer of a review says that none is left, return the output of failure",
     _none_left),
    (r"^Exit code 3 means that (?:.* )?nobody has answered yet: run the same command again", _wait),
    (r"\*\*Go to step (\d+)\*\*", _go_to),
    (r"^`(main|alternative|discard)`(?=:| is )(?:.*\bGo on\b|: go on\b)?", _chosen),
    (r"Return (\{.*?\}|the same)", _return),
    (r"If it reports leftovers, fix these places by hand and run it again", _mend_places),
    (r"Unless the verdict is `(\w+)`, fix what it names and ask again", _mend_named),
    (r"^Commit\b", _commit),
    (r"^On `(\w+)` .* settle the conflict on .* commit, and (?=\*\*Go to)", _settle),
    (r"^On `(\w+)` or `(\w+)` files were changed after somebody had seen them", _if_failed),
    ((r"^On `(\w+)` (?:temporary logs would be merged|the branch has commits that came after the"
      r" merge): "), _if_one_failed),
    (r"^On `(\w+)` an earlier worker was interrupted: run the same command again with `([a-z-]+)`",
     _take_over),
    (r"^Tell the user about `(\w+)`, if the answer has any", _tell),
    (r"^Where a screenshot matters, ", _see),
    (r"^Gather the code ", _gather),
    (r"^Run the compiler and the linters", _lint),
    (r"^From ITERATION 2 on the reason is required", lambda *_: None),
)  # fmt: skip


def prepare(me: "Follower", step: Step) -> None:
    """Whoever acts has read the whole step before."""
    for line in step:
        for _, found, action in _matches(_PREPARE, line.text):
            action(me, found, step)


def act(me: "Follower", text: str, step: Step) -> bool:
    """Whether the lines below apply, too; what is asked for in a line happens in its order."""
    rest = text
    found = sorted(_matches(_ACT, text), key=lambda each: each[0])
    for _, match, _action in [*found, *_matches(_PREPARE, text)]:
        rest = rest.replace(match[0], "")
    if _DEMANDS.search(rest):
        raise Lost(f"nobody understands this: {text}")
    return all(action(me, match, step) is not False for _, match, action in found)


def _matches(
    rules: tuple[tuple[str, Action], ...], text: str
) -> Iterator[tuple[int, Found, Action]]:
    taken = 0
    for pattern, action in rules:
        for found in re.finditer(pattern, text):
            is_within = action is _call and found.start() < taken
            if not is_within:
                yield found.start(), found, action
            if action is _take_up:
                taken = found.end()
