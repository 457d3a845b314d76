"""Reading a file of questions: all that is wrong with it at once, and what could be better."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from porch.claims.questions.option_labels import LONGEST, equal_labels, fold_label
from porch.claims.questions.question import LETTERS, Choice, Language, Question, QuestionRound
from porch.claims.questions.word_lists import FREE_LABELS, WORDS, WRITTEN_FREE_LABELS
from porch.errors import DefinitionError, Finding, Place, errors_in
from porch.text.fields import Fields
from porch.text.late_pattern import late_pattern
from porch.text.nodes import MapNode, Node, ScalarNode

NEEDS_INPUT = "needs_input"
MOST_QUESTIONS = 4
HIGHEST_CAP = 20
LONGEST_TEXT = 4000
_BEST_OPTIONS = (2, 3)
_ID = late_pattern(r"[qQ]([1-9][0-9]{0,3})")
PROTOCOLS = tuple(
    f"ask-{count}-question-{kind}" for count in ("single", "multi") for kind in ("closed", "free")
)


class ReadQuestions(NamedTuple):
    """The questions of a file, and what could be better about them."""

    round: QuestionRound
    warnings: tuple[Finding, ...]


def read_questions(tree: Node, file: str) -> ReadQuestions:
    """The round that a file describes; a DefinitionError has all that is wrong with it."""
    if not isinstance(tree, MapNode):
        fix = "write a list under `questions:`"
        told = Finding("wrong-type", "a file of questions is a mapping", Place(file), fix)
        raise DefinitionError([told])
    findings: list[Finding] = []
    fields = Fields(_unwrap_needs(tree), "the file of questions", findings)
    language = _read_language(fields)
    nodes = fields.list_of_nodes("questions")
    questions = tuple(_read_all(nodes, language, findings))
    round_ = QuestionRound(questions, language)
    _check_round(fields, round_, len(nodes))
    fields.done()
    if wrong := errors_in(findings):
        raise DefinitionError(wrong)
    return ReadQuestions(round_, tuple(findings))


def _unwrap_needs(tree: MapNode) -> MapNode:
    """What a worker that cannot ask hands to whoever can: `needs_input: {questions: ...}`."""
    inner = tree.get(NEEDS_INPUT)
    is_alone = len(tree.entries) == 1
    return inner if isinstance(inner, MapNode) and is_alone else tree


def _read_language(fields: Fields) -> Language:
    said = fields.text("language", "en")
    for known in WORDS:
        if said == known:
            return known
    _report(fields, "unknown-language", f"the language '{said}' is not known", "language", "en, zh")
    return "en"


def _report(fields: Fields, code: str, message: str, key: str, fix: str) -> None:
    fields.report(code, message, fields.place(key), fix)


def _check_round(fields: Fields, round_: QuestionRound, count: int) -> None:
    cap = fields.whole("max_questions", MOST_QUESTIONS, least=1)
    if cap > HIGHEST_CAP:
        told = f"max_questions is {cap}; at most {HIGHEST_CAP} can be asked at once"
        _report(fields, "too-many-questions", told, "max_questions", "ask in several rounds")
    elif count > cap:
        told = f"{count} questions are asked at once; at most {cap} are allowed"
        fix = "ask in several rounds, or set max_questions"
        _report(fields, "too-many-questions", told, "questions", fix)
    if not count:
        _report(fields, "no-questions", "the file asks nothing", "questions", "add a question")
    _check_protocol(fields, round_, count)
    _check_same(fields, [each.id for each in round_.questions], "id")
    _check_same(fields, [each.text for each in round_.questions], "text")


def _check_protocol(fields: Fields, round_: QuestionRound, count: int) -> None:
    """A file may say which protocol it follows; then its questions have to."""
    said = fields.text("protocol")
    if not said:
        return
    if said not in PROTOCOLS:
        fix = f"one of: {', '.join(PROTOCOLS)}"
        _report(fields, "unknown-question-protocol", f"'{said}' is not known", "protocol", fix)
    elif "-single-" in said and count > 1:
        fix = "ask one question, or use the protocol for several"
        told = f"{said} asks one question at a time, not {count}"
        _report(fields, "too-many-questions", told, "questions", fix)
    elif said.endswith("-closed") and round_.protocol.endswith("-free"):
        fix = "remove `free`, or use the protocol that allows text"
        _report(fields, "not-closed", f"{said} takes no text as an answer", "questions", fix)


def _check_same(fields: Fields, texts: Sequence[str], what: str) -> None:
    """Some tools know a question by its text alone."""
    doubled = {each for each in texts if each and texts.count(each) > 1}
    for each in sorted(doubled):
        told = f"two questions have the same {what}: '{each}'"
        _report(fields, "same-question", told, "questions", f"give each another {what}")


def _read_all(
    nodes: Sequence[Node], language: Language, findings: list[Finding]
) -> Iterator[Question]:
    for number, node in enumerate(nodes, 1):
        if isinstance(node, MapNode):
            fields = Fields(node, f"question {number}", findings)
            yield _QuestionReader(fields, number, language).read()
        else:
            told = f"question {number} is not a mapping"
            findings.append(Finding("wrong-type", told, node.place, "write `- text: ...`"))


class _QuestionReader:
    """One question of a file."""

    def __init__(self, fields: Fields, number: int, language: Language):
        self._fields = fields
        self._number = number
        self._language = language
        self._flagged = 0

    def read(self) -> Question:
        fields = self._fields
        options = tuple(self._read_options())
        free, label = self._read_free(options)
        if label and options and fold_label(options[-1].label) == fold_label(label):
            options = options[:-1]
        question = Question(
            id=self._read_id(),
            text=self._read_text("text", is_needed=True),
            options=options,
            free=free,
            multi=fields.flag("multi"),
            context=self._read_text("context"),
            example=self._read_text("example"),
            header=self._read_text("header"),
            free_label=label,
        )
        self._check(question)
        fields.done()
        return question

    def _complain(self, code: str, message: str, key: str, fix: str) -> None:
        _report(self._fields, code, message, key, fix)

    def _read_id(self) -> str:
        said = self._fields.text("id", f"q{self._number}").strip()
        found = _ID.fullmatch(said)
        if found is None:
            told = f"'{said}' cannot be the id of a question"
            self._complain("bad-question-id", told, "id", "write q and a number: q1")
        return f"q{found[1]}" if found else f"q{self._number}"

    def _read_text(self, key: str, *, is_needed: bool = False) -> str:
        fields = self._fields
        text = (fields.required_text(key) if is_needed else fields.text(key)).strip()
        if len(text) > LONGEST_TEXT:
            told = f"'{key}' has {len(text)} characters; at most {LONGEST_TEXT} are shown"
            self._complain("question-too-long", told, key, "say it shorter")
        return text

    def _read_options(self) -> Iterator[Choice]:
        nodes = self._fields.list_of_nodes("options")
        for at, node in enumerate(nodes):
            choice = self._read_option(node, at == len(nodes) - 1)
            if len(choice.label) > LONGEST:
                told = f"an option has {len(choice.label)} characters; at most {LONGEST}"
                self._complain("question-too-long", told, "options", "say it shorter")
            yield choice

    def _read_option(self, node: Node, is_last: bool) -> Choice:
        if isinstance(node, ScalarNode) and node.kind != "null":
            return Choice(" ".join(node.text.split()))
        if not isinstance(node, MapNode):
            told = "an option is a text, or a mapping with a label"
            self._complain("wrong-type", told, "options", "write `- Redis`")
            return Choice("?")
        own = Fields(node, f"an option of question {self._number}", self._fields.findings)
        label = " ".join(own.required_text("label").split())
        choice = Choice(label, own.text("description").strip(), own.flag("recommended"))
        self._flagged += own.flag("free")
        if own.flag("free") and not is_last:
            told = "only the last option can be the place for a text"
            own.report("free-not-last", told, own.place("free"), "put it at the end")
        own.done()
        return choice

    def _read_free(self, options: Sequence[Choice]) -> tuple[bool, str]:
        """Whether text is allowed, and how the place for it is called: `free` may be its label."""
        if self._flagged:
            self._fields.know("free")
            return True, options[-1].label
        node = self._fields.child("free")
        if isinstance(node, ScalarNode) and node.kind == "text" and node.text.strip():
            return True, " ".join(node.text.split())
        if not self._fields.flag("free"):
            return False, ""
        known = {fold_label(each) for each in WRITTEN_FREE_LABELS}
        if options and fold_label(options[-1].label) in known:
            return True, options[-1].label
        return True, FREE_LABELS[self._language]

    def _check(self, question: Question) -> None:
        count = len(question.options)
        if len(question.options) + question.has_free_letter > len(LETTERS):
            told = f"{question.id} has more options than there are letters"
            self._complain("too-many-options", told, "options", "ask in two steps")
        if not count and not question.free:
            told = f"{question.id} has no options and takes no text, so nobody can answer it"
            self._complain("no-options", told, "options", "add options, or `free: true`")
        self._check_labels(question)
        self._advise_count(question)

    def _check_labels(self, question: Question) -> None:
        labels = [each.label for each in question.options]
        labels += [question.free_label] if question.has_free_letter else []
        for label in equal_labels(labels):
            told = f"two options of {question.id} cannot be told apart: '{label}'"
            self._complain("same-option", told, "options", "give each another label")
        for own, label in zip(question.letters, labels, strict=False):
            letter = label.upper()
            if len(label) == 1 and letter in question.letters and letter != own:
                told = f"option {own} of {question.id} is called '{label}', the letter of another"
                self._complain("label-is-a-letter", told, "options", "use a longer label")

    def _advise_count(self, question: Question) -> None:
        """Two or three are best; a closed question with two to four goes through every tool."""
        count, (least, most) = len(question.options), _BEST_OPTIONS
        most = most if question.free else MOST_QUESTIONS
        if count and not least <= count <= most:
            has = "1 option" if count == 1 else f"{count} options"
            told = f"{question.id} has {has}; {least} to {most} are best"
            place = self._fields.place("options")
            self._fields.report("option-count", told, place, "add or remove some", "warning")
