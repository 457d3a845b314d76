"""Bad files: each mistake has its code, its place and, where it helps, a proposal."""

import json
from typing import Any

import pytest

from porch.dialects.registry import parse_definition
from porch.errors import DefinitionError, Finding, errors_in

STEPS = [f"s{n}" for n in range(20)]


def findings_of(text: str, file: str = "p.json") -> tuple[Finding, ...]:
    return parse_definition(text, file).findings


def in_phase(**keys: Any) -> str:
    return json.dumps({"name": "p", "phases": [{"id": "a", **keys}, {"id": "b"}]})


def in_protocol(**keys: Any) -> str:
    return json.dumps({"name": "p", "phases": [{"id": "a"}, {"id": "b"}], **keys})


def test_r16_what_is_wrong_at_the_top_is_said_once_and_not_for_each_phase() -> None:
    (finding,) = findings_of(in_protocol(signals={"DONE": "nowhere"}))
    assert finding.message == (
        "signal 'DONE' leads to 'nowhere', which is not a state of this protocol"
    )


ERRORS: list[tuple[str, str, str]] = [
    # text, code, part of the fix or message
    ("[]", "wrong-type", "mapping"),
    ('"x"', "wrong-type", "mapping"),
    ("{}", "missing-key", "name"),
    ('{"name": "p"}', "missing-key", "phases"),
    ('{"name": "p", "phases": null}', "missing-key", "phases"),
    ('{"name": "p", "phases": []}', "missing-key", "empty"),
    ('{"name": "p", "phases": {}}', "wrong-type", "list"),
    ('{"name": "p", "phases": [3]}', "wrong-type", "mapping"),
    ('{"name": "p", "phases": [{}]}', "missing-key", "id"),
    ('{"name": "p", "phases": [{"id": "a b"}]}', "bad-name", "a b"),
    ('{"name": "a/b", "phases": [{"id": "a"}]}', "bad-name", "a/b"),
    ('{"name": "p", "phases": [{"id": "a"}, {"id": "a"}]}', "duplicate-name", "a"),
    ('{"name": "p", "phases": [{"id": "failed"}]}', "reserved-name", "failed"),
    # In a run of such a phase nobody could be asked about a budget that was used up.
    ('{"name": "p", "phases": [{"id": "budget"}]}', "reserved-name", "budget"),
    ('{"name": "p", "phases": [{"id": "target_branch"}]}', "reserved-name", "target_branch"),
    ('{"name": "p", "phases": [{"id": "complete", "prompt": "x.md"}]}', "reserved-name", "uses"),
    (in_phase(checks={"c": {"command": "x", "timeout": 0}}), "wrong-value", "more than 0 seconds"),
    (in_phase(promt="x.md"), "unknown-key", "did you mean 'prompt'?"),
    (in_phase(type="special"), "wrong-value", "once, build_verify, per_plan_phase"),
    (in_phase(prompt=[]), "wrong-type", "prompt"),
    (in_phase(prompt="../x.md"), "outside-path", "../x.md"),
    (in_phase(prompt="/x.md"), "outside-path", "/x.md"),
    (in_phase(artifact=".git/config"), "outside-path", ".git"),
    (in_phase(artifact="~/x"), "outside-path", "~"),
    (in_phase(artifact="C:x"), "outside-path", "C:"),
    (in_phase(artifact="notes/"), "wrong-value", "it ends in a slash"),
    (in_phase(next="bb"), "unknown-state", "did you mean 'b'?"),
    (in_phase(permissions=["wrtie:src/**"]), "bad-permission", "'wrtie:src/**' is not a perm"),
    (in_protocol(permissions=["write:/etc"]), "bad-permission", "points outside the workspace"),
    (in_protocol(permissions={"a": ["bash:"]}), "bad-permission", "nothing follows the colon"),
    (in_phase(next="zzz"), "unknown-state", "known here: a, b, complete"),
    (in_phase(next="b:phase_1"), "unknown-state", "b"),
    (in_phase(next=""), "missing-key", "next"),
    (in_phase(next=[]), "wrong-type", "next"),
    (in_phase(next=True), "wrong-type", "next"),
    (in_phase(next="b", transition={"on_complete": "a"}), "said-twice", "disagree"),
    (in_phase(transition=3), "wrong-type", "transition"),
    (in_phase(substates=["x"], steps=["y"]), "said-twice", "steps"),
    (in_phase(steps="x"), "wrong-type", "list"),
    (in_phase(steps=["x", "x"]), "duplicate-name", "x"),
    (in_phase(steps=[["x"]]), "wrong-type", "name"),
    (in_phase(steps=["a b"]), "bad-name", "a b"),
    (in_phase(steps=["consult"], consultation={"models": ["m"]}), "no-agent", "agent"),
    (in_phase(steps=["x"], initial_substate="y"), "unknown-step", "y"),
    (in_phase(steps=["x", "commit"], on_complete={"commit": ["f"]}), "reserved-name", "commit"),
    (in_phase(checks=3), "wrong-type", "mapping"),
    (in_phase(checks={"c": 3}), "wrong-type", "command"),
    (in_phase(checks={"c": ""}), "no-command", "c"),
    (in_phase(checks={"c": {}}), "no-command", "c"),
    (in_phase(checks={"c": {"command": "x", "setting": "y"}}), "said-twice", "both"),
    (in_phase(checks={"c": {"command": "x", "changed": True}}), "said-twice", "changed"),
    (in_phase(checks={"c": {"changed": False}}), "wrong-value", "must be true"),
    (in_phase(checks={"c": {"changed": "yes"}}), "wrong-type", "changed"),
    (in_phase(checks={"c": {"net_lines_below": 0}}), "wrong-type", "at least 1"),
    (in_phase(checks={"c": {"net_lines_below": "many"}}), "wrong-type", "at least 1"),
    (in_phase(checks={"c": {"command": "x", "rerun": -1}}), "wrong-type", "at least 0"),
    (in_phase(checks={"c": {"setting": "y", "if_missing": "?"}}), "wrong-value", "skip"),
    (in_phase(checks={"c": {"command": "x", "on_fail": "bx"}}), "unknown-state", "mean 'b'?"),
    (in_phase(checks={"c": {"command": "x", "on_fail": "complete"}}), "wrong-value", "on_fail"),
    (in_phase(checks={"c": {"command": "x", "on_fail": "next_phase"}}), "wrong-value", "on_fail"),
    (in_phase(checks={"c": {"command": "x", "max_retries": -1}}), "wrong-type", "at least 0"),
    (in_phase(checks={"c": {"command": "x", "cwd": "../.."}}), "outside-path", "../.."),
    (in_phase(checks={"c/d": "x"}), "bad-name", "c/d"),
    (in_phase(checks=[{"name": "c", "command": "x"}] * 2), "duplicate-name", "c"),
    (in_phase(checks={"c": "x"}, backpressure={"c": "y"}), "duplicate-name", "c"),
    (in_phase(verification={}), "missing-key", "checks"),
    (in_phase(verification=[]), "wrong-type", "mapping"),
    (in_phase(consultation={"models": []}), "no-reviewers", "models"),
    (in_phase(consultation={"models": ["m", "m"]}), "duplicate-name", "twice"),
    (in_phase(consultation={"models": ["m n"]}), "bad-name", "m n"),
    (in_phase(consultation={"models": ["m"], "on": "x", "trigger": "x"}), "said-twice", "on"),
    (in_phase(consultation={"models": ["m"], "next": "c"}), "unknown-state", "c"),
    (in_phase(consultation={"models": ["m"], "max_rounds": 0}), "wrong-type", "at least 1"),
    (in_phase(consultation={"models": ["m"]}, verify={"models": ["m"]}), "said-twice", "verify"),
    (in_phase(steps=["work"], verify={"models": ["m"], "on": "wrok"}), "unknown-step", "'work'?"),
    (in_phase(gate=3), "wrong-type", "mapping"),
    (in_phase(gate=[]), "wrong-type", "mapping"),
    (in_phase(gate="a b"), "bad-name", "a b"),
    (in_phase(gate={"name": "a b"}), "bad-name", "a b"),
    (in_phase(gate={"nxt": "b"}), "unknown-key", "did you mean 'next'?"),
    (in_phase(gate={"next": "c"}), "unknown-state", "the gate of 'a'"),
    (in_phase(steps=["one", "two"], gate={"after": "twoo"}), "unknown-step", "did you mean 'two'?"),
    (in_phase(steps=["x", "y"], gate={"after": "x", "requires": ["y"]}), "late-step", "'y'"),
    (in_phase(gate={"requires": ["a b"]}), "bad-name", "a b"),
    (in_phase(signals=3), "wrong-type", "mapping"),
    (in_phase(signals={"X": []}), "wrong-type", "target"),
    (in_phase(signals={"X": True}), "wrong-type", "target"),
    (in_phase(signals={"X": "c"}), "unknown-state", "signal 'X'"),
    (in_phase(signals={"silent": "b"}), "reserved-name", "silent"),
    (in_phase(signals={"X": {"requires": "money"}}), "wrong-value", "money"),
    (in_phase(signals=[3.5, []]), "wrong-type", "name"),
    (in_phase(phased=True, phases_from="plann"), "unknown-state", "phases_from"),
    (in_phase(phased=True, phases_from="../plan.md"), "outside-path", "plan.md"),
    (in_phase(phased="yes"), "wrong-type", "phased"),
    (in_protocol(initial="c"), "unknown-state", "initial"),
    (in_protocol(initial="complete"), "wrong-value", "write 'a'"),
    (in_protocol(initial="a", initial_state="b"), "said-twice", "initial"),
    (in_protocol(permissions={"c": ["x"]}), "unknown-state", "permissions"),
    (in_protocol(permissions={"a": {}}), "wrong-type", "texts"),
    (in_protocol(permissions=True), "wrong-type", "texts"),
    (in_protocol(signals={"X": {"transitions_to": "c"}}), "unknown-state", "c"),
    (in_protocol(gates={"g": {}}), "unplaced-gate", "after"),
    (in_protocol(gates={"g": {"after": "c"}}), "unknown-state", "c"),
    (in_protocol(gates={"g": 3}), "wrong-type", "mapping"),
    (in_protocol(gates=3), "wrong-type", "list"),
    (in_protocol(gates={"g": {"after": "a"}, "h": {"after": "a"}}), "said-twice", "already"),
    (in_protocol(transitions={"c": "a"}), "unknown-state", "c"),
    (in_protocol(transitions={"a": []}), "wrong-type", "target"),
    (in_protocol(transitions=3), "wrong-type", "list"),
    (in_protocol(transitions=[3]), "wrong-type", "from"),
    (in_protocol(transitions={"a": {"default": "b", "to": "a"}}), "said-twice", "leads"),
    (in_protocol(transitions={"a:x": "a:y"}), "step-order", "right after"),
    (in_protocol(phases=[{"id": f"p{n}"} for n in range(101)]), "too-many", "101"),
    (in_phase(steps=[f"s{n}" for n in range(41)]), "too-many", "41"),
    (in_protocol(phases=[{"id": f"p{n}", "steps": STEPS} for n in range(20)]), "too-many", "400"),
    (in_protocol(config={"claude_timeout": "soon"}), "wrong-type", "number"),
    (in_protocol(defaults=[]), "wrong-type", "mapping"),
    (in_phase(next="a"), "no-end", "end"),
    (json.dumps({"name": "p", "phases": [
        {"id": "a", "phased": True, "phases_from": "x.md"},
        {"id": "b", "phased": True, "phases_from": "y.md"},
    ]}), "said-twice", "is not the document"),
]  # fmt: skip


@pytest.mark.parametrize("text, code, part", ERRORS)
def test_a_mistake_is_found_with_its_code_and_its_place(text: str, code: str, part: str) -> None:
    found = [finding for finding in findings_of(text) if finding.code == code]
    assert found, findings_of(text)
    assert found[0].severity == "error"
    assert found[0].place is not None
    assert (found[0].place.file, found[0].place.line) == ("p.json", 1)
    assert any(part in f"{finding.message} {finding.fix}" for finding in found)
    assert parse_definition(text, "p.json").protocol is None


def test_all_mistakes_are_reported_in_file_order_with_line_and_column() -> None:
    text = """{
  "name": "p",
  "phases": [
    { "id": "a", "next": "bee" },
    { "id": "b", "promt": "b.md" },
    { "id": "b" }
  ],
  "initial": "c"
}"""
    found = [(str(f.place), f.code) for f in findings_of(text)]
    assert found == [
        ("p.json:4:26", "unknown-state"),
        ("p.json:5:18", "unknown-key"),
        ("p.json:6:5", "duplicate-name"),
        ("p.json:8:14", "unknown-state"),
    ]


@pytest.mark.req("F-003")
def test_a_file_without_a_name_is_refused_at_its_beginning() -> None:
    (finding,) = findings_of('{"phases": [{"id": "a"}]}')
    assert (finding.code, str(finding.place)) == ("missing-key", "p.json:1:1")


@pytest.mark.req("F-006")
def test_a_file_without_phases_is_refused() -> None:
    (finding,) = findings_of('{"name": "p"}')
    assert (finding.code, finding.message) == ("missing-key", "the protocol has no 'phases'")


@pytest.mark.req("F-010")
def test_a_phase_without_an_id_is_refused_where_it_stands() -> None:
    (finding,) = findings_of('{"name": "p", "phases": [{"id": "a"}, {"name": "B"}]}')
    assert (finding.code, str(finding.place)) == ("missing-key", "p.json:1:39")


@pytest.mark.req("F-043")
def test_a_verification_without_checks_is_refused() -> None:
    (finding,) = errors_in(findings_of(in_phase(verification={"max_retries": 2})))
    assert "has no 'checks'" in finding.message


@pytest.mark.req("F-004")
@pytest.mark.req("F-005")
def test_version_and_description_may_be_left_out() -> None:
    reading = parse_definition(in_phase(), "p.json")
    assert reading.findings == ()
    assert reading.protocol is not None
    assert (reading.protocol.version, reading.protocol.description) == ("", "")


NOTES: list[tuple[str, str]] = [
    (in_phase(hooks={}), "hooks"),
    (in_phase(input={}), "input"),
    (in_phase(on_complete={"commit": True, "push": True}), "push"),
    (in_phase(on_complete={"commit": True}), "commit"),
    (in_phase(max_iterations=3), "max_iterations"),
    (in_phase(max_consultation_rounds=3), "max_consultation_rounds"),
    (in_phase(gate={"type": "automated"}), "automated"),
    (in_phase(phases_from="b"), "runs only once"),
    (in_phase(transition={"on_all_phases_complete": "b"}), "runs only once"),
    (in_phase(verification={"checks": {"c": {"command": "x", "on_fail": "b"}}}), "verification"),
    (in_protocol(alias="q"), "alias"),
    (in_protocol(hooks=[]), "hooks"),
    (in_protocol(input={"type": "weather", "required": True, "default_for": []}), "default_for"),
    (in_protocol(config={"max_iterations": 100}), "turns"),
    (in_protocol(defaults={"mode": "strict"}), "mode"),
    (in_protocol(defaults={"consultation": {"enabled": True, "models": ["m"]}}), "enabled"),
    (in_protocol(phase_completion={"c": "x"}), "phase_completion"),
    (in_protocol(transitions={"a": {"wait_for": "g"}}), "wait_for"),
]  # fmt: skip


@pytest.mark.parametrize("text, part", NOTES)
def test_what_is_known_and_has_no_meaning_here_is_said(text: str, part: str) -> None:
    reading = parse_definition(text, "p.json")
    assert reading.protocol is not None, reading.findings
    notes = [finding for finding in reading.findings if finding.code == "no-meaning"]
    assert all(finding.severity == "note" for finding in notes)
    assert any(part in finding.message for finding in notes)


def test_a_key_unlike_any_other_is_a_warning() -> None:
    reading = parse_definition(in_phase(zebra=1), "p.json")
    assert [(f.code, f.severity) for f in reading.findings] == [("unknown-key", "warning")]
    assert reading.protocol is not None


def test_schema_and_private_keys_are_nobodys_business() -> None:
    text = in_phase(_why="because", signals={"$x": "b", "_y": "c"}, checks={"_z": 3})
    assert findings_of(text[:-1] + ', "$schema": "x", "_note": {}}') == ()


def test_a_hundred_unknown_keys_are_not_a_hundred_findings() -> None:
    assert len(findings_of(in_phase(**{f"zebra{n}": n for n in range(100)}))) == 20


@pytest.mark.parametrize("steps", [[], ["human_review"]])
def test_a_consultation_that_waits_for_no_step_is_noted_and_comes_last(steps: list[str]) -> None:
    said = {"on": "review", "models": ["m"]}
    reading = parse_definition(in_phase(steps=steps, consultation=said), "p.json")
    assert [(f.code, f.severity) for f in reading.findings] == [("unknown-step", "note")]
    assert reading.protocol is not None
    assert "a:consult" in reading.protocol.states


def test_a_state_that_nothing_leads_to_is_a_warning() -> None:
    reading = parse_definition(in_phase(next="complete"), "p.json")
    assert {f.code for f in reading.findings} == {"unreachable"}
    assert reading.protocol is not None


def test_yaml_is_read_by_its_phases_and_anything_else_is_no_dialect() -> None:
    assert parse_definition("name: p\nphases:\n  - id: a\n", "p.yaml").protocol is not None
    (finding,) = parse_definition("name: p\nstages: []\n", "p.yaml").findings
    assert (finding.code, str(finding.place)) == ("unknown-dialect", "p.yaml:1:1")


def test_what_is_no_tree_at_all_is_raised() -> None:
    with pytest.raises(DefinitionError) as caught:
        parse_definition('{"name": ', "p.json")
    assert caught.value.findings[0].code == "json-syntax"


def one_error(text: str) -> Finding:
    (finding,) = errors_in(findings_of(text))
    return finding


def test_l2_a_type_that_porch_does_not_know_is_an_error() -> None:
    finding = one_error(in_phase(type="per_plan_phaze"))
    assert finding.code == "wrong-value"
    assert finding.fix == "did you mean 'per_plan_phase'?"
    for type_ in ("once", "per_plan_phase", "build_verify", None):
        assert errors_in(findings_of(in_phase(type=type_))) == []


@pytest.mark.parametrize(
    "checks, top",
    [
        ({"c": {"command": 3}}, {}),
        ({"c": 3}, {}),
        ([3], {}),
        ([{"name": "c", "command": 3}], {}),
        # A name of `defaults` takes the command from there, but no number does.
        ({"c": 3}, {"defaults": {"checks": {"c": "x"}}}),
    ],
)
def test_l6_a_number_is_no_command(checks: Any, top: dict[str, Any]) -> None:
    phases = [{"id": "plan"}, {"id": "a", "phased": True, "checks": checks}]
    told = json.dumps({"name": "p", "phases": phases, **top})
    finding = one_error(told)
    assert (finding.code, finding.severity) == ("wrong-type", "error")
    assert "3" in finding.message
    assert finding.place is not None
    assert errors_in(findings_of(told.replace("3", '"3"'))) == []


def test_l6_also_where_the_checks_are_those_of_the_file_or_of_a_verification() -> None:
    number = {"c": {"command": 7}}
    assert one_error(in_protocol(phase_completion=number)).code == "wrong-type"
    assert one_error(in_phase(verification={"checks": number})).code == "wrong-type"
    assert one_error(in_protocol(defaults={"checks": number})).code == "wrong-type"


@pytest.mark.parametrize("nothing", [0, 0.0])
def test_l7_no_time_at_all_is_an_error(nothing: float) -> None:
    finding = one_error(in_phase(checks={"c": {"command": "x", "timeout": nothing}}))
    assert finding.code == "wrong-value"
    assert "more than 0 seconds" in finding.message
    assert finding.fix == "leave it out for the usual time"
    for key in ("claude_timeout", "consultation_timeout"):
        assert one_error(in_protocol(config={key: nothing})).code == "wrong-value"
        assert findings_of(in_protocol(config={key: 0.5})) == ()
    for good in (0.5, 1, None):
        assert findings_of(in_phase(checks={"c": {"command": "x", "timeout": good}})) == ()


@pytest.mark.parametrize("word", ["yes", "no", "Yes", "true", "false", "on", "off", 1, 0])
def test_l8_a_word_for_yes_is_no_path_to_commit(word: Any) -> None:
    finding = one_error(in_phase(artifact="a.md", on_complete={"commit": word}))
    assert finding.code == "wrong-type"
    assert finding.fix == "write true or false, without quotes"
    assert finding.place is not None


@pytest.mark.parametrize("good", [True, False, "a.md", "yes.md", ["docs", "no"], None])
def test_l8_true_false_and_paths_can_be_committed(good: Any) -> None:
    assert findings_of(in_phase(artifact="a.md", on_complete={"commit": good})) == ()
