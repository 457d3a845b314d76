"""Every kind of effect has its handler, and none is there for nobody."""

import inspect
from typing import get_args, get_type_hints

import pytest

from porch.cli.products import PRODUCTS
from porch.machine import effects as e

# What the commands hand down: the kernel's own table and what the products add to it.
HANDLERS = PRODUCTS.handlers


def test_every_kind_of_effect_has_a_handler_and_no_other_has() -> None:
    missing = [kind.__name__ for kind in get_args(e.Request) if kind not in HANDLERS]
    assert missing == [], f"no handler in HANDLERS for {missing}"
    assert set(HANDLERS) == set(get_args(e.Request))


@pytest.mark.parametrize("kind", HANDLERS, ids=lambda kind: str(kind.__name__))
def test_a_handler_takes_its_own_kind_of_effect(kind: type[e.Effect]) -> None:
    _, effect = inspect.signature(HANDLERS[kind]).parameters
    assert get_type_hints(HANDLERS[kind])[effect] is kind
