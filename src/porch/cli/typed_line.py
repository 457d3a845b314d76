"""A line that a person types at a question."""


def ask_line(question: str) -> str:
    """What was typed, in one piece; who closes the input leaves, as with Ctrl-C."""
    try:
        return input(question).strip()
    except EOFError:
        print()
        raise KeyboardInterrupt from None
