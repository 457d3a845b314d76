"""What is said before agents begin."""

from porch.model.protocol import Check, Command, Protocol, State, Target
from porch.run.drive.start_notes import list_setting_notes
from porch.run.settings import Settings


def test_w7_checks_that_have_nothing_to_run_are_one_note() -> None:
    commands = tuple(Command(name, setting=name) for name in ("build", "test", "lint", "build"))
    check = Check((*commands, Command("shell", shell="true")))
    protocol = Protocol("p", Target("work"), {"work": State("work", "", check)}, ())
    settings = Settings(commands={"test": "make test"})
    (note,) = list_setting_notes(settings, protocol)
    assert note == "skipped checks: build, lint (not set in codev/config.toml, below [commands])"
    assert (
        list_setting_notes(
            Settings(commands=dict.fromkeys(("build", "test", "lint"), "x")), protocol
        )
        == []
    )
