"""The script with which a shell completes our commands."""

from porch.cli.command import Args, Verb, Verbs, View, make_argument

_SHELLS = ("bash", "zsh", "fish")


def _print_completion(args: Args) -> View:
    from porch.cli import completion
    from porch.cli.rows import PROGRAMS
    from porch.cli.table import load_all_commands

    programs = {program: load_all_commands(program) for program in PROGRAMS}
    text = completion.SHELLS[args.shell](programs)
    return View(text, {"shell": args.shell, "script": text})


COMMANDS: Verbs = {
    "completion": Verb(
        _print_completion,
        (make_argument("shell", choices=_SHELLS, help="bash, zsh or fish"),),
    ),
}
