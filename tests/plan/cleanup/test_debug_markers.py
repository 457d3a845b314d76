"""What goes with a marker, what must not go, and that nothing else ever does."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from porch.plan.cleanup import debug_markers
from porch.plan.cleanup.debug_markers import judge_markers, remove_blocks

# In pieces, so that this file holds no marker that somebody seems to have meant.
OPEN = "[" + "DEBUG-TEMP]"
CLOSE = "[/" + "DEBUG-TEMP]"


def cleaned(text: str, *, force: bool = False) -> str:
    blocks = [block for block in judge_markers(text).blocks if force or not block.refusal]
    return remove_blocks(text, blocks)


def refusal(text: str) -> str:
    (block,) = judge_markers(text).blocks
    assert cleaned(text) == text
    return block.refusal


@pytest.mark.req("E-075")
@pytest.mark.parametrize("opener", ["//", "#", "--", ";", ";;", "%", "'", "!", "REM", "///", "##"])
@pytest.mark.parametrize("space", ["", " ", "\t"])
def test_a_marker_alone_in_a_comment_goes_with_its_lines(opener: str, space: str) -> None:
    assert cleaned(f"a\n{opener}{space}{OPEN}\nlog(a)\n\nb\n") == "a\n\nb\n"


@pytest.mark.parametrize(
    "comment",
    [
        "/* {} */",
        "/*{}*/",
        "/** {} */",
        "{{/* {} */}}",
        "<!-- {} -->",
        "<!--{}-->",
        "(* {} *)",
        "{{- {} -}}",
        "{{# {} #}}",
        "<%-- {} --%>",
        "--[[ {} ]]",
    ],
)
def test_a_marker_in_a_comment_with_two_ends_goes_with_its_lines(comment: str) -> None:
    assert cleaned(f"a\n  {comment.format(OPEN)}\n  log(a)\n\nb\n") == "a\n\nb\n"


@pytest.mark.req("E-076")
def test_all_lines_up_to_the_blank_one_go() -> None:
    text = f"def f():\n    x = 1\n    # {OPEN}\n    print(x)\n    print(2)\n\n    return x\n"
    assert cleaned(text) == "def f():\n    x = 1\n\n    return x\n"


@pytest.mark.req("E-077")
@pytest.mark.parametrize("blank", ["", "   ", "\t", " \t \r"])
def test_the_blank_line_and_everything_behind_it_stay(blank: str) -> None:
    text = f"a\n// {OPEN}\nlog(1)\n{blank}\nlog(2)\n"
    assert cleaned(text) == f"a\n{blank}\nlog(2)\n"


def test_windows_line_ends_stay_as_they_are() -> None:
    text = f"a();\r\n// {OPEN}\r\nlog(1);\r\n\r\nb();\r\n"
    assert cleaned(text) == "a();\r\n\r\nb();\r\n"


@pytest.mark.req("E-078")
def test_every_marker_of_a_file_goes() -> None:
    text = f"# {OPEN}\nlog(1)\n\na\n# {OPEN}\nlog(2)\n\nb\n"
    assert cleaned(text) == "\na\n\nb\n"


def test_two_markers_without_a_blank_line_between_are_two_blocks() -> None:
    text = f"if a:\n    # {OPEN}\n    log(1)\n# {OPEN}\nlog(2)\n\nb\n"
    assert len(judge_markers(text).blocks) == 2
    assert cleaned(text) == "if a:\n\nb\n"


@pytest.mark.req("E-080")
def test_a_second_time_finds_nothing() -> None:
    once = cleaned(f"a\n# {OPEN}\nlog(1)\n\nb\n")
    assert judge_markers(once).blocks == ()
    assert cleaned(once) == once


def test_an_end_marker_takes_blank_lines_along() -> None:
    text = f"a\n# {OPEN}\nlog(\n\n  1)\n# {CLOSE}\nb\n"
    assert cleaned(text) == "a\nb\n"


def test_an_end_marker_needs_no_blank_line_and_no_more_file() -> None:
    assert cleaned(f"a\n# {OPEN}\nlog(1)\n# {CLOSE}") == "a\n"


def test_a_marker_with_nothing_under_it_goes_alone_even_at_the_end() -> None:
    assert cleaned(f"a\n# {OPEN}\n") == "a\n"
    assert cleaned(f"a\n# {OPEN}\n\nb\n") == "a\n\nb\n"


@pytest.mark.parametrize("end", ["", "\n", "\nmore()", "\nmore()\n"])
def test_e10_a_block_that_no_blank_line_ends_goes_to_the_end_of_the_file(end: str) -> None:
    assert cleaned(f"a\n# {OPEN}\nlog(1){end}") == "a\n"


def test_e10_real_code_up_to_the_end_of_the_file_is_still_refused() -> None:
    assert "defines a function" in refusal(f"# {OPEN}\nlog(1)\ndef more():\n    pass\n")
    assert "indented less" in refusal(f"if a:\n    # {OPEN}\n    log(1)\nb()\n")


def test_a_long_block_is_refused() -> None:
    body = "log(1)\n" * debug_markers.LONGEST
    assert cleaned(f"# {OPEN}\n{body}\nb\n") == "\nb\n"
    assert "41 lines" in refusal(f"# {OPEN}\n{body}log(1)\n\nb\n")


@pytest.mark.parametrize(
    "line",
    [
        "def f(): pass",
        "class A: pass",
        "async def f(): pass",
        "export default function f() {}",
        "export async function* f() {}",
        "func main() {}",
        "pub(crate) fn f() {}",
        "private int a = 1;",
        "interface A {}",
    ],
)
def test_a_definition_in_the_block_is_refused(line: str) -> None:
    assert "defines" in refusal(f"# {OPEN}\nlog(1)\n{line}\n\n")


@pytest.mark.parametrize(
    "line",
    ["definitely(1)", "classify(x)", "func(x)", "import pdb; pdb.run(1)", "a.map(function () {})"],
)
def test_a_line_that_only_looks_like_a_definition_goes(line: str) -> None:
    assert cleaned(f"# {OPEN}\n{line}\n\nb\n") == "\nb\n"


@pytest.mark.parametrize("line", ["return x", "raise", "throw e;", "break", "continue", "yield x"])
def test_a_line_that_leaves_the_code_around_is_refused(line: str) -> None:
    assert "jumps out of the code" in refusal(f"  # {OPEN}\n  log(1)\n  {line}\n\n")


def test_a_return_deeper_inside_the_block_goes_with_it() -> None:
    text = f"// {OPEN}\na.map(x => {{\n  return log(x);\n}});\n\nb\n"
    assert cleaned(text) == "\nb\n"


@pytest.mark.parametrize("line", ["log(2)", "  log(2)", "\tlog(2)", "}"])
def test_a_line_left_of_the_marker_is_refused(line: str) -> None:
    assert "indented less" in refusal(f"    # {OPEN}\n    log(1)\n{line}\n\n")


@pytest.mark.parametrize(
    "body, why",
    [
        ("log(1)\n}", "closes a '}'"),
        ("log(1,", "'(' open"),
        ("log([1)]", "closes a ')'"),
        ("if debug:", "continues on"),
        ("echo a \\", "continues on"),
        ("log(1) ||", "continues on"),
    ],
)
def test_half_a_statement_is_refused(body: str, why: str) -> None:
    assert why in refusal(f"// {OPEN}\n{body}\n\nlog(2)\n")


@pytest.mark.parametrize("line", ['log(":)")', "log('(')", "log(`[${x}`)", r'log("\")")'])
def test_brackets_in_texts_do_not_count(line: str) -> None:
    assert cleaned(f"// {OPEN}\n{line}\n\nb\n") == "\nb\n"


@pytest.mark.parametrize(
    "line, why",
    [
        (f"// {OPEN} remove me", "more text"),
        (f"# {OPEN} {OPEN}", "more text"),
        (f"log(1) // {OPEN}", "there is code before"),
        (f"log(1)  # {OPEN} x", "there is code before"),
        (f"/* {OPEN}", "not closed"),
        (f"{OPEN}", "not in a comment"),
        (f" * {OPEN}", "not in a comment"),
        (f"# {CLOSE}", "no marker before"),
        (f'log("{OPEN} here", x)', "printed"),
        (f"log('{OPEN}: ' + x)", "printed"),
    ],
)
def test_a_marker_that_begins_no_block_is_left_over(line: str, why: str) -> None:
    judged = judge_markers(f"a\n{line}\nlog(1)\n\nb\n")
    (left,) = judged.leftovers
    assert judged.blocks == ()
    assert (left.line, left.text) == (1, line.strip())
    assert why in left.reason


@pytest.mark.parametrize(
    "line",
    [
        f'MARK = "{OPEN}"',
        f'    "{OPEN}",',
        f"MARKS = ['{OPEN}', '{CLOSE}']",
        f"  * Put `// {OPEN}` before it and a blank line behind",
        f"Remove all {OPEN} markers",
        "DEBUG-TEMP is what they are called",
    ],
)
def test_a_text_that_only_names_the_marker_is_no_leftover(line: str) -> None:
    judged = judge_markers(f"{line}\nb\n\n")
    assert judged.leftovers == ()
    assert judged.blocks == ()
    assert judged.mentions == line.count(OPEN) + line.count(CLOSE)


@pytest.mark.parametrize("mark", [OPEN.lower(), CLOSE.lower(), OPEN.title()])
@pytest.mark.parametrize("line", ["# {}", "  // {} remove me", "/* {} */", "log(1)  # {}"])
def test_n10_a_marker_in_small_letters_is_reported_and_left_alone(mark: str, line: str) -> None:
    text = f"a\n{line.format(mark)}\nlog(1)\n\nb\n"
    judged = judge_markers(text)
    assert (judged.blocks, [left.line for left in judged.leftovers]) == ((), [1])
    assert judged.leftovers[0].reason == "the marker is not in capital letters"


def test_n10_small_letters_that_only_name_the_marker_are_a_mention() -> None:
    judged = judge_markers(f'MARK = "{OPEN.lower()}"\nsay `{OPEN.lower()}` here\n')
    assert (judged.leftovers, judged.mentions) == ((), 2)


def test_in_prose_only_an_html_comment_outside_of_code_is_a_marker() -> None:
    shown = f"# {OPEN}\nprint(1)\n\n```js\n// {OPEN}\nlog(1)\n\n<!-- {OPEN} -->\nx\n\n```\n\n"
    text = f"{shown}<!-- {OPEN} -->\nleft here\n\nend\n"
    judged = judge_markers(text, "prose")
    assert judged.leftovers == ()
    assert remove_blocks(text, judged.blocks) == f"{shown}\nend\n"
    assert judged.mentions == 3


def test_in_yaml_what_is_between_fences_only_shows() -> None:
    shown = (
        f"text: |\n  Put it so, below a **{OPEN} marker**:\n  ```\n  // {OPEN}\n  log(1)\n\n  ```\n"
    )
    text = f"{shown}# {OPEN}\nlevel: debug\n\nend: true\n"
    judged = judge_markers(text, "fenced")
    assert judged.leftovers == ()
    assert remove_blocks(text, judged.blocks) == f"{shown}\nend: true\n"
    assert judged.mentions == 2


PARTS = st.sampled_from(
    [
        f"# {OPEN}",
        f"  // {OPEN}\r",
        f"/* {OPEN} */",
        f"# {CLOSE}",
        f"log() # {OPEN}",
        "",
        "  ",
        "\r",
        "log(1)",
        "    log(2)",
        "def f():",
        "return 1",
        "}",
        "\x85\xa0",
        "caf\xc3\xa9 \x0b\x0c\x1c\x1d",
    ]
)
TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + end, st.lists(PARTS, max_size=30), st.sampled_from("\n ")
)


@given(TEXTS, st.booleans())
@example(f"a\n# {OPEN}\nlog(1)", True)
def test_every_byte_outside_of_the_removed_blocks_is_kept(text: str, force: bool) -> None:
    """The reference walks bytes, and knows lines only by their newlines."""
    data = text.encode("latin-1")
    blocks = [block for block in judge_markers(text).blocks if force or not block.refusal]
    kept, at, number = bytearray(), 0, 0
    while at < len(data):
        newline = data.find(b"\n", at)
        end = len(data) if newline < 0 else newline + 1
        if not any(block.begin <= number < block.end for block in blocks):
            kept += data[at:end]
        at, number = end, number + 1
    assert remove_blocks(text, blocks).encode("latin-1") == bytes(kept)


@given(TEXTS)
def test_a_block_is_its_marker_and_lines_that_are_not_blank(text: str) -> None:
    lines = text.split("\n")
    for block in judge_markers(text).blocks:
        body = lines[block.begin + 1 : block.end]
        assert lines[block.begin].strip(" \r") in (f"# {OPEN}", f"// {OPEN}", f"/* {OPEN} */")
        is_paired = bool(body) and CLOSE in body[-1]
        assert is_paired or all(line.strip(" \t\r\f\v") for line in body)
        assert not any(OPEN in line and line.lstrip().startswith(("#", "/")) for line in body)


@given(TEXTS)
def test_what_is_clean_stays_clean(text: str) -> None:
    once = cleaned(text)
    assert [block for block in judge_markers(once).blocks if not block.refusal] == [] or (
        # A removed block may have stood between a refused one and the blank line that ends it.
        any(block.refusal for block in judge_markers(text).blocks)
    )


@given(st.text(alphabet="ab #/\n\r\t[]" + "DEBUG-TEMP", max_size=60))
def test_any_text_is_judged(text: str) -> None:
    judged = judge_markers(text)
    assert len(remove_blocks(text, judged.blocks)) <= len(text)
    assert (judged.blocks, judged.leftovers, judged.mentions) == ((), (), 0) or "DEBUG" in text
