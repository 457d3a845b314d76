"""The printed form of steps: sections, numbers, provenance, and the same as data."""

from porch.cli import json_envelope
from porch.dialects.steps.extends import ExtendsChain, follow_extends
from porch.errors import Finding, Place
from porch.show import steps as view
from porch.text.formats import Node, read_yaml

FILES = {
    "a": """\
name: a
description: A way
inputs:
  - {name: n, type: integer, description: which}
  - {name: letter, type: string, optional: true}
outputs:
  - {value: "{ ok: true }", description: it worked}
  - {value: stopped}
steps:
  1: first <N> [<LETTER>]
  2: |

    second

    * see step 2
  3: {id: end, text: third}
""",
    "b": "name: b\nextends: a\nsteps: {1.1: 'new', 2+: '* more', 3: 'end of step 1.1'}\n",
    "bare": "name: bare\nsteps: {5: only}\n",
}


def chain(name: str) -> ExtendsChain:
    def fetch(wanted: str) -> Node | None:
        return read_yaml(FILES[wanted], f"{wanted}.yaml")

    return follow_extends(read_yaml(FILES[name], f"{name}.yaml"), fetch)


def test_the_text_has_inputs_outputs_and_numbered_steps() -> None:
    assert (
        view.render_steps(chain("b").demand())
        == """\
# b
A way

## Inputs
- n: integer (required) - which
- letter: string (optional)

## Outputs
- { ok: true }
  it worked
- stopped

## Steps

1: first <N> [<LETTER>]

2: new

3: second

* see step 3
* more

4: end of step 2
"""
    )


def test_empty_sections_are_left_out() -> None:
    assert view.render_steps(chain("bare").demand()) == "# bare\n\n## Steps\n\n1: only\n"


def test_raw_leaves_the_texts_untouched() -> None:
    told = view.render_steps(chain("b").demand(), raw=True)
    assert "* see step 2\n" in told
    assert "4: end of step 1.1\n" in told


def test_what_was_given_is_filled_in_and_shown() -> None:
    told = view.render_steps(chain("a").demand(), {"n": "7"})
    assert "- n: integer (required) = 7 - which\n" in told
    assert "\n1: first 7\n" in told


def test_a_value_that_speaks_of_a_step_is_left_alone() -> None:
    steps = chain("b").demand()
    assert "1: first 7 step 2\n" in view.render_steps(steps, {"n": "7", "letter": "step 2"})


def test_explain_shows_where_each_step_came_from() -> None:
    assert view.explain_step_sources(chain("b").demand()) == (
        "1  <- a:1\n2  <- b:1.1\n3  <- a:2 + b:2+\n4  <- b:3 (replaces a:3)\n"
    )


def test_data_has_number_source_origin_and_operation() -> None:
    told = view.make_steps_data(chain("b").demand())
    assert (told["name"], told["step_count"], told["chain"]) == ("b", 4, ["a", "b"])
    rows = [(s["number"], s["source"], s["origin"], s["operation"]) for s in told["steps"]]
    assert rows == [
        (1, "1", "a", "define"),
        (2, "1.1", "b", "insert"),
        (3, "2", "a", "define"),
        (4, "3", "b", "replace"),
    ]
    last = told["steps"][3]
    assert (last["ids"], last["text"]) == (["end"], "end of step 2")
    assert last["replaces"] == [{"origin": "a", "source": "3", "file": "a.yaml", "line": 16}]
    assert [p["source"] for p in told["steps"][2]["pieces"]] == ["2", "2+"]
    assert told["inputs"][0] == {
        "name": "n",
        "type": "integer",
        "optional": False,
        "description": "which",
    }
    first = {"value": "{ ok: true }", "description": "it worked", "check": None}
    assert told["outputs"][0] == first


def test_data_has_typed_values_of_what_was_given() -> None:
    told = view.make_steps_data(chain("a").demand(), {"n": "7"}, raw=True)
    assert [each["value"] for each in told["inputs"]] == [7, None]
    assert told["steps"][0]["text"] == "first 7"


def test_the_envelope_of_a_success_holds_the_data() -> None:
    assert json_envelope.make_success_envelope({"a": []}) == {
        "status": "success",
        "data": {"a": []},
    }


def test_the_envelope_of_a_failure_has_type_message_and_suggestion() -> None:
    findings = [
        Finding("base-not-found", "there is none", Place("a.yaml", 2, 1), "write one"),
        Finding("bad-step", "other"),
    ]
    told = json_envelope.make_failure_envelope(findings)
    assert told["status"] == "error"
    error = told["error"]
    assert (error["type"], error["message"], error["suggestion"]) == (
        "base_not_found", "there is none", "write one",
    )  # fmt: skip
    assert [each["line"] for each in error["findings"]] == [2, None]


def test_an_unknown_name_is_called_as_callers_know_it() -> None:
    assert (
        json_envelope.make_failure_envelope([Finding("unknown-protocol", "x")])["error"]["type"]
        == "not_found"
    )
