"""The stream of news of a page: what happened, with its number, so that nobody misses any of it.

A browser that comes back says the last number it has heard. It is told at once if there is more.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from porch.run.decisions.asked_files import stamp_asked_files
from porch.run.verbs import run_log
from porch.run.verbs.read_run import read_run
from porch.show.records import timeline
from porch.store import run_drivers
from porch.store.where import ProjectPaths
from porch.web.server.call import Call
from porch.web.server.changes import measure_transcripts
from porch.web.server.inbox_page import read_inbox_number

# So often a browser is told that nothing happened, and knows that somebody is still there.
BEAT_S = 5.0
_MOST_LINES = 20
_BEGIN = "retry: 1000\n\n"
_BEAT = "event: beat\ndata: {}\n\n"
# The number that there is now, and what is told with it.
News = tuple[str, Mapping[str, Any]]


def stream_inbox(call: Call) -> Response:
    def look(_: str) -> News:
        return read_inbox_number(call.dashboard), {}

    return _stream(call, look)


def stream_run(call: Call) -> Response:
    """Of the page that shows what an agent says, each word is news, too.

    Of a decision it is whatever is written to its files, which no journal tells.
    """
    _, where, name = call.run()
    is_word_news = call.asked("with") == "words"
    watch = _watch_files(where, name, call.asked("at"))

    def look(heard: str) -> News:
        number, news = read_run_news(where, name, heard)
        said = f"-{measure_transcripts(where.run_dir(name))}" if is_word_news else ""
        return f"{number}{said}{watch()}", news

    return _stream(call, look, watch)


def _watch_files(where: ProjectPaths, name: str, at: str) -> Callable[[], str]:
    if not at:
        return lambda: ""
    state = read_run(where, name).state
    decision = state.decisions.get(at)
    return lambda: f"-{stamp_asked_files(where, state, decision)}" if decision else ""


def read_run_news(where: ProjectPaths, name: str, heard: str) -> News:
    """The number of the last record, with a mark if nobody drives the run, and the lines since."""
    is_driven = run_drivers.find_driver(where.run_dir(name)).is_moving
    tail = run_log.read_last_records(where, name, _MOST_LINES)
    records = tail.records if tail else []
    last = int(records[-1]["seq"]) if records else 0
    number = heard.partition("-")[0]
    since = int(number) if number.isdecimal() else last
    words = run_log.words_of(where, name)
    lines = [timeline.describe_record(each, words) for each in records if each["seq"] > since]
    return f"{last}-{'driven' if is_driven else 'alone'}", {"lines": lines}


def _stream(
    call: Call, look: Callable[[str], News], watch: Callable[[], str] = lambda: ""
) -> Response:
    heard = call.request.headers.get("last-event-id") or call.asked("since")
    return StreamingResponse(_follow(call, look, watch, heard), media_type="text/event-stream")


async def _follow(
    call: Call, look: Callable[[str], News], watch: Callable[[], str], heard: str
) -> AsyncIterator[str]:
    """Until the browser leaves, which ends this from outside, or the dashboard does."""
    dashboard, clock = call.dashboard, asyncio.get_running_loop().time
    yield _BEGIN
    seen: object = None
    watched = ""
    told_at = clock()
    async for stamps in dashboard.changes.listen():
        if dashboard.is_closing():
            return
        files = watch()
        if stamps is not seen or files != watched:
            seen, watched = stamps, files
            number, news = await run_in_threadpool(look, heard)
            if number != heard:
                heard, told_at = number, clock()
                yield f"id: {number}\nevent: changed\ndata: {json.dumps(news)}\n\n"
        elif clock() - told_at >= BEAT_S:
            told_at = clock()
            dashboard.sessions.touch(call.session)
            yield _BEAT
