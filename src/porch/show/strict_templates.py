"""Templates that take only what is declared: a prompt filled in wrongly must not reach an agent."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import DefinitionError, Finding, Place, suggest_name
from porch.show.prompt import one_line, quote_lines
from porch.show.template_text import plain_template
from porch.text.late_pattern import late_pattern
from porch.text.printable import make_printable

if TYPE_CHECKING:
    from jinja2 import Template, nodes

    from porch.show.template_text.template_limits import BoundedEnvironment

MOST_BYTES = 1024 * 1024

_LINE_END = late_pattern(r"\r\n|\r|\n")
_BACKTICKS = late_pattern(r"`+")
_TAG_PATTERN = r"\{[{%#]"


class _CompiledTemplate(Struct, frozen=True):
    body: "Template"
    names: tuple[tuple[int, str], ...]  # what must be given, with the lines where it is used


def render_strict_template(template: str, name: str, values: Mapping[str, object]) -> str:
    """The template filled in; every fault is a finding at its line in the file `name`."""
    filled = plain_template.fill_plain_template(template, values)
    if filled is not None:
        return _join_within_limit([filled], name)
    compiled = _compile_template(template, name)
    unknown = list(_list_unknown_names(compiled, template, name, values))
    if unknown:
        raise DefinitionError(unknown)
    from jinja2 import TemplateError

    from porch.show.template_text.template_limits import start_meter

    start_meter()
    faults = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
    try:
        return _join_within_limit(compiled.body.generate(dict(values)), name)
    except (*faults, RecursionError, MemoryError) as error:
        message = str(error) or f"the template could not be filled in ({type(error).__name__})"
        place = _place_in_template(template, name, _find_error_line(error), _TAG_PATTERN)
        fix = f"fix the template; it can use: {_join_names(values)}"
        raise DefinitionError([Finding("template", message, place, fix)]) from error


def check_strict_template(
    template: str, name: str, full: Mapping[str, object], minimal: Mapping[str, object]
) -> list[Finding]:
    """What is wrong with a template, tried with everything given and with nothing optional."""
    try:
        unknown = list(_list_unknown_names(_compile_template(template, name), template, name, full))
    except DefinitionError as error:
        return list(error.findings)
    if unknown:
        return unknown
    with_all = _check_rendering(template, name, full)
    return with_all + [
        replace(finding, message=f"{finding.message} (when no optional value is given)")
        for finding in _check_rendering(template, name, minimal)
        if finding not in with_all
    ]


def find_used_variables(template: str, name: str = "template") -> set[str]:
    """The names that the template wants to be given."""
    return {each for _, each in _compile_template(template, name).names}


def fence_text(text: object, info: str = "") -> str:
    """A fenced block that nothing inside can close."""
    inside = make_printable(_LINE_END.sub("\n", _require_text(text, "fence")))
    ticks = "`" * max(3, _longest_tick_run(inside) + 1)
    body = f"{inside.removesuffix(chr(10))}\n" if inside else ""
    return f"{ticks}{info}\n{body}{ticks}"


def quote_text(text: object) -> str:
    """Each line as a quote; an end of line at the end stays, so that a quoted section ends."""
    inside = _require_text(text, "quote")
    return quote_lines(inside) + ("\n" if inside.endswith("\n") else "")


def format_inline_code(text: object) -> str:
    """A name or path of somebody else inside a sentence: one line, and nothing in it is markup."""
    inside = one_line(_require_text(text, "code"))
    if not inside:
        return "(empty)"
    ticks = "`" * (_longest_tick_run(inside) + 1)
    pad = " " if "`" in (inside[0], inside[-1]) else ""
    return f"{ticks}{pad}{inside}{pad}{ticks}"


def format_fields(payload: Mapping[str, object]) -> str:
    """A payload whose fields the template does not know by name, as a list of quoted data."""
    if not isinstance(payload, Mapping):
        raise TypeError(f"'fields' takes a mapping, not {_describe_kind(payload)}")
    return "\n".join(
        f"- {format_inline_code(name)}:{_format_field(value)}"
        for name, value in payload.items()
        if value is not None
    )


FILTERS: Mapping[str, Callable[..., str]] = {
    "fence": fence_text,
    "quote": quote_text,
    "code": format_inline_code,
    "fields": format_fields,
}


def _require_text(value: object, filter_name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise TypeError(f"'{filter_name}' takes text, not {_describe_kind(value)}")
    return str(value)


def _describe_kind(value: object) -> str:
    return "a missing value (None)" if value is None else f"a {type(value).__name__}"


def _longest_tick_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def _format_field(value: object) -> str:
    match value:
        case bool() | int() | float():
            return f" {value}".lower()
        case str():
            return "\n" + _indent_lines(quote_text(value.rstrip()))
        case [*names] if names and all(isinstance(each, str) for each in names):
            return " " + ", ".join(format_inline_code(each) for each in names)
        case _:
            return "\n" + _indent_lines(fence_text(_format_json(value), "json"))


def _format_json(value: object) -> str:
    def plain(other: object) -> object:
        return dict(other) if isinstance(other, Mapping) else str(other)

    return json.dumps(value, ensure_ascii=False, indent=2, default=plain)


def _indent_lines(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def _check_rendering(template: str, name: str, values: Mapping[str, object]) -> list[Finding]:
    try:
        if render_strict_template(template, name, values).strip():
            return []
    except DefinitionError as error:
        return list(error.findings)
    fix = "write some text outside all conditions: an agent must be told what to do"
    return [Finding("template", "the template gives an empty text", Place(name, 1, 1), fix)]


def _join_within_limit(pieces: Iterable[str], name: str) -> str:
    kept, size = [], 0
    for piece in pieces:
        size += len(piece.encode("utf-8", "replace"))
        if size > MOST_BYTES:
            message = f"the text is longer than {MOST_BYTES} bytes"
            fix = "give the template less data, or show only part of it"
            raise DefinitionError([Finding("template", message, Place(name, 1, 1), fix)])
        kept.append(piece)
    return "".join(kept)


def _compile_template(template: str, name: str) -> _CompiledTemplate:
    from jinja2 import TemplateSyntaxError

    try:
        return _compile_cached(template)
    except TemplateSyntaxError as error:
        place = _place_in_template(template, name, error.lineno, _TAG_PATTERN)
        finding = Finding("template", str(error.message), place, "fix the template")
    except RecursionError:
        message = "the template is nested too deeply"
        finding = Finding("template", message, Place(name, 1, 1), "use fewer nested blocks")
    raise DefinitionError([finding])


@lru_cache(maxsize=64)
def _compile_cached(template: str) -> _CompiledTemplate:
    """Kept, because a tree of instances fills in the same few templates over and over."""
    from jinja2 import nodes

    from porch.show.template_text import template_limits

    environment = _make_environment()
    tree = environment.parse(template)
    _refuse_other_files(tree)
    names = [(each.lineno, each.name) for each in tree.find_all(nodes.Name)]
    body, wanted = template_limits.compile_counted(tree, environment)
    return _CompiledTemplate(body, tuple(sorted({each for each in names if each[1] in wanted})))


def _refuse_other_files(tree: "nodes.Template") -> None:
    from jinja2 import TemplateSyntaxError, nodes

    for each in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
        message = "a template cannot include, import or extend another file"
        raise TemplateSyntaxError(message, each.lineno)


@cache
def _make_environment() -> "BoundedEnvironment":
    from jinja2 import StrictUndefined
    from jinja2.runtime import Undefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    from porch.show.template_text import template_limits as limits

    class Environment(limits.BoundedEnvironment, ImmutableSandboxedEnvironment):
        def getattr(self, obj: Any, attribute: str) -> Any:
            # A field may be called `items` or `values`; it is the field, not the method.
            if isinstance(obj, Mapping) and attribute in obj:
                return obj[attribute]
            found = super().getattr(obj, attribute)
            if isinstance(found, Undefined) and (obj is None or isinstance(obj, Mapping)):
                return self.undefined(
                    hint=_describe_missing_attribute(obj, attribute), obj=obj, name=attribute
                )
            return found

    environment = Environment(
        undefined=StrictUndefined,
        autoescape=False,  # a prompt is no HTML: escaping would change what the agent reads
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(FILTERS)
    limits.limit_environment(environment)
    return environment


def _describe_missing_attribute(owner: Mapping[str, object] | None, attribute: str) -> str:
    if owner is None:
        return f"'{attribute}' is read from a value that is missing (None); test it with `if` first"
    meant = suggest_name(attribute, [str(key) for key in owner])
    return f"there is no '{attribute}' here; {meant}known names: {_join_names(owner)}"


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(sorted(str(name) for name in names)) or "none"


def _list_unknown_names(
    compiled: _CompiledTemplate, template: str, name: str, values: Mapping[str, object]
) -> Iterator[Finding]:
    for line, word in compiled.names:
        if word not in values:
            meant = suggest_name(word, values)
            place = _place_in_template(template, name, line, rf"\b{re.escape(word)}\b")
            message = f"'{word}' is not known in this template"
            yield Finding("template", message, place, f"{meant}known names: {_join_names(values)}")


def _place_in_template(template: str, name: str, line: int, pattern: str) -> Place:
    """jinja2 knows lines only; the column is where the name or the tag stands in its line."""
    lines = _LINE_END.split(template)
    found = re.search(pattern, lines[line - 1]) if 0 < line <= len(lines) else None
    return Place(name, line, found.start() + 1 if found else 1)


def _find_error_line(error: BaseException) -> int:
    line, trace = 1, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
