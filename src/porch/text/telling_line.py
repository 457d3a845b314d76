"""The one line of a tool's output that says why it failed.

The last line is often only what a build tool says about its own end (`make: *** [build] Error 1`),
and the first one is often only what was started.
"""

from porch.text.late_pattern import late_pattern

# What wrappers say about a program that failed below them.
_WRAPPER = late_pattern(
    r"make(\[\d+\])?: |npm (ERR!|error)|error Command failed|exit code |exit status |Exit \d"
    r"|error: Recipe |ELIFECYCLE|ninja: build stopped"
)
# An exception or a failed test ends what it explains, so the last one counts.
_LAST = late_pattern(
    r"(E\s+)?[\w.]*(Error|Exception|Interrupt)\b(:|$)|FAILED |FAIL:? |panic: |\S+ FAILED$"
)
# What a tool that answers in JSON has to say stands beside its marks and braces.
_MESSAGE = late_pattern(r'"message": ?"((?:[^"\\]|\\.)+)"')
# A compiler's first error often causes the others.
_FIRST = late_pattern(r"(?i)\berror\b|\bfatal\b|not found|No such file|Permission denied")


def find_telling_line(output: str) -> str:
    """Of what a program printed, why it failed; if no line says so, how it ended."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    own = [line for line in lines if not _WRAPPER.match(line)]
    last = [line for line in own if _LAST.match(line)][-1:]
    first = [line for line in own if _FIRST.search(line)][:1]
    told = [found[1].replace('\\"', '"') for line in own if (found := _MESSAGE.match(line))][:1]
    return next(iter([*last, *told, *first, *own[-1:], *lines[-1:]]), "")
