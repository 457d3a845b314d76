"""What codex may do, as a profile of its kernel sandbox: folders it may write, nothing finer."""

import json
import os
import tomllib
from itertools import takewhile

from porch.adapters import git, gitdir
from porch.model.permissions import ANY, Permissions

# A person may add `[permissions.porch.network] enabled = true` to their own config.toml; the rest
# of the profile is ours.
PROFILE = "porch"
# What codex itself obeys in a later turn (its settings), and what git does.
GUARDED = (".git", ".codex")
_WILD = frozenset("*?[{")
_WHOLE = (["**"], ["**", "*"], [""])


def words(permissions: Permissions, workspace: str, scratch: str) -> tuple[str, ...]:
    """The flags of one turn; `scratch` is the only folder outside that may be written."""
    common = _common_directory(workspace)
    trust = _trust(workspace, common)
    if permissions.unlimited:
        return (*trust, "--dangerously-bypass-approvals-and-sandbox")
    files = _files(permissions, workspace, common, scratch)
    return (
        *trust,
        # A rule that allows a command lets it out of the sandbox.
        "--ignore-rules",
        "-c",
        'approval_policy="never"',
        "-c",
        f'default_permissions="{PROFILE}"',
        "-c",
        f"permissions.{PROFILE}.filesystem={_table(files)}",
    )


def _trust(workspace: str, common: str) -> tuple[str, ...]:
    """Nobody trusts a repository by running it through porch.

    Left to itself codex writes into the person's own settings that this one is trusted, and from
    then on obeys the settings and hooks that lie in it. What a person decided stays.
    """
    roots = {os.path.realpath(workspace), os.path.dirname(common) if common else ""} - {""}
    if roots & _decided():
        return ()
    return ("-c", f"projects={_table({root: {'trust_level': 'untrusted'} for root in roots})}")


def _decided() -> set[str]:
    home = os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")
    try:
        with open(os.path.join(home, "config.toml"), "rb") as file:
            projects = tomllib.load(file).get("projects")
    except (OSError, ValueError):
        return set()
    return {os.path.realpath(root) for root in projects} if isinstance(projects, dict) else set()


def needs_scratch(permissions: Permissions) -> bool:
    """Whoever writes or runs something wants a place for what is thrown away."""
    return not permissions.unlimited and bool(permissions.write or permissions.bash)


def unenforced(permissions: Permissions) -> tuple[str, ...]:
    if permissions.unlimited:
        return ()
    told = [_widened(glob) for glob in permissions.write]
    if not permissions.runs_anything:
        told.append("codex has no list of commands: it may run any, but only in its sandbox")
    if ANY not in permissions.read:
        told.append("codex may read every file that you may read")
    return tuple(filter(None, told))


def _widened(glob: str) -> str:
    folder, is_exact = folder_of(glob)
    if is_exact:
        return ""
    where = "the whole workspace" if folder == "." else f"all of {folder}/"
    return f"codex's sandbox knows folders only: write:{glob} lets it write {where}"


def folder_of(glob: str) -> tuple[str, bool]:
    """The folder that holds all that a glob can name, and whether it holds nothing else."""
    parts = glob.removeprefix("./").split("/")
    fixed = list(takewhile(lambda part: part and not _WILD & set(part), parts))
    rest = parts[len(fixed) :]
    if glob in (ANY, "**"):
        return ".", True
    if not rest:
        return "/".join(fixed[:-1]) or ".", False
    return "/".join(fixed) or ".", rest in _WHOLE


def _files(
    permissions: Permissions, workspace: str, common: str, scratch: str
) -> dict[str, object]:
    inside = {".": "read"} | dict.fromkeys(_folders(permissions, workspace), "write")
    inside |= dict.fromkeys(GUARDED, "read")
    files: dict[str, object] = {":minimal": "read", ":root": "read", ":project_roots": inside}
    files |= {common: "read"} if common else {}
    return files | ({scratch: "write"} if scratch else {})


def _folders(permissions: Permissions, workspace: str) -> list[str]:
    """Only those inside, and there: the sandbox passes over a folder that does not exist yet."""
    top = os.path.realpath(workspace)
    found = []
    for folder in {folder_of(glob)[0]: None for glob in permissions.write}:
        real = os.path.realpath(os.path.join(top, folder))
        if os.path.commonpath((top, real)) == top and not os.path.isfile(real):
            os.makedirs(real, exist_ok=True)
            found.append(os.path.relpath(real, top))
    return found


def _common_directory(workspace: str) -> str:
    """What all worktrees of the repository share, wherever a person chose to put it."""
    known = gitdir.of(workspace)
    if known is not None:
        return os.path.realpath(known.common)
    found = git.find(workspace)
    return os.path.realpath(found.common_dir) if found else ""


def _table(value: object) -> str:
    """An inline table of TOML; its texts are those of JSON."""
    if isinstance(value, dict):
        pairs = (f"{_table(key)}={_table(each)}" for key, each in value.items())
        return "{" + ",".join(pairs) + "}"
    return json.dumps(value, ensure_ascii=False)
