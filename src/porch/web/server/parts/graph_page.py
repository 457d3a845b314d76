"""The protocol of a run as a picture, with where the run stands and which ways it went."""

import contextlib
from urllib.parse import urlencode

from starlette.responses import Response

from porch.errors import PorchError
from porch.model.protocol import TRACK
from porch.run.verbs.run_walk import draw_walk
from porch.show.graph.mermaid import render_mermaid
from porch.show.graph.picture import ProtocolPicture, make_protocol_picture
from porch.show.graph.svg import locate_run, render_svg
from porch.show.graph.text import render_graph_text
from porch.track.plan_graph import make_plan_protocol
from porch.track.plan_view import look_at_run
from porch.tree.tree_boxes import list_boxes
from porch.tree.tree_view import make_tree_data
from porch.web.pages.page_words import count_of, run_address
from porch.web.pages.work_view import list_states
from porch.web.server.call import Call, NoSuchPage
from porch.web.server.parts.run_frame import OpenRun


def show_graph(call: Call) -> Response:
    run, instance = OpenRun(call), _read_instance(call)
    drawn = _draw(run, instance)
    # Another number makes an open page fetch the picture again.
    query = {"at": run.state.seq, **({} if instance is None else {"instance": instance})}
    context = {
        **run.frame(run.picture(), "graph"),
        "picture": f"{run_address(run.project, run.name, 'graph.svg')}?{urlencode(query)}",
        "instance": instance,
        "place": locate_run(drawn),
        "command": f"porch protocols graph {_name_drawn(run)} --format svg",
        "states": list(list_states(drawn)),
        "text": render_graph_text(drawn),
        "mermaid": render_mermaid(drawn),
    }
    return call.page("graph.html", f"Graph of {context['id']}", context)


def _name_drawn(run: OpenRun) -> str:
    if run.protocol.subject == TRACK:
        return run.state.run.project_dir
    return f"{run.protocol.name} --run {run.word()}"


def send_graph(call: Call) -> Response:
    """A picture of its own, so that its style is not one of the page."""
    drawn = _draw(OpenRun(call), _read_instance(call))
    return Response(render_svg(drawn, call.theme), media_type="image/svg+xml")


def show_tree(call: Call) -> Response:
    """The instances of a run; a run without any says so."""
    run = OpenRun(call)
    instances = make_tree_data(run.protocol, run.state)
    graph = run_address(run.project, run.name, "graph")
    context = {
        **run.frame(run.picture(), "tree"),
        "boxes": list_boxes(instances, [*run.state.decisions], graph),
        "total": count_of(len(instances), "instance"),
    }
    return call.page("tree.html", f"Tree of {context['id']}", context)


def _read_instance(call: Call) -> str | None:
    """None for the whole run; the root of a tree has the empty name."""
    return call.asked("instance") if "instance" in call.request.query_params else None


def _draw(run: OpenRun, instance: str | None) -> ProtocolPicture:
    if instance is not None and instance not in run.state.instances:
        raise NoSuchPage(f"{run.name} has no instance '{instance}'", fix="see the tree of the run")
    if run.protocol.subject == TRACK:
        with contextlib.suppress(PorchError, OSError):
            # People know the plan; the protocol has states for everything that may come up.
            return make_protocol_picture(make_plan_protocol(look_at_run(run.where, run.found)))
    return draw_walk(run.found, instance)
