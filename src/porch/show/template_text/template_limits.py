"""How much a template may do: steps, sizes of values and of numbers, counted while it is filled in.

Against accidents: whoever writes a protocol may run commands anyway and needs no bomb. Neither the
clock nor memory is looked at, so the same template always comes to the same end.
"""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import wraps
from typing import Any

from jinja2 import Template, nodes, pass_context
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError
from jinja2.idtracking import VAR_LOAD_RESOLVE
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment, safe_range
from jinja2.visitor import NodeTransformer

from porch.text.late_pattern import late_pattern

MOST_STEPS = 100_000
# So many characters cost as much as one step.
_PER_STEP = 64
# In characters; a whole prompt may have no more.
MOST_CHARACTERS = 1024 * 1024
_MOST_WIDTH = 10_000
_MOST_BITS = 4096
_WIDTH_IN_FORMAT = late_pattern(r"\d{5,}")
TICK, JOIN = "__tick__", "__join__"

Filter = Callable[..., Any]


class TemplateMeter:
    """What one filling-in has used."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MOST_STEPS

    def charge(self, characters: int = 0) -> None:
        self.left -= 1 + characters // _PER_STEP
        if self.left < 0:
            raise SecurityError(f"the template takes more than {MOST_STEPS} steps")


# One per thread and task; none while a template is compiled.
_METER: ContextVar[TemplateMeter | None] = ContextVar("meter", default=None)


def start_meter() -> None:
    """From here on everything is counted from zero."""
    _METER.set(TemplateMeter())


def charge_steps(characters: int = 0) -> str:
    meter = _METER.get()
    if meter is not None:
        meter.charge(characters)
    return ""


def require_size(characters: int) -> None:
    """Before a value is made: afterwards it would be too late."""
    if characters > MOST_CHARACTERS:
        raise SecurityError(f"a value would be longer than {MOST_CHARACTERS} characters")
    charge_steps(characters)


def check_value(value: Any) -> Any:
    """Whatever comes out of a filter or a call, or is printed."""
    if isinstance(value, str | list | tuple):
        require_size(len(value))
    return value


@pass_context
def check_printed(_context: Context, value: Any) -> Any:
    """With the context, so that it is asked each time and not once when the file is read."""
    return check_value(value)


def check_operands(operator: str, left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() + right.bit_length()
        if operator == "**" or bits > _MOST_BITS:
            raise SecurityError(f"'{operator}' would give a number that is too large")
    elif operator != "+":
        raise SecurityError(f"'{operator}' works only between numbers in a template")
    elif isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple):
        require_size(len(left) + len(right))


def check_arguments(values: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """A width or a count that nobody needs; what is padded or repeated is as long as it says."""
    for value in (*values, *named.values()):
        if isinstance(value, int) and abs(value) > _MOST_WIDTH:
            raise SecurityError(f"{value} is too large here; at most {_MOST_WIDTH}")


def check_call(called: Any, values: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
    if called not in (charge_steps, safe_range):  # which have limits of their own
        check_arguments(values, named)
    return _check_method(called, values)


def limit_format(method: Any, wrapped: Filter | None) -> Filter | None:
    if wrapped is not None:
        check_format(str(method.__self__))
    return wrapped


def _check_method(method: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Methods that make long texts of short ones; the values, read if they were a stream."""
    text, name = getattr(method, "__self__", None), getattr(method, "__name__", "")
    if not isinstance(text, str):
        return values
    if name == "replace" and len(values) > 1:
        _check_replacement(text, values[0], values[1])
    elif name == "join" and values:
        parts = list(values[0])
        require_size(sum(len(str(part)) + len(text) for part in parts))
        return (parts, *values[1:])
    return values


def check_format(text: str) -> None:
    if _WIDTH_IN_FORMAT.search(text):
        raise SecurityError(f"a width in a format is at most {_MOST_WIDTH}")


def _check_replacement(text: str, old: Any, new: Any) -> None:
    times = text.count(str(old)) if str(old) else len(text) + 1
    require_size(len(text) + times * len(str(new)))


def _check_filter(name: str, value: Any, values: tuple[Any, ...]) -> Any:
    """The value itself, read if it was a stream."""
    match name:
        case "format":
            check_format(str(value))
        case "replace" if len(values) > 1:
            _check_replacement(str(value), values[0], values[1])
        case "indent":
            width = values[0] if values else 4
            length = len(width) if isinstance(width, str) else int(width)
            require_size(len(str(value)) + length * (str(value).count("\n") + 1))
        case "wordwrap":
            require_size(len(str(value)) * (1 + max(map(len, map(str, values)), default=1)))
        case "join":
            parts = list(value)
            between = len(str(values[0])) if values else 0
            if not values[1:]:
                require_size(sum(len(str(part)) + between for part in parts))
            return parts
        case _:
            pass
    return value


def limit_filter(name: str, filter_: Filter) -> Filter:
    """The same filter for values of a size that a prompt can have."""
    given = 1 if hasattr(filter_, "jinja_pass_arg") else 0

    @wraps(filter_)
    def limited(*arguments: Any, **named: Any) -> Any:
        front, (value, *rest) = arguments[:given], arguments[given:]
        values = (*rest, *named.values())
        check_arguments(values, {})
        value = _check_filter(name, value, values)
        return check_value(filter_(*front, value, *rest, **named))

    return limited


def join_texts(*parts: Any) -> str:
    """What `~` does."""
    texts = [str(part) for part in parts]
    require_size(sum(map(len, texts)))
    return "".join(texts)


class _NamingGenerator(CodeGenerator):
    """Notes what the context is asked for, as `jinja2.meta` does in a second pass of its own."""

    environment: "BoundedEnvironment"

    def enter_frame(self, frame: Frame) -> None:
        super().enter_frame(frame)
        for action, name in frame.symbols.loads.values():
            if action == VAR_LOAD_RESOLVE and name not in self.environment.globals:
                self.environment.wanted_names.add(str(name))


class BoundedEnvironment(SandboxedEnvironment):
    """Bounded against accidents; an author may run commands anyway and needs no bomb."""

    intercepted_binops = frozenset(("+", "*", "**", "%"))
    code_generator_class = _NamingGenerator
    # Of the template that is being compiled.
    wanted_names: set[str]

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        check_operands(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, called: Any, /, *values: Any, **named: Any) -> Any:
        values = check_call(called, values, named)
        return check_value(super().call(context, called, *values, **named))

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        return limit_format(value, super().wrap_str_format(value))


def limit_environment(environment: BoundedEnvironment) -> None:
    """What its templates print, call and filter is counted from here on."""
    # The same data gives the same prompt: nothing random.
    del environment.filters["random"], environment.globals["lipsum"]
    environment.wanted_names = set()
    environment.finalize = check_printed
    environment.globals[TICK] = charge_steps
    environment.globals[JOIN] = join_texts
    for name, filter_ in list(environment.filters.items()):
        environment.filters[name] = limit_filter(name, filter_)


class _CountedSteps(NodeTransformer):
    """Puts a tick into every loop and macro, and a call in the place of `~`."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - a name of jinja2
        self.generic_visit(node)
        node.body.insert(0, _tick(node))
        return node

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:  # noqa: N802 - a name of jinja2
        self.generic_visit(node)
        node.body.insert(0, _tick(node))
        return node

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:  # noqa: N802 - a name of jinja2
        self.generic_visit(node)
        node.body.insert(0, _tick(node))
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 - a name of jinja2
        self.generic_visit(node)
        return _call(JOIN, node.nodes, node.lineno)


def _tick(node: nodes.For | nodes.Macro | nodes.CallBlock) -> nodes.Node:
    """The text that stands in the body is printed as often as it is gone through."""
    texts = (each.data for part in node.body for each in part.find_all(nodes.TemplateData))
    size = nodes.Const(sum(map(len, texts)), lineno=node.lineno)
    return nodes.ExprStmt(_call(TICK, [size], node.lineno), lineno=node.lineno)


def _call(name: str, values: list[nodes.Expr], line: int) -> nodes.Call:
    known = nodes.Name(name, "load", lineno=line)
    return nodes.Call(known, values, [], None, None, lineno=line)


def count_steps(tree: nodes.Template, environment: SandboxedEnvironment) -> nodes.Template:
    """The same template, which says how much it does."""
    counted: nodes.Template = _CountedSteps().visit(tree)
    counted.set_environment(environment)
    return counted


def compile_counted(
    tree: nodes.Template, environment: BoundedEnvironment
) -> tuple[Template, set[str]]:
    """The template, which counts what it does, and the names that it wants to be given."""
    environment.wanted_names = set()
    body = environment.from_string(count_steps(tree, environment))
    return body, environment.wanted_names
