"""The file beside a gate's file, into which a person pastes what a program printed."""

LOGS = "<!-- Paste the logs below this line; leave the file as it is if there are none. -->"


def logs_template() -> str:
    return f"{LOGS}\n"


def logs_of(text: str) -> str:
    """What was pasted, as text that can be printed on; nothing if only our line is left."""
    whole = (
        text.removeprefix("\ufeff").encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    )
    lines = whole.split("\n")
    ours = next((n for n, line in enumerate(lines) if line.strip() == LOGS), None)
    if ours is not None:
        del lines[ours]
    logs = "\n".join(lines)
    return logs.strip("\r\n") if logs.strip() else ""
