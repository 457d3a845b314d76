"""`af dashboard`: the pages that show what waits for a person, in their own browser."""

import os
import sys
from typing import TYPE_CHECKING

from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument

if TYPE_CHECKING:
    from porch.store.where import ProjectPaths
    from porch.web.server.dashboard import Dashboard


def _show_dashboard(args: Args) -> View:
    _require_packages()
    if args.demo:
        return _serve_demo(args)
    from porch.store import where as places

    return _serve(args, places.find_project(os.getcwd()))


def _serve_demo(args: Args) -> View:
    """The runs begin first, so that there is something to see at once."""
    from porch.cli.af.demo_runs import DemoRuns

    demo = DemoRuns(args.as_person)
    try:
        demo.start()
        _serve(args, demo.where)
    finally:
        demo.stop()
    return View("" if args.json else f"The project of the demo is still in {demo.where.root}")


def _require_packages() -> None:
    from porch.fleet.setup import extra_package

    needed = extra_package.WEB_PACKAGES
    missing = [needed[name] for name in extra_package.list_missing_packages(needed)]
    if not missing:
        return
    from porch.errors import OutsideError

    raise OutsideError(
        f"`af dashboard` needs packages that are not installed: {', '.join(missing)}",
        fix=f"{extra_package.find_install_command()} {' '.join(needed.values())}",
        code="no-web",
    )


def _serve(args: Args, where: "ProjectPaths") -> View:
    from porch.fleet.fleet_rows import name_projects
    from porch.web.server import serve
    from porch.web.server.access.sessions import Sessions
    from porch.web.server.dashboard import Dashboard

    wanted = _read_port(args.port, serve.PORT)
    listening = serve.open_port(args.host, wanted)
    port = int(listening.getsockname()[1])
    sessions = Sessions(used=lambda: _say_next_link(args, serve.make_link(dashboard, args.host)))
    dashboard = Dashboard(name_projects(where, os.environ), port, sessions, args.as_person)
    serve.serve_dashboard(dashboard, listening, lambda: _say_link(args, dashboard, wanted))
    return View()


def _read_port(said: str, default: int) -> int:
    from porch.errors import UsageError

    if not said:
        return default
    if not said.isdecimal() or int(said) > 65535:
        raise UsageError(f"{said} is not a port", fix="use a number from 1 to 65535")
    return int(said)


def _say_link(args: Args, dashboard: "Dashboard", wanted: int) -> None:
    from porch.web.server.serve import make_link

    link, port = make_link(dashboard, args.host), dashboard.port
    if args.json:
        import json

        _say(json.dumps({"url": link, "host": args.host, "port": port}))
    else:
        if wanted not in (0, port):
            _say(f"port {wanted} is in use, so this is port {port}")
        _say(f"The dashboard is here, for one browser:\n  {link}\nCtrl-C ends it.")
    if not args.no_open and _has_screen():
        import webbrowser

        webbrowser.open(link)


def _say_next_link(args: Args, link: str) -> None:
    """The link before it is used up; another browser, or the same one later, needs another."""
    if not args.json:
        _say(f"A browser has opened it. For another one:\n  {link}")


def _has_screen() -> bool:
    """Without one a browser of the terminal would take the place of what is said here."""
    has_display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    return sys.stdout.isatty() and (has_display or sys.platform == "darwin")


def _say(text: str) -> None:
    print(text, flush=True)


COMMANDS: Verbs = {
    "dashboard": Verb(
        _show_dashboard,
        (
            make_argument(
                "--port", default="", metavar="N", help="the port; default: 4747, or the next free"
            ),
            make_argument(
                "--host",
                default="127.0.0.1",
                metavar="H",
                help="127.0.0.1, localhost or ::1; other machines come by ssh",
            ),
            make_argument(
                "--no-open", action="store_true", help="print the link, and open no browser"
            ),
            make_argument(
                "--demo",
                action="store_true",
                help="show a run that plays by itself, to look around",
            ),
            PERSON,
        ),
    ),
}
