"""What a set-up adds to `.claude/settings.json`: the hook, and what specialists may run unasked.

Everything else in the file stays as it is, also what we would write differently.
"""

import json
from typing import Any

from porch.errors import UsageError

HOOK = ".claude/hooks/porch-notify.sh"
SETTINGS_FILE = ".claude/settings.json"
_EVENT = "UserPromptSubmit"
_COMMAND = f'"$CLAUDE_PROJECT_DIR"/{HOOK}'
# What the packaged steps, commands and agents tell Claude Code to call, and a test holds it to
# that. Nothing here decides, publishes or forces: for that a person is asked each time.
_ENVOY = (
    *("protocol", "knowledge search", "git diff-base", "git is-base-branch", "git merge-worktree"),
    *("review", "claude review", "codex review", "gemini review"),
    *(
        "plan append-user-input",
        "plan audit",
        "plan block-debugging-logging-gate",
        "plan block-findings-gate",
    ),
    *("plan block-plan-gate", "plan block-prompt-testing-gate", "plan block-prompt-variants-gate"),
    *("plan check", "plan cleanup-debug-logs", "plan complete-prompt", "plan get-finding-approach"),
    *("plan get-findings", "plan get-full-plan", "plan get-prompt-walkthrough", "plan init"),
    *("plan mark-prompt-extracted", "plan next", "plan read-design-manifest", "plan read-prompt"),
    *("plan record-implementation", "plan release-all-prompts", "plan release-prompt"),
    *("plan start-prompt", "plan update-prompt-dependencies", "plan validate-dependencies"),
    *("plan worktree", "plan write-approach", "plan write-notes", "plan write-plan"),
    "plan write-prompt",
)
_PORCH = ("status", "pending", "explain", "log", "next", "check", "done")
# What a worker does in a worktree of its own; nothing that leaves the machine or rewrites history.
_GIT = ("worktree add", "worktree list", "branch --list", "status", "diff", "log", "show",
        "rev-parse", "add", "commit")  # fmt: skip
PERMISSIONS = (
    *(f"Bash(envoy {words}:*)" for words in _ENVOY),
    *(f"Bash(porch {words}:*)" for words in _PORCH),
    *(f"Bash(git {words}:*)" for words in _GIT),
)


def merge_claude_settings(text: str, *, with_hook: bool = True, with_permissions: bool) -> str:
    """The text with what is missing, or the very same text; UsageError where it cannot be read."""
    document = _load_object(text)
    before = json.dumps(document)
    if with_hook:
        _add_hook(document)
    if with_permissions:
        allowed = _list_below(_table_below(document, "permissions"), "allow")
        allowed.extend(each for each in PERMISSIONS if each not in allowed)
    if json.dumps(document) == before:
        return text
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def has_hook(text: str) -> bool:
    """Whether Claude Code would call the script."""
    try:
        return merge_claude_settings(text, with_permissions=False) == text
    except UsageError:
        return False


def _load_object(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise _unreadable_error(f"is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise _unreadable_error("is not a JSON object")
    return document


def _add_hook(document: dict[str, Any]) -> None:
    groups = _list_below(_table_below(document, "hooks"), _EVENT)
    if HOOK not in json.dumps(groups):
        groups.append({"hooks": [{"type": "command", "command": _COMMAND}]})


def _table_below(document: dict[str, Any], key: str) -> dict[str, Any]:
    found = document.setdefault(key, {})
    if not isinstance(found, dict):
        raise _unreadable_error(f"has a value under '{key}' that is not an object")
    return found


def _list_below(document: dict[str, Any], key: str) -> list[Any]:
    found = document.setdefault(key, [])
    if not isinstance(found, list):
        raise _unreadable_error(f"has a value under '{key}' that is not a list")
    return found


def _unreadable_error(what: str) -> UsageError:
    return UsageError(
        f"{SETTINGS_FILE} {what}",
        fix="correct that file, then run the same command again",
        code="claude-settings",
    )
