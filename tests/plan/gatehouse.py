"""Gates in few words: asked, answered in every way there is, and what is left of it in files."""

import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from porch.machine.plan.prompt_ids import parse_prompt_id
from porch.plan.files import plan_location
from porch.plan.findings import findings_files
from porch.plan.gates import gate_question
from porch.plan.gates.gate_question import WaitedGate
from porch.plan.gates.typed_answers import read_typed_form
from porch.plan.session import plan_session
from porch.run.verbs import decide
from porch.run.verbs.decide import DecisionRequest, DecisionResult
from porch.store.where import ProjectPaths
from tests.plan.courts import Came, came_of
from tests.plan.yards import mark, record, start, write

RUN = "plan_feat~x"
FILES = {
    "findings": "findings_gate.yaml",
    "plan": "plan_gate.yaml",
    "testing": "1_testing.yaml",
    "logging": "1_logging.yaml",
    "variants": "2_variants.yaml",
}
NAMES = {
    "findings": "findings",
    "plan": "plan",
    "testing": "testing:1",
    "logging": "logging:1",
    "variants": "variants:2",
}
ALWAYS = {"state", "thoughts", "answered_by", "channel", "notes", "duration_ms"}
KEYS = {
    "findings": {
        "affected_approaches",
        "rejected_approaches",
        "unanswered_questions",
        "skipped",
    },
    "plan": {
        "has_user_required_changes",
        "user_required_plan_changes",
        "prompt_changes",
        "archived_findings",
    },
    "testing": {"passed", "user_required_changes", "logs"},
    "logging": {"logs"},
    "variants": {"variant_solution", "reason", "unmerged_alternatives", "skipped"},
}
PENDING = {"state", "file", "decision", "waiting_on", "message", "notes", "problems", "duration_ms"}


def approach(where: ProjectPaths, id_: str = "1", specialist: str = "web", **given: Any) -> None:
    """As `envoy plan write-approach` does."""
    words = {"description": f"way {id_}", "context": f"All of {id_}.", **given}
    with plan_session.hold_plan(where, make=True) as held:
        data = findings_files.write_approach(held.plan, specialist, parse_prompt_id([id_]), **words)
        held.note("write-approach", specialist, **to_builtins(data))


def ready(where: ProjectPaths, gate: str) -> None:
    """Everything that this gate asks for before it asks a person."""
    match gate:
        case "findings":
            approach(where)
        case "plan":
            write(where, "1")
        case "testing":
            tried(where, "1", is_tried=False)
        case "logging":
            write(where, "1", debug=True)
            start(where, "1")
        case _:
            tried(where, "2_A")
            tried(where, "2_B")


def tried(where: ProjectPaths, id_: str, *, is_tried: bool = True, **given: Any) -> None:
    """A prompt that was carried out and, if so wanted, tried by a person."""
    write(where, id_, **given)
    mark(where, id_, completed_debug_logging=True)
    start(where, id_)
    record(where, id_)
    if is_tried:
        mark(where, id_, testing="passed", status="tested")


def block(
    where: ProjectPaths,
    gate: str,
    id_: str | None = None,
    wait_s: float = 0,
    *,
    force: bool = False,
) -> Came:
    usual = {"testing": "1", "logging": "1", "variants": "2_A"}.get(gate)
    name = id_ or usual
    prompt = parse_prompt_id([name]) if name else None
    return came_of(
        gate_question.wait_at_gate(WaitedGate(where, gate, prompt, force, "a1"), wait_s).data
    )


def ask(where: ProjectPaths, gate: str, id_: str | None = None) -> dict[str, Any]:
    """Pose a gate, at which nobody has answered yet."""
    came = block(where, gate, id_)
    assert (came.is_pending, came.code, came.data["state"]) == (True, 3, "pending"), came
    return came.data


def answered(where: ProjectPaths, gate: str, id_: str | None = None) -> dict[str, Any]:
    came = block(where, gate, id_)
    assert (came.code, came.data["state"]) == (0, "answered"), came.data
    return came.data


def file(where: ProjectPaths, name: str) -> Path:
    """The feedback file of a gate, or any other of that directory."""
    return Path(plan_location.find_current_plan(where).feedback_dir, FILES.get(name, name))


def archived(where: ProjectPaths) -> dict[str, bytes]:
    home = file(where, "_archive")
    names = sorted(os.listdir(home)) if home.is_dir() else []
    return {name: (home / name).read_bytes() for name in names}


def log(where: ProjectPaths) -> str:
    path = Path(plan_location.find_current_plan(where).file("user_input.md"))
    return path.read_text() if path.exists() else ""


def done(text: str) -> str:
    """The same file, finished; with the test passed, where nobody has said anything about it."""
    new, count = re.subn(r"^done: false$", "done: true", text, flags=re.MULTILINE)
    assert count == 1, text
    return with_passed_test(new)


def typed(text: str, **values: str) -> str:
    """The same file with texts that a person typed into its blocks, or words behind a colon."""
    for name, value in values.items():
        text = put(text, f"{name}:", value)
    return text


def put(text: str, *keys: str) -> str:
    """The same file with the last of these words typed where the keys before it lead.

    Keys are looked for one behind the other, each as the beginning of a line.
    """
    *way, value = keys
    at = 0
    for key in way:
        found = re.compile(rf"^ *(?:- )?{re.escape(key)}", re.MULTILINE).search(text, at)
        assert found, (key, text)
        at = found.end()
    line = text[at : text.index("\n", at)]
    if line != " |-":
        return f"{text[:at]} {value}{text[at + len(line) :]}"
    blank = re.compile(r"\n( +)(?=\n)").match(text, at + len(line))
    assert blank, text
    lines = "".join(f"\n{blank[1]}{each}" for each in value.split("\n"))
    return text[: blank.start()] + lines + text[blank.end() :]


def fill(where: ProjectPaths, gate: str, *ways: tuple[str, ...]) -> None:
    """Type into a file in several places, and finish it."""
    path = file(where, gate)
    text = path.read_text()
    for way in ways:
        text = put(text, *way)
    path.write_text(done(text))


def finish(where: ProjectPaths, gate: str, **values: str) -> bytes:
    """Fill the file of a gate in, as a person does, and save it."""
    path = file(where, gate)
    path.write_text(done(typed(with_passed_test(path.read_text()), **values)))
    return path.read_bytes()


def with_passed_test(text: str) -> str:
    """The same file with the test passed, where it asks for that and nobody has said."""
    return re.sub(r"^test_passed:$", "test_passed: true", text, flags=re.MULTILINE)


def choose(where: ProjectPaths, **words: str) -> None:
    """Decide in the file of the variants gate: letter = decision."""
    fill(where, "variants", *((f"{key}:", "decision:", word) for key, word in words.items()))


def say(
    where: ProjectPaths,
    name: str,
    text: str,
    exit_: str = "answered",
    *,
    accept_changes: bool = False,
) -> DecisionResult:
    """What `porch answer`, `porch approve` and `porch reject` do."""
    request = DecisionRequest(exit_, text, accept_changes=accept_changes)
    return decide.decide_question(where, RUN, name, request, read_form=read_typed_form)


@contextmanager
def waiting(act: Callable[[], Any]) -> Iterator["Future[Any]"]:
    """Somebody waits in a thread meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(act)


def wait_for(happened: Callable[[], object], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)
