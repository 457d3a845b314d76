"""The one shape in which `envoy` answers programs: what came of it, or what went wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

from porch.errors import Finding

# Words that callers of the command know from before; the others are our codes.
_ERROR_TYPES: Mapping[str, str] = {"unknown-protocol": "not_found"}


def make_success_envelope(data: Any) -> dict[str, Any]:
    return {"status": "success", "data": data}


def make_failure_envelope(findings: Sequence[Finding]) -> dict[str, Any]:
    """The first finding speaks; all of them are there."""
    first = findings[0]
    error = {
        "type": _ERROR_TYPES.get(first.code, first.code.replace("-", "_")),
        "message": first.message,
        "suggestion": first.fix,
        "findings": [finding.as_json() for finding in findings],
    }
    return {"status": "error", "error": error}
