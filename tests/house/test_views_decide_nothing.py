"""No view finds out from a sentence, or by taking names apart, what a value of the account says.

The scope is what the syntax shows: in the packages below, methods that cut or compare a text
(`startswith`, `partition`, ...) and comparisons, with the words that people read or with the parts
of the names of states, positions, budgets and runs. A text that is compared in another way, or by
a pattern, is not found.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import porch

SOURCE = Path(porch.__file__).parent
PACKAGES = ("account", "cli", "fleet", "machine", "run", "show", "store", "web")
CUTTING = ("startswith", "endswith", "partition", "rpartition", "split", "removeprefix", "find")
# Of sentences that people read, and of names that the engine makes.
WORDS = (
    *(
        "you: ",
        "porch resume",
        "porch finish",
        "not running",
        "exit code",
        "skipped: ",
        "failed:",
    ),
    *(":rounds", "plan_", "ask_", "track_", "budget:", "changed:", "blocked:"),
    *("it counts as waived", "passed: ", "reviews: ", "unmeasured: ", "flaky: "),
    ": ",  # behind it stands what to do
)
# Attributes that hold a name with parts; their parts are fields of the state or of the protocol.
NAMES = ("state", "because", "name", "position")
# Which file, what it does, and why it has nothing better; an entry that is not needed is a failure.
ALLOWED = {
    ("show/records/timeline.py", "exit code"): "lines of a log are drawn from raw records alone",
    ("show/records/timeline.py", "skipped: "): "so release 1 wrote it into its journals",
}


def list_decisions_from_text(source: Path) -> Iterator[tuple[str, str]]:
    """Each file with the words, or the parted attribute, by which it decides."""
    for package in PACKAGES:
        for path in sorted((source / package).rglob("*.py")):
            name = path.relative_to(source).as_posix()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                yield from ((name, word) for word in _find_words(node))


def _find_words(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Compare):
        for side in (node.left, *node.comparators):
            if isinstance(side, ast.Constant) and side.value in WORDS[:4]:
                yield str(side.value)
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return
    if node.func.attr not in CUTTING or not node.args:
        return
    for word in ast.walk(node.args[0]):
        if isinstance(word, ast.Constant) and word.value in WORDS:
            yield str(word.value)
    holder = node.func.value
    is_colon = isinstance(node.args[0], ast.Constant) and node.args[0].value == ":"
    if is_colon and isinstance(holder, ast.Attribute) and holder.attr in NAMES:
        yield f"{holder.attr}:"


def test_nothing_is_decided_from_a_sentence_or_a_part_of_a_name() -> None:
    found = set(list_decisions_from_text(SOURCE))
    assert found - set(ALLOWED) == set(), "take a value of the account or of the machine instead"
    assert set(ALLOWED) - found == set(), "the list of exceptions only gets shorter"


def test_each_form_that_was_removed_would_be_found(tmp_path: Path) -> None:
    lines = (
        'x = waits.startswith("you: ")',
        'x = waits == "porch resume"',
        'x = "not running" in text',
        'x = budget.endswith(":rounds")',
        'x = standing.state.partition(":")[0]',
        'x = row["run"].startswith("plan_")',
        'x = name.startswith(("plan_", "ask_"))',
        'x = meaning.endswith("it counts as waived")',
        'x = driven.partition(": ")[0]',
    )
    (tmp_path / "show").mkdir()
    for line in lines:
        (tmp_path / "show" / "view.py").write_text(line)
        assert list(list_decisions_from_text(tmp_path)), line
