"""Whether two payloads say the same, however each is kept: long texts may lie in a store."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

# Where a long text was taken out of a record, its digest stands under this key.
KEPT = "$sha256"


def digest(payload: Any) -> str:
    return _of_text(json.dumps(_texts(payload), sort_keys=True, ensure_ascii=False, default=str))


def _texts(value: Any) -> Any:
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, Mapping):
        # The same text may travel inside a small record and outside of a large one.
        kept = value.get(KEPT)
        return kept or {key: _texts(inside) for key, inside in value.items()}
    if isinstance(value, (list, tuple)):
        return [_texts(inside) for inside in value]
    return value


def _of_text(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
