"""The few pages that somebody sees who may not see the others: no style, no script, one sentence.

They are in no template, because everything else of the dashboard needs a session.
"""

from html import escape

from starlette.responses import HTMLResponse

_NEW_LINK = (
    "Look at the terminal in which <code>af dashboard</code> runs: it shows a link that works "
    "once. If it does not run any more, start it again."
)
_TEXTS = {
    "host": (
        "Wrong address",
        "This dashboard answers only to the address that <code>af dashboard</code> printed.",
    ),
    "agent": (
        "Only people decide",
        (
            "The program that asks looks like an agent ({more}). Open the dashboard in a browser "
            "that you started yourself."
        ),
    ),
    "session": ("You need a link", f"This browser has no session here, or it is over. {_NEW_LINK}"),
    "link": ("This link was used", f"Each link works once. {_NEW_LINK}"),
    "origin": (
        "This form is not ours",
        (
            "The request did not come from a page of this dashboard, so nothing was changed. Open "
            "the page again and use its own buttons."
        ),
    ),
    "welcome": ("Welcome", 'This browser may use the dashboard now. <a href="/">Open it</a>.'),
}
_AT_ONCE = '<meta http-equiv="refresh" content="0;url=/">'


def make_refusal(status: int, what: str, more: str = "") -> HTMLResponse:
    title, text = _TEXTS[what]
    head = _AT_ONCE if what == "welcome" else ""
    return HTMLResponse(
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8">{head}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title} - porch</title><link rel="icon" href="data:,"></head>\n'
        f"<body><main><h1>{title}</h1>\n<p>{text.format(more=escape(more))}</p></main></body>"
        "</html>\n",
        status,
    )
