"""Whether two payloads say the same, however each is kept: long texts may lie in a store."""

import json
from collections.abc import Mapping
from typing import Any

from porch.text.sha256 import sha256

# Where a long text was taken out of a record, its digest stands under this key.
DIGEST_KEY = "$sha256"


def digest_payload(payload: Any) -> str:
    return _hash_text(
        json.dumps(_hash_texts(payload), sort_keys=True, ensure_ascii=False, default=str)
    )


def _hash_texts(value: Any) -> Any:
    if isinstance(value, str):
        return _hash_text(value)
    if isinstance(value, Mapping):
        # The same text may travel inside a small record and outside of a large one.
        kept = value.get(DIGEST_KEY)
        return kept or {key: _hash_texts(inside) for key, inside in value.items()}
    if isinstance(value, (list, tuple)):
        return [_hash_texts(inside) for inside in value]
    return value


def _hash_text(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
