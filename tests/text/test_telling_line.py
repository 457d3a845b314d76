"""Which line of an output says why a program failed."""

import pytest

from porch.text.telling_line import find_telling_line


@pytest.mark.parametrize(
    "output, line",
    [
        ("", ""),
        ("make: *** [Makefile:8: build] Error 1", "make: *** [Makefile:8: build] Error 1"),
        (
            'exit code 2\n  File "a.py"\nSyntaxError: no\nmake: *** [Makefile:8: build] Error 1',
            "SyntaxError: no",
        ),
        (
            "E   AssertionError: 1\nFAILED test_a.py::test_x - assert 1 == 2\n1 failed in 0.1s",
            "FAILED test_a.py::test_x - assert 1 == 2",
        ),
        (
            "cc -c a.c\na.c:3:1: error: expected ';'\na.c:9:1: error: stray '}'\nmake: *** [a.o] 1",
            "a.c:3:1: error: expected ';'",
        ),
        (
            "linking calc\nundefined reference to `add'\nmake: *** [Makefile:8: build] Error 1",
            "undefined reference to `add'",
        ),
        ("exit code 127\n/bin/sh: 1: make: not found", "/bin/sh: 1: make: not found"),
        (
            (
                'exit code 1\n{\n  "status": "error",\n  "error": {\n    "type": "claim_not_so",\n'
                '    "message": "prompt 1 is not \\"merged\\"",\n    "fix": "do it"\n  }\n}'
            ),
            'prompt 1 is not "merged"',
        ),
        ("exit code 1\nlooked at 3 files\n2 of them are too long", "2 of them are too long"),
    ],
)
def test_the_line_that_says_why_is_found(output: str, line: str) -> None:
    """T12: the worst line was picked, what make says about its own end."""
    assert find_telling_line(output) == line
