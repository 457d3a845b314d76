"""Scripts that complete our commands in a shell, written from the rows and their arguments.

The words stand in the script itself: a shell that had to start Python for each press of a key would
be slower than typing.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from porch.cli.verbs import Argument, CliCommand

_HIDDEN = "--as-person"
_EVERYWHERE = (("--json", "print one JSON object"), ("--help", "show the help"))
WordHelp = tuple[str, str]
Commands = Mapping[str, tuple[CliCommand, ...]]


class CompletedCommand(NamedTuple):
    """What can follow one command: its options, and the values of an argument with a few."""

    name: str
    help: str
    options: tuple[WordHelp, ...]
    choices: tuple[str, ...]


def describe_command(command: CliCommand) -> CompletedCommand:
    options = [
        (argument.names[-1], str(argument.options.get("help", "")))
        for argument in command.arguments
        if argument.names[-1].startswith("--") and argument.names[-1] != _HIDDEN
    ]
    choices = [str(choice) for argument in command.arguments for choice in _list_choices(argument)]
    return CompletedCommand(command.name, command.help, (*options, *_EVERYWHERE), tuple(choices))


def _list_choices(argument: Argument) -> tuple[object, ...]:
    is_option = argument.names[-1].startswith("-")
    return () if is_option else tuple(argument.options.get("choices") or ())


def _first_words(commands: tuple[CliCommand, ...]) -> list[str]:
    return list(dict.fromkeys(command.name.partition(" ")[0] for command in commands))


def _second_words(commands: tuple[CliCommand, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for command in commands:
        first, _, second = command.name.partition(" ")
        if second:
            found.setdefault(first, []).append(second)
    return found


def _list_cases(programs: Commands) -> Iterator[tuple[str, str]]:
    """What has been typed, and the words that may come next."""
    for program, commands in programs.items():
        yield program, " ".join(_first_words(commands))
        for first, seconds in _second_words(commands).items():
            yield f"{program} {first}", " ".join(seconds)
        for each in map(describe_command, commands):
            words = (*each.choices, *(name for name, _ in each.options))
            yield f"{program} {each.name} +", " ".join(words)


def render_bash(programs: Commands) -> str:
    """For bash; zsh uses the same table with another way to ask for what was typed."""
    return f"""\
# Completion of {", ".join(programs)} for bash: source <(codev completion bash)
{_render_table(programs)}
_porch_complete() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" typed
    typed=("${{COMP_WORDS[0]##*/}}" "${{COMP_WORDS[@]:1:COMP_CWORD-1}}")
    COMPREPLY=($(compgen -W "$(_porch_next_words "${{typed[@]}}")" -- "$cur"))
}}
complete -o default -F _porch_complete {" ".join(programs)}
"""


def render_zsh(programs: Commands) -> str:
    return f"""\
#compdef {" ".join(programs)}
# Completion of {", ".join(programs)} for zsh: source <(codev completion zsh)
{_render_table(programs)}
_porch_complete() {{
    local -a known
    known=(${{=$(_porch_next_words "${{words[1]:t}}" "${{(@)words[2,CURRENT-1]}}")}})
    compadd -a known || _files
}}
compdef _porch_complete {" ".join(programs)}
"""


def _render_table(programs: Commands) -> str:
    """A function for any shell: the longest known beginning of a line says what may follow."""
    cases = "\n".join(
        f"        '{typed}') echo '{words}' ;;" for typed, words in _list_cases(programs)
    )
    return f"""\
_porch_words_after() {{
    case "$1" in
{cases}
        *) return 1 ;;
    esac
}}
_porch_next_words() {{
    if [ $# -ge 3 ] && _porch_words_after "$1 $2 $3 +"; then return; fi
    if [ $# -eq 2 ] && _porch_words_after "$1 $2"; then return; fi
    if [ $# -ge 2 ] && _porch_words_after "$1 $2 +"; then return; fi
    if [ $# -eq 1 ]; then _porch_words_after "$1"; fi
}}"""


def render_fish(programs: Commands) -> str:
    lines = [f"# Completion of {', '.join(programs)} for fish: codev completion fish | source"]
    for program, commands in programs.items():
        lines += _render_fish_program(program, commands)
    return "\n".join(lines) + "\n"


def _render_fish_program(program: str, commands: tuple[CliCommand, ...]) -> Iterator[str]:
    single = {command.name: command.help for command in commands if " " not in command.name}
    seconds = _second_words(commands)
    for first in _first_words(commands):
        about = single.get(first) or ", ".join(seconds[first])
        yield _fish_line(program, "__fish_use_subcommand", f"-a {first}", about)
    for each in map(describe_command, commands):
        first, _, second = each.name.partition(" ")
        seen = f"__fish_seen_subcommand_from {first}"
        if second:
            others = " ".join(seconds[first])
            not_yet = f"{seen}; and not __fish_seen_subcommand_from {others}"
            yield _fish_line(program, not_yet, f"-a {second}", each.help)
            seen = f"{seen}; and __fish_seen_subcommand_from {second}"
        if each.choices:
            yield _fish_line(program, seen, f"-a '{' '.join(each.choices)}'", "")
        for name, about in each.options:
            yield _fish_line(program, seen, f"-l {name.removeprefix('--')}", about)


def _fish_line(program: str, condition: str, what: str, about: str) -> str:
    quoted = about.replace("\\", "\\\\").replace("'", "\\'")
    return f"complete -c {program} -n '{condition}' {what} -d '{quoted}'"


SHELLS = {"bash": render_bash, "zsh": render_zsh, "fish": render_fish}
