"""Reading the scripted agent's script: all that is wrong is said at once, with its place."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, cast, get_args

from porch.agents.outcomes import OutcomeKind
from porch.agents.scripted.script import (
    DecisionVerb,
    Script,
    ScriptedAnswer,
    ScriptedAnswers,
    ScriptedDecision,
)
from porch.errors import DefinitionError, Finding, errors_in
from porch.text.fields import Fields, describe_node
from porch.text.json_tree import read_json
from porch.text.nodes import Entry, ListNode, MapNode, Node, ScalarNode, plain_value
from porch.text.yaml_tree import read_yaml

T = TypeVar("T")
Findings = list[Finding]


# Of a section and a key: what is wrong with that name, and how to fix it.
FindProblem = Callable[[str, str], tuple[str, str] | None]


def read_script(text: str, file: str, find_problem: FindProblem | None = None) -> Script:
    """The script, or DefinitionError with all findings; a relative witness stands beside it."""
    findings: Findings = []
    node = _read_text(text, file)
    script = _read_script_node(node, file, findings)
    if find_problem is not None:
        findings += _find_unknown_keys(node, find_problem)
    if errors_in(findings):
        raise DefinitionError(findings)
    return script


def _find_unknown_keys(node: Node, find_problem: FindProblem) -> Iterator[Finding]:
    sections = node.entries if isinstance(node, MapNode) else ()
    for section in sections:
        if section.key.text in ("agents", "reviews", "decisions"):
            keys = section.value.entries if isinstance(section.value, MapNode) else ()
            for key in (entry.key for entry in keys):
                problem = find_problem(section.key.text, key.text)
                if problem is not None:
                    yield Finding("unknown-script-key", problem[0], key.place, problem[1])


def _read_text(text: str, file: str) -> Node:
    """JSON is YAML as well, and takes much less to read; what is wrong is said of YAML."""
    if text.lstrip().startswith("{"):
        with contextlib.suppress(DefinitionError):
            return read_json(text, file)
    return read_yaml(text, file)


def with_missing_answers(text: str, own: str) -> str:
    """A script that only decides, with the agents and reviewers of another one beside it."""
    said, others = (plain_value(_read_text(each, "")) for each in (text, own))
    if not isinstance(said, dict) or not said.get("decisions") or not isinstance(others, dict):
        return text
    if said.get("agents") or said.get("reviews"):
        return text
    rest = {key: others[key] for key in ("agents", "reviews") if key in others}
    return json.dumps({**said, **rest})


def load_script(path: str) -> Script:
    """The script in a file; raises OSError where there is none."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return read_script(file.read(), path)


def _read_script_node(node: Node, file: str, findings: Findings) -> Script:
    fields = _read_mapping(node, "a script", findings)
    if fields is None:
        return Script()
    agents = _read_entry_table(fields.child("agents"), "agents", findings, _read_agent_entry)
    reviews = _read_named_entries(fields.child("reviews"), "reviews", findings, _read_reviewers)
    decisions = _read_entry_table(fields.child("decisions"), "decisions", findings, _read_decision)
    witness = fields.text("witness")
    fields.done()
    beside = os.path.join(os.path.dirname(os.path.abspath(file)), witness) if witness else ""
    return Script(agents, reviews, decisions, beside)


def _read_mapping(node: Node, what: str, findings: Findings) -> Fields | None:
    if isinstance(node, MapNode):
        return Fields(node, what, findings)
    message = f"{what} must be a mapping, not {describe_node(node)}"
    findings.append(Finding("wrong-type", message, node.place))
    return None


def _read_named_entries(
    node: Node | None, what: str, findings: Findings, read: Callable[[Node, str, Findings], T]
) -> dict[str, T]:
    if node is None or (isinstance(node, ScalarNode) and node.kind == "null"):
        return {}
    fields = _read_mapping(node, f"'{what}'", findings)
    entries = fields.node.entries if fields else ()
    return {e.key.text: read(e.value, f"'{e.key.text}' of {what}", findings) for e in entries}


def _read_entry_table(
    node: Node | None, what: str, findings: Findings, read: Callable[[Fields], T]
) -> dict[str, tuple[T, ...]]:
    return _read_named_entries(
        node, what, findings, lambda n, w, f: _read_entry_list(n, w, f, read)
    )


def _read_entry_list(
    node: Node, what: str, findings: Findings, read: Callable[[Fields], T]
) -> tuple[T, ...]:
    """One entry may stand without the list around it."""
    items = node.items if isinstance(node, ListNode) else (node,)
    if not items:
        message = f"{what} is an empty list"
        findings.append(Finding("empty-list", message, node.place, "write an entry, or remove it"))
    mappings = [_read_mapping(item, f"an entry of {what}", findings) for item in items]
    return tuple(read(fields) for fields in mappings if fields is not None)


def _read_reviewers(node: Node, what: str, findings: Findings) -> Mapping[str, ScriptedAnswers]:
    return _read_entry_table(node, what, findings, _read_review_entry)


def _read_agent_entry(fields: Fields) -> tuple[ScriptedAnswer, ...]:
    return _read_tries(fields, _read_agent_answer)


def _read_review_entry(fields: Fields) -> tuple[ScriptedAnswer, ...]:
    return _read_tries(fields, _read_review_answer)


def _read_tries(
    fields: Fields, read: Callable[[Fields], ScriptedAnswer]
) -> tuple[ScriptedAnswer, ...]:
    """What stands beside `tries` holds for each of them that does not say otherwise."""
    if "tries" not in fields:
        return (read(fields),)
    tries = _read_entry_list(
        fields.child("tries") or fields.node, "'tries'", fields.findings, lambda f: f
    )
    shared = [entry for entry in fields.node.entries if entry.key.text != "tries"]
    return tuple(read(_merge_shared_fields(shared, each)) for each in tries)


def _merge_shared_fields(shared: list[Entry], fields: Fields) -> Fields:
    own = {entry.key.text for entry in fields.node.entries}
    if "tries" in own:
        message = "a try cannot have tries of its own"
        fields.report(
            "nested-tries", message, fields.place("tries"), "write them one after another"
        )
    kept = [entry for entry in shared if entry.key.text not in own]
    node = MapNode((*kept, *fields.node.entries), fields.node.place)
    return Fields(node, fields.what, fields.findings)


def _read_acts(fields: Fields) -> dict[str, Any]:
    orphan, printed, usage = map(fields.mapping, ("orphan", "print", "usage"))
    acts = {
        "ignore_sigint": fields.flag("ignore_sigint"),
        "sleep_s": fields.number("sleep"),
        "default": fields.flag("default"),
        "write": _read_texts(fields, "write"),
        "append": _read_texts(fields, "append"),
        "delete": fields.list_of_text("delete"),
        "run": _read_commands(fields),
        "orphan_s": orphan.number("seconds", 60.0) if orphan else 0.0,
        "tool": fields.text("tool"),
        "print_bytes": printed.whole("bytes") if printed else 0,
        "usd": usage.number("usd") if usage else 0.0,
        "tokens": usage.whole("tokens") if usage else 0,
        "hang": fields.flag("hang"),
        "kill": fields.whole("kill"),
        "crash": fields.whole("crash") if "crash" in fields else None,
        "fail": _read_failure_kind(fields),
    }
    fields.know("crash")
    for inner in filter(None, (orphan, printed, usage)):
        inner.done()
    return acts


def _read_agent_answer(fields: Fields) -> ScriptedAnswer:
    reminder, refused = fields.mapping("reminder"), fields.mapping("refused")
    payload = fields.child("payload")
    answer = ScriptedAnswer(
        **_read_acts(fields),
        say=fields.text("say"),
        signals=fields.list_of_text("signal") if "signal" in fields else None,
        reason=fields.text("reason"),
        final=fields.text("final") if "final" in fields else None,
        reminder=_read_agent_answer(reminder) if reminder else None,
        exit=fields.text("exit"),
        payload=_read_payload(payload, fields),
        refused=_read_agent_answer(refused) if refused else None,
    )
    fields.know("signal", "final", "tries")
    fields.done()
    return answer


def _read_payload(node: Node | None, fields: Fields) -> dict[str, Any]:
    value = plain_value(node) if node is not None else {}
    if isinstance(value, dict):
        return value
    fields.report("wrong-type", "'payload' must be a mapping", fields.place("payload"))
    return {}


def _read_review_answer(fields: Fields) -> ScriptedAnswer:
    raw, verdict = fields.text("raw"), fields.text("verdict", "APPROVE")
    summary, findings = fields.text("summary"), fields.list_of_text("findings")
    text = render_review_text(verdict, summary, findings)
    if "blocking" in fields or "non_blocking" in fields:
        issues = [fields.list_of_text(key) for key in ("blocking", "non_blocking")]
        text = render_report_text(issues[0], issues[1], summary)
    answer = ScriptedAnswer(**_read_acts(fields), final=raw or text)
    fields.know("tries", "blocking", "non_blocking")
    fields.done()
    return answer


def render_report_text(blocking: tuple[str, ...], others: tuple[str, ...], summary: str) -> str:
    """A report that lists issues first, as our prompts ask for it."""
    listed = [[{"title": title} for title in titles] for titles in (blocking, others)]
    return json.dumps({"blocking": listed[0], "non_blocking": listed[1], "summary": summary})


def render_review_text(verdict: str, summary: str = "", findings: tuple[str, ...] = ()) -> str:
    """A review as our prompts ask for it."""
    lines = [f"VERDICT: {verdict}", f"SUMMARY: {summary or 'Nothing to add.'}"]
    listed = ["FINDINGS:", *(f"- {finding}" for finding in findings)] if findings else []
    return "\n".join([*lines, *listed])


def _read_texts(fields: Fields, key: str) -> dict[str, str]:
    inner = fields.mapping(key)
    return (
        {entry.key.text: inner.text(entry.key.text) for entry in inner.node.entries}
        if inner
        else {}
    )


def _read_commands(fields: Fields) -> tuple[tuple[str, ...], ...]:
    """One command as a list of words, or a list of such lists."""
    node = fields.child("run")
    if isinstance(node, ListNode) and node.items and isinstance(node.items[0], ListNode):
        inner = MapNode(
            tuple(Entry(ScalarNode(str(i), n.place), n) for i, n in enumerate(node.items)),
            node.place,
        )
        each = Fields(inner, "'run'", fields.findings)
        return tuple(filter(None, map(each.list_of_text, each.keys())))
    words = fields.list_of_text("run")
    return (words,) if words else ()


def _read_failure_kind(fields: Fields) -> str:
    kind = fields.text("fail")
    kinds = [known for known in get_args(OutcomeKind) if known != "ok"]
    if kind and kind not in kinds:
        message, fix = f"'{kind}' is not a way to fail", f"one of {', '.join(kinds)}"
        fields.report("unknown-failure", message, fields.place("fail"), fix)
    return kind


def _read_decision(fields: Fields) -> ScriptedDecision:
    given = [verb for verb in get_args(DecisionVerb) if verb in fields]
    fields.know(*get_args(DecisionVerb))
    fields.done()
    if len(given) != 1:
        message = f"{fields.what} must decide exactly one thing"
        fix = f"write one of {', '.join(get_args(DecisionVerb))}"
        fields.report("one-decision", message, fields.node.place, fix)
        return ScriptedDecision("wait")
    verb = cast(DecisionVerb, given[0])
    return ScriptedDecision(
        verb, "" if _is_true_without_words(fields, verb) else fields.required_text(verb)
    )


def _is_true_without_words(fields: Fields, verb: str) -> bool:
    """`approve: true` and its like need no words, but may have some; the others need them."""
    node = fields.child(verb)
    has_words = isinstance(node, ScalarNode) and node.kind == "text"
    return (
        verb in ("approve", "decline", "retry", "stop", "wait")
        and not has_words
        and fields.flag(verb)
    )
