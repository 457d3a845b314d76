"""The files of a run: what each is, and one of them opened."""

from porch.git.file_changes import ChangedContent
from porch.web.pages.files_view import make_changed, make_documents, make_opened


def test_documents_that_are_not_there_have_no_link() -> None:
    there, missing = make_documents({"spec.md": 12, "plan.md": None}, "/f")
    assert there["told"] == "12 bytes"
    assert there["address"].startswith("/f?document=")
    assert (missing["told"], missing["address"]) == ("not written yet", "")


def test_only_what_has_content_can_be_opened() -> None:
    told = {"old": "", "added": 1, "removed": 0, "new_size": 1_234}
    rows = make_changed(
        [
            ChangedContent(path="a", status="A", new="1", **told),  # type: ignore[arg-type]
            ChangedContent(path="b", status="D", new="", **told),  # type: ignore[arg-type]
            ChangedContent(path="c", status="M", new="1", is_link=True, **told),  # type: ignore[arg-type]
            ChangedContent(path="d", status="M", new="1", is_repository=True, **told),  # type: ignore[arg-type]
        ],
        "/f",
    )
    assert [(row["status"], row["told"], bool(row["address"])) for row in rows] == [
        ("new", "1.2 KB", True),
        ("deleted", "deleted", False),
        ("changed", "1.2 KB, a link", True),
        ("changed", "a repository in the repository", False),
    ]


def test_markdown_is_drawn_and_made_safe_and_other_text_stays_text() -> None:
    drawn = make_opened("a.md", b"# T\n<script>alert(1)</script> [x](javascript:1)", 9)["drawn"]
    assert "<h3>T</h3>" in drawn
    assert "<script" not in drawn
    assert "javascript:" not in str(drawn).replace("(javascript:1)", "")
    page = make_opened("a.html", b"<script>alert(1)</script>", 9)
    assert (page["drawn"], page["text"]) == (None, "<script>alert(1)</script>")


def test_what_is_no_text_or_too_large_or_a_link_is_said() -> None:
    assert make_opened("a", b"x\0y", 3)["why"] == "It is not text."
    assert make_opened("a", None, 9_000_000)["why"] == "It is too large to be shown here."
    link = make_opened("a.md", b"/etc/passwd", 11, is_link=True)
    assert (link["drawn"], link["text"]) == (None, "/etc/passwd")
    assert "It is a link" in link["why"]
    assert make_opened("a", b"\xff\xfe", 2)["text"] == "\ufffd\ufffd"
