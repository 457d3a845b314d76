"""Stand-ins and tools for tests, ours and those of people who write protocols."""

from porch.testing.crash_runs import kill_at, kill_python_at, unmeasured
from porch.testing.memory_journal import MemoryJournal
from porch.testing.project import COMMAND, PATIENCE_S, Form, Project
from porch.testing.rig import CheckResult, Rig, Verdict
from porch.testing.run_result import Result, distrust, exits, result

__all__ = [
    "COMMAND",
    "PATIENCE_S",
    "CheckResult",
    "Form",
    "MemoryJournal",
    "Project",
    "Result",
    "Rig",
    "Verdict",
    "distrust",
    "exits",
    "kill_at",
    "kill_python_at",
    "result",
    "unmeasured",
]
