"""A table of commands becomes a command line: arguments in, one view out, one error boundary."""

import json
import os
import sys
import traceback
from collections.abc import Sequence

from porch import __version__
from porch.errors import (
    EXIT_BUG,
    EXIT_INPUT,
    EXIT_INTERRUPTED,
    OutsideError,
    PorchError,
    UsageError,
)
from porch.surfaces.cli import parsing
from porch.surfaces.cli.verbs import Args, Argument, Command, View, arg, text
from porch.views import envelope
from porch.views.text import printable

__all__ = ["Args", "Argument", "Command", "View", "arg", "main", "text"]


def main(program: str, commands: Sequence[Command], argv: Sequence[str]) -> int:
    """Read arguments, call one verb, show one view."""
    try:
        args = parsing.read(program, commands, argv)
    except SystemExit as left:
        return int(left.code or 0)
    except UsageError as error:
        return _misused(program, argv, error)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return _bounded(args) if hasattr(args, "command") else EXIT_INPUT


def _misused(program: str, argv: Sequence[str], error: UsageError) -> int:
    """What programs call answers in the shape that they read, also if they called it wrongly."""
    sys.stderr.write(f"{printable(str(error))}\n")
    if program != "envoy" or _is_for_people(argv):
        return error.exit_code
    view = View(data=envelope.failure(error.findings), code=error.exit_code)
    return _bounded(Args(command=Command("", "", lambda _: view), json=True))


def _is_for_people(argv: Sequence[str]) -> bool:
    """The steps of a protocol are text unless JSON was asked for."""
    is_protocol = "protocol" in argv[:1] or list(argv[:2]) == ["plan", "protocol"]
    return is_protocol and "--json" not in argv


def _bounded(args: Args) -> int:
    """The one place where exceptions become exit codes."""
    try:
        view: View = args.command.run(args)
        _show(view, args.json)
        return view.code
    except PorchError as error:
        return _complain(error, args.json)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        outside = OutsideError(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "))
        return _complain(outside, args.json)
    except Exception as error:  # noqa: BLE001 - the boundary: anything else is our own bug
        return _our_bug(error)


def _show(view: View, as_json: bool) -> None:
    if as_json and view.data is not None:
        print(json.dumps(view.data, ensure_ascii=False, indent=2))
    elif view.text and not as_json:
        # Whatever an agent or a file wrote ends up in some view.
        print(printable(view.text), end="" if view.text.endswith("\n") else "\n")
    sys.stdout.flush()


def _complain(error: PorchError, as_json: bool) -> int:
    if as_json:
        findings = [finding.as_json() for finding in error.findings]
        print(json.dumps({"error": {"exit": error.exit_code, "findings": findings}}, indent=2))
    sys.stderr.write(f"{printable(str(error))}\n")
    return error.exit_code


def _our_bug(error: Exception) -> int:
    """A report ready to paste; it names no file contents and no environment."""
    import tempfile

    text = "".join(traceback.format_exception(error))
    with tempfile.NamedTemporaryFile(
        "w", prefix="porch-report-", suffix=".txt", delete=False
    ) as file:
        file.write(f"porch {__version__}, Python {sys.version}\n{sys.argv[1:2]}\n\n{text}")
    sys.stderr.write(
        f"error[bug]: {type(error).__name__}: {error}\n"
        f"  this is a defect of porch; nothing that was acknowledged is lost\n"
        f"  fix: please report {file.name}\n"
    )
    return EXIT_BUG
