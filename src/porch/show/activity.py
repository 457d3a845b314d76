"""What an agent did in a turn, as people read it: its words, its tools, what it was denied.

Takes pairs of a kind and a text, so that it knows nothing of agents. Whatever it is given has
been printed by an agent or a tool and is made safe here.
"""

import textwrap
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from porch.text.printable import make_printable

Entry = tuple[str, str]
SAID, TOOL, OUTPUT, DENIED = "said", "tool", "output", "denied"
WARNED, FAILED, ANSWER, FINAL, USED, NOTE = "warned", "failed", "answer", "final", "used", "note"

WIDTH = 80
# Narrower than this nobody reads; lines then go on beyond the edge.
_NARROWEST = 20
_OUTPUT_LINES = 5
_OUTPUT_WIDTH = 400
_SAME_AS_ABOVE = "(same text as above)"


def render_activity_lines(entries: Iterable[Entry], width: int = WIDTH) -> Iterator[str]:
    """One block after the other; an empty line stands before whatever the agent says."""
    room = max(width, _NARROWEST)
    last_said, is_first = "", True
    for kind, text in merge_message_pieces(entries):
        shown = _SAME_AS_ABOVE if kind == FINAL and text.strip() == last_said else text
        block = list(_BLOCK_RENDERERS[kind](shown, room))
        if block and kind in (SAID, FINAL) and not is_first:
            yield ""
        yield from block
        is_first = is_first and not block
        last_said = text.strip() if kind == SAID else last_said


def merge_message_pieces(entries: Iterable[Entry]) -> Iterator[Entry]:
    """What is said may come in pieces of a word; they are one."""
    for kind, group in groupby(entries, key=lambda entry: entry[0]):
        if kind == SAID:
            yield SAID, _make_printable("".join(text for _, text in group))
        else:
            yield from ((kind, _make_printable(text)) for _, text in group)


def _make_printable(text: str) -> str:
    return make_printable(text).expandtabs(4)


def format_usage(tokens: int, cached: int, output: int, usd: float) -> str:
    """What a turn took, with the parts of it that are known."""
    told = [f"{cached:,} from the cache"] if cached else []
    told += [f"{output:,} written"] if output else []
    parts = f" ({', '.join(told)})" if told else ""
    return f"{tokens:,} tokens{parts}" + (f", ${usd:.4f}" if usd else "")


def _render_message(text: str, width: int) -> Iterator[str]:
    return _wrap_lines(text.strip("\n"), width, "", "")


def _render_final_message(text: str, width: int) -> Iterator[str]:
    yield "final message:"
    yield from _wrap_lines(text.strip("\n"), width, "  ", "  ")


def _make_marked_renderer(mark: str) -> Callable[[str, int], Iterator[str]]:
    """A block that begins with a mark; what follows stands under its first word."""
    return lambda text, width: _wrap_lines(text.strip(), width, mark, "  ")


def _render_tool_output(text: str, _: int) -> Iterator[str]:
    """How it ended; mostly that is where the result stands."""
    told = text.strip("\n").split("\n") if text.strip() else []
    left_out = len(told) - _OUTPUT_LINES
    if left_out > 0:
        yield f"    ... {left_out} earlier {'line' if left_out == 1 else 'lines'}"
    for line in told[-_OUTPUT_LINES:]:
        # Output is not prose: breaking its lines would make tables and traces unreadable.
        cut = line if len(line) <= _OUTPUT_WIDTH else f"{line[:_OUTPUT_WIDTH]} ..."
        yield f"    {cut}".rstrip()


def _wrap_lines(text: str, width: int, front: str, indent: str) -> Iterator[str]:
    """Keeps the lines of the text; only those that are too long are broken, between words."""
    for number, line in enumerate(text.split("\n")):
        start = front if number == 0 else indent
        told = textwrap.wrap(
            line,
            width,
            initial_indent=start,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from told or [start.rstrip()]


_BLOCK_RENDERERS: dict[str, Callable[[str, int], Iterator[str]]] = {
    SAID: _render_message,
    TOOL: _make_marked_renderer("* "),
    OUTPUT: _render_tool_output,
    DENIED: _make_marked_renderer("! denied: "),
    WARNED: _make_marked_renderer("? "),
    FAILED: _make_marked_renderer("! failed: "),
    ANSWER: _make_marked_renderer("= answer: "),
    FINAL: _render_final_message,
    USED: _make_marked_renderer("- "),
    NOTE: _make_marked_renderer("# "),
}
