"""What Claude Code may run unasked is what its texts tell it to call; files keep their words."""

import json
import re

import pytest

from porch.errors import UsageError
from porch.fleet.setup.claude_settings import HOOK, PERMISSIONS, has_hook, merge_claude_settings
from porch.fleet.setup.package_files import load_claude_files, load_step_files
from tests.envoy_texts import calls, named

# What decides or publishes: a person is asked each time, whatever a text says of it.
_PEOPLES = {"gate answer", "plan complete", "approve", "reject", "answer"}
_FORBIDDEN = ("envoy gate answer", "porch approve", "porch reject", "porch answer", "porch retry",
              "porch skip", "envoy plan complete --pr", "envoy git create-pr", "git push",
              "git reset --hard", "git rebase", "rm -rf /")  # fmt: skip


def prefixes() -> list[str]:
    return [found[1] for each in PERMISSIONS if (found := re.fullmatch(r"Bash\((.*):\*\)", each))]


def is_allowed(line: str) -> bool:
    """As Claude Code matches: the words, or the words and more behind a space."""
    return any(line == prefix or line.startswith(f"{prefix} ") for prefix in prefixes())


def test_n2_every_command_that_the_packaged_texts_name_is_allowed_unless_it_decides() -> None:
    texts = [*load_step_files().values(), *load_claude_files().values()]
    told = {(call[0], str(named(call))) for text in texts for call in calls(text.decode())}
    assert len(told) > 30
    wanted = {f"{program} {name}" for program, name in told if name not in _PEOPLES}
    assert [line for line in sorted(wanted) if not is_allowed(line)] == []
    for line in ("envoy protocol implementation", "envoy plan write-notes backend --notes 'x'",
                 "git worktree add ../x -b feature--implementation-1 feature"):  # fmt: skip
        assert is_allowed(line)


@pytest.mark.parametrize("line", _FORBIDDEN)
def test_n2_nothing_that_decides_publishes_or_destroys_is_allowed(line: str) -> None:
    assert not is_allowed(line)


def test_all_that_stands_in_the_file_stays_in_it() -> None:
    before = {
        "model": "opus",
        "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "mine"}]}]},
        "permissions": {"allow": ["Bash(ls:*)"], "deny": ["Read(.env)"]},
    }
    text = merge_claude_settings(json.dumps(before), with_permissions=True)
    after = json.loads(text)
    assert after["model"] == "opus"
    assert after["permissions"]["deny"] == ["Read(.env)"]
    assert after["permissions"]["allow"] == ["Bash(ls:*)", *PERMISSIONS]
    mine, ours = after["hooks"]["UserPromptSubmit"]
    assert mine == before["hooks"]["UserPromptSubmit"][0]  # type: ignore[index]
    assert ours["hooks"][0]["command"].endswith(HOOK)
    assert merge_claude_settings(text, with_permissions=True) == text


def test_nothing_is_allowed_where_nobody_agreed() -> None:
    after = json.loads(merge_claude_settings("", with_permissions=False))
    assert list(after) == ["hooks"]


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"hooks": []}', '{"hooks": {"UserPromptSubmit": {}}}', '{"permissions": 1}'],
)
def test_a_file_of_another_shape_is_not_guessed_at(text: str) -> None:
    with pytest.raises(UsageError, match=r"\.claude/settings\.json"):
        merge_claude_settings(text, with_permissions=True)
    assert not has_hook(text)
