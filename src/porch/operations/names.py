"""Names from outside: what a subject is called, and which characters never reach a path."""

import os
import re
from dataclasses import dataclass

from porch.adapters.where import Where
from porch.dialects import tree
from porch.dialects.nodes import MapNode, Scalar
from porch.errors import UsageError

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEADING = re.compile(
    r"^#[ \t]+(?:Spec\w*[ \t]*[:-][ \t]*)?(?P<title>[^\n]*\S)", re.MULTILINE | re.IGNORECASE
)
_FILE = re.compile(r"(?P<id>[0-9]+)-(?P<title>.+)\.md")


@dataclass(frozen=True, slots=True)
class Subject:
    """What a run is about, and where its files and its status live."""

    run: str
    id: str
    title: str
    project_dir: str
    status_file: str
    text: str = ""


def checked_id(text: str, what: str = "id") -> str:
    """An id is letters, digits, dot, dash and underscore; it becomes part of paths."""
    if not _ID.fullmatch(text) or ".." in text or text.lower().startswith(".git"):
        raise UsageError(
            f"{text!r} cannot be the {what} of a run",
            fix="use letters, digits, '.', '-' and '_', at most 64, without '..'",
            code="bad-id",
        )
    return text


def checked_title(text: str) -> str:
    """A title is one line of text; what would escape a directory is refused, the rest slugged."""
    if not text.strip() or any(ord(c) < 32 or ord(c) == 127 for c in text):
        raise UsageError("a title is one line of plain text", code="bad-title")
    if ".." in text or "/" in text or "\\" in text or ".git" in text.lower().split():
        raise UsageError(
            f"the title {text!r} contains a path",
            fix="leave out '..' and slashes",
            code="bad-title",
        )
    slug = re.sub(r"[^\w.-]+", "-", text.strip().lower()).strip("-.")
    if not slug:
        raise UsageError(f"the title {text!r} leaves no name", code="bad-title")
    return slug[:80]


def subject(where: Where, protocol: str, kind: str, word: str, title: str) -> Subject:
    """The subject as the protocol declares it: a project, an amendment, an issue, inputs."""
    match kind:
        case "amendment":
            return _amendment(protocol, word, title)
        case "issue":
            return _issue(protocol, word, title)
        case "spec":
            return _spec(protocol, word, title)
        case "inputs":
            slug = checked_title(title) if title else word
            return _execution(f"{protocol}_{checked_id(word)}", word, slug, "")
        case _:
            return _project(where, protocol, word, title)


def _project(where: Where, protocol: str, word: str, title: str) -> Subject:
    spec = _FILE.fullmatch(os.path.basename(word)) if os.path.isfile(word) else None
    id_ = checked_id(spec["id"] if spec else word or protocol)
    existing = project_directory(where, id_)
    if title:
        name = f"{id_}-{checked_title(title)}"
    elif existing:
        name = existing
    elif spec:
        name = f"{id_}-{_title_in(word) or checked_title(spec['title'])}"
    else:
        name = f"{id_}-{_heading(where, id_) or 'untitled'}"
    directory = f"codev/projects/{name}"
    text = _read(word) if spec else ""
    return Subject(name, id_, name[len(id_) + 1 :], directory, f"{directory}/status.yaml", text)


def project_directory(where: Where, id_: str) -> str:
    """The existing directory of a project, by its id."""
    try:
        names = sorted(os.listdir(os.path.join(where.root, "codev", "projects")))
    except OSError:
        return ""
    return next((name for name in names if name.startswith(f"{id_}-")), "")


def _heading(where: Where, id_: str) -> str:
    """The title of an older specification: its own heading, else the name of its file."""
    directory = os.path.join(where.root, "codev", "specs")
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    for name in names:
        match = _FILE.fullmatch(name)
        if match and match["id"] == id_:
            return _title_in(os.path.join(directory, name)) or checked_title(match["title"])
    return ""


def _title_in(path: str) -> str:
    heading = _HEADING.search(_read(path))
    if heading is None or heading["title"].lower() in ("spec", "specification"):
        return ""
    try:
        return checked_title(heading["title"])
    except UsageError:
        return ""


def _amendment(protocol: str, word: str, title: str) -> Subject:
    id_ = checked_id(word)
    slug = checked_title(title) if title else "amendment"
    return _execution(f"{protocol}_{id_}_{slug}", id_, slug, "")


def _issue(protocol: str, word: str, title: str) -> Subject:
    is_file = os.path.isfile(word)
    id_ = checked_id(os.path.splitext(os.path.basename(word))[0] if is_file else word.lstrip("#"))
    slug = checked_title(title) if title else f"issue-{id_}"
    return _execution(f"{protocol}_{id_}", id_, slug, _read(word) if is_file else "")


def _spec(protocol: str, word: str, title: str) -> Subject:
    """A spec file is called by the id in it; whoever reads it checks the rest."""
    is_file = os.path.isfile(word)
    text = _read(word) if is_file else ""
    node = tree.read(text, word) if is_file else None
    named = node.get("id") if isinstance(node, MapNode) else None
    id_ = checked_id(named.text if isinstance(named, Scalar) else os.path.basename(word))
    slug = checked_title(title) if title else id_
    return _execution(f"{protocol}_{id_}", id_, slug, text)


def _execution(run: str, id_: str, title: str, text: str) -> Subject:
    directory = f"codev/executions/{run}"
    return Subject(run, id_, title, directory, f"{directory}/status.yaml", text)


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
