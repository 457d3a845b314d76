"""`porch mcp`: agents call the commands as tools, without a shell between them."""

from typing import TYPE_CHECKING

from porch.cli.command import Args, Verb, Verbs, View, make_argument

if TYPE_CHECKING:
    from types import ModuleType


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
    from porch.fleet.setup import mcp_package

    if fault := mcp_package.find_package_fault():
        raise fault
    try:
        from porch.cli.mcp import server
    except ModuleNotFoundError as error:
        if (error.name or "porch").partition(".")[0] == "porch":
            raise
        what = f"the package {error.name} is not installed"
        raise mcp_package.describe_package_fault(what) from error
    return server


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
