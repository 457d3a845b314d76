"""Guards of what is driven and what is not; `tools/guards.py` has no room left."""

from tools.guards import Guard

DRIVE_GUARDS: tuple[Guard, ...] = (
    Guard(
        "a script that may decide is driven",
        "run/drive/short_drive.py",
        " or _may_decide(found)",
        "",
        "test_a_script_that_may_decide_needs_a_driver",
    ),
    Guard(
        "work of the engine is driven",
        "run/drive/short_drive.py",
        "return drive.run() if drive.has_only_questions() else None",
        "return drive.run()",
        "test_a_driver_is_called_where_the_engine_has_work_to_do",
    ),
)
