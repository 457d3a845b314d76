"""How many modules stand on top of each other: who reads one must not have to read twenty."""

from functools import cache

import grimp

LONGEST = 24  # the account tries answers in the machine, and pages show what it says
_ROOT = "porch"


def _imports() -> dict[str, list[str]]:
    """Of each module those that it imports, also late; what only the checker reads does not count.

    `porch.testing` is for users and reaches everywhere.
    """
    graph = grimp.build_graph(_ROOT, exclude_type_checking_imports=True, cache_dir=None)
    modules = [name for name in graph.modules if not name.startswith(f"{_ROOT}.testing")]
    return {name: sorted(graph.find_modules_directly_imported_by(name)) for name in modules}


def _longest_chain(imports: dict[str, list[str]]) -> tuple[str, ...]:
    begun: list[str] = []

    @cache
    def chain_from(name: str) -> tuple[str, ...]:
        assert name not in begun, f"in a circle: {' -> '.join([*begun, name])}"
        begun.append(name)
        below = max((chain_from(each) for each in imports.get(name, ())), key=len, default=())
        begun.remove(name)
        return (name, *below)

    return max((chain_from(name) for name in imports), key=len)


def test_no_chain_of_imports_is_too_long_and_none_is_a_circle() -> None:
    chain = _longest_chain(_imports())
    assert len(chain) <= LONGEST, "\n".join(chain)


def test_a_chain_is_counted_by_its_longest_way() -> None:
    imports = {"a": ["b", "d"], "b": ["c"], "c": ["d"], "d": []}
    assert _longest_chain(imports) == ("a", "b", "c", "d")
