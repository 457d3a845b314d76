"""Protocols as pictures: found by name or by file, drawn in the format somebody asked for."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from porch.model.protocol import Protocol
from porch.run.definitions import library
from porch.show.graph.dot import render_dot
from porch.show.graph.mermaid import render_mermaid
from porch.show.graph.picture import ProtocolPicture, make_protocol_picture
from porch.show.graph.svg import render_svg
from porch.show.graph.text import render_graph_text
from porch.store.where import ProjectPaths

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import DrawnProtocolShape

FORMATS: Mapping[str, Callable[[ProtocolPicture], str]] = {
    "text": render_graph_text,
    "mermaid": render_mermaid,
    "dot": render_dot,
    "svg": render_svg,
}


def draw_protocol(where: ProjectPaths, word: str, form: str) -> "DrawnProtocolShape":
    found = library.locate_protocol(where, word)
    protocol = library.load_protocol(found.file, found.home).demand().protocol
    return draw_as(protocol, found.file, form)


def draw_as(protocol: Protocol, file: str, form: str) -> "DrawnProtocolShape":
    told = FORMATS[form](make_protocol_picture(protocol))
    return {"name": protocol.name, "file": file, "format": form, "picture": told}
