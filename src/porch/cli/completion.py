"""Scripts that complete our commands in a shell, written from the rows and their arguments.

Commands and options stand in the script itself: a shell that had to start Python for each press of
a key would be slower than typing. Where a run, a gate, a protocol or an agent is meant, the script
calls `codev completion values`, with a spec of the command: the kinds of its arguments in order,
then `--option=COUNT=KIND` for each option that takes values (see `cli/codev/fast.py`).
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from porch.cli.verbs import Argument, CliCommand

_HIDDEN = "--as-person"
_EVERYWHERE = (("--json", "print one JSON object"), ("--help", "show the help"))
WordHelp = tuple[str, str]
Commands = Mapping[str, tuple[CliCommand, ...]]
_NOTHING = "-"
# What stands where in a command; everywhere else an argument called `id` is a run.
_ARGUMENT_KINDS: Mapping[str, tuple[str, ...]] = {
    "porch pending": ("asking",),
    "porch approve": ("at_gates", "gates"),
    "porch reject": ("at_gates", "gates"),
    "porch answer": ("asking", "decisions", "answers"),
    "porch retry": ("to_retry",),
    "porch skip": ("to_skip",),
    "porch cancel": ("runs", "items"),
    "porch reopen": ("runs", "items"),
    "porch ask-again": ("runs", "items"),
    "porch rollback": ("runs", "items"),
    "porch run": ("protocols",),
    "porch protocols show": ("protocols",),
    "porch protocols graph": ("protocols",),
    "porch protocols lint": ("protocols",),
    "porch protocols copy": ("packaged",),
    "porch agents test": ("agents",),
    "af approve": ("at_gates", "gates"),
    "af reject": ("at_gates", "gates"),
    "envoy protocol": ("steps",),
    "envoy plan protocol": ("steps",),
}
_OPTION_KINDS: Mapping[str, str] = {
    "porch run --agent": "agents",
    "porch resume --agent": "agents",
    "af kickoff --agent": "agents",
    "af kickoff --protocol": "protocols",
    "porch protocols graph --run": "runs",
    "porch answer --option": "options",
}


class CompletedCommand(NamedTuple):
    """What can follow one command: its options, and the values of an argument with a few.

    `kinds` are those of its arguments; `values` says how many an option takes, and their kind.
    """

    name: str
    help: str
    options: tuple[WordHelp, ...]
    choices: tuple[str, ...]
    kinds: tuple[str, ...]
    values: Mapping[str, tuple[int, str]]

    @property
    def spec(self) -> str:
        """Nothing if no place of this command has values to look up."""
        known = [kind for _, kind in self.values.values()]
        if not any(kind != _NOTHING for kind in (*self.kinds, *known)):
            return ""
        options = [f"{name}={count}={kind}" for name, (count, kind) in self.values.items()]
        return " ".join((*self.kinds, *options))


def describe_command(program: str, command: CliCommand) -> CompletedCommand:
    options = [
        (argument.names[-1], str(argument.options.get("help", "")))
        for argument in command.arguments
        if argument.names[-1].startswith("--") and argument.names[-1] != _HIDDEN
    ]
    choices = [str(choice) for argument in command.arguments for choice in _list_choices(argument)]
    path = f"{program} {command.name}"
    own = [argument for argument in command.arguments if not _is_option(argument)]
    kinds = tuple("runs" if argument.dest == "id" else _NOTHING for argument in own)
    values = {
        argument.names[-1]: (_count_values(argument), _kind_of_option(path, argument))
        for argument in command.arguments
        if _is_option(argument) and argument.options.get("action") in (None, "append")
    }
    return CompletedCommand(
        command.name,
        command.help,
        (*options, *_EVERYWHERE),
        tuple(choices),
        _ARGUMENT_KINDS.get(path, kinds),
        values,
    )


def _is_option(argument: Argument) -> bool:
    return argument.names[-1].startswith("-")


def _count_values(argument: Argument) -> int:
    count = argument.options.get("nargs")
    return count if isinstance(count, int) else 1


def _kind_of_option(path: str, argument: Argument) -> str:
    choices = argument.options.get("choices") or ()
    return "|".join(map(str, choices)) or _OPTION_KINDS.get(
        f"{path} {argument.names[-1]}", _NOTHING
    )


def _list_choices(argument: Argument) -> tuple[object, ...]:
    return () if _is_option(argument) else tuple(argument.options.get("choices") or ())


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
    """What has been typed, and the words that may come next; behind `?` stands a spec."""
    for program, commands in programs.items():
        yield program, " ".join(_first_words(commands))
        for first, seconds in _second_words(commands).items():
            yield f"{program} {first}", " ".join(seconds)
        for command in commands:
            each = describe_command(program, command)
            words = (*each.choices, *(name for name, _ in each.options))
            yield f"{program} {each.name} +", " ".join(words)
            if each.spec:
                yield f"{program} {each.name} ?", each.spec


def render_bash(programs: Commands) -> str:
    """Readline replaces only what stands behind the last `:`, `=` or `@`: that is what it gets.

    Values are not handed to `compgen -W`, which would carry out what stands in them.
    """
    return f"""\
# Completion of {", ".join(programs)} for bash: source <(codev completion bash)
{_render_table(programs)}
# Sets typed to the words before the cursor, with those that bash cut at a colon joined again.
_porch_read_line() {{
    local rest="${{COMP_LINE:0:COMP_POINT}}" word i
    typed=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        if [[ "$rest" == [[:blank:]]* || $i -eq 0 ]]; then
            typed+=("")
            rest="${{rest#"${{rest%%[![:blank:]]*}}"}}"
        fi
        word="${{COMP_WORDS[i]}}"
        if [ "$i" -eq "$COMP_CWORD" ]; then word="$rest"; fi
        typed[${{#typed[@]}}-1]+="$word"
        rest="${{rest#"$word"}}"
    done
    typed[0]="${{typed[0]##*/}}"
}}
_porch_complete() {{
    local -a typed=()
    local cur front="" values value
    COMPREPLY=()
    _porch_read_line
    cur="${{typed[${{#typed[@]}}-1]}}"
    if values="$(_porch_values "${{typed[@]}}")"; then
        compopt +o default 2>/dev/null
        if [[ "$COMP_WORDBREAKS" == *:* ]]; then front="${{cur%"${{cur##*[:=@]}}"}}"; fi
        while IFS= read -r value; do
            if [ -z "$value" ]; then continue; fi
            printf -v value %q "$value"
            if [[ "$value" == "$cur"* ]]; then COMPREPLY+=("${{value#"$front"}}"); fi
        done <<< "$values"
        return
    fi
    unset "typed[${{#typed[@]}}-1]"
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
    local -a known typed
    local values
    typed=("${{words[1]:t}}" "${{(@Q)words[2,CURRENT-1]}}")
    if values="$(_porch_values "${{typed[@]}}" "$PREFIX")"; then
        known=(${{(f)values}})
        compadd -a known
        return
    fi
    known=(${{=$(_porch_next_words "${{typed[@]}}")}})
    compadd -a known || _files
}}
compdef _porch_complete {" ".join(programs)}
"""


def _render_table(programs: Commands) -> str:
    """Functions for any shell: the longest known beginning of a line says what may follow.

    The last word that `_porch_values` gets is the one that is being typed.
    """
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
}}
_porch_values() {{
    local spec
    if [ $# -ge 4 ] && spec="$(_porch_words_after "$1 $2 $3 ?")"; then
        shift 3
    elif [ $# -ge 3 ] && spec="$(_porch_words_after "$1 $2 ?")"; then
        shift 2
    else
        return 1
    fi
    command codev completion values "$spec" "$@" 2>/dev/null </dev/null
}}"""


def render_fish(programs: Commands) -> str:
    lines = [
        f"# Completion of {', '.join(programs)} for fish: codev completion fish | source",
        "function _porch_values",
        "    set -l typed (commandline -opc) (commandline -ct)",
        "    command codev completion values $argv[2] $typed[$argv[1]..-1] 2>/dev/null </dev/null",
        "end",
    ]
    for program, commands in programs.items():
        lines += _render_fish_program(program, commands)
    return "\n".join(lines) + "\n"


def _render_fish_program(program: str, commands: tuple[CliCommand, ...]) -> Iterator[str]:
    single = {command.name: command.help for command in commands if " " not in command.name}
    seconds = _second_words(commands)
    for first in _first_words(commands):
        about = single.get(first) or ", ".join(seconds[first])
        yield _fish_line(program, "__fish_use_subcommand", f"-a {first}", about)
    for command in commands:
        each = describe_command(program, command)
        first, _, second = each.name.partition(" ")
        seen = f"__fish_seen_subcommand_from {first}"
        if second:
            others = " ".join(seconds[first])
            not_yet = f"{seen}; and not __fish_seen_subcommand_from {others}"
            yield _fish_line(program, not_yet, f"-a {second}", each.help)
            seen = f"{seen}; and __fish_seen_subcommand_from {second}"
        if each.choices:
            yield _fish_line(program, seen, f"-a '{' '.join(each.choices)}'", "")
        found = f"-a '(_porch_values {len(each.name.split()) + 2} \"{each.spec}\")'"
        if each.spec:
            # A protocol may also be a file.
            files = "" if each.kinds[:1] in ((), (_NOTHING,), ("protocols",)) else "-f "
            yield _fish_line(program, seen, files + found, "")
        for name, about in each.options:
            kind = each.values.get(name, (0, ""))[1]
            takes = f" -x {found}" if kind not in ("", _NOTHING) else " -r" if kind else ""
            yield _fish_line(program, seen, f"-l {name.removeprefix('--')}{takes}", about)


def _fish_line(program: str, condition: str, what: str, about: str) -> str:
    quoted = about.replace("\\", "\\\\").replace("'", "\\'")
    return f"complete -c {program} -n '{condition}' {what} -d '{quoted}'"


SHELLS = {"bash": render_bash, "zsh": render_zsh, "fish": render_fish}
