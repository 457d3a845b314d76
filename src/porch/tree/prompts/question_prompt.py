"""The first prompt of a question: its template with everything it reads, then how to answer."""

import json
import shlex
import sys
from typing import Any

from porch.errors import OutsideError
from porch.git import repository
from porch.git.diff_budget import fit_text
from porch.machine.effects import AskAgent
from porch.machine.path_values import look_up_path
from porch.machine.person_answers import FIELD, list_person_answers
from porch.model.protocol import Protocol
from porch.run.agents.roster import EmployedAgent
from porch.run.agents.world import World
from porch.show import prompt
from porch.show import strict_templates as templates
from porch.store.large_payloads import expand_payloads
from porch.tree import question_text
from porch.tree.answers import answer_schema, answer_sources
from porch.tree.answers.red_rule import find_red_rule
from porch.tree.branches import branch_update, changes, refs
from porch.tree.branches.update_troubles import find_update_trouble
from porch.tree.claim import InstancePlace
from porch.tree.question_text import list_unasked_fields

DIFF_KEPT = 20_000


def make_answer_schema(world: World, effect: AskAgent) -> dict[str, Any]:
    """One flat object, which every command line that takes a schema can be given."""
    protocol = world.definition().protocol
    out = {known.name: list_unasked_fields(protocol, effect, known) for known in effect.exits}
    key = _key_of_exits(protocol, effect, out)
    if key not in _SCHEMAS:
        records = {known.name: known.record for known in effect.exits}
        _SCHEMAS[key] = (protocol, answer_schema.flat_schema(records, protocol.types, out))
    return _SCHEMAS[key][1]


def _key_of_exits(
    protocol: Protocol, effect: AskAgent, out: dict[str, set[str]]
) -> tuple[int, str, str]:
    """Exits are the same for every instance and visit, but for the fields that are not asked."""
    return id(protocol), effect.state, json.dumps({k: sorted(v) for k, v in out.items()})


_SCHEMAS: dict[tuple[int, str, str], tuple[Protocol, dict[str, Any]]] = {}


def prepare_first_prompt(
    world: World, effect: AskAgent, place: InstancePlace, post: EmployedAgent, is_fresh: bool
) -> str:
    """The rendered template, then how to answer."""
    values = _collect_template_values(world, effect, place)
    if effect.ask.mechanical and find_update_trouble(world, effect).get("kind") == "conflict":
        branch_update.begin_conflicted_merge(
            place.path, str(find_update_trouble(world, effect)["base"])
        )
    template = world.definition().prompts[effect.state]
    protocol = world.definition().protocol
    told = templates.render_strict_template(template, effect.template, values)
    if effect.told and is_fresh:
        told = f"{told}\n{question_text.render_last_words(effect.told)}"
    if is_fresh and not effect.ask.of_parent:
        answers = list_person_answers(world.state(), effect.instance, effect.unread)
        for each in world.shown(answers):
            text = "\n".join(prompt.render_answers(FIELD, each.payload[FIELD]))
            told = f"{told}\n{question_text.render_person_answers(each.label, text)}"
    for each in world.shown(effect.unread):
        told = f"{told}\n{question_text.render_unread_words(each.label, each.payload['text'])}"
    out = {known.name: list_unasked_fields(protocol, effect, known) for known in effect.exits}
    file, word = (
        answer_sources.exit_file_path(world, effect),
        answer_sources.find_question_nonce(world, effect),
    )
    how = question_text.render_answer_instructions(
        post.agent.ANSWERS, [e.name for e in effect.exits], file, word
    )
    return told + how + _render_exits(protocol, effect, out)


def _render_exits(protocol: Protocol, effect: AskAgent, out: dict[str, set[str]]) -> str:
    key = _key_of_exits(protocol, effect, out)
    if key not in _RENDERED_EXITS:
        records = {known.name: known.record for known in effect.exits}
        shapes = answer_schema.schemas_per_exit(records, protocol.types, out)
        advice = [f"{e.name}.{name}" for e in effect.exits for name in e.advisory]
        _RENDERED_EXITS[key] = (protocol, question_text.render_exit_schemas(shapes, advice))
    return _RENDERED_EXITS[key][1]


_RENDERED_EXITS: dict[tuple[int, str, str], tuple[Protocol, str]] = {}


def _collect_template_values(
    world: World, effect: AskAgent, place: InstancePlace
) -> dict[str, Any]:
    values: dict[str, Any] = expand_payloads(world.payload_directory, effect.values)
    for take in effect.ask.takes:
        values[take.name] = _read_field_value(world, effect, place, take, values[take.name])
    head = repository.read_head(place.path) or ""
    commands = world.settings.commands
    rule = find_red_rule(world.definition().protocol, world.state(), effect.instance, effect.state)
    return {
        **values,
        "where": {
            "directory": place.path,
            "branch": place.branch,
            "commit": head,
            "new_tests_may_pass": rule.may_pass,
            "tests_may_stay": rule.may_stay,
        },
        "commands": {name: commands.get(name, "") for name in ("build", "test")},
    }


def _read_field_value(
    world: World, effect: AskAgent, place: InstancePlace, take: Any, value: Any
) -> Any:
    """What a field holds, with the files that it names read."""
    if take.parts and isinstance(value, dict):
        return {
            p.name: _read_field_value(world, effect, place, p, value[p.name]) for p in take.parts
        }
    if take.is_file and isinstance(value, str):
        return _read_target_file(world, effect, value)
    if take.paths == ("engine.evidence",):
        state = world.state()
        known = state.memory.get((effect.instance, ""), {}).get("engine.evidence", {})
        return expand_payloads(world.payload_directory, known.get("value", []))
    if take.paths == ("engine.diff",):
        return read_diff(world, effect, place)
    return value


def _read_target_file(world: World, effect: AskAgent, name: str) -> str:
    try:
        return refs.read_committed_file(world.workspace, effect.about.target, name)
    except OutsideError:
        return f"({name} cannot be read)"


def read_diff(world: World, effect: AskAgent, place: InstancePlace) -> str:
    """Own commits only where the end is open; a long one is cut, and says so."""
    state = world.state()
    standing = state.positions[effect.position]
    protocol = world.definition().protocol
    old, new = (
        str(look_up_path(protocol, state, standing, path)) if path else ""
        for path in effect.ask.diff
    )
    ends = (old, new or ("HEAD" if place.is_own else place.entry))
    text, _ = changes.render_diff(
        place.path,
        *ends,
        first_parent_only=not new,
        limit=sys.maxsize,
        skip_trailer="Porch-Merge:",
    )
    see = f"git diff {old[:12]} {new[:12] or 'HEAD'} -- "
    return fit_text(text, DIFF_KEPT, lambda path: f"{see}{shlex.quote(path)}").text
