"""Commands whose only readers are programs: one JSON envelope, asked for or not, also on errors."""

import json
from collections.abc import Callable
from typing import Any

from porch.errors import EXIT_FAILED, OutsideError, PorchError
from porch.surfaces.cli.command import Args, View
from porch.views import envelope


def told(run: Callable[[Args], dict[str, Any]]) -> Callable[[Args], View]:
    """What an operation answers, or what it complained about, in the shape of `envoy`."""
    return shown(lambda args: success(run(args)))


def shown(run: Callable[[Args], View]) -> Callable[[Args], View]:
    """The same for a command that makes its own view of what came of it."""

    def answered(args: Args) -> View:
        try:
            return run(args)
        except PorchError as error:
            return complaint(error)
        except OSError as error:
            return complaint(outside(error))

    return answered


def success(data: dict[str, Any]) -> View:
    return _view(envelope.success(data), 0)


def waiting(data: dict[str, Any], code: int) -> View:
    """An answer, or that there is none yet; the exit code tells one from the other."""
    return _view(envelope.success(data), code)


def complaint(error: PorchError) -> View:
    return _view(envelope.failure(error.findings), error.exit_code)


def failing(data: dict[str, Any], type_: str, message: str, suggestion: str) -> View:
    """A domain error that has an answer, too: both are there, and the exit code says so."""
    error = {"type": type_, "message": message, "suggestion": suggestion, "findings": []}
    return _view({"status": "error", "error": error, "data": data}, EXIT_FAILED)


def outside(error: OSError) -> OutsideError:
    return OutsideError(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "))


def _view(whole: dict[str, Any], code: int) -> View:
    text = json.dumps(whole, ensure_ascii=False, indent=2)
    # Names of files may hold bytes that are no text; those become question marks.
    clean = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return View(clean, json.loads(clean), code)
