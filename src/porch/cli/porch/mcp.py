"""`porch mcp`: agents call the commands as tools, without a shell between them."""

import sys
from typing import TYPE_CHECKING

from porch.cli.command import Args, Verb, Verbs, View, make_argument

if TYPE_CHECKING:
    from types import ModuleType

    from porch.errors import OutsideError

_MAJOR = 2
# What `uv tool install` makes has no pip of its own.
_INSTALL_WITH_UV = f"uv pip install --python {sys.executable}"


def _serve_tools(args: Args) -> View:
    from porch.cli.mcp import offered_tools

    tools = offered_tools.list_offered_tools(args.tools or ())
    if not tools:
        from porch.errors import UsageError

        known = ", ".join(list(offered_tools.list_offered_tools())[:3])
        raise UsageError(
            "no tool fits --tools", fix=f"names are {known} and so on; `porch mcp --list` has all"
        )
    data = {"tools": [{"name": each.name, "command": each.call} for each in tools.values()]}
    if args.list:
        width = max(map(len, tools))
        rows = (f"{each.name:<{width}}  {each.command.help}" for each in tools.values())
        return View("\n".join(rows), data)
    _load_server().serve_tools(tools)
    return View()


def _load_server() -> "ModuleType":
    try:
        _refuse_old_package()
        from porch.cli.mcp import server
    except ModuleNotFoundError as error:
        if (error.name or "porch").partition(".")[0] == "porch":
            raise
        raise _package_error(f"the package {error.name} is not installed") from error
    return server


def _refuse_old_package() -> None:
    from importlib.metadata import version

    found = version("mcp")  # not found is a ModuleNotFoundError with the name of the package
    if int(found.partition(".")[0]) != _MAJOR:
        raise _package_error(f"the package mcp is installed in version {found}")


def _package_error(what: str) -> "OutsideError":
    from importlib.util import find_spec

    from porch.errors import OutsideError

    has_pip = find_spec("pip") is not None
    install = f"{sys.executable} -m pip install" if has_pip else _INSTALL_WITH_UV
    return OutsideError(
        f"{what}, and `porch mcp` needs version {_MAJOR} of the MCP SDK",
        fix=f"{install} 'mcp>={_MAJOR},<{_MAJOR + 1}'",
        code="no-mcp",
    )


COMMANDS: Verbs = {
    "mcp": Verb(
        _serve_tools,
        (
            make_argument(
                "--tools",
                action="append",
                metavar="PATTERN",
                help="offer only tools whose name fits, such as 'envoy_plan_*'; can be repeated",
            ),
            make_argument(
                "--list", action="store_true", help="print the tools instead of serving them"
            ),
        ),
    ),
}
