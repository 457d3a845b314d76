"""All that governs a run: the compiled protocol with its prompts, review texts and templates."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from porch.model import protocol as p
from porch.model import types as t
from porch.model.codec import Codec

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
    p.Protocol,
)
CODEC = Codec(_CLASSES)


@dataclass(frozen=True, slots=True)
class Definition:
    """A protocol with every text it needs, so that editing files changes no run in flight."""

    protocol: p.Protocol
    prompts: Mapping[str, str] = field(default_factory=dict)  # by state
    reviews: Mapping[str, str] = field(default_factory=dict)  # by review type
    templates: Mapping[str, str] = field(default_factory=dict)  # by name of the artifact


def encode(definition: Definition) -> dict[str, Any]:
    return {
        "protocol": CODEC.encode(definition.protocol),
        "prompts": dict(definition.prompts),
        "reviews": dict(definition.reviews),
        "templates": dict(definition.templates),
    }


def decode(raw: dict[str, Any]) -> Definition:
    return Definition(
        CODEC.decode(raw["protocol"]), raw["prompts"], raw["reviews"], raw["templates"]
    )


def digest(definition: Definition) -> str:
    return hashlib.sha256(canonical(definition)).hexdigest()


def canonical(definition: Definition) -> bytes:
    # Keys stay in their order: the order of the states is how far along a run is.
    return json.dumps(encode(definition), ensure_ascii=False, separators=(",", ":")).encode()


def decoded(data: bytes) -> Definition:
    return decode(json.loads(data))
