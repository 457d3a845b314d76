"""The definition that governs new runs here: the protocol's files under the project's settings."""

import math
import os

from msgspec.structs import replace

from porch.model.definition import Definition, hash_definition
from porch.model.protocol import Panel, Protocol, State
from porch.model.track_names import CODUMENT
from porch.run import settings
from porch.run.definitions import library, track_plans
from porch.run.definitions.library import LoadedDefinition
from porch.store import compiled_protocols
from porch.store.where import ProjectPaths


def load_current_definition(
    where: ProjectPaths, name: str, track: str = "", commit: str = ""
) -> LoadedDefinition:
    """Find and read a protocol; the project's own list of reviewers stands in for the file's.

    Where neither names any, the panel is empty: `with_default_panel` says who reviews in a run.
    The definition of a track is its plan, in the directory `track`. With a commit, the settings of
    the project are those that it has.
    """
    if name == CODUMENT and track:
        return _load_track(where, track, commit)
    loaded = library.load_protocol(library.find_protocol(where, name).file, where)
    loaded = replace(loaded, files=(*loaded.files, *_list_other_files(where, name)))
    models = settings.load_settings(where.root, commit=commit).models
    if loaded.definition is None or not models:
        return loaded
    return _with_definition(loaded, _with_reviewers(loaded.definition, models))


def find_default_panel(protocol: Protocol) -> tuple[str, ...] | None:
    """Who reviews where nobody is named: before a run nobody; None without such a panel."""
    actors = (state.actor for state in protocol.states.values())
    found = (a.reviewers for a in actors if isinstance(a, Panel) and a.is_default)
    return max(found, key=len, default=None)  # of a panel that takes fewer, not all are known


def with_default_panel(loaded: LoadedDefinition, chosen: tuple[str, ...]) -> LoadedDefinition:
    """The definition of one run: who was chosen for it reviews where nobody is named."""
    if loaded.definition is None or find_default_panel(loaded.definition.protocol) is None:
        return loaded
    definition = _with_reviewers(loaded.definition, chosen, is_default=True)
    return _with_definition(loaded, definition)


def _with_definition(loaded: LoadedDefinition, definition: Definition) -> LoadedDefinition:
    return replace(loaded, definition=definition, digest=hash_definition(definition))


def _load_track(where: ProjectPaths, track: str, commit: str) -> LoadedDefinition:
    """The definition of a track, as the project wants its confirmations."""
    file = track_plans.find_plan_file(os.path.join(where.workspace, track))
    loaded = library.load_protocol(file, where)
    known = settings.load_settings(where.root, commit=commit)
    is_together = known.coalesce == "last-task"
    if loaded.definition is None or not (known.fix_issues or is_together):
        return loaded
    protocol = loaded.definition.protocol
    protocol = _put_questions_together(file) if is_together else protocol
    protocol = _let_issues_be_fixed(protocol) if known.fix_issues else protocol
    return _with_definition(loaded, replace(loaded.definition, protocol=protocol))


def _put_questions_together(file: str) -> Protocol:
    """The last confirmations of a phase come at once; its texts are the same."""
    from porch.dialects.plan_xml.compiler import compile_plan, make_protocol

    return make_protocol(compile_plan(track_plans.read_plan_file(file).plan, coalesce=True))


def _let_issues_be_fixed(protocol: Protocol) -> Protocol:
    """Before anybody is asked."""
    from porch.dialects.plan_xml.gate_states import FIXES, REVIEW_ATTEMPTS

    budgets = {
        name: replace(budget, limit=max(budget.limit, REVIEW_ATTEMPTS))
        if name.endswith(FIXES)
        else budget
        for name, budget in protocol.budgets.items()
    }
    return replace(protocol, budgets=budgets)


def _list_other_files(where: ProjectPaths, name: str) -> list[str]:
    """What else decides the definition: files that would win if they were there, and settings."""
    user = os.path.join(settings.user_directory(os.environ), settings.USER_FILE)
    project = os.path.join(where.root, settings.PROJECT_FILE)
    return [*compiled_protocols.candidate_paths(where, name), project, user]


def _with_reviewers(
    definition: Definition, models: tuple[str, ...], *, is_default: bool = False
) -> Definition:
    """In every panel, or only in those of a protocol that names nobody."""
    protocol = definition.protocol
    states = {
        name: _with_state_reviewers(state, models, is_default)
        for name, state in protocol.states.items()
    }
    return replace(definition, protocol=replace(protocol, states=states))


def _with_state_reviewers(state: State, models: tuple[str, ...], is_default: bool) -> State:
    actor = state.actor
    if not isinstance(actor, Panel) or actor.form == "issues":
        # Who confirms is named where it is asked for, and nobody else.
        return state
    if is_default and not actor.is_default:
        return state
    models = models[: actor.max_reviewers or None]
    quorum = math.ceil(2 * len(models) / 3)
    actor = replace(actor, reviewers=models, quorum=quorum, is_default=is_default)
    return replace(state, actor=actor)
