"""protocols list, show, lint, schema and plan phases."""

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

FINDING = {"code", "severity", "message", "file", "line", "column", "fix"}


def lint(desk: "Desk", document: Any, code: int) -> list[dict[str, Any]]:
    file = desk.write("some/protocol.json", json.dumps(document, indent=1))
    told = desk.porch("protocols", "lint", str(file), "--json", code=code).json
    assert list(told) == ["findings"]
    assert all(set(finding) == FINDING for finding in told["findings"])
    found: list[dict[str, Any]] = told["findings"]
    return found


@pytest.mark.req("P-002")
def test_the_packaged_protocols_are_listed_with_their_files(desk: "Desk") -> None:
    rows = desk.porch("protocols", "list", "--json").json["protocols"]
    steps = ["bug-discovery", "debugging", "discovery", "implementation"]
    names = sorted(["bugfix", "change", "spider", "tick", "v3", *steps])
    assert [row["name"] for row in rows] == names
    assert {row["source"] for row in rows} == {"packaged"}
    text = desk.porch("protocols").out
    assert all(row["file"] in text and row["description"] in text for row in rows)


def test_a_protocol_that_does_not_compile_is_listed_with_what_is_wrong(desk: "Desk") -> None:
    desk.write("codev/protocols/broken/protocol.json", "{")
    row = desk.porch("protocols", "--json").json["protocols"][0]
    assert row["name"] == "broken"
    assert row["description"].startswith("(has errors: ")
    said = desk.porch("protocols", "show", "broken", code=2)
    assert "protocol.json:1:2" in said.err


def test_a_list_tells_the_error_of_a_protocol_and_not_a_note_before_it(desk: "Desk") -> None:
    """T14: a note stood there as if it were the error."""
    document = {
        "name": "broken",
        "madeup": 1,
        "phases": [{"id": "one", "transition": {"on_complete": "nowhere"}}],
    }
    desk.write("codev/protocols/broken/protocol.json", json.dumps(document))
    findings = lint(desk, document, 2)
    assert findings[0]["severity"] != "error"
    (row,) = (
        r for r in desk.porch("protocols", "--json").json["protocols"] if r["name"] == "broken"
    )
    assert "nowhere" in row["description"]


@pytest.mark.req("P-081", "F-012")
def test_show_prints_what_a_protocol_says_of_itself(desk: "Desk") -> None:
    phases = ({"id": "one", "name": "First", "description": "The first thing"},)
    file = desk.protocol("p", *phases, version="7.1", description="A small one")
    text = desk.porch("protocols", "show", "p").out
    assert text.startswith(f"p 7.1\nA small one\nfile: {file}\n\nFirst\n  The first thing\n")
    again = desk.porch("protocols", "show", "p")  # from the cache
    assert again.out == text
    told = desk.porch("protocols", "show", "p", "--json").json
    assert set(told) == {"name", "file", "digest", "protocol", "findings"}
    desk.protocol("p", *phases, version="7.2", description="A small one")
    assert desk.porch("protocols", "show", "p").out.startswith("p 7.2\n")


def test_show_says_that_whoever_is_there_reviews_where_nobody_is_named(desk: "Desk") -> None:
    text = desk.porch("protocols", "show", "tick").out
    told = "tick-review by the agents that are there when a run begins, two thirds needed"
    assert f"  verify:consult: {told}\n" in text


def test_show_of_an_unknown_protocol_names_the_known_ones(desk: "Desk") -> None:
    said = desk.porch("protocols", "show", "spidr", code=2)
    assert "known protocols: bug-discovery, bugfix, change, debugging" in said.err


@pytest.mark.req("F-004", "F-005")
def test_lint_is_content_with_little(desk: "Desk") -> None:
    assert lint(desk, {"name": "p", "phases": [{"id": "a"}]}, 0) == []
    assert desk.porch("protocols", "lint", "some/protocol.json").out == "no problems found\n"
    assert desk.porch("protocols", "lint", "some").out == "no problems found\n"


@pytest.mark.req("F-003", "F-006", "F-010", "F-043")
@pytest.mark.parametrize(
    "document, place, word",
    [
        ({"phases": [{"id": "a"}]}, (1, 1), "name"),
        ({"name": "p"}, (1, 1), "phases"),
        ({"name": "p", "phases": {}}, (3, 12), "phases"),
        ({"name": "p", "phases": [{"name": "A"}]}, (4, 3), "id"),
        ({"name": "p", "phases": [{"id": "a", "verification": {}}]}, (6, 20), "checks"),
    ],
)
def test_lint_points_at_what_is_missing(
    desk: "Desk", document: Any, place: tuple[int, int], word: str
) -> None:
    found = lint(desk, document, 2)
    assert (found[0]["line"], found[0]["column"]) == place
    assert f"'{word}'" in found[0]["message"]
    assert found[0]["file"].endswith("some/protocol.json")
    text = desk.porch("protocols", "lint", "some/protocol.json", code=2).out
    assert f"some/protocol.json:{place[0]}:{place[1]}" in text


def test_lint_reports_all_findings_of_all_files_not_the_first(desk: "Desk") -> None:
    one = desk.write("one.json", '{"name": "p", "phases": [{"idd": "a"}, {"id": "b", "nxt": "c"}]}')
    two = desk.write("two.json", '{"name": "p", "name": "q", "phases": [{"id": "a"}]}')
    told = desk.porch("protocols", "lint", str(one), str(two), "missing.json", "--json", code=2)
    codes = [(f["file"].rpartition("/")[2], f["code"]) for f in told.json["findings"]]
    assert ("one.json", "unknown-key") in codes
    assert len([c for c in codes if c[0] == "one.json"]) >= 3
    assert ("two.json", "duplicate-key") in codes
    assert ("missing.json", "unreadable") in codes


def test_a_warning_or_a_note_is_no_error(desk: "Desk") -> None:
    found = lint(desk, {"name": "p", "phases": [{"id": "a"}], "alias": "pp", "hooks": {}}, 0)
    assert {finding["severity"] for finding in found} <= {"warning", "note"}
    assert found


@pytest.mark.parametrize("file", ["spider", "change", "tick", "bugfix"])
def test_the_packaged_protocols_lint_clean(desk: "Desk", file: str) -> None:
    path = desk.porch("protocols", "show", file, "--json").json["file"]
    assert desk.porch("protocols", "lint", path, "--json").json == {"findings": []}


def test_l9_lint_and_show_name_a_reviewer_that_is_no_agent_here(desk: "Desk") -> None:
    panel = {"models": ["claude", "gemnii"]}
    desk.protocol("p", {"id": "one", "consultation": panel})
    for words in (("lint", "p"), ("show", "p")):
        (finding,) = desk.porch("protocols", *words, "--json").json["findings"]
        assert (finding["code"], finding["severity"]) == ("unknown-agent", "warning")
        assert finding["line"] > 1
    # What was kept of `show` is looked up again when the settings change.
    desk.write("codev/config.toml", '[agents.gemnii]\ncommand = ["true"]\n')
    assert desk.porch("protocols", "show", "p", "--json").json["findings"] == []
    assert desk.porch("protocols", "lint", "p").out == "no problems found\n"


def test_l17_lint_says_the_same_from_every_directory(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    file = desk.protocol("p", {"id": "one", "prompt": "one.md"}, {"id": "two", "prompt": "two.md"})
    desk.write("codev/protocols/p/prompts/one.md", "{{ nonsense }}\n")
    (file.parent / "prompts" / "two.md").unlink()
    told = []
    for here, word in (
        (".", "p"),
        (".", "codev/protocols/p"),
        ("codev/protocols", "p/protocol.json"),
        ("codev/protocols/p", "."),
        ("codev/protocols/p", "protocol.json"),
        ("codev/protocols/p/prompts", ".."),
        ("..", str(file)),
    ):
        monkeypatch.chdir(desk.root / here)
        found = desk.porch("protocols", "lint", word, "--json", code=2).json["findings"]
        told.append([(f["code"], f["severity"], f["line"], f["column"]) for f in found])
    assert {code for code, *_ in told[0]} == {"unknown-variable", "missing-prompt"}
    assert told == [told[0]] * len(told)


def test_l18_lint_and_show_take_names_files_and_directories(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.protocol("p", {"id": "one"}, version="3")
    assert desk.porch("protocols", "lint", "p", "tick", "codev/protocols/p").out == (
        "no problems found\n"
    )
    by_name = desk.porch("protocols", "show", "p", "--json").json
    for word in ("codev/protocols/p", "codev/protocols/p/protocol.json"):
        by_path = desk.porch("protocols", "show", word, "--json").json
        assert by_path["name"] == "p"
        assert by_path["digest"] == by_name["digest"]
        assert by_path["protocol"] == by_name["protocol"]
    monkeypatch.chdir(desk.root / "codev/protocols/p")
    assert desk.porch("protocols", "show", ".").out.startswith("p 3\n")
    said = desk.porch("protocols", "lint", "q", code=2).out
    assert "there is no protocol 'q'" in said
    assert "known protocols" in said


def test_l18_what_was_shown_of_a_path_is_never_taken_for_a_name(desk: "Desk") -> None:
    desk.write("a/b/protocol.json", json.dumps({"name": "x", "phases": [{"id": "one"}]}))
    desk.protocol("a_b", {"id": "two"})
    assert "one" in desk.porch("protocols", "show", "a/b").out
    assert "two" in desk.porch("protocols", "show", "a_b").out
    assert "one" in desk.porch("protocols", "show", "a/b").out


def test_the_schema_knows_the_packaged_protocols_and_refuses_what_lint_refuses(
    desk: "Desk",
) -> None:
    from jsonschema import Draft202012Validator

    schema = desk.porch("protocols", "schema", "--json").json
    assert desk.porch("protocols", "schema").json == schema
    validator = Draft202012Validator(schema)
    for name in ("spider", "change", "tick", "bugfix"):
        path = desk.porch("protocols", "show", name, "--json").json["file"]
        with open(path, encoding="utf-8") as file:
            assert list(validator.iter_errors(json.load(file))) == []
    assert list(validator.iter_errors({"phases": []}))


def test_plan_phases_by_headings(desk: "Desk") -> None:
    plan = (
        "# Plan\n\n## Phases\n\n### Phase 2: API\n- POST\n- GET\n\n### Phase 1: Schema\n- users\n"
    )
    desk.write("plan.md", plan)
    told = desk.porch("plan", "phases", "plan.md", "--json").json
    assert list(told) == ["reading", "phases", "findings"]
    assert told["reading"] == "headings"
    assert [set(phase) for phase in told["phases"]] == [{"id", "title", "description", "text"}] * 2
    assert [(p["id"], p["title"], p["description"]) for p in told["phases"]] == [
        ("phase_1", "Schema", "users"),
        ("phase_2", "API", "POST, GET"),
    ]
    text = desk.porch("plan", "phases", "plan.md").out
    assert text.startswith("read from: headings\nphase_1: Schema\n  users\nphase_2: API\n")


def test_plan_phases_by_json_and_as_one(desk: "Desk") -> None:
    block = '```json\n{"phases": [{"id": "db", "title": "Schema"}]}\n```\n'
    desk.write("plan.md", block)
    told = desk.porch("plan", "phases", "plan.md", "--json").json
    assert (told["reading"], [p["id"] for p in told["phases"]]) == ("json", ["db"])
    desk.write("plan.md", "Just do it.\n")
    told = desk.porch("plan", "phases", "plan.md", "--json").json
    assert (told["reading"], len(told["phases"])) == ("single", 1)
    assert told["findings"], "that there is one phase only is said out loud"


def test_a_plan_that_is_not_there_is_exit_2(desk: "Desk") -> None:
    said = desk.porch("plan", "phases", "nope.md", code=2)
    assert "nope.md" in said.err
    assert desk.porch("plan", "phases", "nope.md", "--json", code=2).json["error"]["exit"] == 2
