"""Rows become commands: the one that was called, or all of a program for tests and pages."""

import os

from porch.cli.rows import PROGRAMS, CommandRow
from porch.cli.verbs import Args, CliCommand, RunVerb, Verbs


def load_command(row: CommandRow) -> CliCommand:
    """Imports the module of this row and no other."""
    verbs: Verbs = __import__(row.module, fromlist=("COMMANDS",)).COMMANDS
    verb = verbs[row.words]
    run = _for_people(verb.run) if row.for_people else verb.run
    return CliCommand(row.words, row.help, verb.shape(run), verb.arguments)


def load_all_commands(program: str) -> tuple[CliCommand, ...]:
    return tuple(map(load_command, PROGRAMS[program]))


def _for_people(run: RunVerb) -> RunVerb:
    """The only place where a command is kept from agents; which ones, their rows say."""

    def decided(args: Args) -> object:
        from porch.run.engine.caller import refuse_agents

        refuse_agents(os.environ, args.as_person)
        return run(args)

    return decided
