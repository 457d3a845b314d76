"""Files of steps out of a mapping, merged as they would be from a directory."""

from collections.abc import Callable, Mapping

import pytest

from porch.dialects.steps.extends import ExtendsChain, follow_extends
from porch.text.formats import read_yaml
from porch.text.nodes import Node

Merge = Callable[..., ExtendsChain]


def node(name: str, text: str) -> Node:
    return read_yaml(text, f"protocols/{name}.yaml")


def merged(files: Mapping[str, str], name: str, lenient: bool = False) -> ExtendsChain:
    def fetch(wanted: str) -> Node | None:
        return node(wanted, files[wanted]) if wanted in files else None

    return follow_extends(node(name, files[name]), fetch, lenient)


@pytest.fixture
def merge() -> Merge:
    return merged


@pytest.fixture
def steps() -> Merge:
    """Levels given as the texts under `steps:`, the base first: a, b extends a, c extends b."""

    def make(*levels: str, lenient: bool = False) -> ExtendsChain:
        names = "abcdefgh"[: len(levels)]
        files = {}
        for number, (name, text) in enumerate(zip(names, levels, strict=True)):
            extends = names[number - 1] if number else "null"
            files[name] = f"name: {name}\nextends: {extends}\nsteps:\n{_indented(text)}"
        return merged(files, names[-1], lenient)

    return make


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())
