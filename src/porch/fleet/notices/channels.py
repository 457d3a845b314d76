"""The ways a notice takes: the desktop, a webhook, a command of the person's own.

A channel that fails is told about and never stops a run. What is sent is one sentence with the id
of the project and the name of the decision.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping

from msgspec import Struct

from porch.fleet.notices.due_notices import Notice
from porch.run.settings import Settings
from porch.system.process import signal_group

TIMEOUT_S = 10.0
_TITLE = "Porch"


class ChannelFault(Struct, frozen=True):
    """Which channel did not take a notice, and why."""

    channel: str
    why: str

    def __str__(self) -> str:
        return f"the notice could not be sent by {self.channel}: {self.why}"


Send = Callable[[Notice], str]


def open_channels(known: Settings, environ: Mapping[str, str]) -> dict[str, Send]:
    """The channels that the person's own settings name, each a function that says what failed."""
    found: dict[str, Send] = {}
    if known.notify_desktop:
        found["desktop"] = _send_to_desktop
    if known.notify_webhook:
        found["webhook"] = lambda notice: _post_notice(known.notify_webhook, environ, notice)
    if known.notify_command:
        found["command"] = lambda notice: _run_command(known.notify_command, environ, notice)
    return found


def send_notice(channels: Mapping[str, Send], notice: Notice) -> list[ChannelFault]:
    """To every channel; what went wrong comes back."""
    told = ((name, send(notice)) for name, send in channels.items())
    return [ChannelFault(name, why) for name, why in told if why]


def _send_to_desktop(notice: Notice) -> str:
    words = _desktop_words(notice.text)
    if words is None:
        return "neither notify-send nor osascript is installed"
    return _run_words(words, dict(os.environ))


def _desktop_words(text: str) -> list[str] | None:
    if shutil.which("notify-send"):
        return ["notify-send", "--app-name=porch", "--", _TITLE, text]
    if sys.platform == "darwin" and shutil.which("osascript"):
        # The text is an argument of the script, never a part of it.
        script = 'on run argv\ndisplay notification (item 1 of argv) with title "Porch"\nend run'
        return ["osascript", "-e", script, text]
    return None


def _run_command(command: tuple[str, ...], environ: Mapping[str, str], notice: Notice) -> str:
    told = {
        "PORCH_NOTICE": notice.text,
        "PORCH_EVENT": notice.event,
        "PORCH_RUN": notice.run,
        "PORCH_DECISION": notice.name,
    }
    return _run_words(list(command), {**environ, **told})


def _run_words(words: list[str], env: dict[str, str]) -> str:
    try:
        started = subprocess.Popen(
            words,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return f"`{words[0]}` cannot be started: {error.strerror}"
    with started:
        return _wait_for_end(started, words[0])


def _wait_for_end(started: subprocess.Popen[str], name: str) -> str:
    try:
        _, said = started.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        signal_group(started.pid, signal.SIGKILL)  # also whatever it has started
        return f"`{name}` did not end within {TIMEOUT_S:.0f} s"
    last = said.strip().rpartition("\n")[2]
    return f"`{name}` ended with {started.returncode}: {last}" if started.returncode else ""


def _post_notice(address: str, environ: Mapping[str, str], notice: Notice) -> str:
    """A body that Slack understands, with the same facts in fields for everybody else."""
    import urllib.error
    import urllib.request
    from http.client import HTTPException

    url = environ.get(address[1:], "") if address.startswith("$") else address
    if not url.startswith(("https://", "http://")):
        return f"{address} is not set to an http or https address"
    body = {
        "text": notice.text,
        "event": notice.event,
        "run": notice.run,
        "decision": notice.name,
    }
    request = urllib.request.Request(  # noqa: S310 - only http and https come as far as this
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S):  # noqa: S310 - the same
            return ""
    except urllib.error.HTTPError as error:
        return f"the server answered {error.code}"
    except (OSError, ValueError, HTTPException) as error:
        # The address is a secret for many servers, so it is not part of what is said.
        reason = getattr(error, "reason", None) or error
        return f"no connection: {type(reason).__name__}"
