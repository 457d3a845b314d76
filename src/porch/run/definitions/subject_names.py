"""Names from outside: what a subject is called, and which characters never reach a path."""

import os
import re

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import UsageError
from porch.store.where import ProjectPaths
from porch.system.document_file import read_document
from porch.text import formats
from porch.text.late_pattern import late_pattern
from porch.text.nodes import MapNode, ScalarNode
from porch.text.printable import make_printable

_ID = late_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEADING = late_pattern(
    r"^#[ \t]+(?:Spec\w*[ \t]*[:-][ \t]*)?(?P<title>[^\n]*\S)", re.MULTILINE | re.IGNORECASE
)
_FILE = late_pattern(r"(?P<id>[0-9]+)-(?P<title>.+)\.md")
_LONGEST_HEADING = 200
# Of a title that somebody typed more is kept than of the first line of a long text.
_SLUG_OF_TEXT = 48


class RunSubject(Struct, frozen=True):
    """What a run is about, and where its files and its status live."""

    run: str
    id: str
    title: str
    project_dir: str
    status_file: str
    text: str = ""
    heading: str = ""


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
    """A title is one line of any characters; a path is refused, and everything else slugged."""
    if not text.strip() or any(ord(c) < 32 or ord(c) == 127 for c in text):
        raise UsageError("a title must be one line of plain text", code="bad-title")
    parts = [part.strip().lower() for part in re.split(r"[\\/]", text.strip())]
    if not parts[0] or any(part == ".git" or not part.strip(".") for part in parts):
        raise UsageError(
            f"the title {text!r} is a path",
            fix="write what the project is about; slashes inside a title are fine",
            code="bad-title",
        )
    return slug_title(text)


def slug_title(text: str, longest: int = 80) -> str:
    """The part of a name that a title becomes; nothing in it can lead elsewhere."""
    slug = re.sub(r"\.{2,}", ".", re.sub(r"[^\w.-]+", "-", text.strip().lower())).strip("-.")
    if len(slug) > longest:
        slug = slug[:longest].rstrip("-.")
    # Names of files are counted in bytes.
    return slug.encode()[:200].decode("utf-8", "ignore") or "untitled"


def _join_dashes(text: str) -> str:
    return re.sub(r"[-\s]+", " ", text)


def first_line(text: str) -> str:
    """What a request is called if nobody gave it a title: its first line, without its signs."""
    lines = (make_printable(line).lstrip(" \t#*>-") for line in text.splitlines())
    line = " ".join(next(filter(None, lines), "").split())
    return line if len(line) <= _LONGEST_HEADING else line[: _LONGEST_HEADING - 3] + "..."


def find_subject(
    where: ProjectPaths, protocol: str, kind: str, word: str, *, title: str, request: str = ""
) -> RunSubject:
    """The subject as the protocol declares it: a project, an amendment, an issue, inputs.

    Without a title the first line of the request names it.
    """
    named = check_title(title) if title else ""
    line = "" if named else first_line(request)
    slug = named or (slug_title(_join_dashes(line), _SLUG_OF_TEXT) if line else "")
    about = _find_by_kind(where, protocol, kind, word, named=named, slug=slug)
    heading = " ".join(title.split()) or line or about.heading
    return replace(about, text=request or about.text, heading=heading)


def _find_by_kind(
    where: ProjectPaths, protocol: str, kind: str, word: str, *, named: str, slug: str
) -> RunSubject:
    """`named` is the title that was given, `slug` that or the one of the request."""
    match kind:
        case "amendment":
            return _amendment_subject(protocol, word, slug)
        case "issue":
            return _issue_subject(protocol, word, slug)
        case "spec":
            return _spec_subject(protocol, word, slug)
        case "track":
            return _track_subject(word, slug)
        case "inputs":
            return _execution_subject(f"{protocol}_{check_id(word)}", word, slug or word, "")
        case _:
            return _project_subject(where, protocol, word, named, slug)


def _project_subject(
    where: ProjectPaths, protocol: str, word: str, named: str, slug: str
) -> RunSubject:
    spec = _FILE.fullmatch(os.path.basename(word)) if os.path.isfile(word) else None
    id_ = check_id(spec["id"] if spec else word or protocol)
    existing = "" if named else _find_project_directory(where, id_)
    heading = _read_heading(word) if spec else ""
    if named:
        name = f"{id_}-{named}"
    elif existing:
        name = existing
    elif spec:
        name = f"{id_}-{slug_title(heading or spec['title'])}"
    else:
        name = f"{id_}-{slug or _find_old_title(where, id_) or 'untitled'}"
    directory = f"codev/projects/{name}"
    text = _read_text(word) if spec else ""
    status = f"{directory}/status.yaml"
    return RunSubject(name, id_, name[len(id_) + 1 :], directory, status, text, heading)


def _find_project_directory(where: ProjectPaths, id_: str) -> str:
    """The existing directory of a project, by its id; of two nobody can tell which is meant."""
    try:
        names = sorted(os.listdir(os.path.join(where.root, "codev", "projects")))
    except OSError:
        return ""
    fits = [name for name in names if name.startswith(f"{id_}-")]
    if len(fits) > 1:
        raise UsageError(
            f"several projects have the id {id_}: {', '.join(fits)}",
            fix=f"say which one is meant by its title: {id_} --title {fits[0][len(id_) + 1 :]}",
            code="several-projects",
        )
    return fits[0] if fits else ""


def _find_old_title(where: ProjectPaths, id_: str) -> str:
    """The title of an older specification: its own heading, else the name of its file."""
    directory = os.path.join(where.root, "codev", "specs")
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    for name in names:
        match = _FILE.fullmatch(name)
        if match and match["id"] == id_:
            return slug_title(_read_heading(os.path.join(directory, name)) or match["title"])
    return ""


def _read_heading(path: str) -> str:
    """What the file of a specification says it is called."""
    found = _HEADING.search(_read_text(path))
    if found is None or found["title"].lower() in ("spec", "specification"):
        return ""
    return first_line(found["title"])


def _amendment_subject(protocol: str, word: str, slug: str) -> RunSubject:
    id_, slug = check_id(word), slug or "amendment"
    return _execution_subject(f"{protocol}_{id_}_{slug}", id_, slug, "")


def _issue_subject(protocol: str, word: str, slug: str) -> RunSubject:
    is_file = os.path.isfile(word)
    id_ = check_id(os.path.splitext(os.path.basename(word))[0] if is_file else word.lstrip("#"))
    text = _read_text(word) if is_file else ""
    return _execution_subject(f"{protocol}_{id_}", id_, slug or f"issue-{id_}", text)


def _spec_subject(protocol: str, word: str, slug: str) -> RunSubject:
    """A spec file is called by the id in it; whoever reads it checks the rest."""
    is_file = os.path.isfile(word)
    text = _read_text(word) if is_file else ""
    node = formats.read_tree(text, word) if is_file else None
    named = node.get("id") if isinstance(node, MapNode) else None
    id_ = check_id(named.text if isinstance(named, ScalarNode) else os.path.basename(word))
    if id_.endswith((".", ".lock")):
        # Branches of the tree are called by it as it is.
        fix = "change the id in the spec: it may not end in '.' or '.lock'"
        raise UsageError(f"no branch can be called {id_!r}", fix=fix, code="bad-id")
    return _execution_subject(f"{protocol}_{id_}", id_, slug or id_, text)


def _track_subject(word: str, slug: str) -> RunSubject:
    """A track is its directory: what porch writes about it lies there, but for its status."""
    id_ = check_id(os.path.basename(word))
    run = f"track_{id_}"
    return RunSubject(run, id_, slug or id_, word, f"codev/executions/{run}/status.yaml")


def _execution_subject(run: str, id_: str, title: str, text: str) -> RunSubject:
    directory = f"codev/executions/{run}"
    return RunSubject(run, id_, title, directory, f"{directory}/status.yaml", text)


def _read_text(path: str) -> str:
    return read_document(path, "replace")
