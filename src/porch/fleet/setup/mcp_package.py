"""The package that `porch mcp` needs: whether it is there, and the line that installs it."""

import importlib.metadata
import importlib.util
import sys

from porch.errors import OutsideError

_MAJOR = 2
# What `uv tool install` makes has no pip of its own.
_INSTALL_WITH_UV = f"uv pip install --python {sys.executable}"


def find_package_fault() -> OutsideError | None:
    """What is wrong with the package; nothing if tools can be served."""
    try:
        found = importlib.metadata.version("mcp")
    except ModuleNotFoundError:
        return describe_package_fault("the package mcp is not installed")
    if int(found.partition(".")[0]) != _MAJOR:
        return describe_package_fault(f"the package mcp is installed in version {found}")
    return None


def describe_package_fault(what: str) -> OutsideError:
    has_pip = importlib.util.find_spec("pip") is not None
    install = f"{sys.executable} -m pip install" if has_pip else _INSTALL_WITH_UV
    return OutsideError(
        f"{what}, and `porch mcp` needs version {_MAJOR} of the MCP SDK",
        fix=f"{install} 'mcp>={_MAJOR},<{_MAJOR + 1}'",
        code="no-mcp",
    )
