"""The door of every command: looks at argv before importing anything, because agents call often."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` makes enumerations of it first
import gc
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from porch.cli.rows import CommandRow

# So many objects may come up before unused ones are looked for. A short command stays below it:
# looking would cost it more than all it could free. A long one looks less often, but does.
_OBJECTS = 50_000
# As a shell tells it of a command that was ended by Ctrl-C.
_INTERRUPTED = 130
# Without further words they open the inbox on a terminal, and print their help elsewhere.
_INBOXES = ("porch", "af")
# By these porch learns how its children end, and people end porch and what it starts. SIGHUP is not
# among them: `nohup` ignores it on purpose. What Python ignores itself, it takes care of.
_SIGNALS = (_signal.SIGCHLD, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGTERM)


def porch() -> int:
    """The command `porch`."""
    return start_program("porch")


def af() -> int:
    """The command `af`."""
    return start_program("af")


def codev() -> int:
    """The command `codev`."""
    return start_program("codev")


def envoy() -> int:
    """The command `envoy`."""
    return start_program("envoy")


def start_program(program: str) -> int:
    """One of the four commands, by its name."""
    gc.set_threshold(_OBJECTS)
    _reset_signals()
    try:
        return _answer_call(program)
    except KeyboardInterrupt:
        # While modules are loaded nobody else minds it; where it costs something, somebody does.
        return _INTERRUPTED
    finally:
        gc.freeze()  # the interpreter is about to end, and need not look through everything first


def _reset_signals() -> None:
    """A parent that ignores or blocks a signal hands that on to us, and we to all that we start.

    Without SIGCHLD nobody learns how a child ended: a git that failed would count as done.
    """
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
    for number in _SIGNALS:
        if _signal.getsignal(number) == _signal.SIG_IGN:
            is_interrupt = number == _signal.SIGINT
            handler = _signal.default_int_handler if is_interrupt else _signal.SIG_DFL
            _signal.signal(number, handler)


def _answer_call(program: str) -> int:
    _open_closed_streams()
    _take_any_text()
    argv = sys.argv[1:]
    if not argv and program in _INBOXES and sys.stdin.isatty() and sys.stdout.isatty():
        from porch.cli.inbox import start

        return start.open_inbox(program, run_words)
    if argv[:1] == ["help"]:
        argv = [*argv[1:], "--help"]
    try:
        answered = _quick_answer(program, argv)
    except BrokenPipeError:
        return _end_closed_pipe()
    except OSError:
        answered = None  # the long way round has the words for it
    if answered is not None:
        return answered
    if program == "af":
        from porch.cli import own_process

        own_process.offer_program("porch", porch)
    return run_words(program, argv)


def _quick_answer(program: str, argv: list[str]) -> int | None:
    """The exit code if this call could be answered from rows or from what was kept."""
    if program == "codev" and argv[:2] == ["completion", "values"]:
        from porch.cli.codev import fast as codev_fast

        return codev_fast.answer_completion(argv)
    if not argv or argv[-1] in ("-h", "--help", "--version"):
        return _print_page(program, argv)
    if argv[1:] == ["help"] and (answered := _print_page(program, [argv[0], "--help"])) is not None:
        return answered
    if program == "porch":
        from porch.cli.porch import fast

        return fast.answer_from_pictures(argv)
    if program == "af":
        from porch.cli.af import fast as af_fast

        return af_fast.answer_from_rows(argv)
    if program == "envoy":
        from porch.cli.envoy import fast as envoy_fast

        return envoy_fast.answer_from_cache(argv)
    return None


def _print_page(program: str, argv: list[str]) -> int | None:
    """What is printed from the rows alone; the help of one command is not among it."""
    from porch import __version__
    from porch.cli import help_page
    from porch.cli.rows import PROGRAMS

    rows = PROGRAMS[program]
    if argv == ["--version"]:
        text = f"{program} {__version__}\n"
    elif not argv or len(argv) == 1:
        text = help_page.render_program_page(program, rows)
    elif len(argv) == 2 and argv[1] != "--version" and help_page.group_rows(rows, argv[0]):
        text = help_page.render_group_page(program, rows, argv[0])
    else:
        return None
    sys.stdout.write(text)
    sys.stdout.flush()
    return 0 if argv else 2


def run_words(program: str, words: Sequence[str]) -> int:
    """The long way: load the module of the command that these words name, and run it."""
    from porch.cli import command, table
    from porch.cli.rows import PROGRAMS

    rows, argv = PROGRAMS[program], list(words)
    row = _find_row(rows, argv) if argv else None
    if row is not None:
        return command.run_command(program, table.load_command(row), argv)
    if argv and _has_unknown_word(rows, argv):
        return command.refuse_words(program, rows, argv)
    # Flags before words are read, and mostly refused, by a parser that knows every command.
    return command.main(program, table.load_all_commands(program), argv)


def _find_row(rows: tuple[CommandRow, ...], argv: list[str]) -> CommandRow | None:
    """The row of a call; the first word of a group alone means its list, where it has one."""
    known = {tuple(row.words.split()): row for row in rows}
    if argv[1:] in ([], ["--json"]) and (argv[0], "list") in known:
        return known[argv[0], "list"]
    return known.get(tuple(argv[:2])) or known.get(tuple(argv[:1]))


def _has_unknown_word(rows: tuple[CommandRow, ...], argv: list[str]) -> bool:
    """Whether the first words name no command, flags or not; a flag in their place is no word."""
    is_group = any(row.words.startswith(f"{argv[0]} ") for row in rows)
    return not any(word.startswith("-") for word in (argv[:2] if is_group else argv[:1]))


def _end_closed_pipe() -> int:
    """Whoever read us has gone; saying so to nobody would only print a traceback."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _open_closed_streams() -> None:
    """What the caller closed goes nowhere, and no file of ours takes its number."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            import os

            # Whoever reads from a closed input is told so, as by any file that only takes.
            opened = os.open(os.devnull, os.O_WRONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _take_any_text() -> None:
    """A stream that cannot say a character must not end the command that says it."""
    for stream in (sys.stdout, sys.stderr):
        encoding = getattr(stream, "encoding", None) or "utf-8"
        if encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
            import codecs

            codecs.register_error("porch", _escape_half_characters)
            stream.reconfigure(errors="porch")  # type: ignore[union-attr]


def _escape_half_characters(error: UnicodeError) -> tuple[str, int]:
    """As JSON writes them, which `backslashreplace` does not, so that JSON stays JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)), error.end
