"""Neutral permissions as the flags that hold the `claude` command line to them.

Under `dontAsk` whatever no rule permits is refused and told, so a rule that claude cannot read
makes an agent poorer, never mightier.
"""

import re

from porch.model.permissions import ANY, EVERYWHERE, Permissions

# Everything else it offers (worktrees of its own, timers, skills) leads out of the turn.
READING = ("Bash", "Read", "Glob", "Grep", "Task")
WRITING = ("Edit", "Write", "NotebookEdit")
REACHING_OUT = ("WebFetch", "WebSearch")
_GLOB_SIGNS = re.compile(r"([\\\[\]*?{}!])")


def flags(permissions: Permissions, workspace: str, is_root: bool) -> tuple[str, ...]:
    """`workspace` is a real path: rules are compared with where a file really is."""
    if permissions.unlimited:
        return _unlimited(is_root)
    writing = WRITING if permissions.write else ()
    denied = _git(workspace) if writing else WRITING
    return (
        *("--permission-mode", "dontAsk"),
        *("--tools", ",".join((*READING, *writing))),
        *("--allowedTools", "Task", *_allowed(permissions, workspace)),
        *("--disallowedTools", *denied),
    )


def unenforced(permissions: Permissions, is_root: bool) -> tuple[str, ...]:
    """One sentence for each thing that the flags do not hold it to."""
    if permissions.unlimited:
        return (_ROOT,) if is_root else ()
    said = [_COMMANDS] if permissions.runs_anything else [_READING_COMMANDS]
    if permissions.bash and not permissions.runs_anything:
        said.append(_SOME_COMMANDS)
    if not _reads_everything(permissions):
        said.append(_READS)
    said.extend(_odd(permissions))
    return tuple(said)


_ROOT = (
    "claude refuses to run without permissions as root: its tools are permitted one by one instead,"
    " and edits in .git and .claude stay refused"
)
_COMMANDS = (
    "commands are not confined to the workspace: a command may write wherever the user may,"
    " unless claude recognises the file it writes"
)
_READING_COMMANDS = "commands that claude knows to only read run whatever bash: says"
_SOME_COMMANDS = "what a permitted command itself writes is not limited by write:"
_READS = "files inside the workspace can always be read, whatever read: says"


def _odd(permissions: Permissions) -> list[str]:
    globs = (*permissions.write, *permissions.bash, *permissions.read)
    split = [f"'{g}' is left out: claude reads no parentheses in a rule" for g in globs if _torn(g)]
    files = (*permissions.write, *permissions.read)
    return split + [f"'{g}' permits nothing: claude reads no braces" for g in files if "{" in g]


def _torn(glob: str) -> bool:
    """A parenthesis ends a rule early, and what comes after it would be read as another."""
    return "(" in glob or ")" in glob


def _unlimited(is_root: bool) -> tuple[str, ...]:
    if not is_root:
        return ("--dangerously-skip-permissions",)
    return ("--permission-mode", "dontAsk", "--allowedTools", *READING, *WRITING, *REACHING_OUT)


def _git(workspace: str) -> tuple[str, ...]:
    top = _top(workspace)
    return f"Edit({top}/.git)", f"Edit({top}/.git/**)"


def _top(workspace: str) -> str:
    """Signs of a glob mean themselves; a parenthesis cannot, so any one sign stands for it."""
    return "/" + re.sub(r"[()]", "?", _GLOB_SIGNS.sub(r"\\\1", workspace))


def _allowed(permissions: Permissions, workspace: str) -> list[str]:
    """Absolute, because `*.md` from the working directory means every directory below it too."""
    top = _top(workspace)
    everywhere = permissions.writes_everywhere
    writes = (EVERYWHERE,) if everywhere else permissions.write
    rules = [f"Edit({top}/{glob})" for glob in writes if not _torn(glob)]
    if permissions.runs_anything:
        rules.append("Bash")
    else:
        rules += [f"Bash({glob})" for glob in permissions.bash if not _torn(glob)]
    if _reads_everything(permissions):
        return [*rules, "Read(//**)"]
    return rules + [f"Read({_place(top, glob)})" for glob in permissions.read if not _torn(glob)]


def _reads_everything(permissions: Permissions) -> bool:
    return ANY in permissions.read or EVERYWHERE in permissions.read


def _place(top: str, glob: str) -> str:
    if glob.startswith("/"):
        return f"/{glob}"
    return glob if glob.startswith("~") else f"{top}/{glob}"
