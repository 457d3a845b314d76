"""What an agent may do, as a policy file of the `gemini` command line.

Whoever is not allowed is refused: the lowest rule denies every tool, so a tool that a later release
brings is denied too. Patterns are matched against the arguments of a call as JSON, in which NUL
characters stand around each argument; gemini refuses patterns in which a repetition is repeated,
hence the empty alternatives instead of optional groups.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator

from porch.model.permissions import ANY, EVERYWHERE, Permissions

READING = ("read_file", "read_many_files", "list_directory", "glob", "grep_search")
WRITING = ("write_file", "replace")
SHELL = "run_shell_command"
# What changes nothing but the agent's own notes.
HARMLESS = ("update_topic", "write_todos", "get_internal_docs")
WEB = ("google_web_search", "web_fetch")
NOBODY, SOMEBODY, NEVER = 100, 500, 900
_REFUSAL = "this turn does not permit it"
_ANYTHING, _NAME = r"[^\x00]*", r"[^/\x00]*"
_GLOB = re.compile(r"\*\*/|\*\*|\*|\?")
_GLOBS = {"**/": rf"(?:|{_ANYTHING}/)", "**": _ANYTHING, "*": _NAME, "?": r"[^/\x00]"}
_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|/-]")


def render(permissions: Permissions, workspace: str) -> str:
    """The policy file, as TOML."""
    rules = [
        _rule(("*",), "deny", NOBODY),
        _rule(HARMLESS, "allow", SOMEBODY),
        *_reading(permissions, workspace),
        *_writing(permissions, workspace),
        *_commands(permissions),
    ]
    return "\n".join(rules)


def _reading(permissions: Permissions, workspace: str) -> Iterator[str]:
    if ANY in permissions.read or EVERYWHERE in permissions.read:
        yield _rule(READING, "allow", SOMEBODY)
        return
    # Searching and listing cannot be held to a part of the workspace, so only reading is left.
    for pattern in _places(permissions.read, workspace):
        yield _rule(("read_file",), "allow", SOMEBODY, pattern)
    yield _rule(("read_file",), "deny", NEVER, _CLIMBS)


def _writing(permissions: Permissions, workspace: str) -> Iterator[str]:
    if permissions.writes_everywhere:
        yield _rule(WRITING, "allow", SOMEBODY)
    else:
        for pattern in _places(permissions.write, workspace):
            yield _rule(WRITING, "allow", SOMEBODY, pattern)
    yield _rule(WRITING, "deny", NEVER, _CLIMBS)
    # Whoever may not run commands must not have them run by the settings of the next turn.
    for name in (".git",) if permissions.runs_anything else (".git", ".gemini"):
        yield _rule(WRITING, "deny", NEVER, _at(rf"(?:|{_ANYTHING}/){_any_case(name)}(?:\"|/)"))


def _commands(permissions: Permissions) -> Iterator[str]:
    if permissions.runs_anything:
        yield _rule(WEB, "allow", SOMEBODY)
        # A rule with a pattern is spared the guesses at which commands are dangerous.
        yield _rule((SHELL,), "allow", SOMEBODY, r'\x00"command":', redirects=True)
        return
    for glob in permissions.bash:
        pattern = rf'\x00"command":"{_command(glob)}"\x00'
        yield _rule((SHELL,), "allow", SOMEBODY, pattern)


def _command(glob: str) -> str:
    """`npm *` is npm with any words or none."""
    glob, any_words = glob.removesuffix(" *"), glob.endswith(" *")
    parts = (_escaped(part) for part in glob.split("*"))
    return _ANYTHING.join(parts) + (rf"(?:| {_ANYTHING})" if any_words else "")


def _places(globs: Iterable[str], workspace: str) -> Iterator[str]:
    """A file may be named from the workspace, or by its whole path; with links or without."""
    tops = dict.fromkeys(("", "./", f"{workspace}/", f"{os.path.realpath(workspace)}/"))
    for glob in globs:
        for top in tops:
            yield _at(_escaped(top) + _path(glob) + '"')


def _path(glob: str) -> str:
    texts = [_escaped(text) for text in _GLOB.split(glob)]
    marks = [_GLOBS[mark] for mark in _GLOB.findall(glob)]
    return texts[0] + "".join(mark + text for mark, text in zip(marks, texts[1:], strict=True))


def _at(path: str) -> str:
    return rf'\x00"file_path":"{path}'


# A path that climbs could match a pattern and still lead elsewhere.
_CLIMBS = _at(rf"{_ANYTHING}\.\.(?:\"|/)")


def _escaped(text: str) -> str:
    """As it stands in JSON, for a regular expression."""
    return _SPECIAL.sub(r"\\\g<0>", json.dumps(text, ensure_ascii=False)[1:-1])


def _any_case(name: str) -> str:
    """Some file systems do not tell .git from .GIT."""
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else f"\\{c}" for c in name)


def _rule(
    tools: tuple[str, ...], decision: str, priority: int, pattern: str = "", redirects: bool = False
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
