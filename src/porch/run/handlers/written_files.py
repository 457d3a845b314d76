"""Whether the documents of a phase are there and filled in; their templates say what is not."""

import os
from collections.abc import Iterator

from porch.machine import facts as f
from porch.machine.effects import RunCheck
from porch.model.artifact_names import list_alternatives
from porch.run.agents.world import World
from porch.run.engine.artifacts import find_file_problem, list_artifact_paths
from porch.show import prompt


def render_artifact_template(world: World, name: str) -> str:
    """What a new document begins with; empty if the protocol has no template for it."""
    run, templates = world.state().run, world.definition().templates
    names = [os.path.basename(each) for each in list_alternatives(name)]
    text = next((templates[each] for each in names if each in templates), "")
    words = {"project_id": run.id, "title": run.title}
    return prompt.render_template(text, names[0], words) if text else ""


def measure_written_files(world: World, effect: RunCheck) -> f.CheckEnded:
    problems = list(_list_problems(world, effect))
    said = "\n".join(problems) or "every document is there"
    return f.CheckEnded(effect=effect.id, result="failed" if problems else "passed", report=said)


def _list_problems(world: World, effect: RunCheck) -> Iterator[str]:
    run, workspace = world.state().run, world.workspace
    for name in effect.command.files:
        template = render_artifact_template(world, name)
        for path in list_artifact_paths(workspace, run, (name,), effect.item):
            problem = find_file_problem(workspace, path, template)
            if problem:
                yield f"{path} is {problem}; write it, then give the signal again"
