"""The one boundary inside a run: whatever goes wrong outside comes back as a fact."""

from porch.errors import DefinitionError, PorchError
from porch.machine import facts as f


def make_failure_fact(effect: str, error: Exception) -> f.EffectFailed:
    """A refusal and what the machine refused may pass; a defect of ours will not."""
    if isinstance(error, PorchError):
        detail = "; ".join(finding.message for finding in error.findings)
        is_hopeless = _is_hopeless(error)
        return f.EffectFailed(effect=effect, why=error.code, detail=detail, hopeless=is_hopeless)
    if isinstance(error, OSError):
        return f.EffectFailed(effect=effect, why="outside", detail=str(error))
    return f.EffectFailed(effect=effect, why="bug", detail=_describe_bug(error), hopeless=True)


def _is_hopeless(error: PorchError) -> bool:
    """A document, a template or a planted link is the same the next time."""
    is_escape = any(finding.code == "path-escape" for finding in error.findings)
    return is_escape or isinstance(error, DefinitionError)


def _describe_bug(error: Exception) -> str:
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({last.name}, line {last.lineno})"
