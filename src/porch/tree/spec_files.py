"""What a tree of instances is about: a spec file, read and checked against its type."""

from collections.abc import Iterator, Mapping
from typing import Any

from porch.errors import DefinitionError, Finding, Place, UsageError
from porch.git import repository
from porch.machine.instances.listed_children import SpecOfPart, find_listed_problems
from porch.model import typed_answers
from porch.model import types as t
from porch.model.protocol import Git, Protocol
from porch.model.protocol_parts import part_of_name
from porch.run import settings
from porch.run.definitions.subject_names import RunSubject
from porch.run.drive.start_requirements import no_spec_error
from porch.run.engine.drive_options import RunRequest
from porch.run.start_settings import COMMIT_SETTINGS
from porch.store.where import ProjectPaths
from porch.text import formats
from porch.text.late_pattern import late_pattern
from porch.text.nodes import ListNode, MapNode, Node, plain_value


def require_spec(
    where: ProjectPaths, about: RunSubject, protocol: Protocol, wanted: RunRequest
) -> Mapping[str, Any]:
    """The spec, or everything that is wrong with it and with where it shall be done."""
    if not about.text:
        raise no_spec_error(protocol, f"'{wanted.subject}' is not a spec file")
    _require_place(where, wanted)
    if not wanted.into and _always_merges(protocol):
        raise UsageError(
            f"'{protocol.name}' merges its work, and never asks whether there is a target",
            fix="say which branch: --into BRANCH; or write `when: instance.target` in the graph",
            code="no-branch",
        )
    node = formats.read_tree(about.text, wanted.subject)
    value, _ = typed_answers.repair_value(plain_value(node), t.Ref(protocol.spec), protocol.types)
    findings = [*_list_spec_problems(node, value, protocol)]
    if findings:
        raise DefinitionError(findings)
    return dict(value)


def _require_place(where: ProjectPaths, wanted: RunRequest) -> None:
    if not where.common_dir or repository.read_head(where.root) is None:
        raise UsageError(
            "this protocol needs a git repository with at least one commit",
            fix="git init && git commit --allow-empty -m start",
            code="no-repository",
        )
    if wanted.into and repository.resolve_commit(where.root, f"refs/heads/{wanted.into}") is None:
        raise UsageError(
            f"there is no branch '{wanted.into}' to merge into",
            fix=f"create it: git branch {wanted.into}; or name a branch that exists",
            code="no-branch",
        )
    commit = repository.resolve_commit(where.root, wanted.into or "HEAD") or ""
    if not settings.load_settings(where.root, commit=commit).commands.get("test"):
        is_written = "test" in settings.read_written_settings(where.root).commands
        what = "is not committed" if is_written else "is missing in codev/config.toml"
        example = "add, for example: test = 'python -m pytest -q --junitxml=\"$PORCH_REPORT\"'"
        raise UsageError(
            f"[commands] test {what}: porch cannot run the tests",
            fix=COMMIT_SETTINGS if is_written else example,
            code="no-test-command",
        )


def _always_merges(protocol: Protocol) -> bool:
    """Whether the root comes to a merge, whatever it was told of a target."""
    states = protocol.states.values()
    merges = [s for s in states if isinstance(s.actor, Git) and s.actor.op == "candidate"]
    guards = [g.path for e in protocol.edges for g in e.guards if not part_of_name(e.state)]
    is_asked = any(path == "parent" or path.startswith("instance.target") for path in guards)
    return not is_asked and any(not part_of_name(state.name) for state in merges)


def _list_spec_problems(node: Node, value: Any, protocol: Protocol) -> Iterator[Finding]:
    type_ = t.Ref(protocol.spec)
    for problem in typed_answers.check_value(value, type_, protocol.types):
        yield Finding("bad-spec", problem, _find_place(node, problem))
    if isinstance(value, dict) and (spawn := protocol.spawn_of("")):
        listed_by = [SpecOfPart("", value)]
        for problem in find_listed_problems(protocol, listed_by, spawn.instances - 1):
            yield Finding("bad-spec", problem, _find_place(node, problem))
    spec, _ = t.unwrap_type(type_, protocol.types)
    for field in spec.fields if isinstance(spec, t.Record) else ():
        inner, _ = t.unwrap_type(field.type, protocol.types)
        listed = value.get(field.name) if isinstance(value, dict) else None
        if isinstance(inner, t.ListOf) and isinstance(listed, list) and _has_ids(inner, protocol):
            yield from _list_id_problems(node, field.name, listed)


def _list_id_problems(node: Node, name: str, listed: list[Any]) -> Iterator[Finding]:
    """A list of things with ids is what the run is measured by: some, and no two of one name."""
    if not listed:
        message, fix = (
            f"{name} is empty",
            "write at least one entry; without it the run can never be done",
        )
        yield Finding("bad-spec", message, _find_place(node, name), fix)
    ids = [each.get("id") for each in listed if isinstance(each, dict)]
    for again in dict.fromkeys(id_ for id_ in ids if ids.count(id_) > 1):
        yield Finding(
            "bad-spec", f"{name}: the id '{again}' is used twice", _find_place(node, name)
        )


def _has_ids(type_: t.ListOf, protocol: Protocol) -> bool:
    of, _ = t.unwrap_type(type_.of, protocol.types)
    return isinstance(of, t.Record) and any(field.name == "id" for field in of.fields)


_STEP = late_pattern(r"([^.\[\]]+)|\[(\d+)\]")
_UNKNOWN = late_pattern(r"unknown field '([^']*)'")


def _find_place(node: Node, problem: str) -> Place:
    """Where the innermost thing that a problem names stands."""
    for name, number in _STEP.findall(problem.partition(":")[0]):
        inside = _find_inside(node, name, number)
        if inside is None:
            break
        node = inside
    unknown = _UNKNOWN.search(problem)
    keys = [entry.key for entry in node.entries] if isinstance(node, MapNode) else []
    return next((k.place for k in keys if unknown and k.text == unknown[1]), node.place)


def _find_inside(node: Node, name: str, number: str) -> Node | None:
    match node:
        case MapNode():
            return node.get(name)
        case ListNode(items=items) if number and int(number) < len(items):
            return items[int(number)]
        case _:
            return None
