"""The test runner that a check calls: where porch knows it, it looks after the tests itself."""

from porch.dialects.phases.mapping_reader import StrictFields
from porch.model.protocol import Command

RUNNERS_LOOKED_AFTER = ("pytest",)


def read_runner(form: StrictFields, default: str) -> str:
    text = form.text("runner", default)
    if text in ("", *RUNNERS_LOOKED_AFTER):
        return text
    message = f"'runner' must be one of {', '.join(RUNNERS_LOOKED_AFTER)}, not '{text[:80]}'"
    fix = "leave it out: then porch runs the command as it is"
    form.report("wrong-value", message, form.place("runner"), fix)
    return ""


def report_lonely_plugins(command: Command, form: StrictFields) -> None:
    if command.plugins and not command.runner:
        message = f"'plugins' of check '{command.name}' means nothing without 'runner'"
        fix = "write runner: pytest"
        form.report("no-meaning", message, form.place("plugins"), fix, severity="warning")
