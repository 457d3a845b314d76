"""`porch log`: its options; what prints it is loaded when something is to be printed."""

from porch.cli.command import Args, Verb, Verbs, View, make_argument

_ID = make_argument(
    "id", nargs="?", default="", help="the run: id, short id or directory name; default: here"
)
_TURNS = (
    make_argument(
        "--turns", action="store_true", help="list the turns of the agents, with numbers"
    ),
    make_argument(
        "--turn",
        metavar="N",
        default="",
        help="show what the agent did in turn N; N.M is one part of it",
    ),
    make_argument(
        "--raw", action="store_true", help="with --turn: the raw transcript, without secrets"
    ),
)


def _show_log(args: Args) -> View:
    from porch.cli.porch.log_output import show_log

    return show_log(args)


COMMANDS: Verbs = {
    "log": Verb(
        _show_log,
        (
            _ID,
            make_argument(
                "--all", action="store_true", help="show everything, not only the last 200 lines"
            ),
            make_argument(
                "--last", metavar="N", default="", help="show the last N lines, also with --json"
            ),
            make_argument(
                "--follow", action="store_true", help="keep showing new lines until the run ends"
            ),
            make_argument(
                "--verbose", action="store_true", help="show positions, as commands take them"
            ),
            make_argument(
                "--lost",
                action="store_true",
                help="show what `porch repair` could not keep and can still be read",
            ),
            *_TURNS,
        ),
    ),
}
