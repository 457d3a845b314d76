"""The read commands that agents call hundreds of times: pictures in, text out, os only."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from porch.run.verbs.run_list import RunRows
    from porch.show.shapes import LiveStatusShape, PictureShape
    from porch.store.run_rows import Part
    from porch.store.where import ProjectPaths

CommandWords = list[str]


def answer_from_pictures(argv: CommandWords) -> int | None:
    """The exit code if this call could be answered from pictures alone; otherwise None."""
    words = [word for word in argv if not word.startswith("-")]
    flags = {word for word in argv if word.startswith("-")}
    if not words or argv[0] != words[0]:
        return None
    match words, flags:
        case ["status"], set() if flags <= {"--json"}:
            return _print_all_runs(flags)
        case ["status", word], set() if flags <= {"--json"}:
            return _print_run(word, flags)
        case ["pending"], set() if flags <= {"--json", "--hook"}:
            return _print_pending(flags)
        case ["log", word], set() if flags <= {"--all", "--json", "--verbose"}:
            return _print_log(word, flags)
        case ["protocols", "show", name], set() if flags <= {"--json"}:
            return _print_protocol(name, flags)
        case _:
            return None


def _print_all_runs(flags: set[str]) -> int | None:
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    found = _read_rows(where, "row")
    if found is None:
        return None
    from porch.cli.terminal_width import line_sign, table_width
    from porch.run.verbs.liveness import LiveRows
    from porch.show import board
    from porch.store.foreign_status import list_foreign_files

    foreign = list_foreign_files(where.root, found.rows)
    live = LiveRows(where, found.rows)
    if "--json" in flags:
        data = {"runs": live.data_rows(), "without_journal": foreign.paths, **foreign.as_json()}
        return _print_json(data)
    text = board.render_board(live.board_rows(), table_width(), line_sign())
    return _print_text("\n".join([text, *foreign.describe()]))


def _print_run(word: str, flags: set[str]) -> int | None:
    from porch.store import where as places
    from porch.store.run_names import match_run_names

    where = places.find_project(os.getcwd())
    fits = match_run_names(where.names(), word)
    picture = _read_picture(where, fits[0]) if len(fits) == 1 else None
    if picture is None or _has_definition_changed(picture):
        return None
    from porch.run.verbs.liveness import complete_status

    whole = complete_status(where, fits[0], picture)
    if "--json" in flags:
        return _print_json(_render_status_json(picture, whole))
    return _print_fitted("\n".join(whole["text"]))


def _render_status_json(picture: PictureShape, whole: LiveStatusShape) -> dict[str, object]:
    extra = {
        "positions": picture["positions"],
        "outcomes": picture["outcomes"],
        "decisions": whole["decisions"],
        "journal": True,
        "cost": picture["cost"],
        "definition_changed": False,
        **({"request": picture["request"]} if "request" in picture else {}),
        **whole["driver"],
    }
    return {**picture["status"], **extra}


def _print_pending(flags: set[str]) -> int | None:
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    if flags != {"--hook"} and _has_more_projects(where):
        return None
    if flags:
        return _print_decision_data(where, flags)
    from porch.cli.terminal_width import table_width
    from porch.show import board

    # What was drawn with the rows is as wide as this; a narrower terminal has it laid out anew.
    width = table_width()
    found = _read_rows(where, "told" if width >= board.WIDTH else "decisions")
    if found is None or _may_have_other_settings(where, found.rows):
        return None
    from porch.run.verbs.liveness import LiveRows

    live = LiveRows(where, found.rows)
    _add_form_problems(where, found.rows)
    if width >= board.WIDTH:
        told = live.told_decisions()
        text = board.join_decisions([t for _, _, t in told], any(k == "gate" for _, k, _ in told))
    else:
        text = board.render_pending_decisions(live.decisions(), width)
    return _print_fitted("\n".join([text.rstrip("\n"), *live.describe_alone()]))


def _has_more_projects(where: ProjectPaths) -> bool:
    """Whether other repositories are shown, too: listed ones, and outside of every project."""
    from porch.fleet.fleet_rows import find_other_projects

    is_project = where.common_dir or os.path.isdir(where.state_dir)
    return not is_project or bool(find_other_projects(where, os.environ))


def _print_decision_data(where: ProjectPaths, flags: set[str]) -> int | None:
    is_hook = flags == {"--hook"}
    found = _read_rows(where, "told" if is_hook else "decisions")
    if found is None:
        return None
    if is_hook:
        return _print_hook_lines(found.rows)
    if _may_have_other_settings(where, found.rows):
        return None
    from porch.run.verbs.liveness import LiveRows

    _add_form_problems(where, found.rows)
    return _print_json({"decisions": LiveRows(where, found.rows).decisions()})


def _print_hook_lines(rows: Mapping[str, Any]) -> int:
    from porch.show import board
    from porch.store.run_rows import draw_decisions

    asked = [
        {"asked_at": told[0], "kind": told[1], "name": told[2], "id": row["row"].get("id") or name}
        for name, row in rows.items()
        for told in draw_decisions(row)
    ]
    asked.sort(key=lambda each: each["asked_at"])
    return _print_text(board.render_hook_lines(asked))


def _may_have_other_settings(where: ProjectPaths, rows: Mapping[str, Any]) -> bool:
    """Whether something failed under settings that may have been changed; the long way compares."""
    from porch.store.run_rows import list_decision_kinds

    failed = [name for name, row in rows.items() if "failure" in list_decision_kinds(row)]
    if not failed:
        return False
    from porch.store.settings_stamps import may_have_changed

    return any(may_have_changed(where.run_dir(name)) for name in failed)


def _add_form_problems(where: ProjectPaths, rows: Mapping[str, Any]) -> None:
    """Only plans are answered in files; what is asked there is in their rows as data."""
    asked = [d for row in rows.values() for d in row.get("decisions") or ()]
    asked = [each for each in asked if each.get("subject") == "plan"]
    if asked:
        from porch.plan.gate_files.pending_problems import add_form_problems

        add_form_problems(where, asked)


def _read_rows(where: ProjectPaths, part: Part) -> RunRows | None:
    """None if something is wrong with a run: the long way round has the words for it."""
    from porch.run.verbs import run_list
    from porch.store import known_runs

    try:
        found = run_list.every_row(where, part)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return None if found.troubles or known_runs.list_lost_runs(where, found.rows) else found


def _print_log(word: str, flags: set[str]) -> int | None:
    from porch.cli.terminal_width import terminal_style
    from porch.run.verbs import run_log
    from porch.store import where as places
    from porch.store.run_names import match_run_names

    where = places.find_project(os.getcwd())
    fits = match_run_names(where.names(), word)
    if len(fits) != 1 or not run_log.is_drawn_whole(where, fits[0]):
        return None
    words = run_log.words_of(where, fits[0], "--verbose" in flags)
    look = terminal_style()
    try:
        if flags & {"--all", "--json"}:
            return _print_pieces(
                run_log.iterate_log_pieces(where, fits[0], "--json" in flags, words, look=look)
            )
        text = run_log.render_last_lines(
            where, fits[0], word, run_log.LINES_SHOWN, words=words, look=look
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None  # a record that nobody can read; the long way round says which
    return None if text is None else _print_text(text)


def _print_pieces(pieces: Iterable[str] | None) -> int | None:
    if pieces is None:
        return None
    for piece in pieces:
        sys.stdout.write(piece)
    sys.stdout.flush()
    return 0


def _print_protocol(name: str, flags: set[str]) -> int | None:
    from porch.store import compiled_protocols
    from porch.store import where as places

    shown = compiled_protocols.read_cached_protocol(places.find_project(os.getcwd()), name)
    if shown is None:
        return None
    return _print_json(shown["json"]) if "--json" in flags else _print_fitted(shown["text"])


def _read_picture(where: ProjectPaths, name: str) -> PictureShape | None:
    """The picture of a run, if it covers the whole journal as it is now."""
    from porch.store import picture_cache

    return picture_cache.read_current_picture(where.run_dir(name))


def _has_definition_changed(picture: PictureShape) -> bool:
    """Whether a file of the definition is not what it was; then the slow path looks properly."""
    from porch.store import compiled_protocols

    known = picture.get("files")
    return not known or not compiled_protocols.are_files_unchanged(known)


def _print_fitted(text: str) -> int:
    """Prose, broken where the terminal ends; a pipe gets it as it is."""
    from porch.cli.terminal_width import terminal_style

    look = terminal_style()
    return _print_text(look.fitted(text) if look else text)


def _print_text(text: str) -> int:
    if text:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    return 0


def _print_json(value: object) -> int:
    import json

    return _print_text(json.dumps(value, ensure_ascii=False, indent=2))
