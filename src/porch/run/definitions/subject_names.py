"""Names from outside: what a subject is called, and which characters never reach a path."""

import os
import re

from msgspec import Struct

from porch.errors import UsageError
from porch.store.where import ProjectPaths
from porch.system.document_file import read_document
from porch.text import formats
from porch.text.late_pattern import late_pattern
from porch.text.nodes import MapNode, ScalarNode

_ID = late_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEADING = late_pattern(
    r"^#[ \t]+(?:Spec\w*[ \t]*[:-][ \t]*)?(?P<title>[^\n]*\S)", re.MULTILINE | re.IGNORECASE
)
_FILE = late_pattern(r"(?P<id>[0-9]+)-(?P<title>.+)\.md")


class RunSubject(Struct, frozen=True):
    """What a run is about, and where its files and its status live."""

    run: str
    id: str
    title: str
    project_dir: str
    status_file: str
    text: str = ""


def check_id(text: str, what: str = "id") -> str:
    """An id is letters, digits, dot, dash and underscore; it becomes part of paths."""
    if not _ID.fullmatch(text) or ".." in text or text.lower().startswith(".git"):
        raise UsageError(
            f"{text!r} is not a valid {what} for a run",
            fix="use letters, digits, '.', '-' and '_' (at most 64 characters), without '..'",
            code="bad-id",
        )
    return text


def check_title(text: str) -> str:
    """A title is one line of text; what would escape a directory is refused, the rest slugged."""
    if not text.strip() or any(ord(c) < 32 or ord(c) == 127 for c in text):
        raise UsageError("a title must be one line of plain text", code="bad-title")
    if ".." in text or "/" in text or "\\" in text or ".git" in text.lower().split():
        raise UsageError(
            f"the title {text!r} contains a path",
            fix="remove '..' and slashes from the title",
            code="bad-title",
        )
    slug = re.sub(r"[^\w.-]+", "-", text.strip().lower()).strip("-.")
    if not slug:
        raise UsageError(f"the title {text!r} has no letters or digits", code="bad-title")
    return slug[:80]


def find_subject(
    where: ProjectPaths, protocol: str, kind: str, word: str, title: str
) -> RunSubject:
    """The subject as the protocol declares it: a project, an amendment, an issue, inputs."""
    match kind:
        case "amendment":
            return _amendment_subject(protocol, word, title)
        case "issue":
            return _issue_subject(protocol, word, title)
        case "spec":
            return _spec_subject(protocol, word, title)
        case "inputs":
            slug = check_title(title) if title else word
            return _execution_subject(f"{protocol}_{check_id(word)}", word, slug, "")
        case _:
            return _project_subject(where, protocol, word, title)


def _project_subject(where: ProjectPaths, protocol: str, word: str, title: str) -> RunSubject:
    spec = _FILE.fullmatch(os.path.basename(word)) if os.path.isfile(word) else None
    id_ = check_id(spec["id"] if spec else word or protocol)
    existing = find_project_directory(where, id_)
    if title:
        name = f"{id_}-{check_title(title)}"
    elif existing:
        name = existing
    elif spec:
        name = f"{id_}-{_read_title(word) or check_title(spec['title'])}"
    else:
        name = f"{id_}-{_find_old_title(where, id_) or 'untitled'}"
    directory = f"codev/projects/{name}"
    text = _read_text(word) if spec else ""
    return RunSubject(name, id_, name[len(id_) + 1 :], directory, f"{directory}/status.yaml", text)


def find_project_directory(where: ProjectPaths, id_: str) -> str:
    """The existing directory of a project, by its id."""
    try:
        names = sorted(os.listdir(os.path.join(where.root, "codev", "projects")))
    except OSError:
        return ""
    return next((name for name in names if name.startswith(f"{id_}-")), "")


def _find_old_title(where: ProjectPaths, id_: str) -> str:
    """The title of an older specification: its own heading, else the name of its file."""
    directory = os.path.join(where.root, "codev", "specs")
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    for name in names:
        match = _FILE.fullmatch(name)
        if match and match["id"] == id_:
            return _read_title(os.path.join(directory, name)) or check_title(match["title"])
    return ""


def _read_title(path: str) -> str:
    heading = _HEADING.search(_read_text(path))
    if heading is None or heading["title"].lower() in ("spec", "specification"):
        return ""
    try:
        return check_title(heading["title"])
    except UsageError:
        return ""


def _amendment_subject(protocol: str, word: str, title: str) -> RunSubject:
    id_ = check_id(word)
    slug = check_title(title) if title else "amendment"
    return _execution_subject(f"{protocol}_{id_}_{slug}", id_, slug, "")


def _issue_subject(protocol: str, word: str, title: str) -> RunSubject:
    is_file = os.path.isfile(word)
    id_ = check_id(os.path.splitext(os.path.basename(word))[0] if is_file else word.lstrip("#"))
    slug = check_title(title) if title else f"issue-{id_}"
    return _execution_subject(f"{protocol}_{id_}", id_, slug, _read_text(word) if is_file else "")


def _spec_subject(protocol: str, word: str, title: str) -> RunSubject:
    """A spec file is called by the id in it; whoever reads it checks the rest."""
    is_file = os.path.isfile(word)
    text = _read_text(word) if is_file else ""
    node = formats.read_tree(text, word) if is_file else None
    named = node.get("id") if isinstance(node, MapNode) else None
    id_ = check_id(named.text if isinstance(named, ScalarNode) else os.path.basename(word))
    slug = check_title(title) if title else id_
    return _execution_subject(f"{protocol}_{id_}", id_, slug, text)


def _execution_subject(run: str, id_: str, title: str, text: str) -> RunSubject:
    directory = f"codev/executions/{run}"
    return RunSubject(run, id_, title, directory, f"{directory}/status.yaml", text)


def _read_text(path: str) -> str:
    return read_document(path, "replace")
