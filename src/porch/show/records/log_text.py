"""What `porch log` prints, piece by piece: a long run needs no more memory than a short one."""

from __future__ import annotations

from porch.show.records import timeline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from porch.machine.records import RawRecord
    from porch.show.place_words import PlaceWords
    from porch.show.terminal_style import TerminalStyle

    Write = Callable[[object], str]

LINES_SHOWN = 200


def shown_lines(
    records: Iterable[RawRecord], words: PlaceWords, look: TerminalStyle | None = None
) -> Iterator[str]:
    """One line for each record; on a terminal with signs, and as wide as it is."""
    if look is None:
        yield from timeline.render_timeline(records, words)
        return
    for raw in records:
        yield look.marked(
            timeline.time_and_number(raw),
            timeline.describe_record(raw, words),
            timeline.line_mark(raw),
        )


def tail_text(
    run: str,
    records: Iterable[RawRecord],
    earlier: int,
    words: PlaceWords,
    *,
    look: TerminalStyle | None = None,
) -> str:
    """The last records, under a line that says how to see those before them."""
    head = [f"... {earlier:,} earlier lines; show them: porch log {run} --all"] if earlier else []
    return "\n".join([*head, *shown_lines(records, words, look)])


def text_pieces(
    pieces: Iterable[list[RawRecord]], words: PlaceWords, look: TerminalStyle | None = None
) -> Iterator[str]:
    for piece in pieces:
        yield "".join([f"{line}\n" for line in shown_lines(piece, words, look)])


def json_pieces(run: str, pieces: Iterable[list[RawRecord]], write: Write) -> Iterator[str]:
    """The same document as if it were written at once, by `write`, which indents by two."""
    front = write({"run": run, "records": []})
    yield front.removesuffix("[]\n}") + "["
    is_first = True
    for piece in pieces:
        for record in piece:
            # Strings of JSON hold no raw line break, so every one of them is between two values.
            told = write(record).replace("\n", "\n    ")
            yield f"{'' if is_first else ','}\n    {told}"
            is_first = False
    yield "]\n}\n" if is_first else "\n  ]\n}\n"
