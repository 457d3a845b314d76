"""Rows become commands: the one that was called, or all of a program for tests and pages."""

import os

from porch.cli.rows import PROGRAMS, CommandRow
from porch.cli.verbs import Args, CliCommand, RunVerb, Verbs


def load_command(row: CommandRow) -> CliCommand:
    """Imports the module of this row and no other."""
    verbs: Verbs = __import__(row.module, fromlist=("COMMANDS",)).COMMANDS
    verb = verbs[row.words]
    is_guarded = row.for_people or row.people_options
    run = _guard_from_agents(row, verb.run) if is_guarded else verb.run
    return CliCommand(row.words, row.help, verb.shape(run), verb.arguments)


def load_all_commands(program: str) -> tuple[CliCommand, ...]:
    return tuple(map(load_command, PROGRAMS[program]))


def _guard_from_agents(row: CommandRow, run: RunVerb) -> RunVerb:
    """The only place where a command is kept from agents; which calls, their rows say."""

    def decided(args: Args) -> object:
        if row.for_people or any(getattr(args, name, None) for name in row.people_options):
            from porch.run.engine.caller import refuse_agents

            refuse_agents(os.environ, getattr(args, "as_person", False))
        return run(args)

    return decided
