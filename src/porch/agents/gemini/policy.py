"""What an agent may do, as a policy file of the `gemini` command line.

Whoever is not allowed is refused: the lowest rule denies every tool, so a tool that a later release
brings is denied too. Patterns are matched against the arguments of a call as JSON, in which NUL
characters stand around each argument; gemini refuses patterns in which a repetition is repeated,
hence the empty alternatives instead of optional groups.
"""

import json
import os
from collections.abc import Iterable, Iterator

from porch.model.permissions import ANY, EVERYWHERE, Permissions
from porch.text.late_pattern import late_pattern

READING_TOOLS = ("read_file", "read_many_files", "list_directory", "glob", "grep_search")
WRITING_TOOLS = ("write_file", "replace")
SHELL_TOOL = "run_shell_command"
# What changes nothing but the agent's own notes.
HARMLESS_TOOLS = ("update_topic", "write_todos", "get_internal_docs")
WEB_TOOLS = ("google_web_search", "web_fetch")
DENY_ALL_PRIORITY, ALLOW_PRIORITY, DENY_PRIORITY = 100, 500, 900
_REFUSAL = "this turn does not permit it"
_ANYTHING, _NAME = r"[^\x00]*", r"[^/\x00]*"
_GLOB_MARK = late_pattern(r"\*\*/|\*\*|\*|\?")
_PATTERN_BY_GLOB_MARK = {
    "**/": rf"(?:|{_ANYTHING}/)",
    "**": _ANYTHING,
    "*": _NAME,
    "?": r"[^/\x00]",
}
_SPECIAL_CHARACTER = late_pattern(r"[\\^$.*+?()\[\]{}|/-]")


def render_policy(permissions: Permissions, workspace: str) -> str:
    """The policy file, as TOML."""
    rules = [
        _render_rule(("*",), "deny", DENY_ALL_PRIORITY),
        _render_rule(HARMLESS_TOOLS, "allow", ALLOW_PRIORITY),
        *_list_reading_rules(permissions, workspace),
        *_list_writing_rules(permissions, workspace),
        *_list_command_rules(permissions),
    ]
    return "\n".join(rules)


def _list_reading_rules(permissions: Permissions, workspace: str) -> Iterator[str]:
    if ANY in permissions.read or EVERYWHERE in permissions.read:
        yield _render_rule(READING_TOOLS, "allow", ALLOW_PRIORITY)
        return
    # Searching and listing cannot be held to a part of the workspace, so only reading is left.
    for pattern in _list_path_patterns(permissions.read, workspace):
        yield _render_rule(("read_file",), "allow", ALLOW_PRIORITY, pattern=pattern)
    yield _render_rule(("read_file",), "deny", DENY_PRIORITY, pattern=_CLIMBING_PATH)


def _list_writing_rules(permissions: Permissions, workspace: str) -> Iterator[str]:
    if permissions.writes_everywhere:
        yield _render_rule(WRITING_TOOLS, "allow", ALLOW_PRIORITY)
    else:
        for pattern in _list_path_patterns(permissions.write, workspace):
            yield _render_rule(WRITING_TOOLS, "allow", ALLOW_PRIORITY, pattern=pattern)
    yield _render_rule(WRITING_TOOLS, "deny", DENY_PRIORITY, pattern=_CLIMBING_PATH)
    # Whoever may not run commands must not have them run by the settings of the next turn.
    for name in (".git",) if permissions.runs_anything else (".git", ".gemini"):
        yield _render_rule(
            WRITING_TOOLS,
            "deny",
            DENY_PRIORITY,
            pattern=_file_path_pattern(rf"(?:|{_ANYTHING}/){_any_case_pattern(name)}(?:\"|/)"),
        )


def _list_command_rules(permissions: Permissions) -> Iterator[str]:
    if permissions.runs_anything:
        yield _render_rule(WEB_TOOLS, "allow", ALLOW_PRIORITY)
        # A rule with a pattern is spared the guesses at which commands are dangerous.
        yield _render_rule(
            (SHELL_TOOL,), "allow", ALLOW_PRIORITY, pattern=r'\x00"command":', redirects=True
        )
        return
    for glob in permissions.bash:
        pattern = rf'\x00"command":"{_command_pattern(glob)}"\x00'
        yield _render_rule((SHELL_TOOL,), "allow", ALLOW_PRIORITY, pattern=pattern)


def _command_pattern(glob: str) -> str:
    """`npm *` is npm with any words or none."""
    glob, any_words = glob.removesuffix(" *"), glob.endswith(" *")
    parts = (_escape_json_text(part) for part in glob.split("*"))
    return _ANYTHING.join(parts) + (rf"(?:| {_ANYTHING})" if any_words else "")


def _list_path_patterns(globs: Iterable[str], workspace: str) -> Iterator[str]:
    """A file may be named from the workspace, or by its whole path; with links or without."""
    tops = dict.fromkeys(("", "./", f"{workspace}/", f"{os.path.realpath(workspace)}/"))
    for glob in globs:
        for top in tops:
            yield _file_path_pattern(_escape_json_text(top) + _glob_pattern(glob) + '"')


def _glob_pattern(glob: str) -> str:
    texts = [_escape_json_text(text) for text in _GLOB_MARK.split(glob)]
    marks = [_PATTERN_BY_GLOB_MARK[mark] for mark in _GLOB_MARK.findall(glob)]
    return texts[0] + "".join(mark + text for mark, text in zip(marks, texts[1:], strict=True))


def _file_path_pattern(path: str) -> str:
    return rf'\x00"file_path":"{path}'


# A path that climbs could match a pattern and still lead elsewhere.
_CLIMBING_PATH = _file_path_pattern(rf"{_ANYTHING}\.\.(?:\"|/)")


def _escape_json_text(text: str) -> str:
    """As it stands in JSON, for a regular expression."""
    return _SPECIAL_CHARACTER.sub(r"\\\g<0>", json.dumps(text, ensure_ascii=False)[1:-1])


def _any_case_pattern(name: str) -> str:
    """Some file systems do not tell .git from .GIT."""
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else f"\\{c}" for c in name)


def _render_rule(
    tools: tuple[str, ...],
    decision: str,
    priority: int,
    *,
    pattern: str = "",
    redirects: bool = False,
) -> str:
    lines = [
        "[[rule]]",
        f"toolName = {json.dumps(list(tools))}",
        f'decision = "{decision}"',
        f"priority = {priority}",
    ]
    if pattern:
        # A text in JSON is a text in TOML, but for the one character that JSON does not escape.
        text = json.dumps(pattern, ensure_ascii=False).replace("\x7f", "\\u007f")
        lines.append(f"argsPattern = {text}")
    if redirects:
        lines.append("allowRedirection = true")
    if decision == "deny":
        lines.append(f'denyMessage = "{_REFUSAL}"')
    return "\n".join(lines) + "\n"
