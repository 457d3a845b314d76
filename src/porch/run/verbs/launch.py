"""Starting runs."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from msgspec.structs import replace

from porch.errors import DefinitionError, UsageError
from porch.git import repository
from porch.model import parameters
from porch.model.protocol import Protocol
from porch.model.track_names import CODUMENT
from porch.run.agents.default_panel import settle_panel
from porch.run.agents.roster import Roster
from porch.run.definitions import track_plans
from porch.run.definitions.current_definition import load_current_definition
from porch.run.definitions.library import LoadedDefinition
from porch.run.definitions.subject_names import RunSubject, find_subject
from porch.run.drive.agent_preflight import require_agents
from porch.run.drive.start_requirements import (
    all_refusals,
    refuse_wrong_options,
    require_check_commands,
    require_start,
)
from porch.run.engine.drive_options import DriveResult, DriveWatch, RunRequest
from porch.run.engine.driver import DriveManner
from porch.run.engine.fact_redaction import redact_text, redact_value
from porch.run.engine.run_places import require_known_place
from porch.run.handlers.products import Products, ReadSpec
from porch.run.requests import run_request
from porch.run.requests.free_ids import given_back_if_unused
from porch.run.requests.request_text import check_text
from porch.run.settings import load_settings
from porch.run.start_settings import describe_other_settings, list_untrusted
from porch.run.trust_requests import require_trust
from porch.run.verbs.adopt import refuse_lost_run
from porch.run.verbs.lease import refuse_leased_checkout
from porch.run.worktrees import free_place
from porch.run.worktrees.make import hold_run_worktree
from porch.store.known_runs import list_known_runs
from porch.store.run_names import match_run_names
from porch.store.where import ProjectPaths, find_project
from porch.store.worktree_records import find_record_of
from porch.text.sha256 import sha256

if TYPE_CHECKING:  # loaded while git writes the files of a worktree
    from porch.run.engine.session import HeldRun

__all__ = ["DriveResult", "DriveWatch", "RunRequest", "start_run"]
_LONGEST = 40
_DIGITS = 8


def start_run(
    where: ProjectPaths,
    wanted: RunRequest,
    manner: DriveManner,
    *,
    watch: DriveWatch,
    products: Products,
) -> DriveResult:
    """Start a run, or go on with the one of this name; a finished one is left alone."""
    require_known_place(where)
    where, other = _leave_other_worktree(where, wanted)
    wanted = run_request.with_default_protocol(where, wanted, watch.notice)
    if wanted.protocol == CODUMENT:
        wanted = track_plans.take_track(where, wanted)
    commit = _find_start_commit(where, wanted)
    loaded = load_current_definition(where, wanted.protocol, wanted.subject, commit)
    protocol = loaded.demand().protocol
    wanted = run_request.take_request(where, protocol.subject, wanted, watch.notice)
    wanted = _without_secrets(wanted, watch)
    refuse_wrong_options(protocol, wanted)
    wanted = name_by_inputs(loaded, wanted)
    known = _find_known_run(where, protocol, wanted)
    if known:
        from porch.run.verbs.resume import resume_run

        run_request.refuse_request_for_run(known, wanted.subject, wanted)
        return resume_run(where, known, wanted, manner, watch=watch, products=products)
    if lost := _find_lost_run(where, protocol, wanted):
        refuse_lost_run(where, lost, wanted.adopt)
    has_worktree = _gets_worktree(protocol, wanted)
    if where.workspace == where.common_dir and not has_worktree:
        raise UsageError(
            "a bare repository has no files to work on",
            fix="create a worktree and run it there: git worktree add ../work",
            code="bare-repository",
        )
    require_inputs(loaded, wanted)
    known_settings = load_settings(where.root, trust=wanted.trust, commit=commit)
    require_trust(list_untrusted(where, commit, wanted.trust))
    for note in describe_other_settings(where, commit):
        watch.notice(note)
    roster = Roster(known_settings, wanted.agent)
    with all_refusals() as attempt:
        # Of a panel that is chosen here, nobody is missing.
        settled = settle_panel(loaded, roster)
        attempt(require_agents, known_settings, wanted, settled.demand().protocol, "")
        attempt(require_start, where, known_settings, wanted, protocol, has_worktree=has_worktree)
        attempt(require_check_commands, where, protocol, known_settings, wanted.agent == "scripted")
    whole = _with_whole_request(where, loaded, wanted, watch, is_scripted=roster.is_scripted)
    drawn = "" if wanted.subject else whole.subject
    if other:
        watch.notice(other)
    with (
        given_back_if_unused(where, drawn),
        _begin_new_run(
            where,
            settled,
            whole,
            watch=watch,
            read_spec=products.read_spec,
            has_worktree=has_worktree,
            commit=commit,
        ) as started,
    ):
        from porch.run.drive.drive import drive_run

        return drive_run(started, whole, manner, watch, products=products, resumed=False)


@contextmanager
def _begin_new_run(
    where: ProjectPaths,
    loaded: LoadedDefinition,
    wanted: RunRequest,
    *,
    watch: DriveWatch,
    read_spec: ReadSpec,
    has_worktree: bool,
    commit: str,
) -> "Iterator[HeldRun]":
    """The first record, in the checkout or in a worktree of the run's own."""
    protocol = loaded.demand().protocol
    about = _find_about(where, protocol, wanted)
    if about.text and not protocol.spec:
        check_text(about.text)
    spec = None
    if protocol.spec:
        # Before anything is written: whatever is wrong with the spec, all of it.
        spec = read_spec(where, about, protocol, wanted)
        free_place.require_free_tree(where, f"porch/{about.run}")
    if not has_worktree:
        refuse_leased_checkout(where, about.run, protocol)
    place = (
        hold_run_worktree(
            where,
            protocol.name,
            about,
            watch.notice,
            base=commit or "HEAD",
            trust=wanted.trust,
            meanwhile=_load_drive,
        )
        if has_worktree
        else nullcontext(where)
    )
    with place as there:
        from porch.run.verbs.start import begin_run

        with begin_run(
            there, about, loaded, wanted, watch=watch, spec=spec, commit=commit
        ) as started:
            yield started


def _load_drive() -> None:
    """What a run needs from its first record on, while git writes the files of its worktree."""
    from porch.run.drive import drive  # noqa: F401
    from porch.run.verbs import start  # noqa: F401


def _leave_other_worktree(where: ProjectPaths, wanted: RunRequest) -> tuple[ProjectPaths, str]:
    """Where a new worktree is made from: the project, also if one stands in the worktree of a run.

    The work of one run is no base for another, and nobody merges into the branch of a run. Returns
    what to say about it, too.
    """
    made = find_record_of(where, where.workspace)
    if made is None or wanted.in_checkout or where.workspace == where.base:
        return where, ""
    project = find_project(where.base)
    branch = repository.read_checkout_branch(project.workspace) or "its current commit"
    return project, (
        f"This directory is the worktree of {made.run}. The new run starts from the project "
        f"({project.workspace}) on {branch}, and finishes into that."
    )


def _find_start_commit(where: ProjectPaths, wanted: RunRequest) -> str:
    """The commit that a run in a worktree starts from; its settings count.

    What lies in the checkout may be half written, or an agent of another run has written it.
    """
    if not where.common_dir or wanted.in_checkout:
        return ""
    return repository.resolve_commit(where.workspace, wanted.into or "HEAD") or ""


def _gets_worktree(protocol: Protocol, wanted: RunRequest) -> bool:
    """A tree makes one for each of its parts; a person may choose the checkout."""
    return not (protocol.spec or wanted.in_checkout)


def _find_about(where: ProjectPaths, protocol: Protocol, wanted: RunRequest) -> RunSubject:
    return find_subject(
        where,
        protocol.name,
        protocol.subject,
        wanted.subject,
        title=wanted.title,
        request=wanted.request,
    )


def _with_whole_request(
    where: ProjectPaths,
    loaded: LoadedDefinition,
    wanted: RunRequest,
    watch: DriveWatch,
    *,
    is_scripted: bool,
) -> RunRequest:
    """For a new run, once nothing else can be wrong: all that it is asked, and its id.

    Where nobody is paid, an id is enough: a dry run shows the protocol.
    """
    subject = loaded.demand().protocol.subject
    is_paid = not (is_scripted or wanted.hands_off)
    run_request.require_project(where, subject, wanted, watch.notice, is_paid=is_paid)
    if is_paid:
        wanted = _redact_request(run_request.with_issue_text(where, subject, wanted))
    if is_paid or not wanted.subject:
        # Under a name that nobody has: only what it says counts here.
        unnamed = wanted if wanted.subject else replace(wanted, subject="0")
        about = _find_about(where, loaded.demand().protocol, unnamed)
        run_request.require_request(loaded.demand(), about, wanted)
    return run_request.with_drawn_id(where, subject, wanted)


def _redact_request(wanted: RunRequest) -> RunRequest:
    return replace(wanted, request=redact_text(wanted.request)) if wanted.request else wanted


def _without_secrets(wanted: RunRequest, watch: DriveWatch) -> RunRequest:
    """A title becomes the name of directories, an input or a request part of prompts.

    None of them holds a secret.
    """
    inputs = redact_value(wanted.inputs) if wanted.inputs else wanted.inputs
    clean = _redact_request(replace(wanted, title=redact_text(wanted.title), inputs=inputs))
    if clean != wanted:
        watch.notice("a secret in the title, request or an input was replaced by [redacted]")
    return clean


def _find_known_run(where: ProjectPaths, protocol: Protocol, wanted: RunRequest) -> str:
    """The run that is meant: by its name, or by an id alone, padded or not."""
    return _match_run(where.runs(), where, protocol, wanted)


def _find_lost_run(where: ProjectPaths, protocol: Protocol, wanted: RunRequest) -> str:
    """The same among the runs that were here, for nothing else is there by that name or id."""
    return _match_run(list_known_runs(where.state_dir), where, protocol, wanted)


def _match_run(
    names: list[str], where: ProjectPaths, protocol: Protocol, wanted: RunRequest
) -> str:
    if not wanted.subject and protocol.subject != "none":
        return ""
    about = _find_about(where, protocol, wanted)
    if about.run in names:
        return about.run
    # An amendment is one of many; of anything else there is one for each id.
    by_id = protocol.subject != "amendment" if wanted.request else not wanted.title
    fits = match_run_names(names, wanted.subject) if wanted.subject and by_id else []
    mine = [name for name in fits if _run_kind(name) == _run_kind(about.run)]
    return mine[0] if len(mine) == 1 else ""


def _run_kind(name: str) -> str:
    """`tick` of tick_0073_x; nothing for a project."""
    front = name.partition("-")[0]
    return front.partition("_")[0] if "_" in front else ""


def name_by_inputs(loaded: LoadedDefinition, wanted: RunRequest) -> RunRequest:
    """Without a subject, equal inputs mean the same run, and others another one."""
    if loaded.parameters is None or wanted.subject:
        return wanted
    given = dict(wanted.inputs or {})
    told = "-".join(given[each.name] for each in loaded.parameters if each.name in given)
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", told).strip("-_")
    if slug == told and 0 < len(slug) <= _LONGEST:
        return replace(wanted, subject=slug)
    whole = json.dumps(given, sort_keys=True, ensure_ascii=False)
    mark = sha256(whole.encode()).hexdigest()[:_DIGITS]
    return replace(wanted, subject=f"{slug[:_LONGEST].strip('-_')}-{mark}".lstrip("-"))


def require_inputs(loaded: LoadedDefinition, wanted: RunRequest) -> None:
    """Everything that is wrong with what was given, before anything is written."""
    if loaded.parameters is not None:
        wrong = parameters.check_parameters(loaded.parameters, wanted.inputs or {})
        if wrong:
            raise DefinitionError(wrong)
