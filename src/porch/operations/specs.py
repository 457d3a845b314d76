"""What a tree of instances is about: a spec file, read and checked against its type."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from porch.adapters import git, settings
from porch.adapters.where import Where
from porch.dialects import tree
from porch.dialects.nodes import ListNode, MapNode, Node, plain
from porch.errors import DefinitionError, Finding, Place, UsageError
from porch.machine import facts as f
from porch.model import answers
from porch.model import types as t
from porch.model.protocol import Protocol
from porch.operations.asking import Wanted
from porch.operations.names import Subject


def refuse_words(protocol: Protocol, wanted: Wanted) -> None:
    """What was said on the command line and has no meaning here, or is missing."""
    if wanted.into and not protocol.spec:
        raise UsageError(
            f"{protocol.name} has no branch of its own that could be merged into another",
            fix="leave out --into",
            code="no-tree",
        )
    if protocol.spec and not wanted.subject:
        raise _no_spec(protocol, "no spec was given")


def _no_spec(protocol: Protocol, what: str) -> UsageError:
    return UsageError(what, fix=f"porch run {protocol.name} SPEC.yaml", code="no-spec")


def demand_script(protocol: Protocol, script: str) -> None:
    """Without a script the scripted agent says only signals, which nobody reads in a tree."""
    if protocol.spec and not script:
        raise UsageError(
            f"the questions of {protocol.name} are typed; the scripted agent needs a script",
            fix="add --script FILE; docs/reference/script.md says how it answers",
            code="no-script",
        )


def demand(where: Where, about: Subject, protocol: Protocol, wanted: Wanted) -> Mapping[str, Any]:
    """The spec, or everything that is wrong with it and with where it shall be done."""
    if not about.text:
        raise _no_spec(protocol, f"'{wanted.subject}' is not a file with a spec")
    _demand_place(where, wanted)
    node = tree.read(about.text, wanted.subject)
    value, _ = answers.repair(plain(node), t.Ref(protocol.spec), protocol.types)
    findings = [*_findings(node, value, protocol)]
    if findings:
        raise DefinitionError(findings)
    return dict(value)


def _demand_place(where: Where, wanted: Wanted) -> None:
    if not where.common_dir or git.head(where.root) is None:
        raise UsageError(
            "a tree of worktrees needs a git repository with a commit",
            fix="git init && git commit --allow-empty -m start",
            code="no-repository",
        )
    if wanted.into and git.resolve(where.root, f"refs/heads/{wanted.into}") is None:
        raise UsageError(
            f"there is no branch '{wanted.into}' to merge into",
            fix=f"git branch {wanted.into}, or name one that is there",
            code="no-branch",
        )
    if not settings.load(where.root).commands.get("test"):
        raise UsageError(
            "there is no [commands] test in codev/config.toml: nothing could be measured",
            fix="for example: test = 'python -m pytest -q --junitxml=\"$PORCH_REPORT\"'",
            code="no-test-command",
        )


def _findings(node: Node, value: Any, protocol: Protocol) -> Iterator[Finding]:
    type_ = t.Ref(protocol.spec)
    for problem in answers.problems(value, type_, protocol.types):
        yield Finding("bad-spec", problem, _place(node, problem))
    spec, _ = t.bare(type_, protocol.types)
    for field in spec.fields if isinstance(spec, t.Record) else ():
        inner, _ = t.bare(field.type, protocol.types)
        listed = value.get(field.name) if isinstance(value, dict) else None
        if isinstance(inner, t.ListOf) and isinstance(listed, list) and _has_ids(inner, protocol):
            yield from _listed(node, field.name, listed)


def _listed(node: Node, name: str, listed: list[Any]) -> Iterator[Finding]:
    """A list of things with ids is what the run is measured by: some, and no two of one name."""
    if not listed:
        message, fix = f"{name} is empty", "a run without any is never done; write at least one"
        yield Finding("bad-spec", message, _place(node, name), fix)
    ids = [each.get("id") for each in listed if isinstance(each, dict)]
    for again in dict.fromkeys(id_ for id_ in ids if ids.count(id_) > 1):
        yield Finding("bad-spec", f"{name}: the id '{again}' is there twice", _place(node, name))


def _has_ids(type_: t.ListOf, protocol: Protocol) -> bool:
    of, _ = t.bare(type_.of, protocol.types)
    return isinstance(of, t.Record) and any(field.name == "id" for field in of.fields)


_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_UNKNOWN = re.compile(r"unknown field '([^']*)'")


def _place(node: Node, problem: str) -> Place:
    """Where the innermost thing that a problem names stands."""
    for name, number in _STEP.findall(problem.partition(":")[0]):
        inside = _inside(node, name, number)
        if inside is None:
            break
        node = inside
    unknown = _UNKNOWN.search(problem)
    keys = [entry.key for entry in node.entries] if isinstance(node, MapNode) else []
    return next((k.place for k in keys if unknown and k.text == unknown[1]), node.place)


def _inside(node: Node, name: str, number: str) -> Node | None:
    match node:
        case MapNode():
            return node.get(name)
        case ListNode(items=items) if number and int(number) < len(items):
            return items[int(number)]
        case _:
            return None


def begun(
    where: Where, about: Subject, protocol: Protocol, wanted: Wanted, first: f.RunStarted
) -> f.RunStarted:
    """The first fact of a run over a tree: its spec, its own branch, and where that goes."""
    spec = demand(where, about, protocol, wanted)
    return replace(
        first,
        spec=spec,
        branch=f"porch/{about.run}",
        into=wanted.into,
        base_commit=git.resolve(where.root, wanted.into or "HEAD") or "",
    )
