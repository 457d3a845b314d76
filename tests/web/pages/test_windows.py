"""Parts of long lists."""

import pytest

from porch.web.pages.windows import cut_pages, read_number


def test_a_page_of_a_long_list_names_the_pages_beside_it() -> None:
    kept, pager = cut_pages(range(95), 2, 40, "/x", file="a&b")
    assert list(kept) == list(range(40, 80))
    assert (pager["begin"], pager["end"], pager["total"]) == (41, 80, 95)
    assert pager["earlier"] == "/x?file=a%26b&page=1"
    assert pager["later"] == "/x?file=a%26b&page=3"


@pytest.mark.parametrize("page, first", [(0, 0), (1, 0), (3, 80), (99, 80)])
def test_a_page_that_is_not_there_is_the_nearest(page: int, first: int) -> None:
    assert cut_pages(range(95), page, 40, "/x")[0][0] == first


def test_a_short_list_has_no_other_page() -> None:
    for rows in ([], [1]):
        kept, pager = cut_pages(rows, 1, 40, "/x")
        assert (list(kept), pager["is_cut"], pager["earlier"], pager["later"]) == (
            rows,
            False,
            "",
            "",
        )


@pytest.mark.parametrize("word", ["", "x", "-1", "1.5", "²", "٣", "9" * 5_000, "0"])
def test_what_is_no_number_is_none(word: str) -> None:
    assert read_number(word) == 0
