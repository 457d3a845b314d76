"""The one boundary inside a run: whatever goes wrong outside comes back as a fact."""

from porch.errors import DefinitionError, Finding, PorchError, UsageError
from porch.machine import facts as f


def make_failure_fact(effect: str, error: Exception) -> f.EffectFailed:
    """A refusal and what the machine refused may pass; a defect of ours will not."""
    from porch.machine.exits.fault_questions import is_fault  # nearly always nothing fails

    why, detail, is_hopeless = _describe_error(error)
    return f.EffectFailed(
        effect=effect, why=why, detail=detail, hopeless=is_hopeless, fault=is_fault(why)
    )


def _describe_error(error: Exception) -> tuple[str, str, bool]:
    """What kind it is, what there is to say of it, and whether it is the same the next time."""
    if isinstance(error, PorchError):
        return error.code, describe_error(error), _is_hopeless(error)
    if isinstance(error, OSError):
        return "outside", str(error), False
    return "bug", _describe_bug(error), True


def _is_hopeless(error: PorchError) -> bool:
    """A document, a template, a setting or a planted link is the same the next time."""
    is_escape = any(finding.code == "path-escape" for finding in error.findings)
    return is_escape or isinstance(error, (DefinitionError, UsageError))


def describe_error(error: PorchError) -> str:
    """In one line, with what to do."""
    return "; ".join(map(_describe_finding, error.findings))


def _describe_finding(finding: Finding) -> str:
    """What happened, where, and what to do: whoever is asked has nothing else to go by."""
    place = f" ({finding.place})" if finding.place is not None else ""
    return f"{finding.message}{place}" + (f"; to do: {finding.fix}" if finding.fix else "")


def _describe_bug(error: Exception) -> str:
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({last.name}, line {last.lineno})"
