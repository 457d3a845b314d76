"""As much text as the budget allows: first the section that matches, of every document found."""

from __future__ import annotations

from porch.knowledge import document_files, index_update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from porch.knowledge.results import SearchHit


def inline_texts(workspace: str, found: list[tuple[SearchHit, str]], budget: int) -> int:
    """The tokens that were used. Each hit comes with its section, and both are in order of rank.

    A whole document takes the place of its section where the budget has room for that, too.
    """
    used, costs = 0, []
    for hit, section in found:
        cost = estimate_tokens(section)
        fits = bool(section) and used + cost <= budget
        hit["section_text"] = section if fits else None
        costs.append(cost if fits else 0)
        used += costs[-1]
    for (hit, _), cost in zip(found, costs, strict=True):
        more = hit["token_count"] - cost
        if used + more <= budget and _inline_document(workspace, hit):
            used += more
    return used


def estimate_tokens(text: str) -> int:
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def _inline_document(workspace: str, hit: SearchHit) -> bool:
    data, why = document_files.read_document_bytes(
        workspace, hit["path"], index_update.LARGEST_BYTES
    )
    if why:
        return False
    hit["full_text"], hit["section_text"] = data.decode("utf-8", "replace"), None
    return True
