"""Counts the rooms that hold modules of one product alone; `--list` names the modules.

A module serves a product alone if it lies in the product's house, if `ABOUT` names it, or if
everybody who imports it serves that product alone. Late imports count. What `cli` and `testing`
import does not count: they know all products.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

import grimp

ROOT = "porch"
_KNOW_ALL = ("cli", "testing", "__main__")
# A reader belongs to its dialect.
_NOT_COUNTED = (*_KNOW_ALL, "dialects")
# By house: modules elsewhere that are about this product, whoever imports them.
ABOUT: Mapping[str, tuple[str, ...]] = {
    "plan": ("machine.plan",),
    "tree": (
        "dialects.graph",
        "machine.exits.sibling_updates",
        "machine.exits.target_questions",
        "machine.instances",
    ),
    "agents": ("run.agents",),
}
# So many rooms may hold modules of the product, its house included.
MOST: Mapping[str, int] = {"plan": 2, "tree": 3, "agents": 2}

Importers = Mapping[str, frozenset[str]]


def read_importers() -> Importers:
    """Of each module those that import it, without the rooms that know all products."""
    graph = grimp.build_graph(ROOT, cache_dir=None)
    names = [name for name in graph.modules if "." in name and find_room(name) not in _KNOW_ALL]
    return {
        name.partition(".")[2]: frozenset(
            each.partition(".")[2]
            for each in graph.find_modules_that_directly_import(name)
            if find_room(each) not in _KNOW_ALL
        )
        for name in names
    }


def find_room(module: str) -> str:
    return module.removeprefix(f"{ROOT}.").partition(".")[0]


def list_own_modules(importers: Importers, house: str, about: tuple[str, ...]) -> set[str]:
    """Everything that serves this product alone."""
    own = {name for name in importers if any(_is_in(name, each) for each in (house, *about))}
    while True:
        more = {name for name, users in importers.items() if users and users <= own} - own
        if not more:
            return own
        own |= more


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def group_by_room(modules: set[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in sorted(modules):
        if find_room(name) not in _NOT_COUNTED:
            found.setdefault(find_room(name), []).append(name)
    return found


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--list", action="store_true", help="name the modules")
    wanted = options.parse_args()
    importers = read_importers()
    is_good = True
    for house, about in ABOUT.items():
        rooms = group_by_room(list_own_modules(importers, house, about))
        is_good &= len(rooms) <= MOST[house]
        print(f"{house}: {len(rooms)} of at most {MOST[house]} rooms: {', '.join(rooms)}")
        for room in (each for each in rooms if wanted.list and each != house):
            print(*(f"  {name}" for name in rooms[room]), sep="\n")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
    sys.exit(main())
