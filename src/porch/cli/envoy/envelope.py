"""Commands whose only readers are programs: one JSON envelope, asked for or not, also on errors."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from porch.cli.command import Args, View, explain_system_error

if TYPE_CHECKING:  # complaints are loaded once there is one
    from msgspec import Struct

    from porch.errors import PorchError

    # What an operation answers, with the keys of its JSON in their order.
    Result = Struct | Mapping[str, object]


def answer_in_envelope(run: "Callable[[Args], Result]") -> Callable[[Args], View]:
    """What an operation answers, or what it complained about, in the shape of `envoy`."""
    return catch_complaints(lambda args: success_view(run(args)))


def catch_complaints(run: Callable[[Args], View]) -> Callable[[Args], View]:
    """The same for a command that makes its own view of what came of it."""

    def answered(args: Args) -> View:
        try:
            return run(args)
        except _complaint_class() as error:
            return complaint_view(error)
        except OSError as error:
            return complaint_view(explain_system_error(error))

    return answered


def _complaint_class() -> "type[PorchError]":
    from porch.errors import PorchError

    return PorchError


def success_view(data: "Result") -> View:
    from msgspec import to_builtins

    from porch.cli import json_envelope

    return _envelope_view(json_envelope.make_success_envelope(to_builtins(data)), 0)


def waiting_view(data: "Struct", code: int) -> View:
    """An answer, or that there is none yet; the exit code tells one from the other."""
    from msgspec import to_builtins

    from porch.cli import json_envelope

    return _envelope_view(json_envelope.make_success_envelope(to_builtins(data)), code)


def complaint_view(error: "PorchError") -> View:
    from porch.cli import json_envelope

    return _envelope_view(json_envelope.make_failure_envelope(error.findings), error.exit_code)


def failing_view(data: "Struct", type_: str, message: str, suggestion: str) -> View:
    """A domain error that has an answer, too: both are there, and the exit code says so."""
    from msgspec import to_builtins

    from porch.errors import EXIT_FAILED

    error = {"type": type_, "message": message, "suggestion": suggestion, "findings": []}
    return _envelope_view(
        {"status": "error", "error": error, "data": to_builtins(data)}, EXIT_FAILED
    )


def _envelope_view(whole: dict[str, Any], code: int) -> View:
    import json

    text = json.dumps(whole, ensure_ascii=False, indent=2)
    # Names of files may hold bytes that are no text; those become question marks.
    clean = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return View(clean, json.loads(clean), code)
