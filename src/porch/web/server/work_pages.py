"""The parts of a run that show work: what agents do, checks, reviews, cost, and the protocol."""

from starlette.responses import Response

from porch.run.agents import turn_activity, turn_numbers
from porch.run.verbs.ended_work import list_ended_work
from porch.show.graph.picture import make_protocol_picture
from porch.show.graph.svg import render_svg
from porch.web.pages import work_view
from porch.web.pages.wording import run_address
from porch.web.server.call import Call
from porch.web.server.run_frame import OpenRun


def show_activity(call: Call) -> Response:
    """The newest turn, or the one that the address names."""
    run = OpenRun(call)
    turns = turn_numbers.list_turns(run.where, run.name)
    word = call.asked("turn")
    chosen = int(word) if word.isdecimal() else len(turns)
    turn = next((each for each in turns if each.number == chosen), None)
    entries = list(turn_activity.iterate_activity(turn)) if turn else []
    address = run_address(run.project, run.name, "activity")
    context = {
        **run.frame(run.picture(), "activity"),
        "stream": f"{run.stream()['stream']}?with=words",
        "turns": work_view.make_turns(turns, chosen, address),
        "chosen": chosen if turn else 0,
        **work_view.make_activity(entries),
    }
    return call.page("activity.html", f"Activity of {context['id']}", context)


def show_checks(call: Call) -> Response:
    return _show_work(call, "check", "checks", "Checks")


def show_reviews(call: Call) -> Response:
    return _show_work(call, "review", "reviews", "Reviews")


def _show_work(call: Call, kind: str, tab: str, title: str) -> Response:
    run = OpenRun(call)
    work = work_view.make_ended_work(list_ended_work(run.where, run.name), kind)
    context = {**run.frame(run.picture(), tab), "work": work, "part_title": title}
    return call.page("work.html", f"{title} of {context['id']}", context)


def show_cost(call: Call) -> Response:
    run = OpenRun(call)
    picture = run.picture()
    context = {**run.frame(picture, "cost"), **work_view.make_cost(picture["cost"])}
    return call.page("cost.html", f"Cost of {context['id']}", context)


def show_graph(call: Call) -> Response:
    run = OpenRun(call)
    drawn = make_protocol_picture(run.protocol)
    context = {
        **run.frame(run.picture(), "graph"),
        "picture": run_address(run.project, run.name, "graph.svg"),
        "states": list(work_view.list_states(drawn, run.state)),
    }
    return call.page("graph.html", f"Graph of {context['id']}", context)


def send_graph(call: Call) -> Response:
    """A picture of its own, so that its style is not one of the page."""
    run = OpenRun(call)
    return Response(render_svg(make_protocol_picture(run.protocol)), media_type="image/svg+xml")
