"""What `package.json` and the files beside it say of a project of Node."""

import json
import os
from typing import Any

from porch.fleet.setup.small_files import read_small_file

FILE = "package.json"
_LOCKS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lockb", "bun"),
    ("bun.lock", "bun"),
    ("package-lock.json", "npm"),
)
INSTALLS = {
    "npm": "npm ci",
    "pnpm": "pnpm install --frozen-lockfile",
    "yarn": "yarn install --frozen-lockfile",
    "bun": "bun install --frozen-lockfile",
}
_DEPENDENCIES = ("dependencies", "devDependencies")


def find_manager(root: str) -> str:
    """By its lock file; nothing where there is none."""
    return next((name for file, name in _LOCKS if os.path.exists(os.path.join(root, file))), "")


def read_package(root: str) -> dict[str, Any]:
    """What `package.json` holds; an empty object where it holds none."""
    try:
        document = json.loads(read_small_file(root, FILE) or "{}")
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def needs_packages(root: str) -> bool:
    package = read_package(root)
    return any(package.get(key) for key in _DEPENDENCIES) or has_workspaces(root)


def has_workspaces(root: str) -> bool:
    """Packages of the project itself lie in `node_modules` as links."""
    has_file = os.path.isfile(os.path.join(root, "pnpm-workspace.yaml"))
    return has_file or bool(read_package(root).get("workspaces"))
