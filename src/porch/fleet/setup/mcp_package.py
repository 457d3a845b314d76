"""The package that `porch mcp` needs: whether it is there, and the line that installs it."""

import importlib.metadata

from porch.errors import OutsideError
from porch.fleet.setup.extra_package import find_install_command

_MAJOR = 2


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
    return OutsideError(
        f"{what}, and `porch mcp` needs version {_MAJOR} of the MCP SDK",
        fix=f"{find_install_command()} 'mcp>={_MAJOR},<{_MAJOR + 1}'",
        code="no-mcp",
    )
