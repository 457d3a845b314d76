"""A table of commands becomes a command line: arguments in, one view out, one error boundary."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from porch import __version__
from porch.cli import arguments
from porch.cli.verbs import (
    PERSON,
    Args,
    Argument,
    CliCommand,
    Verb,
    Verbs,
    View,
    keep_as_is,
    make_argument,
    make_text_arguments,
    refuse_empty_values,
)
from porch.text.printable import make_printable

if TYPE_CHECKING:  # complaints are loaded once there is one
    from porch.cli.rows import CommandRow
    from porch.errors import PorchError, UsageError

__all__ = [
    "PERSON",
    "Args",
    "Argument",
    "CliCommand",
    "Verb",
    "Verbs",
    "View",
    "keep_as_is",
    "main",
    "make_argument",
    "make_text_arguments",
    "refuse_empty_values",
    "refuse_words",
    "run_command",
    "run_view",
]

# The same as in `errors`, which is loaded only when there is something to complain about.
_INPUT = 2
_INTERRUPTED = 130


def run_command(program: str, command: CliCommand, argv: Sequence[str]) -> int:
    """Read the arguments of the command that these words name, call it, show its view."""
    return _run_read_command(
        program, argv, lambda: arguments.read_command_arguments(program, command, argv)
    )


def run_view(run: Callable[[Args], View]) -> int:
    """Without words: call this, show its view, and answer for what goes wrong."""
    return _run_bounded(Args(command=CliCommand("", "", run), json=False))


def main(program: str, commands: Sequence[CliCommand], argv: Sequence[str]) -> int:
    """The same for any words over a whole table of commands."""
    return _run_read_command(
        program, argv, lambda: arguments.read_arguments(program, commands, argv)
    )


def refuse_words(program: str, rows: Sequence["CommandRow"], argv: Sequence[str]) -> int:
    """There is no such command."""
    return _report_misuse(program, argv, arguments.unknown_words_error(program, rows, argv))


def _run_read_command(program: str, argv: Sequence[str], read: Callable[[], Args]) -> int:
    try:
        args = read()
    except SystemExit as left:
        return int(left.code or 0)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except _load_errors().UsageError as error:
        return _report_misuse(program, argv, error)
    return _run_bounded(args) if hasattr(args, "command") else _INPUT


def _load_errors() -> Any:
    """Loaded once something has gone wrong: the help of a command does without."""
    from porch import errors

    return errors


def _report_misuse(program: str, argv: Sequence[str], error: "UsageError") -> int:
    """What programs call answers in the shape that they read, also if they called it wrongly."""
    if program != "envoy":
        return _report_error(error, "--json" in argv)
    _write_error(error)
    if _is_for_people(argv):
        return error.exit_code
    from porch.cli import json_envelope

    view = View(data=json_envelope.make_failure_envelope(error.findings), code=error.exit_code)
    return _run_bounded(Args(command=CliCommand("", "", lambda _: view), json=True))


def _is_for_people(argv: Sequence[str]) -> bool:
    """The steps of a protocol are text unless JSON was asked for."""
    is_protocol = "protocol" in argv[:1] or list(argv[:2]) == ["plan", "protocol"]
    return is_protocol and "--json" not in argv


def _run_bounded(args: Args) -> int:
    """The one place where exceptions become exit codes."""
    from porch.system.msgspec_import import load_msgspec

    try:
        load_msgspec()
        view = _run_trusted(args)
        _print_view(view, args.json)
        return view.code
    except KeyboardInterrupt:
        return _INTERRUPTED
    except _load_errors().PorchError as error:
        return _report_error(error, args.json)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _report_error(explain_system_error(error), args.json)
    except Exception as error:  # noqa: BLE001 - the boundary: anything else is our own bug
        return _report_unexpected(error, args.json)


def _run_trusted(args: Args) -> View:
    """Whoever is at a terminal is asked about settings that a command refuses, and it runs again.

    It refuses before it makes anything.
    """
    run: Callable[[Args], View] = args.command.run
    try:
        return run(args)
    except _load_errors().UsageError as error:
        requests = getattr(error, "requests", ())
        if not requests or args.json:
            raise
        from porch.cli.trust_prompt import ask_for_trust, is_person_at_terminal

        as_person = getattr(args, "as_person", False)
        if not (is_person_at_terminal(as_person) and ask_for_trust(requests, as_person)):
            raise
    from porch.run.grants import count_in_this_command

    digests = [each.digest for each in requests]
    count_in_this_command(digests)
    if hasattr(args, "trust"):
        args.trust = [*(args.trust or ()), *digests]  # also for whoever goes on with the run
    return run(args)


def explain_system_error(error: OSError) -> "PorchError":
    """As the system told it, unless it only means that nobody can stand where we stand."""
    from porch.system.atomic import DISK_REFUSALS, disk_error
    from porch.system.regular_file import NotRegularFile, not_regular_error

    if isinstance(error, NotRegularFile):
        return not_regular_error(str(error.filename))
    outside: PorchError = (
        disk_error(str(error.filename), "use", error)
        if error.filename and error.errno in DISK_REFUSALS
        else _load_errors().OutsideError(
            f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")
        )
    )
    try:
        os.getcwd()
    except OSError:
        outside = _load_errors().OutsideError(
            "the directory in which you stand is gone, or may not be read",
            fix="change to one that is there: cd DIRECTORY",
            code="no-directory",
        )
    return outside


def _print_view(view: View, as_json: bool) -> None:
    if as_json and view.data is not None:
        import json

        print(json.dumps(view.data, ensure_ascii=False, indent=2))
    elif view.text and not as_json:
        # Whatever an agent or a file wrote ends up in some view.
        print(_fit_to_terminal(view), end="" if view.text.endswith("\n") else "\n")
    sys.stdout.flush()


def _fit_to_terminal(view: View) -> str:
    text: str = view.text if view.is_painted else make_printable(view.text)
    if not view.is_prose:
        return text
    from porch.cli.terminal_width import terminal_style

    look = terminal_style()
    return look.fitted(text) if look else text


def _report_error(error: "PorchError", as_json: bool) -> int:
    if as_json:
        import json

        findings = [finding.as_json() for finding in error.findings]
        print(json.dumps({"error": {"exit": error.exit_code, "findings": findings}}, indent=2))
    _write_error(error)
    return error.exit_code


def _write_error(error: "PorchError") -> None:
    from porch.cli.terminal_width import terminal_style

    text, look = make_printable(str(error)), terminal_style(sys.stderr)
    sys.stderr.write(f"{look.fitted(text) if look else text}\n")


def _report_unexpected(error: Exception, as_json: bool) -> int:
    """A journal that cannot be read is no bug of ours, wherever somebody fell over it."""
    from porch.run.engine.record_check import find_journal_trouble
    from porch.store.where import find_project

    try:
        trouble = find_journal_trouble(find_project(os.getcwd()))
    except Exception:  # noqa: BLE001 - what was found first is what has to be said
        trouble = None
    return _report_bug(error) if trouble is None else _report_error(trouble, as_json)


def _report_bug(error: Exception) -> int:
    """A report ready to paste; it names no file contents and no environment."""
    import tempfile
    import traceback

    text = "".join(traceback.format_exception(error))
    with tempfile.NamedTemporaryFile(
        "w", prefix="porch-report-", suffix=".txt", delete=False
    ) as file:
        file.write(f"porch {__version__}, Python {sys.version}\n{sys.argv[1:2]}\n\n{text}")
    sys.stderr.write(
        f"error[bug]: {type(error).__name__}: {error}\n"
        f"  this is a bug in porch; no recorded work is lost\n"
        f"  fix: please report it with the file {file.name}\n"
    )
    bug: int = _load_errors().EXIT_BUG
    return bug
