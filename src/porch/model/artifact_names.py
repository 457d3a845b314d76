"""The files of a phase as a protocol names them: plain names, and patterns.

A plain name such as `spec.md` lies in the directory of the project. A pattern begins with a slash
and is read from the top of the workspace: `/codev/specs/${PROJECT_ID}-*.md`. The reader of the
protocol writes patterns this way; definitions that were pinned before there were patterns hold
plain names only, so they keep their meaning.

Alternatives are separated by a bar. The first of which a file exists is meant, and the first one is
written if there is none. If the last alternative is empty, no file has to be there.

`{a,b}` within one part of a path means one of these texts, as a wildcard does.

`@changes` is no file: a gate about it is about everything that the run has changed. As a path it is
called by what it is compared with.

A value never changes where a pattern leads: in a variable `/` becomes `-`, and `*` is no wildcard.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile

from porch.model.path_globs import translate_glob

VARIABLES = ("PROJECT_ID", "PROJECT_TITLE", "PROJECT_DIR", "PLAN_PHASE_ID")
TOP = "/"
MISSING = "missing"  # in the place of the hash of a file
CHANGES = "@changes"
_SINCE = "changes since "
_BASE_SHOWN = 12  # letters: git refuses a beginning that fits several objects
PROJECT_DIR = "/${PROJECT_DIR}/"
_BAR = "|"
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_WILDCARDS = ("*", "?")
_BRACES = re.compile(r"(?<!\$)\{([^{}/$|]*,[^{}/$|]*)\}")
Values = Mapping[str, str]


def has_wildcard(text: str) -> bool:
    return any(character in text for character in _WILDCARDS) or bool(_BRACES.search(text))


def list_variables(text: str) -> list[str]:
    return _VARIABLE.findall(text)


def remove_variables(text: str) -> str:
    """The words of a pattern; of texts in braces only the first one."""
    return _BRACES.sub(lambda found: found[1].partition(",")[0], _VARIABLE.sub("", text))


def list_alternatives(name: str) -> list[str]:
    """The patterns or plain names of which one is meant, without the empty one."""
    return [each for each in name.split(_BAR) if each]


def is_optional(name: str) -> bool:
    """Whether the protocol takes it that there may be no such file."""
    return name.endswith(_BAR)


def require_file(name: str) -> str:
    """The same name where there must be a file."""
    return name.removesuffix(_BAR)


def is_pattern(name: str) -> bool:
    return name.startswith(TOP) or _BAR in name


def name_changes(base: str) -> str:
    """All changes since a commit or tree, as the path of what is asked about."""
    return f"{_SINCE}{base[:_BASE_SHOWN]}"


def find_changes_base(path: str) -> str:
    """What a path compares all files with; nothing if it is the path of a file."""
    base = path.removeprefix(_SINCE)
    is_whole = len(base) == _BASE_SHOWN and not base.strip("0123456789abcdef")
    return base if is_whole and path != base else ""


def join_alternatives(*names: str, optional: bool = False) -> str:
    return _BAR.join((*names, *([""] if optional else ())))


def make_values(id_: str, title: str, project_dir: str, item: str = "") -> Values:
    """The variables of a run; only the directory, which porch has chosen, may have slashes."""
    texts = {"PROJECT_ID": id_, "PROJECT_TITLE": title, "PLAN_PHASE_ID": item}
    names = {key: re.sub(r"[/\\\0\r\n]", "-", text).lstrip(".") for key, text in texts.items()}
    return {**names, "PROJECT_DIR": project_dir}


def fill_name(name: str, values: Values) -> str:
    """One alternative as a path from the workspace on; wildcards stay."""
    text = name if name.startswith(TOP) else f"{PROJECT_DIR}{name}"
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), text).lstrip(TOP)


def name_new_file(name: str, values: Values) -> str:
    """The file that somebody who writes it gives it; wildcards stay where they name no one file."""
    text = fill_name(name, values)
    if "**" in text or "?" in text or text.count("*") > 1:
        return text
    return text.replace("*", values["PROJECT_TITLE"])


def split_pattern(name: str, values: Values) -> tuple[str, re.Pattern[str]]:
    """The directory below which files can fit a pattern with wildcards, and what fits."""
    name = name.lstrip(TOP)
    if not values["PROJECT_DIR"]:
        name = name.removeprefix(PROJECT_DIR.lstrip(TOP))
    plain = takewhile(lambda part: not has_wildcard(part), name.split("/"))
    front = [fill_name(TOP + part, values) for part in plain]
    fitting = re.compile("".join(_translate(name, values)), re.DOTALL)
    return "/".join(filter(None, front)), fitting


def _translate(pattern: str, values: Values) -> Iterator[str]:
    end = 0
    for found in _VARIABLE.finditer(pattern):
        yield _translate_braces(pattern[end : found.start()])
        yield re.escape(values.get(found[1], found[0]))
        end = found.end()
    yield _translate_braces(pattern[end:])


def _translate_braces(text: str) -> str:
    plain, *more = _BRACES.split(text)
    pairs = zip(more[::2], more[1::2], strict=True)
    either = ((f"(?:{'|'.join(map(translate_glob, texts.split(',')))})", b) for texts, b in pairs)
    return translate_glob(plain) + "".join(front + translate_glob(back) for front, back in either)


def list_file_words(name: str) -> list[str]:
    """By what a command would name the same file: each alternative without its directory."""
    return [each.rpartition("/")[2] or each for each in list_alternatives(name)]


def describe_name(name: str) -> str:
    """As people wrote it, or would: `spec.md`, `codev/specs/${PROJECT_ID}-*.md`."""
    if name == CHANGES:
        return "all changes of the run"
    texts = [each.removeprefix(PROJECT_DIR).lstrip(TOP) for each in list_alternatives(name)]
    return " or ".join(dict.fromkeys(texts))
