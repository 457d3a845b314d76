"""The glossary against the tree: every room and every class that crosses a border is explained."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from tools.word_list import BEGIN, HEAD, PACKAGE, PAGE, border_classes, read_modules, render_page

_ROOM = re.compile(r"^(?:### |- )`([a-z_/]+)`", re.MULTILINE)
_WORD = re.compile(r"^\| ([a-z][a-z ]*) \|", re.MULTILINE)


def section(title: str) -> str:
    parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[title]


def listed_rooms() -> list[str]:
    return _ROOM.findall(section("Rooms"))


def rooms_of_the_tree(package: Path) -> set[str]:
    """Packages at any depth, and the modules that lie beside the top ones."""
    inits = {file.parent.relative_to(package) for file in package.rglob("*/__init__.py")}
    beside = {file.stem for file in package.glob("*.py") if not file.stem.startswith("__")}
    return {path.as_posix() for path in inits} | beside


def write_tree(root: Path, modules: dict[str, str]) -> Path:
    for name, text in {"__init__": "", **modules}.items():
        path = root / "porch" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root / "porch"


def test_every_package_of_the_tree_is_explained_among_the_rooms() -> None:
    assert rooms_of_the_tree(PACKAGE) - set(listed_rooms()) == set()


def test_every_room_that_is_explained_is_in_the_tree() -> None:
    assert set(listed_rooms()) - rooms_of_the_tree(PACKAGE) == set()


def test_no_room_is_explained_twice() -> None:
    rooms = listed_rooms()
    assert len(rooms) == len(set(rooms)) > 0


def test_the_table_of_classes_is_what_the_tool_writes() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == render_page(page, PACKAGE), "run: python tools/word_list.py --write"


def test_every_class_that_crosses_a_border_has_a_meaning() -> None:
    """In the table of the page, which has all of them: see above."""
    table = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) > 100
    assert [row for row in rows if not row.split("` | ")[2].rstrip(" |")] == []


def test_no_two_classes_of_the_package_have_one_name() -> None:
    files = PACKAGE.rglob("*.py")
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    names = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    public = {name: count for name, count in names.items() if not name.startswith("_")}
    assert [name for name, count in public.items() if count > 1] == []


def test_no_word_of_the_glossary_is_explained_twice() -> None:
    words = [word for word in _WORD.findall(section("Terms")) if word != "word"]
    assert len(words) == len(set(words)) > 40


@pytest.mark.parametrize(
    "importer",
    [
        "from porch.store.lock import Lock\n",
        "from porch.store import Lock\n",
        "from porch.store import lock\nheld: lock.Lock\n",
        "from porch.store import lock as locks\nheld = locks.Lock()\n",
        "import porch.store.lock as locks\nheld = locks.Lock()\n",
        "from ..store.lock import Lock\n",
    ],
)
def test_a_class_is_noticed_however_another_room_imports_it(tmp_path: Path, importer: str) -> None:
    package = write_tree(
        tmp_path,
        {
            "store/__init__": "from porch.store.lock import Lock\n",
            "store/lock": 'class Lock:\n    """One writer\n    at a | time.\n\n    More."""\n',
            "run/__init__": "",
            "run/driver": importer,
        },
    )
    [found] = border_classes(read_modules(package))
    assert (found.name, found.module, found.meaning) == (
        "Lock",
        "store.lock",
        "One writer at a \\| time.",
    )


def test_a_class_that_stays_in_its_room_or_is_private_is_left_out(tmp_path: Path) -> None:
    package = write_tree(
        tmp_path,
        {
            "store/lock": "class Lock: ...\nclass _Own: ...\nlimit = 1\n",
            "store/inbox": "from porch.store.lock import Lock\n",
            "run/driver": "from porch.store.lock import _Own, limit\n",
        },
    )
    assert border_classes(read_modules(package)) == []


def test_only_what_is_behind_the_mark_is_written_anew(tmp_path: Path) -> None:
    package = write_tree(tmp_path, {"store/lock": ""})
    page = PAGE.read_text(encoding="utf-8")
    written = render_page(page, package)
    assert written.endswith(HEAD)
    assert page.startswith(written.removesuffix(HEAD))
