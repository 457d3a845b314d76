"""Packages that only one command needs: whether they are there, and the line that installs them."""

import importlib.util
import sys
from collections.abc import Iterable

# What `uv tool install` makes has no pip of its own.
_INSTALL_WITH_UV = f"uv pip install --python {sys.executable}"
# Those of `af dashboard`, as modules and as packages; in pyproject.toml they are the extra `web`.
WEB_PACKAGES = {
    "starlette": "starlette",
    "uvicorn": "uvicorn",
    "markdown_it": "markdown-it-py",
    "nh3": "nh3",
}


def list_missing_packages(modules: Iterable[str]) -> list[str]:
    return [name for name in modules if importlib.util.find_spec(name) is None]


def find_install_command() -> str:
    """What installs packages beside porch, without their names."""
    has_pip = importlib.util.find_spec("pip") is not None
    return f"{sys.executable} -m pip install" if has_pip else _INSTALL_WITH_UV
