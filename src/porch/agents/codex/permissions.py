"""What codex may do, as a profile of its kernel sandbox: folders it may write, nothing finer."""

import json
import os
import tomllib
from itertools import takewhile

from porch.agents.port import Turn
from porch.model.permissions import ANY, Permissions

# A person may add `[permissions.porch.network] enabled = true` to their own config.toml; the rest
# of the profile is ours.
PROFILE = "porch"
# What codex itself obeys in a later turn (its settings), and what git does.
GUARDED_FOLDERS = (".git", ".codex")
_WILDCARDS = frozenset("*?[{")
_WHOLE_FOLDER_GLOBS = (["**"], ["**", "*"], [""])


def prepare_permission_flags(turn: Turn, scratch: str) -> tuple[str, ...]:
    """The flags of one turn; `scratch` is the only folder outside that may be written."""
    trust = _list_trust_flags(turn.workspace, turn.git_directory)
    if turn.permissions.unlimited:
        return (*trust, "--dangerously-bypass-approvals-and-sandbox")
    files = _make_filesystem_profile(turn.permissions, turn.workspace, turn.git_directory, scratch)
    return (
        *trust,
        # A rule that allows a command lets it out of the sandbox.
        "--ignore-rules",
        "-c",
        'approval_policy="never"',
        "-c",
        f'default_permissions="{PROFILE}"',
        "-c",
        f"permissions.{PROFILE}.filesystem={_format_toml_value(files)}",
    )


def _list_trust_flags(workspace: str, common: str) -> tuple[str, ...]:
    """Nobody trusts a repository by running it through porch.

    Left to itself codex writes into the person's own settings that this one is trusted, and from
    then on obeys the settings and hooks that lie in it. What a person decided stays.
    """
    roots = {os.path.realpath(workspace), os.path.dirname(common) if common else ""} - {""}
    if roots & _read_decided_projects():
        return ()
    return (
        "-c",
        f"projects={_format_toml_value({root: {'trust_level': 'untrusted'} for root in roots})}",
    )


def _read_decided_projects() -> set[str]:
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
    told = [_describe_widened_glob(glob) for glob in permissions.write]
    if not permissions.runs_anything:
        told.append("codex cannot limit commands: it can run any command, but only in its sandbox")
    if ANY not in permissions.read:
        told.append("codex can read every file that you can read")
    return tuple(filter(None, told))


def _describe_widened_glob(glob: str) -> str:
    folder, is_exact = find_covering_folder(glob)
    if is_exact:
        return ""
    where = "the whole workspace" if folder == "." else f"all of {folder}/"
    return f"codex's sandbox only knows folders: write:{glob} lets it write {where}"


def find_covering_folder(glob: str) -> tuple[str, bool]:
    """The folder that holds all that a glob can name, and whether it holds nothing else."""
    parts = glob.removeprefix("./").split("/")
    fixed = list(takewhile(lambda part: part and not _WILDCARDS & set(part), parts))
    rest = parts[len(fixed) :]
    if glob in (ANY, "**"):
        return ".", True
    if not rest:
        return "/".join(fixed[:-1]) or ".", False
    return "/".join(fixed) or ".", rest in _WHOLE_FOLDER_GLOBS


def _make_filesystem_profile(
    permissions: Permissions, workspace: str, common: str, scratch: str
) -> dict[str, object]:
    inside = {".": "read"} | dict.fromkeys(
        _ensure_writable_folders(permissions, workspace), "write"
    )
    inside |= dict.fromkeys(GUARDED_FOLDERS, "read")
    files: dict[str, object] = {":minimal": "read", ":root": "read", ":project_roots": inside}
    files |= {common: "read"} if common else {}
    return files | ({scratch: "write"} if scratch else {})


def _ensure_writable_folders(permissions: Permissions, workspace: str) -> list[str]:
    """Only those inside, and there: the sandbox passes over a folder that does not exist yet."""
    top = os.path.realpath(workspace)
    found = []
    for folder in {find_covering_folder(glob)[0]: None for glob in permissions.write}:
        real = os.path.realpath(os.path.join(top, folder))
        if os.path.commonpath((top, real)) == top and not os.path.isfile(real):
            os.makedirs(real, exist_ok=True)
            found.append(os.path.relpath(real, top))
    return found


def _format_toml_value(value: object) -> str:
    """An inline table of TOML; its texts are those of JSON."""
    if isinstance(value, dict):
        pairs = (
            f"{_format_toml_value(key)}={_format_toml_value(each)}" for key, each in value.items()
        )
        return "{" + ",".join(pairs) + "}"
    return json.dumps(value, ensure_ascii=False)
