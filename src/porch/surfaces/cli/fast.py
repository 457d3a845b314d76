"""The read commands that agents call hundreds of times: pictures in, text out, json and os only."""

from __future__ import annotations

import os
import sys

Argv = list[str]


def answer(argv: Argv) -> int | None:
    """The exit code if this call could be answered from pictures alone; otherwise None."""
    words = [word for word in argv if not word.startswith("-")]
    flags = {word for word in argv if word.startswith("-")}
    if not words or argv[0] != words[0]:
        return None
    match words, flags:
        case ["status"], set() if flags <= {"--json"}:
            return _all(flags)
        case ["status", word], set() if flags <= {"--json"}:
            return _one(word, flags)
        case ["pending"], set() if flags <= {"--json", "--hook"}:
            return _pending(flags)
        case ["log", word], set() if flags <= {"--json"}:
            return _log(word, flags)
        case ["protocols", "show", name], set() if flags <= {"--json"}:
            return _protocol(name, flags)
        case _:
            return None


def _all(flags: set[str]) -> int | None:
    from porch.adapters import where as places

    where = places.find(os.getcwd())
    pictures = [_picture(where, name) for name in where.runs()]
    if any(picture is None for picture in pictures) or _foreign(where):
        return None
    from porch.views import board

    known = [picture for picture in pictures if picture]
    if "--json" in flags:
        return _print_json({"runs": [picture["row"] for picture in known], "without_journal": []})
    return _print(board.rows(known))


def _one(word: str, flags: set[str]) -> int | None:
    from porch.adapters import where as places
    from porch.operations.matching import matching

    where = places.find(os.getcwd())
    fits = matching(where.runs(), word)
    picture = _picture(where, fits[0]) if len(fits) == 1 else None
    if picture is None or _definition_moved(picture):
        return None
    if "--json" in flags:
        return _print_json(_status_json(picture))
    return _print("\n".join(picture["text"]))


def _status_json(picture: dict) -> dict:  # type: ignore[type-arg]
    extra = {
        "positions": picture["positions"],
        "decisions": picture["decisions"],
        "journal": True,
        "cost": picture["cost"],
        "definition_changed": False,
    }
    return {**picture["status"], **extra}


def _pending(flags: set[str]) -> int | None:
    from porch.adapters import where as places

    where = places.find(os.getcwd())
    pictures = [_picture(where, name) for name in where.runs()]
    if any(picture is None for picture in pictures):
        return None
    from porch.views import board

    decisions = [d for picture in pictures if picture for d in picture["decisions"]]
    decisions.sort(key=lambda decision: decision["asked_at"])
    if "--json" in flags:
        return _print_json({"decisions": decisions})
    return _print(board.hook(decisions) if "--hook" in flags else board.pending(decisions))


def _log(word: str, flags: set[str]) -> int | None:
    from porch.adapters import where as places
    from porch.operations.matching import matching

    where = places.find(os.getcwd())
    fits = matching(where.runs(), word)
    if len(fits) != 1:
        return None
    raws = _records(os.path.join(where.run_dir(fits[0]), "journal.jsonl"))
    if raws is None:
        return None
    from porch.views import timeline

    if "--json" in flags:
        return _print_json({"run": fits[0], "records": raws})
    return _print("\n".join(timeline.lines(raws)))


def _records(path: str) -> list | None:  # type: ignore[type-arg]
    """What the journal holds; one that cannot be read is for the slow path to complain about."""
    from porch.adapters import chain

    try:
        with open(path, "rb") as file:
            found, trouble = chain.read(file.read())
    except OSError:
        return None
    return None if trouble else found.records


def _protocol(name: str, flags: set[str]) -> int | None:
    from porch.adapters import compiled
    from porch.adapters import where as places

    shown = compiled.cached(places.find(os.getcwd()), name)
    if shown is None:
        return None
    return _print_json(shown["json"]) if "--json" in flags else _print(shown["text"])


def _picture(where: object, name: str) -> dict | None:  # type: ignore[type-arg]
    """The picture of a run, if it covers the whole journal as it is now."""
    from porch.adapters import drawn

    return drawn.covering(where.run_dir(name))  # type: ignore[attr-defined]


def _definition_moved(picture: dict) -> bool:  # type: ignore[type-arg]
    """Whether a file of the definition is not what it was; then the slow path looks properly."""
    from porch.adapters import compiled

    known = picture.get("files")
    return not known or not compiled.are_as_they_were(known)


def _foreign(where: object) -> bool:
    """Whether a status file lies about that belongs to no run here; the slow path shows those."""
    known = set(where.runs())  # type: ignore[attr-defined]
    for kind in ("projects", "executions"):
        directory = os.path.join(where.root, "codev", kind)  # type: ignore[attr-defined]
        try:
            names = os.listdir(directory)
        except OSError:
            continue
        for name in names:
            if name not in known and os.path.exists(os.path.join(directory, name, "status.yaml")):
                return True
    return False


def _print(text: str) -> int:
    if text:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    return 0


def _print_json(value: object) -> int:
    import json

    return _print(json.dumps(value, ensure_ascii=False, indent=2))
