"""Templates of graphs: strict, sandboxed, bounded, and every complaint points at its line."""

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from porch.errors import DefinitionError, Finding, Place
from porch.show import strict_templates as templates
from porch.text.markdown import MASK, fenced_blocks, mask_inline_code, parse_markdown_lines
from porch.text.printable import make_printable

FILE = "templates/impl.md.j2"
SPEC = {"id": "auth", "description": "People log in.", "limits": None}
VALUES: dict[str, Any] = {"spec": SPEC, "names": ["a", "b"], "revision": None}

# Everything that has a meaning in Markdown, and what ends a line anywhere.
MARKUP = st.text(alphabet="`~>#-* \t\n\r\x0b\x0c\x1c\x85\u2028\u2029\x1b[1mab\\<!", max_size=60)


def faults(template: str, values: dict[str, Any] = VALUES) -> list[Finding]:
    with pytest.raises(DefinitionError) as caught:
        templates.render_strict_template(template, FILE, values)
    return list(caught.value.findings)


def fault(template: str, values: dict[str, Any] = VALUES) -> Finding:
    (found,) = faults(template, values)
    assert found.code == "template"
    assert found.fix
    return found


def test_values_are_filled_in() -> None:
    assert (
        templates.render_strict_template("# {{ spec.id }}: {{ names | join('+') }}\n", FILE, VALUES)
        == "# auth: a+b\n"
    )


def test_lines_that_only_steer_leave_no_trace() -> None:
    template = (
        "{% for n in names %}\n- {{ n }}\n{% endfor %}\n  {% if revision %}\nx\n  {% endif %}\n"
    )
    assert templates.render_strict_template(template, FILE, VALUES) == "- a\n- b\n"


def test_nothing_is_escaped_as_html() -> None:
    assert templates.render_strict_template("{{ t }}", FILE, {"t": "<a & 'b'>"}) == "<a & 'b'>"


def test_the_same_template_can_be_filled_in_with_other_values() -> None:
    assert [
        templates.render_strict_template("{{ n }}", FILE, {"n": each}) for each in ("x", "y")
    ] == ["x", "y"]


@pytest.mark.parametrize("template", ["{{ spce }}", "{% if spce %}x{% endif %}"])
def test_an_unknown_name_is_refused_also_inside_a_condition(template: str) -> None:
    found = fault(f"one\n two {template}")
    assert "'spce' is not known" in found.message
    assert found.place is not None
    assert (found.place.file, found.place.line) == (FILE, 2)
    assert found.place.column == 6 + template.index("spce")
    assert "did you mean 'spec'?" in found.fix
    assert "known names: names, revision, spec" in found.fix


def test_an_unknown_name_is_refused_also_where_it_would_not_be_reached() -> None:
    assert "'wrong'" in fault("{% if revision %}{{ wrong }}{% endif %}").message


def test_all_unknown_names_are_told_at_once() -> None:
    found = faults("{{ one }}\n{{ two }}\n{{ one }}")
    assert [(each.place.line, each.message[:5]) for each in found if each.place] == [
        (1, "'one'"),
        (2, "'two'"),
        (3, "'one'"),
    ]


def test_names_that_the_template_makes_itself_are_not_unknown() -> None:
    template = (
        "{% set x = 1 %}{% macro m(y) %}{{ y }}{% endmacro %}{% for n in names %}{{ loop.index }}"
        "{{ n }}{% endfor %}{{ m(x) }}{{ range(2) | join }}"
    )
    assert templates.render_strict_template(template, FILE, VALUES) == "1a2b101"


def test_a_field_that_does_not_exist_names_those_that_do() -> None:
    found = fault("one\n{{ spec.descriptoin }}")
    assert "there is no 'descriptoin' here; did you mean 'description'?" in found.message
    assert "known names: description, id, limits" in found.message
    assert found.place == Place(FILE, 2, 1)
    assert "names, revision, spec" in found.fix


def test_a_field_that_does_not_exist_is_refused_inside_a_condition() -> None:
    assert "there is no 'wrong' here" in fault("{% if spec.wrong %}x{% endif %}").message


def test_a_field_of_an_absent_value_is_refused() -> None:
    found = fault("\n\n{{ revision.kind }}")
    assert "'kind' is read from a value that is missing (None)" in found.message
    assert found.place == Place(FILE, 3, 1)


def test_an_absent_value_can_be_asked_for_with_if() -> None:
    assert (
        templates.render_strict_template(
            "{% if revision %}{{ revision.kind }}{% endif %}-", FILE, VALUES
        )
        == "-"
    )


def test_a_field_named_like_a_method_is_the_field() -> None:
    values = {"x": {"items": "mine", "values": [1]}, "y": {"a": 1}}
    template = (
        "{{ x.items }}{{ x.values | join }}{% for k, v in y.items() %}{{ k }}{{ v }}{% endfor %}"
    )
    assert templates.render_strict_template(template, FILE, values) == "mine1a1"


@pytest.mark.parametrize(
    "template, line",
    [
        ("ok\n{{ spec.id", 2),
        ("ok\n\n{% if spec %}", 3),
        ("{% endif %}", 1),
        ("a\r\nb\r\n{{ spec | nosuchfilter }}", 3),
        ("{% nosuchtag %}", 1),
    ],
)
def test_wrong_syntax_is_refused_at_its_line(template: str, line: int) -> None:
    place = fault(template).place
    assert place is not None
    assert (place.file, place.line) == (FILE, line)


@pytest.mark.parametrize(
    "tag",
    [
        "{% include 'other' %}",
        "{% include ['other'] ignore missing %}",
        "{% import 'other' as o %}",
        "{% from 'other' import o %}",
        "{% extends 'other' %}",
    ],
)
def test_a_template_reaches_no_other_file(tag: str) -> None:
    found = fault(f"one\n{tag}")
    assert "cannot include" in found.message
    assert found.place == Place(FILE, 2, 1)


@pytest.mark.parametrize(
    "expression",
    [
        "().__class__.__bases__[0].__subclasses__()",
        "spec.__class__",
        "names.append('c')",
        "spec.update(id='other')",
        "''.join.__globals__",
        "'{0.__class__}'.format(spec)",
    ],
)
def test_a_template_can_neither_leave_the_sandbox_nor_change_what_it_is_given(
    expression: str,
) -> None:
    fault(f"{{{{ {expression} }}}}")
    assert VALUES == {"spec": SPEC, "names": ["a", "b"], "revision": None}


@pytest.mark.parametrize(
    "expression",
    [
        "range(10 ** 9) | length",
        "range(999999999) | length",
        "'x' * 999999999",
        "[0] * 999999999",
        "9 ** 9 ** 9",
        "'%999999999d' % 1",
    ],
)
def test_a_short_expression_cannot_make_a_huge_value(expression: str) -> None:
    assert fault(f"\n{{{{ {expression} }}}}").place == Place(FILE, 2, 1)


def test_numbers_can_be_reckoned_with() -> None:
    assert (
        templates.render_strict_template("{{ 2 * n }} {{ n % 2 }} {{ n + 1 }}", FILE, {"n": 3})
        == "6 1 4"
    )


@pytest.mark.parametrize("expression", ["names | random", "lipsum()"])
def test_nothing_random_is_offered(expression: str) -> None:
    fault(f"{{{{ {expression} }}}}")


def test_a_text_of_the_greatest_length_is_allowed_and_one_more_byte_is_not() -> None:
    half = "é" * (templates.MOST_BYTES // 4)
    assert (
        len(templates.render_strict_template("{{ a }}{{ a }}", FILE, {"a": half}).encode())
        == templates.MOST_BYTES
    )
    found = fault("{{ a }}{{ a }}!", {"a": half})
    assert f"longer than {templates.MOST_BYTES} bytes" in found.message


def test_a_loop_that_would_write_for_very_long_is_cut_short() -> None:
    inner = "{% for b in range(99999) %}{{ a }}{{ b }}{% endfor %}"
    assert "steps" in fault(f"{{% for a in range(99999) %}}{inner}{{% endfor %}}").message


@pytest.mark.parametrize(
    "template",
    [
        "{{ 1 // 0 }}",
        "{{ names | first | round }}",
        "{{ spec < 3 }}",
        "{% for x in 5 %}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{{ spec() }}",
        "{{ revision | indent }}",
    ],
)
def test_a_fault_while_filling_in_is_a_finding_at_its_line(template: str) -> None:
    place = fault(f"\n{template}").place
    assert place is not None
    assert (place.file, place.line) == (FILE, 2)


def test_a_template_that_is_nested_too_deeply_is_refused() -> None:
    assert fault("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}").place == Place(FILE, 1, 1)


def test_used_names_are_those_that_must_be_given() -> None:
    template = "{% set own = a.b %}{{ own }}{% for c in d %}{{ c.e }}{% endfor %}{{ range(f) }}"
    assert templates.find_used_variables(template) == {"a", "d", "f"}


def test_used_names_of_a_broken_template_are_an_error_with_its_place() -> None:
    with pytest.raises(DefinitionError) as caught:
        templates.find_used_variables("\n{{", FILE)
    assert caught.value.findings[0].place == Place(FILE, 2, 1)


FULL: dict[str, Any] = {"spec": SPEC, "revision": {"kind": "Stuck"}, "names": ["a"]}
LEAST: dict[str, Any] = {"spec": SPEC, "revision": None, "names": []}


def problems(template: str) -> list[str]:
    found = templates.check_strict_template(template, FILE, FULL, LEAST)
    assert all(each.code == "template" and each.place and each.place.line for each in found)
    return [f"{each.place}: {each.message}" for each in found]


def test_a_sound_template_has_no_problems() -> None:
    assert problems("{{ spec.id }}{% if revision %}{{ revision.kind }}{% endif %}") == []


def test_wrong_syntax_is_a_problem() -> None:
    (found,) = problems("one\n{{ spec")
    assert found.startswith(f"{FILE}:2:")


def test_unknown_names_are_problems_wherever_they_stand() -> None:
    found = problems("x\n{{ one }}{% if revision %}\n{{ two }}{% endif %}")
    assert [each.split(" is")[0] for each in found] == [f"{FILE}:2:4: 'one'", f"{FILE}:3:4: 'two'"]


def test_a_field_of_what_may_be_absent_is_a_problem_with_nothing_optional() -> None:
    (found,) = problems("x\n{{ revision.kind }}")
    assert found.startswith(f"{FILE}:2:1: 'kind' is read from a value that is missing")
    assert found.endswith("(when no optional value is given)")


def test_a_wrong_field_behind_a_condition_is_a_problem_with_everything_given() -> None:
    (found,) = problems("x\n{% if revision %}\n{{ revision.knid }}\n{% endif %}")
    assert found.startswith(f"{FILE}:3:1: there is no 'knid' here")
    assert "nothing optional" not in found


def test_one_fault_in_both_trials_is_told_once() -> None:
    assert len(problems("{{ spec.wrong }}")) == 1


@pytest.mark.parametrize("template", ["", " \n\t\n", "{# only a note #}", "{% set x = 1 %}\n"])
def test_a_template_that_says_nothing_is_a_problem(template: str) -> None:
    assert problems(template) == [f"{FILE}:1:1: the template gives an empty text"]


@pytest.mark.parametrize("template", ["{% if revision %}x{% endif %}", "{{ names | join }}\n"])
def test_a_template_that_can_come_out_empty_is_a_problem(template: str) -> None:
    (found,) = problems(template)
    assert found.endswith("the template gives an empty text (when no optional value is given)")


def test_a_template_that_is_empty_only_with_everything_given_is_a_problem() -> None:
    (found,) = problems("{% if not revision %}x{% endif %}")
    assert found.endswith("the template gives an empty text")


@given(MARKUP)
@example("``````")
@example("a\n```\nb\n````")
def test_nothing_inside_a_fence_can_close_it(text: str) -> None:
    lines = parse_markdown_lines(templates.fence_text(text, "diff"))
    (block,) = fenced_blocks(lines)
    assert [lines[0].kind, lines[-1].kind] == ["fence", "fence"]
    assert all(line.kind == "code" for line in lines[1:-1])
    assert block.info == "diff"
    kept = make_printable(re.sub(r"\r\n?", "\n", text))
    assert block.text == kept.removesuffix("\n")


def test_a_fence_is_no_longer_than_it_must_be() -> None:
    assert templates.fence_text("x\n") == "```\nx\n```"
    assert templates.fence_text("a ```` b", "text") == "`````text\na ```` b\n`````"
    assert templates.fence_text("") == "```\n```"


@given(MARKUP)
@example("a\r# b\u2028c")
def test_every_line_of_a_quote_is_quoted(text: str) -> None:
    shown = templates.quote_text(text)
    lines = parse_markdown_lines(shown.removesuffix("\n"))
    assert all(line.kind == "quote" for line in lines)
    assert not set(shown) & set("\r\x0b\x0c\x1b\x1c\x85\u2028\u2029")


def test_a_quoted_section_ends_with_its_last_line() -> None:
    template = "{% filter quote %}\n- {{ a }}\n{% endfilter %}\n\nours\n"
    assert templates.render_strict_template(template, FILE, {"a": "x\ny"}) == "> - x\n> y\n\nours\n"


def test_control_characters_are_taken_out_of_quotes() -> None:
    assert templates.quote_text("a\x1b[31mb\x00\u200bc") == "> abc"


@given(MARKUP)
@example("`")
@example("a``b`")
def test_a_name_in_code_is_nothing_but_code(text: str) -> None:
    shown = templates.format_inline_code(text)
    assert "\n" not in shown
    assert shown == "(empty)" or set(mask_inline_code(shown)) == {MASK}


def test_a_number_can_be_shown_as_code() -> None:
    assert templates.format_inline_code(7) == "`7`"


def test_a_payload_is_shown_field_by_field() -> None:
    payload = {
        "reason": "one\ntwo",
        "tests": ["a", "b`c"],
        "count": 3,
        "sure": True,
        "nothing": None,
        "nested": [{"id": "ü"}],
        "none": [],
    }
    assert templates.format_fields(payload) == (
        "- `reason`:\n  > one\n  > two\n"
        "- `tests`: `a`, ``b`c``\n"
        "- `count`: 3\n"
        "- `sure`: true\n"
        '- `nested`:\n  ```json\n  [\n    {\n      "id": "ü"\n    }\n  ]\n  ```\n'
        "- `none`:\n  ```json\n  []\n  ```"
    )


def test_a_mapping_of_any_kind_inside_a_payload_can_be_shown() -> None:
    from types import MappingProxyType

    assert '"a": 1' in templates.format_fields({"x": MappingProxyType({"a": 1})})


@pytest.mark.parametrize(
    "filter_",
    [
        templates.fence_text,
        templates.quote_text,
        templates.format_inline_code,
        templates.format_fields,
    ],
)
@pytest.mark.parametrize("value", [None, ["a"], True])
def test_a_filter_refuses_what_it_cannot_show(filter_: Callable[[Any], str], value: Any) -> None:
    with pytest.raises(TypeError, match="takes"):
        filter_(value)


def test_a_filter_on_an_absent_value_is_a_finding_at_its_line() -> None:
    found = fault("one\n{{ revision | quote }}")
    assert found.message == "'quote' takes text, not a missing value (None)"
    assert found.place == Place(FILE, 2, 1)


def test_the_usual_filters_are_there() -> None:
    values = {"m": [{"s": "a"}, {"s": "b"}]}
    template = "{{ m | map(attribute='s') | map('code') | join(', ') }}"
    assert templates.render_strict_template(template, FILE, values) == "`a`, `b`"


def test_importing_the_module_does_not_import_jinja2() -> None:
    program = "import sys, porch.show.strict_templates; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
