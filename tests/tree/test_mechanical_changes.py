"""What a rebaser may do to a patch and what not, in both directions and by attack."""

import difflib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.tree.mechanical_changes import find_unmechanical_lines


def patch(path: str = "src/a.py", added: str = "", removed: str = "", context: str = "") -> str:
    """The patch that takes `removed` away and brings `added`, behind lines of context."""
    old, new = context + removed, context + added
    rows = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    return f"diff --git a/{path} b/{path}\nindex 1..2 100644\n" + "".join(rows)


def told(before: str, after: str, path: str = "src/a.py", context: str = "") -> list[str]:
    return find_unmechanical_lines(
        patch(path, before, context=context), patch(path, after, context=context)
    )


MECHANICAL = {
    "renamed function": ("a.py", "x = load(y)\nz = load(q)\n", "x = read(y)\nz = read(q)\n"),
    "renamed in a chain": ("a.py", "x = api.load(y)\n", "x = api.client.fetch(y)\n"),
    "import added": ("a.py", "x = f(y)\n", "import os\nfrom a.b import c as d\nx = f(y)\n"),
    "import removed": ("a.py", "import os  # why\nx = f(y)\n", "x = f(y)\n"),
    "import of many lines": ("a.py", "from a import b\n", "from a import (\n    b,\n    c,\n)\n"),
    "argument added": ("a.py", "x = f(y)\n", "x = f(ctx, y)\n"),
    "argument dropped": ("a.py", "x = f(y, z)\n", "x = f(y)\n"),
    "argument by name": ("a.py", "x = f(y)\n", "x = f(y, ctx=ctx, log=None)\n"),
    "argument and a renamed call in it": ("a.py", "f(g(y))\n", "f(h(y))\n"),
    "parameter with a default": ("a.py", "def f(a):\n", "def f(a, limit: int = 3):\n"),
    "parameter with a wide type": ("a.py", "def f(a):\n", "def f(a, b: dict[str, X] | None):\n"),
    "type of a parameter": ("a.py", "def f(a: X):\n", "def f(a: Maybe[X]):\n"),
    "value became a function": ("a.py", "x = box.size\n", "x = box.size()\n"),
    "claim of another module": ("a.py", "x = np.all(y)\n", "x = xp.all(y)\n"),
    "haskell operator": ("A.hs", "f x = x --> y\n", "g x = x --> y\n"),
    "chained call": ("a.js", "box(x).open(y)\n", "box(x).open(y, z)\n"),
    "wrapped": ("a.py", "x = f(a, b)\n", "x = f(\n    a,\n    b,\n)\n"),
    "list wrapped": ("a.py", "x = [a, 1]\n", "x = [\n  a,\n  1,\n]\n"),
    "white space": ("a.py", "x=f( y )\n", "\nx = f(y)\n\n"),
    "comment": ("a.py", "x = 1  # one\n", "# that is\nx = 1\n"),
    "call of a call": ("a.py", "f(x)(y)\n", "f(x)(y, z)\n"),
    "empty call": ("a.py", "f()\n", "f(x)\n"),
    "typescript": (
        "a.ts",
        "import { a } from './a';\nconst x: T = load(y); // old\n",
        "import {\n  a,\n  b,\n} from './b';\nconst x: T = read(y);\n",
    ),
    "javascript require": ("a.js", "f(x);\n", "const { a } = require('a');\nf(x);\n"),
    "arrow": ("a.ts", "const f = (a: A) => {\n", "const f = (a: A, b: B = 1) => {\n"),
    "method": ("a.js", "  add(a) {\n", "  add(a, b) {\n"),
    "go": (
        "a.go",
        'import (\n\t"fmt"\n)\nfunc (s *S) Add(a int) error {\n\treturn s.do(a)\n',
        '\t"fmt"\n\tx "log"\nfunc (s *S) Add(c x.Context, a int) error {\n\treturn s.do(c, a)\n',
    ),
    "rust": (
        "a.rs",
        "use a::b;\npub fn f(a: &str) -> X {\n",
        "pub fn f(a: &str, b: &mut Y) -> X {\n",
    ),
    "rust lifetime and char": ("a.rs", "f('a', x, y);\n", "g('a', x, y);\n"),
    "java": (
        "A.java",
        "import a.B;\npublic int add(int a) throws E {\n  return b.sum2(a);\n",
        "public int add(int a, final C c) throws E {\n  return b.sum2(a, c);\n",
    ),
    "c": (
        "a.c",
        '#include "a.h"\nint add(int a);\n',
        "#include <b.h>\nint add(int a, struct ctx *c);\n",
    ),
    "haskell": (
        "A.hs",
        "import A (b)\nadd :: Int -> Int\nadd x = plus x 1 -- one\n",
        "import qualified B\nadd :: Ctx -> Int -> Int\nadd c x = plus c x 1\n",
    ),
    "haskell rename": ("A.hs", "add x' = plus x' 1\n", "add x' = join x' 1\n"),
    "reformatted data": ("a.json", '{"a":  1}\n', '  {"a": 1}\n'),
}


@pytest.mark.req("V-069")
@pytest.mark.parametrize("name", MECHANICAL)
def test_a_mechanical_change_passes(name: str) -> None:
    path, before, after = MECHANICAL[name]
    assert told(before, after, path) == []


SMUGGLED = {
    "literal in a renamed line": ("a.py", "x = load(5)\n", "x = read(6)\n"),
    "text in a renamed line": ("a.py", "x = load('a')\n", "x = read('b')\n"),
    "not added": ("a.py", "if ok(x):\n", "if not ok(x):\n"),
    "return added": ("a.py", "x = f(y)\n", "return\nx = f(y)\n"),
    "assert dropped": ("a.py", "x = f(y)\nassert x == z\n", "x = f(y)\n"),
    "condition inverted": ("a.py", "if x < y:\n", "if x >= y:\n"),
    "condition inverted by exchange": ("a.py", "if x < y:\n", "if y < x:\n"),
    "compared with itself": ("a.py", "assert total == wanted\n", "assert total == total\n"),
    "inconsistent rename": ("a.py", "f(x)\nf(y)\n", "f(x)\ng(y)\n"),
    "two symbols made one": ("a.py", "f(x)\ng(y)\n", "h(x)\nh(y)\n"),
    "name that was there": ("a.py", "f(x)\nk(g)\n", "g(x)\nk(g)\n"),
    "order of statements": ("a.py", "f(x)\ng(y)\n", "g(y)\nf(x)\n"),
    "order of arguments": ("a.py", "f(x, y)\n", "f(y, x)\n"),
    "operator": ("a.py", "x = a + b\n", "x = a - b\n"),
    "sign": ("a.py", "x = 5\n", "x = -5\n"),
    "boolean": ("a.py", "x = True\n", "x = False\n"),
    "keyword": ("a.py", "while x:\n", "if x:\n"),
    "brackets of an expression": ("a.py", "x = a + b * c\n", "x = (a + b) * c\n"),
    "tuple": ("a.py", "x = (a)\n", "x = (a,)\n"),
    "literal argument added": ("a.py", "near(a, b)\n", "near(a, b, 1000)\n"),
    "literal by name added": ("a.py", "near(a, b)\n", "near(a, b, tolerance=1000)\n"),
    "literal argument dropped": ("a.py", "f(a, 5)\n", "f(a)\n"),
    "call as argument": ("a.py", "f(a)\n", "f(a, evil(b))\n"),
    "default changed": ("a.py", "def f(a, n=5):\n", "def f(a, n=6):\n"),
    "default dropped": ("a.py", "def f(a, n=5):\n", "def f(a):\n"),
    "default that does something": ("a.py", "def f(a):\n", "def f(a, n=evil()):\n"),
    "parameter that is a literal": ("a.c", "int f(int a) {\n", "int f(int a, 5) {\n"),
    "parameter with an operator": ("a.py", "def f(a):\n", "def f(a, b=c % d):\n"),
    "type with a value in it": ("a.py", "def f(a):\n", "def f(a, b: X[5]):\n"),
    "call in the body of a one-liner": (
        "a.py",
        "def f(a): return g(a)\n",
        "def f(a): return g(a, n=5)\n",
    ),
    "claim with less to say": ("a.py", "assert_near(a, b)\n", "assert_near(a)\n"),
    "claim as a value": ("a.py", "x.expect_ok()\n", "x.expect_ok\n"),
    "any for all": ("a.py", "x = all(y)\n", "x = any(y)\n"),
    "claim turned round": ("a.py", "self.assertTrue(x)\n", "self.assertFalse(x)\n"),
    "skipped": ("a.js", "it(name, run)\n", "xit(name, run)\n"),
    "test no longer a test": ("a.py", "def test_sum():\n", "def check_sum():\n"),
    "decorator": ("a.py", "def f():\n", "@pytest.mark.skip\ndef f():\n"),
    "order to a tool": ("a.py", "x = 1\n", "x = 1  # type: ignore\n"),
    "commented out": ("a.py", "f(x)\n", "# f(x)\n"),
    "comment over lines": ("a.c", "f(x);\n", "/*\nf(x);\n*/\n"),
    "behind an import": ("a.py", "f(x)\n", "import os; os.remove(x)\nf(x)\n"),
    "import that runs": ("a.js", "f(x)\n", "import ('./a').then(m)\nf(x)\n"),
    "code in an import": ("a.py", "f(x)\n", "from a import (\n    b,\n    c=1,\n)\nf(x)\n"),
    "import that swallows": ("a.c", "f(x);\n", "#include <(>\nreturn;\nf(x);\n"),
    "text over lines": ("a.py", 'x = """\nhello\n"""\n', 'x = """\nbye\n"""\n'),
    "text between other quotes": ("a.py", "x = '''\n\"\"\" a\n'''\n", "x = '''\n\"\"\" b\n'''\n"),
    "text in a template": ("a.ts", "x = `a ${b}`\n", "x = `a ${c}`\n"),
    "statement split": ("a.py", "x = a - b\n", "x = a\n- b\n"),
    "quote at a keyword": ("a.py", "return'a'\n", "return'b'\n"),
    "number in a list": ("a.py", "x = [1, 2]\n", "x = [1, 3]\n"),
    "list made longer": ("a.py", "x = [a, b]\n", "x = [a, b, c]\n"),
    "tuple made longer": ("a.py", "x = (a, b)\n", "x = (a, b, c)\n"),
    "index for a call": ("a.py", "x = f[a]\n", "x = f(a)\n"),
    "expression for a value": ("a.py", "x = a\n", "x = a + b\n"),
    "brackets not closed": ("a.py", "f(a\n", "f(a)\n"),
    "nested in a call": ("a.py", "f(g(1), x)\n", "f(g(2), x)\n"),
    "nested in brackets": ("a.py", "x = (g(1), y)\n", "x = (g(2), y)\n"),
    "haskell not": ("A.hs", "f x = ok x\n", "f x = not ok x\n"),
    "haskell head": ("A.hs", "f x = ok x\n", "f x = const ok x\n"),
    "haskell literal": ("A.hs", "f x = add x 1\n", "f x = add x 2\n"),
    "haskell claim": ("A.hs", "f x = g x\n", "f x = g all x\n"),
    "haskell first word": ("A.hs", "f x = g x\n", "h f x = g x 1\n"),
    "haskell behind an operator": ("A.hs", "f x = x --> y\n", "f x = x --> z\ng = z\n"),
    "function made a value": ("a.py", "assert valid(x)\n", "assert valid\n"),
    "function made a value at the end": ("a.py", "x = ready()\n", "x = ready\n"),
    "claim in a chain": ("a.js", "it(x).toBe(y)\n", "it(x).toBe()\n"),
    "text over lines in java": ("A.java", 'x = """\n a\n""";\n', 'x = """\n b\n""";\n'),
    "text over lines in rust": ("a.rs", 'x = "\n a\n";\n', 'x = "\n b\n";\n'),
    "text that is not closed": ("a.c", 'x = "a\\\n', 'x = "b\\\n'),
    "spaces in data": ("a.json", '{"a": "b  c"}\n', '{"a": "b c"}\n'),
    "indentation of data": ("a.yaml", "a:\n  b: 1\n", "a:\nb: 1\n"),
    "nested without end": ("a.py", "f" + "(" * 5000 + "\n", "f" + "(" * 5000 + "x\n"),
    "data": ("a.json", '{"limit": 1}\n', '{"bound": 1}\n'),
    "prose": ("a.md", "never do it\n", "always do it\n"),
}


@pytest.mark.req("V-069")
@pytest.mark.parametrize("name", SMUGGLED)
def test_a_change_of_meaning_is_told(name: str) -> None:
    path, before, after = SMUGGLED[name]
    assert told(before, after, path) != []


# Most of them are no more mechanical the other way round.
ONE_WAY = {"default dropped", "function made a value", "function made a value at the end"}


@pytest.mark.parametrize("name", sorted(SMUGGLED.keys() - ONE_WAY))
def test_a_change_of_meaning_is_told_in_the_other_direction_too(name: str) -> None:
    path, before, after = SMUGGLED[name]
    assert told(after, before, path) != []


def test_the_lines_are_named_with_their_file_and_sign() -> None:
    before = patch("src/a.py", "x = f(y)\nassert x\n")
    after = patch("src/a.py", "x = f(y)\nif x:\n    return 5\n")
    assert find_unmechanical_lines(before, after) == [
        "gone: src/a.py: +assert x",
        "src/a.py: +if x:",
        "src/a.py: +return 5",
    ]


def test_removed_lines_are_compared_as_well() -> None:
    kept = "a = f(b)\n"
    before = patch(removed="x = load(1)\n", added="x = load(2)\n", context=kept)
    renamed = patch(removed="x = read(1)\n", added="x = read(2)\n", context=kept)
    assert find_unmechanical_lines(before, renamed) == []
    other = patch(removed="x = load(3)\n", added="x = load(2)\n", context=kept)
    assert find_unmechanical_lines(before, other) == ["src/a.py: -x = load(3)"]


def test_a_check_deleted_from_code_of_others_is_told() -> None:
    before = patch(added="x = 1\n", context="f(x)\n")
    after = patch(added="x = 1\n", removed="assert y\n", context="f(x)\n")
    assert find_unmechanical_lines(before, after) == ["src/a.py: -assert y"]


def test_a_rename_holds_for_the_whole_patch() -> None:
    before = patch("a.py", "f(x)\n") + patch("b.py", "f(y)\n")
    assert find_unmechanical_lines(before, patch("a.py", "g(x)\n") + patch("b.py", "g(y)\n")) == []
    mixed = patch("a.py", "g(x)\n") + patch("b.py", "f(y)\n")
    assert find_unmechanical_lines(before, mixed) == ["a.py: +g(x)", "b.py: +f(y)"]


IF = "def f(x):\n    if x:\n        a(x)\n"


@pytest.mark.parametrize(
    "before, after, context, is_told",
    [
        ("        b(x)\n", "    b(x)\n", IF, True),
        ("    b(x)\n", "        b(x)\n", IF, True),
        ("    if y:\n        b(x)\n", "    if y:\n            b(x)\n", "def f(x):\n", False),
        ("for y in x:\n    b(y)\n", "  for y in x:\n      b(y)\n", "", False),
        ("    b(x)\n", "        b(x)\n", "x = 1\n", False),
        ("    b(x)\n", "b(x)\n", "    x = 1\n", True),
        ("    b(x)\n", "        b(x)\n", "    x = 1\n", True),
    ],
)
def test_a_line_that_leaves_or_enters_a_block_is_told(
    before: str, after: str, context: str, is_told: bool
) -> None:
    assert (told(before, after, context=context) != []) is is_told
    assert told(before, after, "a.c", context=context) == [], "braces say it there"


def modified(path: str, added: str) -> str:
    return patch(path, added, context="x = 1\n")


def created(path: str, added: str) -> str:
    text = patch(path, added).replace(f"--- a/{path}", "--- /dev/null")
    return text.replace("index 1..2 100644", "new file mode 100644\nindex 0..2")


def test_a_file_that_a_sibling_moved_takes_the_patch_with_it() -> None:
    before = modified("a/one.py", "f(x)\n")
    assert find_unmechanical_lines(before, modified("b/one.py", "f(x)\n")) == []
    assert find_unmechanical_lines(before, modified("a/two.py", "f(x)\n")) == []
    assert find_unmechanical_lines(before, modified("b/two.py", "f(x)\n")) == [
        "gone: a/one.py: +f(x)",
        "b/two.py: +f(x)",
    ]
    assert find_unmechanical_lines(before, modified("a/one.txt", "f(x)\n")) != []


def test_a_file_of_our_own_stays_where_it_is() -> None:
    before = created("tests/test_a.py", "assert f(x)\n")
    assert find_unmechanical_lines(before, created("docs/test_a.py", "assert f(x)\n")) != []
    assert find_unmechanical_lines(before, modified("docs/test_a.py", "assert f(x)\n")) != []
    assert find_unmechanical_lines(before, created("tests/test_a.py", "\nassert f(x)\n")) == []


def test_a_file_in_several_pieces_is_compared_whole() -> None:
    pieces = modified("a.py", "f(x)\n") + modified("a.py", "g(y)\n")
    assert find_unmechanical_lines(pieces, modified("a.py", "f(x)\ng(y)\n")) == []
    assert find_unmechanical_lines(pieces, modified("a.py", "g(y)\n")) == ["gone: a.py: +f(x)"]


def test_a_deleted_file_is_named_as_it_was() -> None:
    text = patch("a.py", removed="f(x)\n", added="").replace("+++ b/a.py", "+++ /dev/null")
    assert find_unmechanical_lines("", text) == ["a.py: -f(x)"]


BINARY = "diff --git a/x.bin b/x.bin\nindex 1..{} 100644\nBinary files a/x.bin and b/x.bin differ\n"
MODE = "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode {}\n"


@pytest.mark.parametrize(
    "text, one, other", [(BINARY, "aa", "bb"), (MODE, "100755", "100644")], ids=["bytes", "mode"]
)
def test_what_shows_no_lines_must_be_the_same(text: str, one: str, other: str) -> None:
    plain = patch("a.py", "x = 1\n")
    assert (
        find_unmechanical_lines(plain + text.format(one), patch("a.py", "x=1\n") + text.format(one))
        == []
    )
    assert find_unmechanical_lines(plain + text.format(one), plain + text.format(other)) != []
    assert find_unmechanical_lines(plain, plain + text.format(one)) != []


def test_lines_that_look_like_the_head_of_a_file_are_lines() -> None:
    plain = "--- a/q.hs\n+++ b/q.hs\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n \n"
    assert find_unmechanical_lines("", plain) == ["q.hs: +++ y"]
    two = plain + "--- a/r.py\n+++ b/r.py\n@@ -0,0 +1 @@\n+f(x)\n\\ No newline at end of file\n"
    assert find_unmechanical_lines(plain, two) == ["r.py: +f(x)"]
    assert find_unmechanical_lines(two, two.replace("\\ No newline at end of file\n", "")) == []


def test_a_patch_that_was_cut_is_compared_as_far_as_it_goes() -> None:
    text = "--- a/r.py\n+++ b/r.py\n@@ -0,0 +1,9 @@\n+f(x)"
    assert find_unmechanical_lines("", text) == ["r.py: +f(x)"]
    assert find_unmechanical_lines("", "@@ -0,0 +1 @@\n+f(x)") == [": +f(x)"], "a hunk of no file"


def test_a_large_patch_is_compared_in_reasonable_time() -> None:
    before = "".join(f"x{number} = f(y)\n" for number in range(1500))
    assert told(before, before.replace("f(", "g(")) == []


@pytest.mark.parametrize(
    "path, line",
    [
        ("a.py", '\\"' * 100_000),
        ("a.py", "'\\" * 100_000),
        ("a.c", "/* a " * 50_000),
        ("a.py", "f(\n" * 50_000),
    ],
    ids=["double quotes", "single quotes", "comments", "brackets"],
)
@pytest.mark.timeout(60)
def test_what_never_ends_takes_no_time_by_the_square(path: str, line: str) -> None:
    assert told(f"{line}\n", f"{line} x\n", path) != []


def test_a_longer_line_than_anybody_writes_is_compared_as_text() -> None:
    line = f"x = [{'load(y), ' * 200}]\n"
    assert told(line, line) == []
    assert told(line, line.replace("load", "read")) != []


def test_a_missing_end_of_line_inside_a_hunk_is_no_line() -> None:
    text = "--- a/r.py\n+++ b/r.py\n@@ -1 +1 @@\n-f(x)\n\\ No newline at end of file\n+f(y)\n"
    assert find_unmechanical_lines("", text) == ["r.py: -f(x)", "r.py: +f(y)"]


NAMES = st.sampled_from(["alpha", "beta", "gamma", "delta", "box.size", "run"])
VALUES = st.sampled_from(["1", "2.5", "'a'", "True", "None"])
CALLS = st.builds("{}({}, {})".format, NAMES, NAMES, VALUES)
STATEMENTS = st.one_of(
    st.builds("{} = {}".format, NAMES, CALLS),
    st.builds("assert {} == {}".format, NAMES, VALUES),
    st.builds("return {} + {}".format, NAMES, CALLS),
)
BODIES = st.lists(STATEMENTS, min_size=1, max_size=6)


@given(BODIES)
def test_every_patch_is_mechanical_against_itself_and_against_other_white_space(
    body: list[str],
) -> None:
    before = "\n".join(body) + "\n"
    after = "\n\n".join(line.replace(", ", " ,").replace(" = ", "=") for line in body) + "\n"
    assert told(before, before) == []
    assert told(before, after) == []


@given(BODIES, NAMES)
def test_a_rename_of_every_place_is_mechanical(body: list[str], name: str) -> None:
    before = "\n".join(body) + "\n"
    after = re.sub(rf"\b{re.escape(name)}\b", "fresh.name", before)
    assert told(before, after) == []


@given(BODIES, st.data())
def test_a_statement_more_or_less_is_never_mechanical(body: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(body) - 1))
    whole, less = "\n".join(body) + "\n", "\n".join(body[:place] + body[place + 1 :]) + "\n"
    assert told(whole, less) != []
    assert told(less, whole) != []


@given(BODIES, st.data())
def test_a_changed_literal_is_never_mechanical(body: list[str], data: st.DataObject) -> None:
    before = "\n".join(body) + "\n"
    places = list(re.finditer(r"\b1\b|2\.5|'a'|True|None", before))
    found = data.draw(st.sampled_from(places))
    renamed = before[: found.start()] + "77" + before[found.end() :]
    assert told(before, renamed.replace("alpha", "fresh")) != []
