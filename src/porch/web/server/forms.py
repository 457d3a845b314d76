"""Forms as browsers send them without JavaScript: names and values, within a limit."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.requests import Request

# Longer than any wish may be, so that its own refusal is what people read.
LONGEST = 256 * 1024
_MOST_FIELDS = 50
_KIND = "application/x-www-form-urlencoded"


class BadForm(Exception):
    """A body that is no form of ours; `status` is the answer to it."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(what)
        self.status = status


async def read_form(request: Request) -> Mapping[str, str]:
    """The last value of each name."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        raise BadForm(415, "this is not a form of this page")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST:
            raise BadForm(413, f"this text is too long: at most {LONGEST // 1024} kB")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise BadForm(400, "this form cannot be read") from error
    # Browsers send the ends of lines as networks do.
    return {name: value.replace("\r\n", "\n") for name, value in pairs}
