"""Why a feedback file is no answer, seen at a glance and as it is now."""

from pathlib import Path

import pytest

from porch.errors import Finding
from porch.plan.forms import render_with_complaints
from porch.plan.gate_files.form_notice import list_form_problems

TOLD = [Finding("x", "'a' is wrong", None, "mend it"), Finding("y", "so is 'b'")]


@pytest.mark.parametrize(
    "text, problems",
    [
        ("a: 1\ndone: false\n", []),
        ("a: 1\ndone:\n", []),
        ("a: 1\ndone: yes # really\n", []),
        (
            render_with_complaints("a: 1\ndone: true\n", TOLD),
            ["'a' is wrong; mend it", "so is 'b'"],
        ),
        (render_with_complaints("a: 1\n", TOLD) + "done: true\n", []),
        (
            render_with_complaints("a: 1\n", TOLD) + "done: tru\n",
            ["'done' says 'tru', which is neither true nor false; write 'done: true'"],
        ),
        (" \n", ["the file is empty; delete it, and a new form is written"]),
        ("# a\n", ["there is no 'done' in it; write 'done: true' at its end"]),
        ("a: \0", ["it is not UTF-8; save it as UTF-8"]),
    ],
)
def test_k5_a_file_says_at_a_glance_why_it_is_no_answer(
    tmp_path: Path, text: str, problems: list[str]
) -> None:
    path = tmp_path / "form.yaml"
    path.write_text(text)
    assert list_form_problems(str(path)) == problems


def test_what_is_no_such_file_is_nobodys_problem_here(tmp_path: Path) -> None:
    assert list_form_problems(str(tmp_path)) == []
    assert list_form_problems(str(tmp_path / "none")) == []
    (tmp_path / "latin").write_bytes(b"a: caf\xe9\ndone: true\n")
    assert list_form_problems(str(tmp_path / "latin")) == ["it is not UTF-8; save it as UTF-8"]
