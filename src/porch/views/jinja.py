"""Templates of graph protocols: a prompt that is filled in wrongly must not reach an agent."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from porch.errors import DefinitionError, Finding, Place
from porch.views.prompt import one_line, quoted
from porch.views.text import printable

if TYPE_CHECKING:
    from jinja2 import Template, nodes
    from jinja2.sandbox import ImmutableSandboxedEnvironment

MOST_BYTES = 1024 * 1024

_LINE_END = re.compile(r"\r\n|\r|\n")
_TICKS = re.compile(r"`+")
_TAG = r"\{[{%#]"


@dataclass(frozen=True, slots=True)
class _Compiled:
    body: "Template"
    names: tuple[tuple[int, str], ...]  # what must be given, with the lines where it is used


def render(template: str, name: str, values: Mapping[str, object]) -> str:
    """The template filled in; every fault is a finding at its line in the file `name`."""
    compiled = _compiled(template, name)
    unknown = list(_unknown(compiled, template, name, values))
    if unknown:
        raise DefinitionError(unknown)
    from jinja2 import TemplateError

    faults = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
    try:
        return _bounded(compiled.body.generate(dict(values)), name)
    except (*faults, RecursionError, MemoryError) as error:
        message = str(error) or f"the template could not be filled in ({type(error).__name__})"
        place = _place(template, name, _line_of(error), _TAG)
        fix = f"mend the template; it is given: {_listed(values)}"
        raise DefinitionError([Finding("template", message, place, fix)]) from error


def problems(
    template: str, name: str, full: Mapping[str, object], minimal: Mapping[str, object]
) -> list[Finding]:
    """What is wrong with a template, tried with everything given and with nothing optional."""
    try:
        unknown = list(_unknown(_compiled(template, name), template, name, full))
    except DefinitionError as error:
        return list(error.findings)
    if unknown:
        return unknown
    with_all = _tried(template, name, full)
    return with_all + [
        replace(finding, message=f"{finding.message} (with nothing optional given)")
        for finding in _tried(template, name, minimal)
        if finding not in with_all
    ]


def used(template: str, name: str = "template") -> set[str]:
    """The names that the template wants to be given."""
    return {each for _, each in _compiled(template, name).names}


def fence(text: object, info: str = "") -> str:
    """A fenced block that nothing inside can close."""
    inside = printable(_LINE_END.sub("\n", _text(text, "fence")))
    ticks = "`" * max(3, _longest_run(inside) + 1)
    body = f"{inside.removesuffix(chr(10))}\n" if inside else ""
    return f"{ticks}{info}\n{body}{ticks}"


def quote(text: object) -> str:
    """Each line as a quote; an end of line at the end stays, so that a quoted section ends."""
    inside = _text(text, "quote")
    return quoted(inside) + ("\n" if inside.endswith("\n") else "")


def code(text: object) -> str:
    """A name or path of somebody else inside a sentence: one line, and nothing in it is markup."""
    inside = one_line(_text(text, "code"))
    if not inside:
        return "(empty)"
    ticks = "`" * (_longest_run(inside) + 1)
    pad = " " if "`" in (inside[0], inside[-1]) else ""
    return f"{ticks}{pad}{inside}{pad}{ticks}"


def fields(payload: Mapping[str, object]) -> str:
    """A payload whose fields the template does not know by name, as a list of quoted data."""
    if not isinstance(payload, Mapping):
        raise TypeError(f"'fields' takes a mapping, not {_kind(payload)}")
    return "\n".join(
        f"- {code(name)}:{_field(value)}" for name, value in payload.items() if value is not None
    )


FILTERS: Mapping[str, Callable[..., str]] = {
    "fence": fence,
    "quote": quote,
    "code": code,
    "fields": fields,
}


def _text(value: object, filter_name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise TypeError(f"'{filter_name}' takes text, not {_kind(value)}")
    return str(value)


def _kind(value: object) -> str:
    return "an absent value (None)" if value is None else f"a {type(value).__name__}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)


def _field(value: object) -> str:
    match value:
        case bool() | int() | float():
            return f" {value}".lower()
        case str():
            return "\n" + _indented(quote(value.rstrip()))
        case [*names] if names and all(isinstance(each, str) for each in names):
            return " " + ", ".join(code(each) for each in names)
        case _:
            return "\n" + _indented(fence(_json(value), "json"))


def _json(value: object) -> str:
    def plain(other: object) -> object:
        return dict(other) if isinstance(other, Mapping) else str(other)

    return json.dumps(value, ensure_ascii=False, indent=2, default=plain)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def _tried(template: str, name: str, values: Mapping[str, object]) -> list[Finding]:
    try:
        if render(template, name, values).strip():
            return []
    except DefinitionError as error:
        return list(error.findings)
    fix = "say something outside every condition: an agent must be told what to do"
    return [Finding("template", "the template comes out empty", Place(name, 1, 1), fix)]


def _bounded(pieces: Iterable[str], name: str) -> str:
    kept, size = [], 0
    for piece in pieces:
        size += len(piece.encode("utf-8", "replace"))
        if size > MOST_BYTES:
            message = f"the text comes out longer than {MOST_BYTES} bytes"
            fix = "give the template less, or show only a part of it"
            raise DefinitionError([Finding("template", message, Place(name, 1, 1), fix)])
        kept.append(piece)
    return "".join(kept)


def _compiled(template: str, name: str) -> _Compiled:
    from jinja2 import TemplateSyntaxError

    try:
        return _compile(template)
    except TemplateSyntaxError as error:
        place = _place(template, name, error.lineno, _TAG)
        finding = Finding("template", str(error.message), place, "mend the template")
    except RecursionError:
        message = "the template is nested too deeply"
        finding = Finding("template", message, Place(name, 1, 1), "flatten it")
    raise DefinitionError([finding])


@lru_cache(maxsize=64)
def _compile(template: str) -> _Compiled:
    """Kept, because a tree of instances fills in the same few templates over and over."""
    from jinja2 import meta, nodes

    environment = _environment()
    tree = environment.parse(template)
    _refuse_others(tree)
    body = environment.from_string(template)
    wanted = meta.find_undeclared_variables(tree)
    found = {(each.lineno, each.name) for each in tree.find_all(nodes.Name) if each.name in wanted}
    return _Compiled(body, tuple(sorted(found)))


def _refuse_others(tree: "nodes.Template") -> None:
    from jinja2 import TemplateSyntaxError, nodes

    for each in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
        message = "a template stands alone: it cannot include, import or extend another file"
        raise TemplateSyntaxError(message, each.lineno)


@cache
def _environment() -> "ImmutableSandboxedEnvironment":
    from jinja2 import StrictUndefined
    from jinja2.exceptions import SecurityError
    from jinja2.runtime import Context, Undefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Environment(ImmutableSandboxedEnvironment):
        """Bounded against accidents; an author may run commands anyway and needs no bomb."""

        intercepted_binops = frozenset(("*", "**", "%"))

        def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
            if operator == "**" or not isinstance(left, int) or not isinstance(right, int):
                raise SecurityError(f"'{operator}' is not for templates, except between numbers")
            return super().call_binop(context, operator, left, right)

        def getattr(self, obj: Any, attribute: str) -> Any:
            # A field may be called `items` or `values`; it is the field, not the method.
            if isinstance(obj, Mapping) and attribute in obj:
                return obj[attribute]
            found = super().getattr(obj, attribute)
            if isinstance(found, Undefined) and (obj is None or isinstance(obj, Mapping)):
                return self.undefined(hint=_missing(obj, attribute), obj=obj, name=attribute)
            return found

    environment = Environment(
        undefined=StrictUndefined,
        autoescape=False,  # a prompt is no HTML: escaping would change what the agent reads
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(FILTERS)
    # The same data gives the same prompt: nothing random.
    del environment.filters["random"], environment.globals["lipsum"]
    return environment


def _missing(owner: Mapping[str, object] | None, attribute: str) -> str:
    if owner is None:
        return f"'{attribute}' is asked of a value that is absent (None); ask with `if` first"
    near = get_close_matches(attribute, [str(key) for key in owner], n=1)
    meant = f"did you mean '{near[0]}'? " if near else ""
    return f"there is no '{attribute}' here; {meant}there are: {_listed(owner)}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(str(name) for name in names)) or "none"


def _unknown(
    compiled: _Compiled, template: str, name: str, values: Mapping[str, object]
) -> Iterator[Finding]:
    for line, word in compiled.names:
        if word not in values:
            near = get_close_matches(word, list(values), n=1)
            meant = f"did you mean '{near[0]}'? " if near else ""
            place = _place(template, name, line, rf"\b{re.escape(word)}\b")
            message = f"'{word}' is not given to this template"
            yield Finding("template", message, place, f"{meant}there are: {_listed(values)}")


def _place(template: str, name: str, line: int, pattern: str) -> Place:
    """jinja2 knows lines only; the column is where the name or the tag stands in its line."""
    lines = _LINE_END.split(template)
    found = re.search(pattern, lines[line - 1]) if 0 < line <= len(lines) else None
    return Place(name, line, found.start() + 1 if found else 1)


def _line_of(error: BaseException) -> int:
    line, trace = 1, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
