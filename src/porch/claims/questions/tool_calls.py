"""A round of questions as calls of the question tools of agents, and as a form of MCP."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from porch.claims.questions.question import Choice, Question, QuestionRound
from porch.claims.questions.text_form import render_question
from porch.claims.questions.transports import TRANSPORTS, Transport, TransportName
from porch.claims.questions.word_lists import RECOMMENDED, WORDS

OTHER = "OTHER"
TEXT_SUFFIX = "_text"


class CallOption(TypedDict):
    """One option of a question, as the tools of agents take it."""

    label: str
    description: str


class CallQuestion(TypedDict):
    """One question of a call; which of the other fields it has depends on the tool."""

    id: NotRequired[str]
    question: str
    header: str
    options: NotRequired[list[CallOption]]
    type: NotRequired[Literal["text", "choice"]]
    multiSelect: NotRequired[bool]
    multiple: NotRequired[bool]


class ToolCall(TypedDict):
    """The input of one call of the question tool of an agent."""

    questions: list[CallQuestion]


class ElicitationParams(TypedDict):
    """What a form of MCP asks; `requestedSchema` is a JSON Schema."""

    mode: str
    message: str
    requestedSchema: dict[str, Any]


class ElicitationCall(TypedDict):
    """The same questions as one form of MCP."""

    method: str
    params: ElicitationParams


def unfit_reason(question: Question, transport: Transport) -> str:
    """Why a tool cannot carry a question; nothing if it can."""
    count = len(question.options)
    is_text = not count and question.free and transport.name == "gemini"
    if question.multi and not transport.has_multi:
        return f"{transport.tool} takes one answer for each question"
    if is_text or transport.least_options <= count <= transport.most_options:
        return ""
    if count < transport.least_options:
        return f"{transport.tool} needs at least {transport.least_options} options"
    return f"{transport.tool} takes at most {transport.most_options} options"


def split_calls(
    round_: QuestionRound, open_: Sequence[str], transport: Transport
) -> list[tuple[Question, ...]]:
    """The questions of each call: as many as the tool takes, in their order."""
    asked, most = round_.only(open_), transport.most_questions
    return [asked[at : at + most] for at in range(0, len(asked), most)]


def question_text(round_: QuestionRound, question: Question, refusal: str = "") -> str:
    """All that is said to a question, in one text; it begins with why it is asked again."""
    words = WORDS[round_.language]
    lines = [words["refused"].format(refusal) if refusal else "", question.text, question.context]
    lines.append(words["example"].format(question.example) if question.example else "")
    return "\n".join(line for line in lines if line)


def render_calls(
    round_: QuestionRound,
    open_: Sequence[str],
    name: TransportName,
    refusals: Mapping[str, str] | None = None,
) -> list[ToolCall] | list[ElicitationCall]:
    """The input of each call, in the shape that the tool of this agent has."""
    transport, told = TRANSPORTS[name], refusals or {}
    calls = split_calls(round_, open_, transport)
    if name == "mcp":
        return [_render_elicitation(round_, each, told) for each in calls]
    return [
        ToolCall(questions=[_render_item(round_, each, transport, told) for each in call])
        for call in calls
    ]


def _render_item(
    round_: QuestionRound, question: Question, transport: Transport, told: Mapping[str, str]
) -> CallQuestion:
    text = question_text(round_, question, told.get(question.id, ""))
    header = (question.header or question.name)[: transport.header]
    options = [_render_option(round_, each) for each in question.options]
    item: CallQuestion = {"question": text, "header": header, "options": options}
    match transport.name:
        case "codex":
            return {"id": question.id, **item}
        case "opencode":
            return {**item, "multiple": question.multi}
        case "gemini" if not options:
            return {"question": text, "header": header, "type": "text"}
        case "gemini":
            return {**item, "type": "choice", "multiSelect": question.multi}
        case _:
            return {**item, "multiSelect": question.multi}


def _render_option(round_: QuestionRound, option: Choice) -> CallOption:
    mark = f" {RECOMMENDED[round_.language]}" if option.is_recommended else ""
    return {"label": option.label + mark, "description": option.description}


def _render_elicitation(
    round_: QuestionRound, questions: Sequence[Question], told: Mapping[str, str]
) -> ElicitationCall:
    """A form with one field for each question, and one for the text where text is allowed."""
    properties: dict[str, Any] = {}
    for each in questions:
        properties[each.id] = _form_field(each)
        if each.has_free_letter:
            title = f"{each.name}: {each.free_label}"
            properties[each.id + TEXT_SUFFIX] = {"type": "string", "title": title}
    message = "\n\n".join(
        render_question(round_, each, told.get(each.id, "")) for each in questions
    )
    schema = {
        "type": "object",
        "properties": properties,
        "required": [each.id for each in questions],
    }
    params: ElicitationParams = {"mode": "form", "message": message, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def _form_field(question: Question) -> dict[str, Any]:
    title = question.header or question.name
    if not question.options:
        return {"type": "string", "title": title, "minLength": 1}
    letters = zip(question.letters, question.options, strict=False)
    values = [{"const": letter, "title": each.label} for letter, each in letters]
    values += [{"const": OTHER, "title": question.free_label}] if question.free else []
    if question.multi:
        items = {"anyOf": values}
        return {"type": "array", "title": title, "items": items, "minItems": 1}
    return {"type": "string", "title": title, "oneOf": values}
