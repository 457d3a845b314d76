"""The whole prompt of an agent's turn, and the signals that may end it; no process is needed."""

import os
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine.effects import RunAgent
from porch.machine.person_answers import list_person_answers
from porch.machine.state import RunState
from porch.model.artifact_names import has_wildcard, is_optional
from porch.run.engine.artifacts import name_artifact_file, name_documents
from porch.show import prompt, status, status_yaml
from porch.show.issue_variables import list_issue_variables
from porch.store.large_payloads import expand_payloads

if TYPE_CHECKING:
    from porch.run.agents.world import World


def find_item(state: RunState, world: "World", effect: RunAgent) -> f.Item | None:
    standing = state.positions.get(effect.position)
    loop = world.definition().protocol.states[effect.state].loop
    item = state.item_of(standing, loop) if standing and loop else None
    return replace(item, text=expand_payloads(world.payload_directory, item.text)) if item else None


def render_whole_prompt(world: "World", effect: RunAgent, in_conversation: bool = True) -> str:
    """The phase's own words, then what porch knows, as quoted data.

    A reminder is short only where the agent still knows what it was asked.
    """
    state, definition = world.state(), world.definition()
    template = definition.prompts.get(effect.state, "")
    item = find_item(state, world, effect)
    rendered = prompt.render_template(
        template, effect.prompt or effect.state, _prompt_variables(world, effect, item)
    )
    document = status.make_status_document(definition.protocol, state)
    brief = {key: value for key, value in document.items() if key not in ("log", "plan_phases")}
    told = status_yaml.render_status_file(brief, state.seq).rpartition("# porch seq")[0]
    standing = state.positions.get(effect.position)
    instance = standing.instance if standing else ""
    answers = list_person_answers(state, instance, effect.shown)
    shown = world.shown((*effect.shown, *answers))
    word = world.nonce(effect.id)
    asked = prompt.unshown_request(template, world.subject_text)
    whole = prompt.compose_turn_prompt(
        rendered,
        told,
        item=item,
        shown=shown,
        exits=effect.exits,
        nonce=word,
        asked=asked,
        documents=_list_unnamed_documents(world, effect, rendered),
    )
    if not effect.reminder:
        return whole
    reminder = prompt.compose_reminder(effect.exits, effect.noted, word)
    return reminder if in_conversation else f"{whole}\n{reminder}"


def _list_unnamed_documents(world: "World", effect: RunAgent, rendered: str) -> list[str]:
    """The files that the phase writes and its own words do not name."""
    run, names = world.state().run, [name for name in effect.artifacts if not is_optional(name)]
    paths = [name_artifact_file(world.workspace, run, name, effect.item) for name in names]
    return [path for path in paths if not has_wildcard(path) and path not in rendered]


def _prompt_variables(world: "World", effect: RunAgent, item: f.Item | None) -> dict[str, Any]:
    state = world.state()
    run, protocol = state.run, world.definition().protocol
    named = [
        name_artifact_file(world.workspace, run, name, effect.item) for name in effect.artifacts[:1]
    ]
    variables: dict[str, Any] = {
        "project_id": run.id,
        "title": run.title,
        "current_state": effect.position.rpartition("#")[0],
        "protocol": run.protocol,
        "project_dir": run.project_dir,
        "artifact": named[0] if named else "",
        "iteration": state.turns,
        "base_commit": run.base_commit,
        "artifact_name": name_documents(world.workspace, run, effect.artifacts, protocol),
        "subject_text": world.subject_text,
        "issue": list_issue_variables(run, protocol.subject, world.subject_text),
        "inputs": run.inputs,
        "workspace_dir": world.workspace,
        "track_dir": os.path.join(world.workspace, run.project_dir),
    }
    if item is not None:
        variables |= {
            "plan_phase_id": item.id,
            "plan_phase_title": item.title,
            "plan_phase_text": item.text,
        }
    return variables
