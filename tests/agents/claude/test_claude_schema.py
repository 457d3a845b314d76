"""Schemas that `claude` does not drop."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from porch.agents.claude.schema import simplify_schema
from porch.agents.schema_tuples import make_list_schema
from porch.model.protocol import Agent
from porch.run.definitions import library
from porch.tree.answers import answer_schema

TEXT, INT = {"type": "string"}, {"type": "integer"}
# Each was tried with claude 2.1.197; with `prefixItems` or `$schema` it offers no form at all.
KNOWN = {
    *("type", "properties", "required", "additionalProperties", "anyOf", "enum", "items"),
    *("minItems", "maxItems", "description", "pattern", "$defs", "$ref"),
}


def keywords(told: Mapping[str, Any]) -> Iterator[str]:
    yield from told
    for key, value in told.items():
        named = value.values() if key in ("properties", "$defs") else ()
        listed = value if key == "anyOf" else ()
        for each in (*named, *listed, *((value,) if key == "items" else ())):
            yield from keywords(each) if isinstance(each, Mapping) else ()


def test_a_tuple_is_a_list_of_that_length() -> None:
    assert make_list_schema({"type": "array", "prefixItems": [TEXT, TEXT], "items": False}) == {
        "type": "array",
        "items": TEXT,
        "minItems": 2,
        "maxItems": 2,
    }
    assert make_list_schema({"prefixItems": [TEXT, INT, TEXT]})["items"] == {"anyOf": [TEXT, INT]}


def test_tuples_are_found_wherever_they_are() -> None:
    pair = {"type": "array", "prefixItems": [TEXT, TEXT], "items": False, "minItems": 2}
    deep = {"anyOf": [{"type": "array", "items": pair}, {"type": "null"}]}
    given = {"$schema": "x", "properties": {"pairs": deep}, "$defs": {"Pair": pair}}
    flat = make_list_schema(pair)
    assert simplify_schema(given) == {
        "properties": {"pairs": {"anyOf": [{"type": "array", "items": flat}, {"type": "null"}]}},
        "$defs": {"Pair": flat},
    }


def test_a_field_may_have_the_name_of_a_keyword() -> None:
    given = {"type": "object", "properties": {"$schema": TEXT, "prefixItems": INT}}
    assert simplify_schema(given) == given


def test_every_question_of_the_packaged_graph_is_asked_in_words_that_it_knows() -> None:
    path = os.path.join(library.PACKAGED, "v3", "v3.graph.yaml")
    protocol = library.load_protocol(path).demand().protocol
    asked = [s.actor for s in protocol.states.values() if isinstance(s.actor, Agent)]
    forms = [
        answer_schema.flat_schema({e.name: e.record for e in a.exits}, protocol.types)
        for a in asked
    ]
    assert len(forms) == 8
    assert any("prefixItems" in str(form) for form in forms)
    for form in forms:
        assert set(keywords(simplify_schema(form))) <= KNOWN
