"""`envoy protocol NAME` from what was kept: an agent asks for its steps at every start."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

_FLAGS: Mapping[str, Literal["text", "raw", "explain"]] = {
    "": "text",
    "--raw": "raw",
    "--explain": "explain",
}


def answer_from_cache(argv: list[str]) -> int | None:
    """The exit code if nothing had to be read anew; otherwise None."""
    if argv[:2] == ["knowledge", "search"]:
        from porch.cli.envoy import fast_search

        return fast_search.answer_search(argv[2:])
    words = argv[1:] if argv[:2] == ["plan", "protocol"] else argv
    if words[:1] != ["protocol"] or not 2 <= len(words) <= 3 or words[1].startswith("-"):
        return None
    flag = words[2] if len(words) == 3 else ""
    if flag not in (*_FLAGS, "--json") or not _is_name(words[1]):
        return None
    return _print_steps(words[1], flag)


def _is_name(word: str) -> bool:
    """Whatever else it is, it is no way out of a directory."""
    return all(c.isascii() and (c.isalnum() or c in "-_") for c in word)


def _print_steps(name: str, flag: str) -> int | None:
    from porch.store import compiled_steps
    from porch.store import where as places

    forms = compiled_steps.read_cached_forms(places.find_project(os.getcwd()), name)
    if forms is None:
        return None
    sys.stdout.write(_render_json(forms["json"]) if flag == "--json" else forms[_FLAGS[flag]])
    sys.stdout.flush()
    return 0


def _render_json(data: object) -> str:
    import json

    whole = {"status": "success", "data": data}
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"
