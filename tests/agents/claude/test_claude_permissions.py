"""Neutral permissions as claude's flags, and what it says it cannot be held to."""

import os

import pytest

from porch.agents import claude
from porch.agents.claude import permissions as claude_permissions
from porch.model.permissions import INSIDE, READ_ONLY, UNLIMITED, Permissions, parse_permissions


def flag(argv: tuple[str, ...], name: str) -> str | None:
    return argv[argv.index(name) + 1] if name in argv else None


def rules(argv: tuple[str, ...], name: str) -> list[str]:
    """The words behind a flag that takes many, up to the next flag."""
    rest = argv[argv.index(name) + 1 :]
    end = next((at for at, word in enumerate(rest) if word.startswith("--")), len(rest))
    return list(rest[:end])


def flags_of(*texts: str, workspace: str = "/ws") -> tuple[str, ...]:
    return claude_permissions.list_permission_flags(
        parse_permissions(texts), workspace, is_root=False
    )


@pytest.mark.req("P-094", "P-163")
def test_permissions_become_rules_from_the_top_of_the_workspace() -> None:
    argv = flags_of("write:src/**", "write:*.md", "bash:npm *", "read:docs/*", "read:/etc/*")
    allowed = ["Task", "Edit(//ws/src/**)", "Edit(//ws/*.md)", "Bash(npm *)"]
    assert rules(argv, "--allowedTools") == [*allowed, "Read(//ws/docs/*)", "Read(//etc/*)"]
    assert rules(argv, "--disallowedTools") == ["Edit(//ws/.git)", "Edit(//ws/.git/**)"]
    assert flag(argv, "--permission-mode") == "dontAsk"


def test_inside_is_the_workspace_without_git() -> None:
    argv = claude_permissions.list_permission_flags(INSIDE, "/ws", is_root=False)
    allowed = ["Task", "Edit(//ws/**)", "Bash", "Read(//**)"]
    assert rules(argv, "--allowedTools") == allowed
    assert "Edit(//ws/.git/**)" in argv


def test_reader_has_no_tool_that_writes() -> None:
    argv = claude_permissions.list_permission_flags(READ_ONLY, "/ws", is_root=False)
    assert rules(argv, "--allowedTools") == ["Task", "Read(//**)"]
    assert not {"Edit", "Write", "NotebookEdit"} & set((flag(argv, "--tools") or "").split(","))
    assert {"Edit", "Write", "NotebookEdit"} <= set(rules(argv, "--disallowedTools"))


def test_signs_of_a_glob_in_the_name_of_the_workspace_are_no_glob() -> None:
    argv = flags_of("write:a", workspace="/w[1]*(x)")
    assert "Edit(//w\\[1\\]\\*?x?/a)" in argv


def test_rule_with_a_parenthesis_is_left_out_and_said() -> None:
    texts = ("bash:x) Bash", "write:(a)/**", "read:(b)")
    assert not any("x)" in word or "(a)" in word or "(b)" in word for word in flags_of(*texts))
    said = claude_permissions.unenforced(parse_permissions(texts), is_root=False)
    assert sum("parentheses" in sentence for sentence in said) == 3


def test_without_limits_only_root_is_given_a_list() -> None:
    free = claude_permissions.list_permission_flags(UNLIMITED, "/ws", is_root=False)
    assert free == ("--dangerously-skip-permissions",)
    root = claude_permissions.list_permission_flags(UNLIMITED, "/ws", is_root=True)
    assert {"Bash", "Edit", "Read", "WebFetch"} <= set(rules(root, "--allowedTools"))
    assert "--dangerously-skip-permissions" not in root


@pytest.mark.parametrize(
    "permissions, is_root, words",
    [
        (UNLIMITED, False, []),
        (UNLIMITED, True, ["as root"]),
        (INSIDE, False, ["not limited"]),
        (READ_ONLY, False, ["read-only"]),
        (parse_permissions(["bash:npm *"]), False, ["read-only", "allowed command"]),
        (parse_permissions(["read:src/**"]), False, ["read-only", "always be read"]),
        (parse_permissions(["write:{a,b}/**"]), False, ["read-only", "braces"]),
    ],
)
def test_what_it_cannot_be_held_to_is_said(
    permissions: Permissions, is_root: bool, words: list[str]
) -> None:
    said = claude_permissions.unenforced(permissions, is_root)
    assert len(said) == len(words)
    assert all(word in sentence for word, sentence in zip(words, said, strict=True))


def test_it_says_what_it_cannot_be_held_to_for_whoever_runs_it() -> None:
    assert claude.unenforced(UNLIMITED) == claude_permissions.unenforced(
        UNLIMITED, os.geteuid() == 0
    )
