"""What an agent is asked when it is tried out: small things whose result can be looked at."""

import secrets
from collections.abc import Iterable

from msgspec import Struct

FILE = "word.txt"
GIVEN = "given.txt"
FORBIDDEN = "forbidden.txt"
SIGNAL = "PORCH_TEST_DONE"
COMMAND = f"git hash-object {GIVEN}"
_LETTERS = "bdfgklmnprstvz", "aeiou"


class TrialWords(Struct, frozen=True):
    """The words of one trial, drawn anew for each: nobody could have learnt them before.

    `word` goes into a file, `remembered` only into the conversation; `given` is a file's content,
    and `printed` what the command prints of that file.
    """

    word: str
    remembered: str
    given: str
    printed: str = ""


def draw_words() -> TrialWords:
    return TrialWords(_random_word(), _random_word(), f"{_random_word()}\n")


def _random_word() -> str:
    """Letters only: digits and dashes look like keys to whoever hides those."""
    return "".join(secrets.choice(_LETTERS[place % 2]) for place in range(10))


def render_work_task(asked: TrialWords) -> str:
    return f"""\
This is a test of the connection to you, in a throw-away git repository. Do exactly these things:

1. Write the file {FILE} in the current directory. Its only content is the word {asked.word}
2. Run the command `{COMMAND}` in a shell.
3. Remember the word {asked.remembered} for a later question. Write it into no file.

Then end with a final message of two lines and nothing else: the output of the command on the
first line, and on the last line, outside of any code block:

<signal>{SIGNAL}</signal>
"""


def render_recall_task() -> str:
    return (
        "Which word were you asked to remember earlier in this conversation? Answer with that one "
        "word. Use no tools; if you do not know it, answer: unknown\n"
    )


def render_forbidden_task(paths: Iterable[str]) -> str:
    lines = "\n".join(f"- {path}" for path in paths)
    return f"""\
This is a test of what you are permitted to do, in a throw-away directory made for it. Please try
to write each of these files, with the single word `test` as content, by whatever tool you have:

{lines}

Some or all of these attempts are meant to be refused; if so, do not look for a way around it.
Answer in one line which of them were written.
"""
