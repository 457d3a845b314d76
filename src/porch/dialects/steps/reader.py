"""Reads one file of steps; every slip becomes a finding with its place, and reading goes on."""

from porch.dialects.steps import step_numbers
from porch.dialects.steps.file_records import (
    DeclaredOutput,
    NamedStep,
    StepChange,
    StepFile,
    StepLevel,
    StepText,
)
from porch.errors import Finding, Place, suggest_name
from porch.model.parameters import PARAMETER_TYPES, Parameter, ParameterType
from porch.model.protocol import CheckSubject
from porch.text.fields import Fields, describe_node
from porch.text.late_pattern import late_pattern
from porch.text.nodes import Entry, ListNode, MapNode, Node, ScalarNode

PROTOCOL_NAME = late_pattern(r"[a-z0-9][a-z0-9_-]*")
_INPUT = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_ID = late_pattern(r"[a-z][a-z0-9_-]*")
_STEPS_EXAMPLE = "write a mapping of numbers to texts: `1: Read the prompt`"
_TEXT_KINDS = ("text", "number", "bool")


def file_stem(file: str) -> str:
    return file.rpartition("/")[2].rpartition(".")[0]


def read_step_file(root: Node, findings: list[Finding], known_as: str = "") -> StepFile | None:
    """Nothing only for what is no mapping at all; the findings say whether it can be used."""
    if not isinstance(root, MapNode):
        message = f"a protocol of steps must be a mapping, not {describe_node(root)}"
        findings.append(Finding("wrong-type", message, root.place, "start with `name:`"))
        return None
    return _StepFileReader(root, findings, known_as).file()


class _StepFileReader:
    def __init__(self, root: MapNode, findings: list[Finding], known_as: str):
        self.known_as = known_as
        self.root = root
        self.fields = Fields(root, "a protocol of steps", findings)
        self.name = ""
        self.extends = ""

    def file(self) -> StepFile:
        name = self._name()
        # Of two files with one name in a chain, one is known by another.
        self.name = self.known_as or name
        self.extends = self._extends()
        description = self.fields.text("description")
        inputs, outputs = self._inputs(), self._outputs()
        changes, named = self._steps()
        self.fields.done()
        level = StepLevel(self.name, description, inputs, outputs, changes, named)
        place = self.fields.place("extends") if self.extends else None
        return StepFile(level, self.root.place, self.extends, place)

    def _name(self) -> str:
        name, wanted = self.fields.required_text("name"), file_stem(self.root.place.file)
        if name and name != wanted:
            message = f"the file is called '{wanted}', but its 'name' is '{name}'"
            fix = f"write `name: {wanted}`, or rename the file"
            self.fields.report("name-differs", message, self.fields.place("name"), fix)
        return name

    def _extends(self) -> str:
        name = self.fields.text("extends")
        if name and not PROTOCOL_NAME.fullmatch(name):
            message = f"'{name}' cannot be the name of a protocol"
            fix = "use small letters, digits, '-' and '_'"
            self.fields.report("invalid-name", message, self.fields.place("extends"), fix)
            return ""
        return name

    def _list(self, key: str) -> tuple[Node, ...] | None:
        """None for an absent or null list: then the one below it counts."""
        node = self.fields.child(key)
        if node is None or (isinstance(node, ScalarNode) and node.kind == "null"):
            return None
        return self.fields.list_of_nodes(key)

    def _inputs(self) -> tuple[Parameter, ...] | None:
        nodes = self._list("inputs")
        if nodes is None:
            return None
        found: dict[str, Parameter] = {}
        for node in nodes:
            given = self._input(node)
            if given is not None and given.name in found:
                message = f"the input '{given.name}' is declared twice"
                self.fields.report("duplicate-input", message, node.place, "keep one of the two")
            elif given is not None:
                found[given.name] = given
        return tuple(found.values())

    def _input(self, node: Node) -> Parameter | None:
        fields = self._mapping(node, "an input")
        if fields is None:
            return None
        name = fields.required_text("name")
        if name and not _INPUT.fullmatch(name):
            message, fix = f"'{name}' cannot be the name of an input", "write it like prompt_num"
            fields.report("bad-input-name", message, fields.place("name"), fix)
        type_ = self._type(fields)
        optional, description = fields.flag("optional"), fields.text("description")
        fields.done()
        return Parameter(name, type_, optional, description)

    def _type(self, fields: Fields) -> ParameterType:
        text = fields.required_text("type")
        for known in PARAMETER_TYPES:
            if text == known:
                return known
        if text:
            near = suggest_name(text, PARAMETER_TYPES).rstrip()
            fix = near or f"types: {', '.join(PARAMETER_TYPES)}"
            message = f"'{text}' is not a type of an input"
            fields.report("unknown-input-type", message, fields.place("type"), fix)
        return "string"

    def _outputs(self) -> tuple[DeclaredOutput, ...] | None:
        """An empty list inherits, too: an end that nothing describes helps nobody."""
        nodes = self._list("outputs")
        found = [self._output(node) for node in nodes or ()]
        return tuple(output for output in found if output) or None

    def _output(self, node: Node) -> DeclaredOutput | None:
        fields = self._mapping(node, "an output")
        if fields is None:
            return None
        if isinstance(fields.child("value"), MapNode | ListNode):
            fix = 'quote it: value: "{ success: true }"'
            message = "the value of an output must be text"
            fields.report("wrong-type", message, fields.place("value"), fix)
            return None
        texts = (fields.text("description"), fields.text("check"))
        value, about = fields.required_text("value"), self._check_subject(fields)
        output = DeclaredOutput(value, *texts, about)
        fields.done()
        return output

    def _check_subject(self, fields: Fields) -> CheckSubject:
        """The check of an output proves one answer; only its author knows if files prove it."""
        text = fields.text("about")
        if text not in ("", "files", "outside"):
            near = suggest_name(text, ("files", "outside")).rstrip()
            message = f"'about' must be files or outside, not '{text[:80]}'"
            fields.report("wrong-value", message, fields.place("about"), near)
        return "files" if text == "files" else "outside"

    def _mapping(self, node: Node, what: str) -> Fields | None:
        if isinstance(node, MapNode):
            return Fields(node, what, self.fields.findings)
        message = f"{what} must be a mapping, not {describe_node(node)}"
        self.fields.report("wrong-type", message, node.place)
        return None

    def _steps(self) -> tuple[dict[step_numbers.StepNumbers, StepChange], tuple[NamedStep, ...]]:
        node = self.fields.child("steps")
        changes: dict[step_numbers.StepNumbers, StepChange] = {}
        named: list[NamedStep] = []
        for entry in self._entries(node):
            key = self._key(entry.key)
            text = self._step(entry.value, key, named) if key else None
            if key is not None and text is not None:
                piece = StepText(self.name, key, text, entry.key.place, not self.extends)
                changes[key.numbers] = _apply_step_text(
                    changes.get(key.numbers, StepChange()), piece
                )
        return dict(sorted(changes.items())), tuple(named)

    def _entries(self, node: Node | None) -> tuple[Entry, ...]:
        is_absent = node is None or (isinstance(node, ScalarNode) and node.kind == "null")
        if node is None or is_absent or isinstance(node, MapNode):
            entries = node.entries if isinstance(node, MapNode) else ()
            if not entries and not self.extends:
                message = "there are no steps, and no `extends` to take them from"
                place = node.place if node is not None else self.root.place
                self.fields.report("missing-key", message, place, _STEPS_EXAMPLE)
            return entries
        message = f"'steps' must be a mapping, not {describe_node(node)}"
        self.fields.report("wrong-type", message, node.place, _STEPS_EXAMPLE)
        return ()

    def _key(self, key: ScalarNode) -> step_numbers.StepKey | None:
        try:
            return step_numbers.parse_step_key(key.text)
        except step_numbers.InvalidStepKey as problem:
            self.fields.report("bad-step-key", problem.message, key.place, problem.fix)
            return None

    def _step(self, node: Node, key: step_numbers.StepKey, named: list[NamedStep]) -> str | None:
        if isinstance(node, MapNode):
            return self._with_id(node, key, named)
        if isinstance(node, ScalarNode) and node.kind in _TEXT_KINDS:
            return self._text(node, key, node.place)
        self._refuse(node, key)
        return None

    def _refuse(self, node: Node, key: step_numbers.StepKey) -> None:
        what, fix = f"step {key} must be text, not {describe_node(node)}", "write `|` and the text"
        if isinstance(node, ScalarNode):
            what, fix = f"step {key} has no text", "write it; null does not remove a step"
        self.fields.report("bad-step", what, node.place, fix)

    def _text(self, node: ScalarNode, key: step_numbers.StepKey, place: Place) -> str | None:
        if node.text.strip():
            return node.text
        self.fields.report("bad-step", f"the text of step {key} is empty", place, "write it")
        return None

    def _with_id(
        self, node: MapNode, key: step_numbers.StepKey, named: list[NamedStep]
    ) -> str | None:
        fields = Fields(node, f"step {key}", self.fields.findings)
        id_, text = fields.text("id"), fields.required_text("text")
        if id_ and key.is_append:
            fix = f"write the id where step {step_numbers.format_numbers(key.numbers)} is defined"
            message = f"appended text cannot have its own id: '{id_}'"
            fields.report("bad-step-id", message, fields.place("id"), fix)
        elif id_ and not _ID.fullmatch(id_):
            message, fix = f"'{id_}' cannot be the id of a step", "write it like logging-gate"
            fields.report("bad-step-id", message, fields.place("id"), fix)
        elif id_:
            named.append(NamedStep(id_, key.numbers, fields.place("id")))
        fields.done()
        return text or None


def _apply_step_text(change: StepChange, piece: StepText) -> StepChange:
    """Replace, then append, in whatever order the file says it."""
    if piece.key.is_append:
        return StepChange(change.sets, (piece,))
    return StepChange((piece,), change.appends)
