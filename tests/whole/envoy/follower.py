"""An agent without a mind: it does what `envoy protocol` prints, line by line, to the end.

A line is understood by rules. Whatever a line asks for that no rule knows, every command that fails
and is not spoken of, every placeholder that nobody can fill, ends it: a text that cannot be
followed is a defect of the text. What needs a mind is done by its hands.
"""

import json
import os
import re
import shlex
import sys
from collections.abc import Mapping
from typing import Any

from tests.whole.envoy.calling import Answer, envoy
from tests.whole.envoy.hands import Hands
from tests.whole.envoy.printed import Lost, Printed, Returned, Step, read
from tests.whole.envoy.rules import act, prepare

_PLACEHOLDER = re.compile(r"<([^<>]+)>")
_OPTIONAL = re.compile(r"\[([^][]*)\]")


class Follower:
    """Where it stands in a protocol, what it knows, and what the commands said."""

    def __init__(self, name: str, inputs: Mapping[str, str], hands: Hands):
        self.hands = hands
        self.inputs = inputs
        given = [f"--input={key}={value}" for key, value in inputs.items()]
        told = envoy(["protocol", name, *given], hands.root)
        if told.code:
            raise Lost(f"there is no protocol {name}")
        self.page: Printed = read(told.text)
        self.known = {
            "AGENT_NAME": "backend",
            "VARIANT": "",
            **{k.upper(): v for k, v in inputs.items()},
        }
        self.last = Answer()
        self.answers: list[Answer] = []
        self.trail: list[int] = []
        self.each: list[dict[str, str]] = []
        self.told_user: list[str] = []
        self.later: dict[int, int] = {}
        self.jump = 0
        self.has_begun_before = False
        self.type = self.raised = ""

    def follow(self) -> str:
        at = 1
        try:
            while at in self.page.steps:
                at = self.take(at)
        except Returned as end:
            return self._declared(end.output)
        return self.page.outputs[0]

    def take(self, number: int) -> int:
        """One step; the number of the one to take then."""
        self.trail.append(number)
        self.jump, self.each = 0, []
        step = self.page.steps[number]
        prepare(self, step)
        self._do(step)
        if self.last.code:
            raise Lost(f"step {number}: {self.last.words} failed: {self.last.text}")
        return self.jump or self.later.pop(number, number + 1)

    def _do(self, step: Step) -> None:
        """Below a line that does not apply, nothing applies."""
        skipped: int | None = None
        for line in step:
            if skipped is not None and line.depth > skipped:
                continue
            skipped = None if act(self, line.text, step) else line.depth

    @property
    def iteration(self) -> int:
        return int(self.known["ITERATION"])

    def call(self, line: str) -> None:
        """A command line of a step, once for each of what the step says it is for."""
        for more in self.each or [{}]:
            self.run(self._words(line, more))

    def run(self, words: list[str]) -> None:
        if self.last.code:
            raise Lost(f"{self.last.words} failed, and nobody cared: {self.last.text}")
        self.last = envoy(words, self.hands.place)
        if self.last.code and not os.path.isdir(self.hands.place):
            # A variant that was discarded meanwhile; a shell then stands in its project again.
            self.hands.place = self.hands.root
            self.last = envoy(words, self.hands.place)
        self.answers.append(self.last)
        if self.last.code in (2, 4, 5, 6, 70):
            raise Lost(f"{words} is wrong: {self.last.text}")
        self.hands.die(" ".join([self.last.verb, self.known.get("ITERATION", "")]).strip())

    def again(self) -> None:
        words = list(self.last.words)
        self.last = Answer()
        self.run(words)

    def is_settled(self) -> None:
        """Somebody has looked at how the last command failed."""
        self.last = Answer(self.last.words, 0, self.last.text)

    def before(self, verb: str) -> Answer:
        """The last answer of a command."""
        return next(answer for answer in reversed(self.answers) if answer.verb == verb)

    def fail(self, reason: str) -> None:
        output = next(each for each in self.page.outputs if "success: false" in each)
        raise Returned(_PLACEHOLDER.sub(reason, output))

    def value(self, name: str, more: Mapping[str, str]) -> str:
        if name == "STRUCTURED_WALKTHROUGH":
            return self._walkthrough()
        if name.endswith("as a whole phrase"):
            return more.get("topic") or str(self.hands.told["topics"][0])
        for known in (more, self.known, self.hands.told.get("words", {})):
            if name in known:
                return str(known[name])
        raise Lost(f"nobody knows <{name}>")

    def _words(self, line: str, more: Mapping[str, str]) -> list[str]:
        """No shell reads it; what may be left out is left out where there is nothing to say."""

        def kept(found: re.Match[str]) -> str:
            values = [self.value(name, more) for name in _PLACEHOLDER.findall(found[1])]
            return found[1] if all(values) else ""

        words = shlex.split(_OPTIONAL.sub(kept, line))
        if whole := next((a for a in self.answers if list(a.words[: len(words)]) == words), None):
            return list(whole.words)  # only named here; an earlier step had all of it
        return [_PLACEHOLDER.sub(lambda found: self.value(found[1], more), word) for word in words]

    def _walkthrough(self) -> str:
        files = "\n".join(f"- `{name}`: as planned" for name in self.hands.told["code"][0])
        head = f"### Iteration {self.iteration}\n**Type**: {self.type}\n\n"
        said = f"#### Approach\nDone by hand, attempt {self.iteration}.\n\n"
        return f"{head}{said}#### Changes Made\n{files}\n"

    def _declared(self, output: str) -> str:
        """Only what the protocol declares may be returned, whatever fills its placeholders."""
        forms = [re.escape(each).replace(re.escape("<what stopped it>"), ".+")
                 for each in self.page.outputs]  # fmt: skip
        if not any(re.fullmatch(form, output) for form in forms):
            raise Lost(f"{output} is no declared output")
        return output


def main() -> int:
    """`NAME FILE`: the file has inputs, root and hands; what came of it is put beside it."""
    name, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        told = json.load(file)
    follower = Follower(name, told["inputs"], Hands(told["hands"], told["root"]))
    result: dict[str, Any] = {"output": "", "lost": ""}
    try:
        result["output"] = follower.follow()
    except Lost as error:
        result["lost"] = str(error)
    result["trail"] = follower.trail
    result["told_user"] = follower.told_user
    result["calls"] = [[" ".join(a.words), a.code, a.error] for a in follower.answers]
    result["data"] = [a.data for a in follower.answers]
    with open(f"{path}.draft", "w", encoding="utf-8") as file:
        json.dump(result, file)
    os.replace(f"{path}.draft", f"{path}.result")
    return 1 if result["lost"] else 0
