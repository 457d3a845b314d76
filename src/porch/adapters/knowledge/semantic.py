"""Meaning as a vector: a static embedding that lies inside an installed package, read offline.

The extra `semantic` installs wordllama, whose wheel carries a table of 32,000 token vectors and the
tokenizer that goes with it. Its own loader looks for the tokenizer on the network, so the two files
are opened directly. The vector of a text is the mean of its tokens; words that only hold sentences
together are left out, because in a mean they outvote the ones that say something.
"""

from __future__ import annotations

import os
import sys

from porch.adapters.knowledge.words import telling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PACKAGE = "wordllama"
MODEL = "wordllama/l2_supercat_256"
# Below this two texts have nothing to do with each other; found by trying, on short phrases.
LEAST_SIMILAR = 0.15
_WEIGHTS = ("weights", "l2_supercat_256.safetensors")
_TOKENIZER = ("tokenizers", "l2_supercat_tokenizer_config.json")
_LONGEST = 4000
_LONGEST_HEADER = 1_000_000


def place() -> str | None:
    """Where the package lies, told by looking: a search without the extra must not pay for it."""
    for directory in sys.path:
        found = os.path.join(directory, PACKAGE)
        if os.path.isfile(os.path.join(found, *_WEIGHTS)):
            return found
    return None


class Embedding:
    """The opened model."""

    def __init__(self, directory: str):
        from importlib import import_module

        # By name, because types of an extra are there on some machines only.
        self._numpy: Any = import_module("numpy")
        self._tokenizer = _tokenizer(os.path.join(directory, *_TOKENIZER))
        self._table = _table(os.path.join(directory, *_WEIGHTS), self._numpy)

    def vector(self, text: str) -> bytes:
        """The direction of a text, as half floats; empty if it says nothing."""
        words = " ".join(telling(text[:_LONGEST]))
        ids = self._tokenizer.encode(words, add_special_tokens=False).ids
        ids = [number for number in ids if number < len(self._table)]
        if not ids:
            return b""
        mean = self._table[ids].astype(self._numpy.float32).mean(axis=0)
        length = float(self._numpy.linalg.norm(mean))
        return bytes((mean / length).astype(self._numpy.float16).tobytes()) if length else b""

    def nearest(
        self, wanted: bytes, rows: list[tuple[int, int, bytes]], most: int
    ) -> list[tuple[int, int, float]]:
        """Section, document and similarity of what lies near enough, nearest first."""
        rows = [row for row in rows if len(row[2]) == len(wanted)]
        if not wanted or not rows:
            return []
        half, full = self._numpy.float16, self._numpy.float32
        table = self._numpy.frombuffer(b"".join(row[2] for row in rows), dtype=half)
        table = table.reshape(len(rows), -1).astype(full)
        near = table @ self._numpy.frombuffer(wanted, dtype=half).astype(full)
        order = self._numpy.argsort(-near, kind="stable")[:most]
        told = [(rows[at][0], rows[at][1], float(near[at])) for at in order]
        return [each for each in told if each[2] >= LEAST_SIMILAR]


def _tokenizer(path: str) -> Any:
    from importlib import import_module

    read = import_module("tokenizers").Tokenizer.from_file
    try:
        return read(path)
    # It raises nothing more exact than that.
    except Exception as error:
        raise ValueError(f"{path} is no tokenizer: {error}") from error


def _table(path: str, numpy: Any) -> Any:
    """The one tensor of a safetensors file, mapped: a search needs a few of its 32,000 rows."""
    import json

    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(min(length, _LONGEST_HEADER)))
    (told,) = [entry for name, entry in header.items() if name != "__metadata__"]
    if told["dtype"] != "F16":
        raise ValueError(f"{path} holds {told['dtype']}, not half floats")
    begin = 8 + length + told["data_offsets"][0]
    return numpy.memmap(path, numpy.float16, "r", begin, tuple(told["shape"]))
