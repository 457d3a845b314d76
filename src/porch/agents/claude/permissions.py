"""Neutral permissions as the flags that hold the `claude` command line to them.

Under `dontAsk` whatever no rule permits is refused and told, so a rule that claude cannot read
makes an agent poorer, never mightier.
"""

import re

from porch.model.permissions import ANY, EVERYWHERE, Permissions
from porch.text.late_pattern import late_pattern

# Everything else it offers (worktrees of its own, timers, skills) leads out of the turn.
READING = ("Bash", "Read", "Glob", "Grep", "Task")
WRITING = ("Edit", "Write", "NotebookEdit")
REACHING_OUT = ("WebFetch", "WebSearch")
_GLOB_SIGNS = late_pattern(r"([\\\[\]*?{}!])")


def list_permission_flags(
    permissions: Permissions, workspace: str, is_root: bool
) -> tuple[str, ...]:
    """`workspace` is a real path: rules are compared with where a file really is."""
    if permissions.unlimited:
        return _list_unlimited_flags(is_root)
    writing = WRITING if permissions.write else ()
    denied = _list_git_denials(workspace) if writing else WRITING
    return (
        *("--permission-mode", "dontAsk"),
        *("--tools", ",".join((*READING, *writing))),
        *("--allowedTools", "Task", *_list_allow_rules(permissions, workspace)),
        *("--disallowedTools", *denied),
    )


def unenforced(permissions: Permissions, is_root: bool) -> tuple[str, ...]:
    """One sentence for each thing that the flags do not hold it to."""
    if permissions.unlimited:
        return (_ROOT_NOTICE,) if is_root else ()
    said = [_COMMANDS_NOTICE] if permissions.runs_anything else [_READING_COMMANDS_NOTICE]
    if permissions.bash and not permissions.runs_anything:
        said.append(_SOME_COMMANDS_NOTICE)
    if not _reads_everything(permissions):
        said.append(_READS_NOTICE)
    said.extend(_describe_unusable_globs(permissions))
    return tuple(said)


_ROOT_NOTICE = (
    "claude does not run without permissions as root: its tools are allowed one by one instead,"
    " and edits in .git and .claude are still refused"
)
_COMMANDS_NOTICE = (
    "commands are not limited to the workspace: a command can write wherever the user can,"
    " unless claude recognises the file that it writes"
)
_READING_COMMANDS_NOTICE = "commands that claude knows as read-only always run, whatever bash: says"
_SOME_COMMANDS_NOTICE = "write: does not limit what an allowed command itself writes"
_READS_NOTICE = "files inside the workspace can always be read, whatever read: says"


def _describe_unusable_globs(permissions: Permissions) -> list[str]:
    globs = (*permissions.write, *permissions.bash, *permissions.read)
    split = [
        f"'{g}' is ignored: claude cannot read parentheses in a rule"
        for g in globs
        if _has_parenthesis(g)
    ]
    files = (*permissions.write, *permissions.read)
    return split + [f"'{g}' allows nothing: claude cannot read braces" for g in files if "{" in g]


def _has_parenthesis(glob: str) -> bool:
    """A parenthesis ends a rule early, and what comes after it would be read as another."""
    return "(" in glob or ")" in glob


def _list_unlimited_flags(is_root: bool) -> tuple[str, ...]:
    if not is_root:
        return ("--dangerously-skip-permissions",)
    return ("--permission-mode", "dontAsk", "--allowedTools", *READING, *WRITING, *REACHING_OUT)


def _list_git_denials(workspace: str) -> tuple[str, ...]:
    top = _escape_workspace_path(workspace)
    return f"Edit({top}/.git)", f"Edit({top}/.git/**)"


def _escape_workspace_path(workspace: str) -> str:
    """Signs of a glob mean themselves; a parenthesis cannot, so any one sign stands for it."""
    return "/" + re.sub(r"[()]", "?", _GLOB_SIGNS.sub(r"\\\1", workspace))


def _list_allow_rules(permissions: Permissions, workspace: str) -> list[str]:
    """Absolute, because `*.md` from the working directory means every directory below it too."""
    top = _escape_workspace_path(workspace)
    everywhere = permissions.writes_everywhere
    writes = (EVERYWHERE,) if everywhere else permissions.write
    rules = [f"Edit({top}/{glob})" for glob in writes if not _has_parenthesis(glob)]
    if permissions.runs_anything:
        rules.append("Bash")
    else:
        rules += [f"Bash({glob})" for glob in permissions.bash if not _has_parenthesis(glob)]
    if _reads_everything(permissions):
        return [*rules, "Read(//**)"]
    return rules + [
        f"Read({_absolute_glob(top, glob)})"
        for glob in permissions.read
        if not _has_parenthesis(glob)
    ]


def _reads_everything(permissions: Permissions) -> bool:
    return ANY in permissions.read or EVERYWHERE in permissions.read


def _absolute_glob(top: str, glob: str) -> str:
    if glob.startswith("/"):
        return f"/{glob}"
    return glob if glob.startswith("~") else f"{top}/{glob}"
