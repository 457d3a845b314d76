"""Issues as text: what `gh` answered, and a size that prompts can hold."""

from porch.run.requests.issue_text import format_issue


def test_an_issue_is_its_title_address_body_and_comments() -> None:
    told = format_issue(
        {
            "title": "It crashes",
            "url": "https://example.org/i/7",
            "body": "On start.\n",
            "comments": [
                {"author": {"login": "ann"}, "createdAt": "2026-01-02T03:04:05Z", "body": "Me too"},
                {"author": None, "body": "half \ud800 a character"},
                "nonsense",
            ],
        },
        10_000,
    )
    assert told == (
        "It crashes\nhttps://example.org/i/7\n\nOn start.\n\nComment by ann on 2026-01-02:\n"
        "Me too\n\nComment by somebody:\nhalf ? a character\n"
    )


def test_of_many_long_comments_the_newest_are_kept_and_the_rest_is_counted() -> None:
    comments = [{"author": {"login": "a"}, "body": f"{n} " + "x" * 1000} for n in range(100)]
    told = format_issue({"title": "T", "body": "B", "comments": comments}, 10_000)
    assert len(told.encode()) <= 10_000
    assert "99 xxx" in told
    assert "\n0 xxx" not in told
    assert "older comments are left out here]" in told
