"""What a run changed and its files, as pages; agents choose every name and every byte in them."""

import re

import pytest
from starlette.testclient import TestClient

from porch.web.pages.diff_view import make_file_key
from tests.cli.conftest import Desk

RUN = "/run/project/0001-x"
HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e"
NAMES = ("<img src=x>.txt", "a\u202eb.md", "plain.py")


@pytest.fixture
def worked(desk: Desk) -> Desk:
    """A run whose agent wrote hostile names and texts, a link and a binary file."""
    desk.write("before.txt", "one\ntwo\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "before")
    texts = dict.fromkeys(NAMES, f"# T\n{HOSTILE}\n" + "x" * 5000 + "\n")
    written = {
        **texts,
        "before.txt": "one\n2\n",
        "codev/projects/0001-x/spec.md": f"# Spec\n{HOSTILE}",
    }
    phase = {"id": "one", "artifacts": ["spec.md"], "gate": {"name": "go", "next": None}}
    agents = {"one": [{"write": written, "signal": "PHASE_COMPLETE"}]}
    desk.begin(phase, code=3, agents=agents)
    (desk.root / "link").symlink_to("/etc/passwd")
    (desk.root / "binary").write_bytes(b"\0" * 2_000)
    return desk


def assert_harmless(page: str) -> None:
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    for sign in ("\x1b", "\u202e"):
        assert sign not in page


def test_the_difference_is_told_file_by_file_and_harms_nobody(
    worked: Desk, browser: TestClient
) -> None:
    page = browser.get(f"{RUN}/diff").text
    assert_harmless(page)
    assert '<span class="sign">-</span><span class="code">two' in page
    assert '<span class="sign">+</span><span class="code">2' in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "(4,000 more characters)" in page
    assert "Binary file, 2.0 KB" in page
    assert "&lt;img src=x&gt;.txt" in page
    assert "/etc/passwd" in page  # the text of the link
    assert "root:" not in page
    assert "status.yaml" not in page


def test_one_file_has_a_page_of_its_own_and_no_other_file_has(
    worked: Desk, browser: TestClient
) -> None:
    page = browser.get(f"{RUN}/diff?file={make_file_key('before.txt')}").text
    assert page.count('class="patch-file"') == 1
    for key in (make_file_key("/etc/passwd"), "../../etc/passwd", make_file_key("script.yaml/x")):
        assert browser.get(f"{RUN}/diff", params={"file": key}).status_code == 404


def test_many_files_are_shown_by_pages(
    worked: Desk, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("porch.web.pages.diff_view.FILES_ON_PAGE", 2)
    monkeypatch.setattr("porch.web.pages.files_view.FILES_ON_PAGE", 2)
    first = browser.get(f"{RUN}/diff").text
    assert first.count('class="patch-file"') == 2
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following
    assert f'href="{RUN}/diff?page=1"' in browser.get(following[1]).text
    assert 'rel="next"' in browser.get(f"{RUN}/files").text


def test_an_open_page_that_fetches_itself_does_not_measure_all_files_again(
    worked: Desk, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("porch.web.server.parts.changes_page.compare_run", refuse)
    for part in ("diff", "files"):
        assert browser.get(f"{RUN}/{part}", headers={"x-porch-live": "1"}).status_code == 200


def test_a_run_that_changed_nothing_and_one_without_git_say_so(
    desk: Desk, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.begin({"id": "one", "gate": {"name": "go", "next": None}}, code=3)
    assert "No file is different from the start" in browser.get(f"{RUN}/diff").text
    from porch.fleet.finish import run_changes

    gone = run_changes.RunChanges(trouble="the <worktree> is gone")
    monkeypatch.setattr("porch.web.server.parts.changes_page.compare_run", lambda *_: gone)
    for part in ("diff", "files"):
        assert "the &lt;worktree&gt; is gone" in browser.get(f"{RUN}/{part}").text


def test_files_are_listed_with_sizes_and_opened_as_text(worked: Desk, browser: TestClient) -> None:
    page = browser.get(f"{RUN}/files").text
    assert_harmless(page)
    assert "codev/projects/0001-x/spec.md" in page
    document = re.search(r'href="([^"]+\?document=[^"]+)"', page)
    assert document
    opened = browser.get(document[1])
    assert opened.headers["content-type"].startswith("text/html")
    assert "<h3>Spec</h3>" in opened.text
    assert_harmless(opened.text)
    for name in NAMES:
        shown = browser.get(f"{RUN}/files?changed={make_file_key(name)}").text
        assert_harmless(shown)
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    link = browser.get(f"{RUN}/files?changed={make_file_key('link')}").text
    assert "It is a link." in link
    assert "<pre>/etc/passwd</pre>" in link
    assert "It is not text." in browser.get(f"{RUN}/files?changed={make_file_key('binary')}").text


def test_a_document_that_became_a_link_or_is_none_of_the_run_is_not_opened(
    worked: Desk, browser: TestClient
) -> None:
    path = "codev/projects/0001-x/spec.md"
    (worked.root / path).unlink()
    (worked.root / path).symlink_to("/etc/passwd")
    assert "not written yet" in browser.get(f"{RUN}/files").text
    for key in (make_file_key(path), make_file_key("../x"), "x"):
        assert browser.get(f"{RUN}/files?document={key}").status_code == 404
        assert browser.get(f"{RUN}/files?changed={key}x").status_code == 404


def test_a_run_whose_worktree_is_gone_is_compared_by_its_branch(
    desk: Desk, browser: TestClient
) -> None:
    phase = {"id": "one", "gate": {"name": "go", "next": None}}
    desk.protocol("p", phase)
    agents = {"one": [{"write": {"made.txt": "by an agent"}, "signal": "PHASE_COMPLETE"}]}
    script = desk.script(agents=agents)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "protocol")
    words = ("run", "p", "0001", "--title", "x", "--script", script, "--worktree")
    desk.porch(*words, code=3)
    assert "the content of the files as they are now" in browser.get(f"{RUN}/diff").text
    desk.porch("stop", "1")
    browser.post(f"{RUN}/remove-worktree", data={"sure": "yes"})
    gone = browser.get(f"{RUN}/diff").text
    assert "the last of this run" in gone
    assert "by an agent" in gone
    changed = browser.get(f"{RUN}/files?changed={make_file_key('made.txt')}").text
    assert "<pre>by an agent</pre>" in changed
    desk.git("branch", "-D", "archive/p_0001_x")
    assert "the worktree and the branch of this run are gone" in browser.get(f"{RUN}/diff").text
