"""V16: what a template may do is bounded, and a template that does too much is told so."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from porch.errors import DefinitionError
from porch.show import prompt
from porch.show import strict_templates as templates
from porch.show.template_text import template_limits
from tests.torture import choose_some

# Each would give some fifty megabytes or run for minutes: enough to be noticed, not to do harm.
_DOUBLE = "{% set ns = namespace(x='aaaaaaaaaaaa') %}{% for i in range(22) %}{% set ns.x = OP %}"
_DOUBLE += "{% endfor %}{{ ns.x|length }}"
_WIDE = "{% set x = 'a'|center(9999) %}"
BOMBS = {
    "power": "{{ 9**9**9 }}",
    "repeated text": "{{ 'a' * 50000000 }}",
    "repeated list": "{{ [1] * 50000000 }}",
    "large numbers": "{% set ns = namespace(x=99) %}{% for i in range(24) %}"
    "{% set ns.x = ns.x * ns.x %}{% endfor %}{{ ns.x }}",
    "joined by ~": _DOUBLE.replace("OP", "ns.x ~ ns.x"),
    "joined by +": _DOUBLE.replace("OP", "ns.x + ns.x"),
    "loops in loops": "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}"
    "{% endfor %}",
    "macros that call themselves": "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}"
    "{% endmacro %}{{ m(26) }}",
    "call blocks": "{% macro m() %}{{ caller() }}{% endmacro %}{% for i in range(9999) %}"
    "{% for j in range(9999) %}{% call m() %}{% endcall %}{% endfor %}{% endfor %}",
    "text in a loop": "{% set x %}{% for i in range(50000) %}" + "a" * 1000 + "{% endfor %}"
    "{% endset %}{{ x|length }}",
    "values in a loop": _WIDE + "{% set y %}{% for i in range(5000) %}{{ x }}{% endfor %}"
    "{% endset %}{{ y|length }}",
    "ljust": "{{ 'a'.ljust(50000000)|length }}",
    "zfill": "{{ '1'.zfill(50000000)|length }}",
    "expandtabs": "{{ '\t'.expandtabs(50000000)|length }}",
    "method replace": _WIDE + "{{ x.replace(' ', x)|length }}",
    "method join": _WIDE + "{{ x.join(x)|length }}",
    "method format": "{{ '{:>50000000}'.format('a')|length }}",
    "method format, nested": "{{ '{:{}}'.format('a', 50000000)|length }}",
    "format": "{{ '%50000000d'|format(1)|length }}",
    "center": "{{ 'a'|center(50000000)|length }}",
    "indent": "{{ 'a\nb'|indent(50000000)|length }}",
    "indent of many lines": "{% set x = 'a\n'|center(9999)|replace(' ', '\n') %}"
    "{{ x|indent(5000, blank=true)|length }}",
    "replace": _WIDE + "{{ x|replace(' ', x)|length }}",
    "join": _WIDE + "{{ x|join(x)|length }}",
    "wordwrap": _WIDE + "{{ x|replace(' ', 'a ')|wordwrap(1, true, x)|length }}",
    "tojson": "{{ [1]|tojson(indent=50000000)|length }}",
    "batch": "{{ [1]|batch(50000000, 'x')|list|length }}",
}


RENDERERS: dict[str, Callable[[str, str, dict[str, Any]], str]] = {
    "template": templates.render_strict_template,
    "template-failed": prompt.render_template,
}


@pytest.mark.torture
@pytest.mark.parametrize("code", RENDERERS)
@pytest.mark.parametrize("kind", choose_some(list(BOMBS), 3))
def test_v16_a_template_that_does_too_much_is_refused_before_it_has_done_it(
    kind: str, code: str
) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(DefinitionError) as caught:
            RENDERERS[code](BOMBS[kind], "t.j2", {})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    (finding,) = caught.value.findings
    assert finding.code == code
    assert finding.place is not None
    assert "MemoryError" not in finding.message
    assert peak < 30_000_000


@pytest.mark.parametrize("code", RENDERERS)
def test_v16_no_value_is_longer_than_a_whole_prompt_may_be(code: str) -> None:
    """Far from the limit of steps: two megabytes, made at once."""
    with pytest.raises(DefinitionError, match="a value would be longer than 1048576 characters"):
        RENDERERS[code](_WIDE + "{{ x|replace(' ', x[:200])|length }}", "t.j2", {})


GOOD: dict[str, tuple[str, str]] = {
    "numbers": ("{{ 6 * 7 }} {{ 7 % 4 }} {{ n + 1 }}", "42 3 6"),
    "texts": ("{{ word ~ n ~ '!' }} {{ word + '?' }}", "hello5! hello?"),
    "lists": ("{{ (names + ['c'])|join(', ') }}", "a, b, c"),
    "filters": ("{{ word|center(9) }}|{{ word|upper|replace('L', 'l') }}", "  hello  |HEllO"),
    "methods": (
        "{{ ' '.join(names) }} {{ '{:>3}'.format(n) }} {{ word.title() }}",
        "a b   5 Hello",
    ),
    "loops": (
        "{% for i in range(3) %}{{ loop.index }}{{ ',' if not loop.last }}{% endfor %}",
        "1,2,3",
    ),
    "macros": ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(1) }}{{ m(word) }}", "<1><hello>"),
    "formats": ("{{ '%03d'|format(n) }} {{ names|tojson(indent=1)|length }}", "005 14"),
    "blocks": ("{% set x %}{{ word }}{% endset %}{{ x|length }}", "5"),
}


@pytest.mark.parametrize("code", RENDERERS)
@pytest.mark.parametrize("kind", GOOD)
def test_what_templates_do_today_they_do_as_before(kind: str, code: str) -> None:
    template, text = GOOD[kind]
    values: dict[str, Any] = {"n": 5, "word": "hello", "names": ["a", "b"]}
    assert RENDERERS[code](template, "t.j2", values) == text


def test_each_filling_in_begins_from_zero() -> None:
    template = f"{{% for i in range({template_limits.MOST_STEPS // 2}) %}}{{% endfor %}}{{{{ 1 }}}}"
    for _ in range(3):
        assert templates.render_strict_template(template, "t.j2", {}) == "1"
