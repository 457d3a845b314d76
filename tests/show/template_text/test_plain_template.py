"""Plain templates are filled in as jinja2 fills them in, or left to it."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from porch.show import prompt
from porch.show import strict_templates as templates
from porch.show.template_text import plain_template

VALUES: dict[str, Any] = {
    "a": "A <b> & 'c' {{ x }}\r\n",
    "title": "T",
    "lines": "one\n\n two\r\n\x0bthree\u2028{{ four }}\n",
    "empty": "",
    "n": 3,
    "yes": True,
    "half": 0.5,
    "nothing": None,
    "many": ["x"],
    "self": "S",
    "true": "T",
    "inputs": {"name": "N", "items": "I", "deep": {"er": "D"}, "_x": "U"},
}
QUOTED = '{{ lines | indent("> ", first=true, blank=true) }}'
PIECES = st.sampled_from(
    [
        *(
            "{{ a }}",
            "{{a}}",
            "{{  title }}",
            "{{ inputs.name }}",
            "{{ inputs.deep.er }}",
            "{{ n }}",
        ),
        *("{{ yes }}", "{{ half }}", "{{ nothing }}", "{{ many }}", "{{ inputs.items }}"),
        *("{{ inputs._x }}", "{{ unknown }}", "{{ inputs.unknown }}", "{{ self }}", "{{ true }}"),
        *("{{- a }}", "{{ a -}}", "{{ a | upper }}", "{{ a.b }}", "{{ a\n}}", "{{ 'x' }}", "{{ }}"),
        *("{", "}", "{{", "}}", "{%", "%}", "{#", "#}", "{% if a %}", "{% endif %}", "{# x #}"),
        *("{% raw %}", "{% endraw %}", "\n", "\r\n", "\r", " ", "  ", "x", "é", "\u2028", "-", "#"),
        *(QUOTED, QUOTED.replace(" ", ""), '{{ n | indent("> ", first=true, blank=true) }}'),
        *("{{ lines|indent('> ', first=true, blank=true) }}", "{{ lines | indent }}"),
        *(
            '{{ lines | indent(">", first=true) }}',
            '{{ none | indent("", first=true, blank=true)}}',
        ),
        *('{{ empty | indent(">>", first=true, blank=true) }}', "{{ lines | indent(4) }}"),
        *("##", "\x0b", "\x85", ".", "a", "title"),
    ]
)
TEMPLATES = st.lists(PIECES, max_size=8).map("".join)


@given(TEMPLATES)
@example("{{{ a }}}")
@example("{{ a }}}")
@example("{ {{ a }} }\r\n")
@example("{{ a }}\n\n")
def test_what_is_filled_in_plainly_is_what_jinja2_gives(template: str) -> None:
    filled = plain_template.fill_plain_template(template, VALUES)
    if filled is not None:
        assert filled == prompt._make_environment().from_string(template).render(VALUES)
        assert filled == templates._make_environment().from_string(template).render(VALUES)


@given(TEMPLATES)
def test_a_plain_template_of_known_names_has_no_findings(template: str) -> None:
    if plain_template.is_plain(template, VALUES.keys()):
        tree = prompt._make_environment().parse(template)
        prompt._make_environment().compile(tree)


@pytest.mark.parametrize(
    "template",
    [
        "",
        "text",
        "{ a }",
        "{{ a }}",
        "{{a}}{{ title }}",
        "x {{ inputs.deep.er }}\n",
        "}} {{ n }} %}",
        QUOTED,
        '{{empty|indent("", first=true,blank=true)}}',
    ],
)
def test_text_and_variables_need_no_jinja2(template: str) -> None:
    assert plain_template.fill_plain_template(template, VALUES) is not None


@pytest.mark.parametrize(
    "template",
    [
        *("{{ unknown }}", "{{ nothing }}", "{{ many }}", "{{ inputs }}", "{{ inputs.items }}"),
        *("{{ inputs._x }}", "{{ self }}", "{{ a|upper }}", "{% if a %}{% endif %}", "{# x #}"),
        *("{{- a }}", "{{ a -}}", "{{{ a }}}", "{{ a", "{{ a.upper }}"),
        *('{{ n | indent("> ", first=true, blank=true) }}', "{{ lines | indent }}"),
        *(QUOTED.replace("true", "false"), QUOTED.replace("> ", "- "), QUOTED.replace('"', "'")),
        *(QUOTED.replace(" }}", " | upper }}"), QUOTED.replace("lines", "unknown")),
    ],
)
def test_everything_else_is_left_to_jinja2(template: str) -> None:
    assert plain_template.fill_plain_template(template, VALUES) is None
