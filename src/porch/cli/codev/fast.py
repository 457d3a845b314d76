"""`codev completion values`: what may stand where somebody pressed Tab; os and kept rows only.

The scripts of `codev completion` call it. A shell cannot use a complaint, so there is none: exit
code 1 means that porch has no values for this place, and the shell continues without them. No
journal is read. A run without a current row is offered by the name of its directory.

Values are names: of runs, gates, decisions, answers, protocols and agents. One that is too long, or
that a terminal cannot show, is left out.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from porch.store.where import ProjectPaths

_LONGEST = 200
_AGENTS = ("claude", "codex", "gemini", "scripted")
_SECTION = "[agents."
# A file may be meant as well as a name.
_OR_FILES = ("protocols",)


def answer_completion(argv: list[str]) -> int:
    """The exit code of `codev completion values SPEC WORD... CURRENT`."""
    try:
        values = list_values(argv[2], argv[3:])
    except Exception:  # noqa: BLE001 - whatever it is, a shell that completes can do nothing with it
        return 1
    if values is None:
        return 1
    sys.stdout.write("".join(f"{value}\n" for value in values))
    sys.stdout.flush()
    return 0


def list_values(spec: str, words: list[str]) -> list[str] | None:
    """What can follow the words of a command, of which the last is being typed; None if unknown.

    A spec holds the kinds of the arguments in order, then `--option=COUNT=KIND` for each option
    that takes values. `-` is a kind without values.
    """
    *typed, current = words
    kind, arguments = _find_kind(spec.split(), typed)
    if "|" in kind:
        return kind.split("|")
    find = _KINDS.get(kind)
    if find is None or current.startswith("-"):
        return None
    from porch.store import where as places

    found = find(places.find_project(os.getcwd()), arguments)
    values = list(dict.fromkeys(filter(_can_be_typed, found)))
    # Options are better than nothing, and files better than no protocol; a run is never a file.
    is_optional = not current or kind in _OR_FILES
    if is_optional and not any(value.startswith(current) for value in values):
        return None
    return values


def _find_kind(spec: list[str], typed: list[str]) -> tuple[str, list[str]]:
    """The kind of the next word, and the arguments that were typed before it."""
    kinds = [each for each in spec if not each.startswith("--")]
    options = {name: (int(count), kind) for name, count, kind in _read_options(spec)}
    arguments: list[str] = []
    missing, kind_of_value = 0, ""
    for word in typed:
        if missing:
            missing -= 1
        elif word in options:
            missing, kind_of_value = options[word]
        elif not word.startswith("-"):
            arguments.append(word)
    if missing:
        return kind_of_value, arguments
    return (kinds[len(arguments)] if len(arguments) < len(kinds) else "-"), arguments


def _read_options(spec: list[str]) -> Iterable[list[str]]:
    return (each.split("=", 2) for each in spec if each.startswith("--"))


def _can_be_typed(value: object) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value) <= _LONGEST
        and value.isprintable()
        and not value.startswith("-")
    )


def _read_rows(where: ProjectPaths, names: list[str]) -> dict[str, Any]:
    """Of each run its current row, or None."""
    from porch.store import picture_cache, run_rows

    directory = os.path.join(where.state_dir, "runs")
    return {
        name: row or picture_cache.read_current_picture(where.run_dir(name))
        for name, row in run_rows.covering_rows(directory, names, "decisions")
    }


def _list_runs(where: ProjectPaths, is_offered: Callable[[Any], bool]) -> list[str]:
    """As commands take them: the id if no other run has it, otherwise the whole name."""
    from porch.store.run_names import list_shared_ids

    rows = _read_rows(where, where.names())
    ids = {name: str(row["row"].get("id") or name) for name, row in rows.items() if row}
    shared = list_shared_ids(ids)
    return [
        name if ids.get(name, name) in shared else ids.get(name, name)
        for name, row in rows.items()
        if is_offered(row) and (row or where.has_begun(name))
    ]


def _runs_with(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether a row has a decision like this."""
    return lambda row: any(map(fits, (row or {}).get("decisions") or ()))


def _is_gate(decision: Mapping[str, Any]) -> bool:
    """The gates of a plan are questions with a form, and are approved as well."""
    return decision["kind"] == "gate" or "approved" in _list_answers(decision)


def _list_answers(decision: Mapping[str, Any]) -> list[str]:
    return [option["answer"] for option in decision.get("options") or ()]


def _list_decisions(where: ProjectPaths, word: str) -> list[Any]:
    """Of the run that this word names, if it names one."""
    from porch.store.run_names import match_run_names

    names = where.names()
    if word == ".":
        place = os.path.basename(where.workspace)
        rows = _read_rows(where, names).values()
        asked = [each for row in rows for each in (row or {}).get("decisions") or ()]
        return [d for d in asked if os.path.basename(d.get("worktree") or "") == place]
    fits = match_run_names(names, word)
    row = _read_rows(where, fits).get(fits[0]) if len(fits) == 1 else None
    return list((row or {}).get("decisions") or ())


def _list_gates(where: ProjectPaths, arguments: list[str]) -> list[str]:
    return [d["name"] for d in _list_decisions(where, arguments[0]) if _is_gate(d)]


def _list_names(where: ProjectPaths, arguments: list[str]) -> list[str]:
    return [decision["name"] for decision in _list_decisions(where, arguments[0])]


def _list_typed_answers(where: ProjectPaths, arguments: list[str]) -> list[str]:
    """At a question every word is the answer itself, so none is offered there."""
    return _find_answers(where, arguments, is_option=False)


def _list_options(where: ProjectPaths, arguments: list[str]) -> list[str]:
    return _find_answers(where, arguments, is_option=True)


def _find_answers(where: ProjectPaths, arguments: list[str], *, is_option: bool) -> list[str]:
    run, name = arguments[:2]
    return [
        answer
        for each in _list_decisions(where, run)
        if each["name"] == name and (is_option or each["kind"] != "question")
        for answer in _list_answers(each)
        if " " not in answer
    ]


def _list_items(where: ProjectPaths, arguments: list[str]) -> list[str]:
    """Phases of a protocol; phases, tasks and confirmations of a track."""
    from porch.store.picture_cache import read_current_picture
    from porch.store.run_names import match_run_names

    fits = match_run_names(where.names(), arguments[0])
    picture = read_current_picture(where.run_dir(fits[0])) if len(fits) == 1 else None
    found = [each["phase"] for each in picture["outcomes"]] if picture else []
    return [phase for phase in found if phase != "complete"]


def _list_protocols(where: ProjectPaths, _: list[str]) -> list[str]:
    """By the names of files alone; what is wrong in a file is said when it is used."""
    places = (
        os.path.join(where.workspace, "codev"),
        os.path.join(where.root, "codev"),
        os.path.join(where.root, "codev-skeleton"),
        os.path.dirname(_packaged_protocols()),
    )
    found = [n for place in places for n in _list_definitions(os.path.join(place, "protocols"))]
    return sorted({*found, *_list_steps(where, [])})


def _list_packaged(_: ProjectPaths, __: list[str]) -> list[str]:
    packaged = _packaged_protocols()
    return sorted(
        [*_list_definitions(packaged), *_list_step_files(os.path.join(packaged, "steps"))]
    )


def _list_definitions(directory: str) -> list[str]:
    """A directory with a definition in it, or a graph by itself."""
    graph = ".graph.yaml"
    found = []
    for entry in _list_directory(directory):
        files = (f"{entry}/protocol.json", f"{entry}/{entry}{graph}")
        if entry.endswith(graph):
            found.append(entry.removesuffix(graph))
        elif any(os.path.isfile(os.path.join(directory, file)) for file in files):
            found.append(entry)
    return found


def _list_steps(where: ProjectPaths, _: list[str]) -> list[str]:
    own = os.path.join(where.root, ".claude", "protocols")
    packaged = os.path.join(_packaged_protocols(), "steps")
    return sorted({*_list_step_files(own), *_list_step_files(packaged)})


def _list_step_files(directory: str) -> list[str]:
    names = _list_directory(directory)
    return [each.removesuffix(".yaml") for each in names if each.endswith(".yaml")]


def _packaged_protocols() -> str:
    import porch

    return os.path.join(os.path.dirname(porch.__file__), "protocols")


def _list_directory(path: str) -> list[str]:
    try:
        return [each for each in os.listdir(path) if not each.startswith((".", "_"))]
    except OSError:
        return []


def _list_agents(where: ProjectPaths, _: list[str]) -> list[str]:
    """The known ones, and the names of sections [agents.NAME]; TOML is not taken apart for it."""
    from porch.system.variables import find_config_home

    files = (
        os.path.join(where.root, "codev", "config.toml"),
        os.path.join(find_config_home(os.environ), "porch", "config.toml"),
    )
    own = [name for file in files for name in _list_sections(file)]
    return sorted({*_AGENTS, *own})


def _list_sections(file: str) -> list[str]:
    from porch.system.regular_file import open_followed

    try:
        with open(file, encoding="utf-8", errors="replace", opener=open_followed) as lines:
            heads = [line.strip() for line in lines if line.startswith(_SECTION)]
    except OSError:
        return []
    return [head.removeprefix(_SECTION).partition("]")[0].strip(" \"'") for head in heads]


_KINDS: Mapping[str, Callable[[ProjectPaths, list[str]], list[str]]] = {
    "runs": lambda where, _: _list_runs(where, lambda _: True),
    "asking": lambda where, _: _list_runs(where, _runs_with(lambda _: True)),
    "at_gates": lambda where, _: _list_runs(where, _runs_with(_is_gate)),
    "to_retry": lambda where, _: _list_runs(
        where, _runs_with(lambda d: "retry" in _list_answers(d))
    ),
    "to_skip": lambda where, _: _list_runs(where, _runs_with(lambda d: "skip" in _list_answers(d))),
    "gates": _list_gates,
    "decisions": _list_names,
    "answers": _list_typed_answers,
    "options": _list_options,
    "items": _list_items,
    "protocols": _list_protocols,
    "packaged": _list_packaged,
    "steps": _list_steps,
    "agents": _list_agents,
}
