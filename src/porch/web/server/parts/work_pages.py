"""The parts of a run that show work: what agents do, checks, reviews and cost."""

from collections.abc import Sequence

from starlette.responses import Response

from porch.run.agents import turn_activity, turn_numbers
from porch.run.agents.turn_numbers import BegunTurn, NumberedTurn
from porch.run.verbs.ended_work import list_ended_numbers, read_ended_work
from porch.web.pages import work_view
from porch.web.pages.page_words import run_address
from porch.web.pages.windows import cut_pages, read_number
from porch.web.server.call import Call
from porch.web.server.parts.run_frame import OpenRun

Turn = BegunTurn | NumberedTurn
TURNS_ON_PAGE = 50
WORK_ON_PAGE = 50


def show_activity(call: Call) -> Response:
    """The newest turn, or the one that the address names."""
    run = OpenRun(call)
    turns: Sequence[Turn] = turn_numbers.list_begun_turns(run.where, run.name) or (
        turn_numbers.list_turns(run.where, run.name)
    )
    chosen = read_number(call.asked("turn")) or len(turns)
    turn = _read_turn(run, turns[chosen - 1]) if 0 < chosen <= len(turns) else None
    entries = list(turn_activity.iterate_activity(turn)) if turn else []
    address = run_address(run.project, run.name, "activity")
    # The page with the chosen turn, if the address names none.
    page = read_number(call.asked("page")) or (len(turns) - chosen) // TURNS_ON_PAGE + 1
    kept, pager = cut_pages(turns[::-1], page, TURNS_ON_PAGE, address)
    context = {
        **run.frame(run.picture(), "activity"),
        "stream": f"{run.stream()['stream']}?with=words",
        "turns": work_view.make_turns([_read_turn(run, each) for each in kept], chosen, address),
        "pager": pager,
        "chosen": chosen if turn else 0,
        **work_view.make_activity(entries),
    }
    return call.page("activity.html", f"Activity of {context['id']}", context)


def _read_turn(run: OpenRun, turn: Turn) -> NumberedTurn:
    """Its transcript is looked for only now: there may be very many turns."""
    if isinstance(turn, NumberedTurn):
        return turn
    return turn_numbers.read_begun_turn(run.where, run.name, turn)


def show_checks(call: Call) -> Response:
    return _show_work(call, "check", "checks", "Checks")


def show_reviews(call: Call) -> Response:
    return _show_work(call, "review", "reviews", "Reviews")


def _show_work(call: Call, kind: str, tab: str, title: str) -> Response:
    run = OpenRun(call)
    ended = list_ended_numbers(run.where, run.name, kind)
    address = run_address(run.project, run.name, tab)
    kept, pager = cut_pages(ended[::-1], read_number(call.asked("page")), WORK_ON_PAGE, address)
    context = {
        **run.frame(run.picture(), tab),
        "work": work_view.make_ended_work(read_ended_work(run.where, run.name, kept)),
        "pager": pager,
        "part_title": title,
    }
    return call.page("work.html", f"{title} of {context['id']}", context)


def show_cost(call: Call) -> Response:
    run = OpenRun(call)
    picture = run.picture()
    context = {**run.frame(picture, "cost"), **work_view.make_cost(picture["cost"])}
    return call.page("cost.html", f"Cost of {context['id']}", context)
