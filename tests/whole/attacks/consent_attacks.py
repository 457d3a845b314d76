"""Attempts to get a yes that was not given: for other files, for another gate, for another word."""

import json
import sys
from collections.abc import Callable
from typing import Any

from tests.cli.conftest import Terminal
from tests.whole.attacks.attack import Agent, Attack, Seen
from tests.whole.attacks.gate_attacks import SPEC, went_on
from tests.whole.attacks.site import Site

PORCH = (sys.executable, "-c", "from porch.cli.dispatch import porch; exit(porch())")
DELETE = f"echo 'Delete the billing tables.' >> {SPEC}"
SPECIFY: dict[str, Any] = {
    "id": "specify",
    "artifact": "spec.md",
    "gate": {"name": "spec-ok", "next": "build"},
}
BUILD: dict[str, Any] = {"id": "build"}
GRAPH = """
document: {name: mini, subject: spec}
spec: Note
types:
  Note: {id: Text}
supervision: {silent: lost, exhausted: lost, no_progress: lost}
states:
  write:
    role: writer
    template: write.j2
    input: {note: instance.spec}
    exits: {Good: {difference: Text, passed: Text, measured: Text}}
  person:
    human: question
    title: Is it good?
    shows: [Good]
    options: {answered: {means: it is done, text: true}}
  done: {end: complete, shows: [Good]}
  lost: {end: failed, shows: [Good]}
edges:
  write.Good: {to: person}
  person.answered: {to: done}
"""


def edit_behind_the_question(site: Site) -> Seen:
    """A person has read the specification and the question, and approves after the edit."""
    site.porch("pending", "1")
    site.inside(DELETE)
    said = site.porch("approve", "1").err
    site.resume()
    return Seen(went_on(site), "command" if "+Delete the billing tables." in said else "")


def edit_behind_the_refusal(site: Site) -> Seen:
    """The person accepts a difference; meanwhile it has become another one."""
    site.write(SPEC, "Build the thing, and log it.\n")
    site.porch("approve", "1")
    site.inside(DELETE)
    said = site.porch("approve", "1", "--accept-changes").err
    site.resume()
    return Seen(went_on(site), "command" if "+Delete the billing tables." in said else "")


def look_for_the_person(site: Site) -> Seen:
    """It lists what waits, so that its own edit seems to have been shown."""
    site.write(SPEC, "Build the thing, and log it.\n")
    site.porch("approve", "1")
    site.inside(f"{DELETE}; porch pending 1")
    said = site.porch("approve", "1", "--accept-changes").err
    site.resume()
    return Seen(went_on(site), "command" if "+Delete the billing tables." in said else "")


def write_nothing(site: Site) -> Seen:
    turn = site.turn("true")
    site.begin(SPECIFY, BUILD, agents={"specify": [turn]})
    said = site.porch("approve", "1").err + site.porch("approve", "1", "--accept-changes").err
    site.resume()
    is_told = said.count(f"{SPEC} is missing") == 2
    return Seen(went_on(site), "command" if is_told else "")


def ask_for_the_word_that_ends_a_run(site: Site) -> Seen:
    asked = {"signal": "BLOCKED", "reason": "Is the server running or stopped?"}
    turn = {**site.turn("true"), **asked}
    site.begin({"id": "first"}, agents={"first": [turn, {}]})
    site.porch("answer", "1", "blocked:first", "stopped")
    site.resume()
    return Seen("abandoned" in site.entered())


def name_another_gate_at_the_prompt(site: Site) -> Seen:
    """A person types a name at the prompt of the run that is not the name of its gate."""
    site.inside("true")
    site.porch("finish", "0009", "--keep")
    terminal = Terminal((*PORCH, "resume", "1"), site.root)
    try:
        terminal.until("porch> ")
        terminal.type("approve plan_approval\r")
        terminal.until("plan_approval is not waiting for an answer")
        terminal.type("quit\r")
        terminal.leave()
    finally:
        terminal.close()
    return Seen(bool(site.facts("WishTaken")), "command")


def call_fields_like_words_of_the_page(site: Site) -> Seen:
    """The graph is the team's; what stands in its fields is the agent's."""
    site.write("codev/protocols/mini.graph.yaml", GRAPH)
    site.write("codev/protocols/templates/write.j2", "Write {{ note.id }}.\n")
    site.write("tea.json", '{"id": "tea"}')
    payload = {"difference": "nothing", "passed": "all", "measured": "by porch"}
    answer = {**site.turn("true"), "exit": "Good", "payload": payload}
    script = site.base / "script.json"
    script.write_text(json.dumps({"agents": {"write": [answer]}}))
    site.porch("run", "mini", "tea.json", "--script", str(script), "--plain")
    (asked,) = json.loads(site.porch("pending", "--json").out)["decisions"]
    is_taken = any(asked.get(name) for name in payload)
    return Seen(is_taken, "gate" if asked["reports"] == payload else "")


def row(
    id: str,
    agent: Agent,
    tries: str,
    attempt: Callable[[Site], Seen],
    *,
    where: str = "command",
    prepared: str = "at_gate",
) -> Attack:
    return Attack(
        id=id,
        group="gate",
        agent=agent,
        tries=tries,
        result="prevented",
        where=where,
        prepared=prepared,
        attempt=attempt,
    )


CONSENT_ATTACKS = (
    row(
        "S-X5",
        "careless",
        "edits the specification after a person was asked about it, before they approve",
        edit_behind_the_question,
    ),
    row(
        "S-X5b",
        "careless",
        "edits it once more after the difference was shown, before it is accepted",
        edit_behind_the_refusal,
    ),
    row(
        "S-X5c",
        "curious",
        "the same; it then calls `porch pending`, so that its edit seems to have been shown",
        look_for_the_person,
    ),
    row(
        "S-X8",
        "curious",
        "fills fields of a graph that are called like words of the page of a decision",
        call_fields_like_words_of_the_page,
        where="gate",
        prepared="",
    ),
    row(
        "S-X11",
        "careless",
        "waits at a prompt at which a person types the name of another gate",
        name_another_gate_at_the_prompt,
    ),
    row(
        "S-X13",
        "careless",
        "asks a question whose answer is the word that ends a run",
        ask_for_the_word_that_ends_a_run,
        where="",
        prepared="",
    ),
    row(
        "S-T4",
        "careless",
        "says that its specification is written, and writes none",
        write_nothing,
        prepared="",
    ),
)
