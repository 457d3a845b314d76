"""All that governs a run: the compiled protocol with its prompts, review texts and templates."""

import json
from collections.abc import Mapping
from typing import Any, TypedDict

from msgspec import Struct, field

from porch.model import protocol as p
from porch.model import types as t
from porch.model.tagged import TaggedJson
from porch.text.sha256 import sha256

_CLASSES = (
    t.Scalar,
    t.Enum,
    t.ListOf,
    t.Maybe,
    t.Tuple_,
    t.Ref,
    t.Record,
    t.Field,
    p.Exit,
    p.Measure,
    p.Take,
    p.Ask,
    p.Agent,
    p.Command,
    p.Check,
    p.Panel,
    p.Option,
    p.Human,
    p.Git,
    p.Children,
    p.Join,
    p.End,
    p.Input,
    p.State,
    p.Guard,
    p.Target,
    p.Keep,
    p.Edge,
    p.Budget,
    p.Interrupt,
    p.Epoch,
    p.Loop,
    p.Limits,
    p.Part,
    p.Protocol,
)
JSON_FORM = TaggedJson(_CLASSES)


class Definition(Struct, frozen=True):
    """A protocol with every text it needs, so that editing files changes no run in flight."""

    protocol: p.Protocol
    prompts: Mapping[str, str] = field(default_factory=dict)  # by state
    reviews: Mapping[str, str] = field(default_factory=dict)  # by review type
    templates: Mapping[str, str] = field(default_factory=dict)  # by name of the artifact


class StoredDefinition(TypedDict):
    """A definition as its file holds it; the protocol is tagged JSON."""

    protocol: Any
    prompts: dict[str, str]
    reviews: dict[str, str]
    templates: dict[str, str]


def encode_definition(definition: Definition) -> StoredDefinition:
    return {
        "protocol": JSON_FORM.encode(definition.protocol),
        "prompts": dict(definition.prompts),
        "reviews": dict(definition.reviews),
        "templates": dict(definition.templates),
    }


def decode_definition(raw: StoredDefinition) -> Definition:
    return Definition(
        JSON_FORM.decode(raw["protocol"]), raw["prompts"], raw["reviews"], raw["templates"]
    )


def hash_definition(definition: Definition) -> str:
    return sha256(serialize_definition(definition)).hexdigest()


def serialize_definition(definition: Definition) -> bytes:
    # Keys stay in their order: the order of the states is how far along a run is.
    return json.dumps(
        encode_definition(definition), ensure_ascii=False, separators=(",", ":")
    ).encode()


def parse_stored_definition(data: bytes) -> Definition:
    return decode_definition(json.loads(data))
