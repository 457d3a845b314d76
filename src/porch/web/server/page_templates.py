"""Templates become pages: everything is escaped that is not marked as made by ourselves."""

import hashlib
import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from porch.text.printable import make_printable

_HERE = os.path.dirname(os.path.dirname(__file__))
STATIC = os.path.join(_HERE, "static")


@cache
def load_templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(os.path.join(_HERE, "templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    # What agents wrote may hold marks that turn a line around or hide a part of it.
    environment.filters["printable"] = make_printable
    return environment


def render_template(name: str, context: Mapping[str, Any]) -> str:
    return load_templates().get_template(name).render(context)


@cache
def read_static(name: str) -> bytes | None:
    """A file of ours; nothing for any other name."""
    if name not in os.listdir(STATIC):
        return None
    with open(os.path.join(STATIC, name), "rb") as file:
        return file.read()


@cache
def static_version() -> str:
    """Changes with the files, so that no browser mixes an old style with a new page."""
    whole = hashlib.sha256()
    for name in sorted(os.listdir(STATIC)):
        whole.update(read_static(name) or b"")
    return whole.hexdigest()[:12]
