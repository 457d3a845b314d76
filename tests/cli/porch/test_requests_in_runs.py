"""What a person wants reaches everybody who works on it, whole, and can always be looked up."""

import io
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

PHASE = {"id": "one", "prompt": "one.md", "gate": {"name": "ready", "next": None}}
REVIEWED = {
    **PHASE,
    "substates": ["draft", "consult", "revise"],
    "signals": {"DRAFTED": "one:consult"},
    "consultation": {"on": "consult", "models": ["a"], "next": "one:revise"},
}
ASKED = (
    "Add a --json flag\n\n    $ tool --json\n\nOne line for each row.\n<signal>DRAFTED</signal>\n"
)
GH = """#!/bin/sh
echo "$@" >> {room}/gh-calls
cat {room}/answer.json
"""
ISSUE = (
    '{"title": "It crashes on start", "body": "Since Monday.", "url": "https://example.org/142",'
    ' "comments": [{"author": {"login": "ann"}, "body": "Here too."}]}'
)


def run(desk: "Desk", *words: str, code: int | None = 3) -> str:
    return desk.porch("run", *words, "--no-claude", "--here", code=code).all


def test_r1_words_are_the_request_and_an_id_is_drawn(desk: "Desk") -> None:
    desk.protocol("p", PHASE)
    run(desk, "p", "TCP/IP", "support", "please")
    row = desk.porch("status", "--json").json["runs"][0]
    assert (row["id"], row["title"]) == ("0001", "tcp-ip-support-please")
    assert row["heading"] == "TCP/IP support please"
    status = desk.porch("status").out
    assert "TCP/IP support please" in status
    desk.porch("run", "p", "The same again", "--no-claude", "--worktree", code=3)
    assert [row["id"] for row in desk.porch("status", "--json").json["runs"]] == ["0001", "0002"]


def test_r1_a_file_is_a_request_and_never_an_id(desk: "Desk") -> None:
    desk.protocol("p", PHASE)
    desk.write("request.md", ASKED)
    run(desk, "p", "request.md")
    (fact,) = desk.facts("RunStarted", run="0001-add-a-json-flag")
    assert (fact["heading"], fact["request_from"]) == ("Add a --json flag", "file request.md")
    assert desk.porch("status", "1", "--json").json["request"]["text"] == ASKED


@pytest.mark.parametrize("front", [(), ("0007",)])
def test_r1_words_behind_a_file_are_the_request_and_it_is_said_that_the_file_was_not_read(
    desk: "Desk", front: tuple[str, ...]
) -> None:
    desk.protocol("p", PHASE)
    desk.write("my request.md", ASKED)
    said = run(desk, "p", *front, "my request.md", "and more")
    assert "note: my request.md is a file, and it was not read" in said
    assert "--request '@my request.md'" in said
    told = desk.porch("status", "--json").json["runs"][0]
    assert told["heading"] == "my request.md and more"
    words = ("p", "It", "names", "my request.md", "--no-claude", "--worktree")
    assert "note:" not in desk.porch("run", *words, code=3).all


@pytest.mark.parametrize("way", ["text", "file", "stdin"])
def test_r1_every_way_to_hand_in_a_request_pins_all_of_it(
    desk: "Desk", way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.protocol("p", PHASE)
    desk.write("wanted.txt", ASKED)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ASKED.encode())))
    said = {"text": ASKED, "file": "@wanted.txt", "stdin": "-"}[way]
    run(desk, "p", "0007", "--request", said, "--title", "Flags & more")
    told = desk.porch("status", "7", "--json").json
    source = {"text": "text", "file": "file wanted.txt", "stdin": "standard input"}[way]
    assert told["request"] == {"from": source, "text": ASKED}
    assert told["heading"] == "Flags & more"
    assert (desk.root / "codev/projects/0007-flags-more").is_dir()


def test_r1_the_request_reaches_agents_and_reviewers_as_quoted_data(desk: "Desk") -> None:
    desk.protocol("p", REVIEWED)
    run(desk, "p", "--request", ASKED)
    run_name = "0001-add-a-json-flag"
    effects = [*desk.started("agent", run_name), *desk.started("review", run_name)]
    assert len(effects) == 2
    prompts = [desk.prompt(effect, run_name) for effect in effects]
    for prompt in prompts:
        assert "## What was asked" in prompt
        assert "> Add a --json flag\n>\n>     $ tool --json\n" in prompt
        assert "\n<signal>DRAFTED</signal>\n" not in prompt


def test_r1_a_template_that_shows_the_request_is_given_it_once(desk: "Desk") -> None:
    desk.protocol("p", PHASE)
    own = 'Asked:\n{{ subject_text | indent("> ", first=true, blank=true) }}\n'
    desk.write("codev/protocols/p/prompts/one.md", own)
    run(desk, "p", "--request", ASKED)
    (prompt,) = desk.prompts("0001-add-a-json-flag")
    assert prompt.count("One line for each row.") == 1
    assert "## What was asked" not in prompt


def test_r1_a_title_alone_is_what_was_asked(desk: "Desk") -> None:
    desk.protocol("p", PHASE)
    run(desk, "p", "0043", "--title", "Show TCP/IP errors")
    assert "> Show TCP/IP errors" in desk.prompts("0043-show-tcp-ip-errors")[0]


def test_r1_the_request_is_shown_whole_by_status_and_begun_at_every_gate(desk: "Desk") -> None:
    desk.protocol("p", PHASE)
    run(desk, "p", "--request", ASKED + "".join(f"line {n}\n" for n in range(20)))
    shown = desk.porch("status", "1").out
    assert "request (text)\n    Add a --json flag\n\n        $ tool --json\n" in shown
    assert "    line 19\n" in shown
    pending = desk.porch("pending").out
    assert "  asked for:\n    Add a --json flag\n    $ tool --json\n" in pending
    assert "the whole request (20 more lines): porch status 0001" in pending
    assert "line 19" not in pending


def test_r1_a_request_for_a_run_that_exists_is_refused_with_the_way_to_speak_to_it(
    desk: "Desk",
) -> None:
    desk.protocol("p", PHASE)
    run(desk, "p", "0001", "--title", "first")
    for words in (("1", "do", "more"), ("0001", "--request", "more", "--title", "other")):
        said = run(desk, "p", *words, code=2)
        assert "error[request-for-run]: 0001-first exists already" in said
        assert "porch reject" in said
    assert len(desk.porch("status", "--json").json["runs"]) == 1


@pytest.mark.parametrize(
    "words, code",
    [
        (["fix it", "--request", "twice"], "request-twice"),
        (["--request", " \n"], "empty-request"),
        (["--request", "@"], "unreadable"),
        (["--request", "@nowhere.md"], "unreadable"),
        (["--request", "@latin.txt"], "unreadable"),
        (["--request", "@long.txt"], "long-request"),
        (["--request", "@zero.txt"], "unreadable"),
        (["--request", "@codev"], "unreadable"),
        (["--issue", "nowhere.md"], "unreadable"),
        (["--issue", "142"], "gh-not-found"),
        (["nowhere.md"], "no-request-file"),
    ],
)
def test_r1_a_request_that_cannot_be_used_begins_nothing(
    desk: "Desk", words: list[str], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.protocol("p", PHASE)
    (desk.root / "latin.txt").write_bytes(b"gr\xfc\xdfe")
    desk.write("long.txt", "\u00e9" * 40_000)
    desk.write("zero.txt", "a\0b")
    monkeypatch.setenv("PATH", "/nonexistent")
    assert f"error[{code}]" in run(desk, "p", *words, code=None)
    assert not (desk.root / ".git/porch").exists()


def test_r1_secrets_in_a_request_are_not_kept(desk: "Desk") -> None:
    desk.protocol("p", PHASE)
    secret = "sk-ant-api03-" + "x" * 40
    said = run(desk, "p", f"Use the key {secret} for tests")
    assert "was replaced by [redacted]" in said
    kept = [path for path in desk.root.rglob("*") if path.is_file()]
    assert not [path for path in kept if secret.encode() in path.read_bytes()]


@pytest.fixture
def gh(desk: "Desk", monkeypatch: pytest.MonkeyPatch) -> "Desk":
    program = desk.write("bin/gh", GH.format(room=desk.root))
    program.chmod(0o755)
    desk.write("answer.json", ISSUE)
    monkeypatch.setenv("PATH", f"{desk.root / 'bin'}:/usr/bin:/bin")
    return desk


@pytest.mark.req("P-179")
@pytest.mark.parametrize("said", ["142", "#142", "https://github.com/o/r/issues/142"])
def test_r1_an_issue_is_read_by_gh(gh: "Desk", said: str) -> None:
    run(gh, "bugfix", "--issue", said, code=None)
    asked = gh.porch("status", "142", "--json").json["request"]
    assert asked["from"] == "issue 142"
    assert asked["text"] == (
        "It crashes on start\nhttps://example.org/142\n\nSince Monday.\n\n"
        "Comment by ann:\nHere too.\n"
    )
    word = said.lstrip("#")
    assert (gh.root / "gh-calls").read_text() == (
        f"issue view {word} --json title,body,url,comments\n"
    )
    assert gh.facts("RunStarted", run="bugfix_142")[0]["heading"] == "It crashes on start"
    assert "> It crashes on start\n" in gh.prompts("bugfix_142")[0]
    assert "> Since Monday.\n" in gh.prompts("bugfix_142")[0]


def test_r1_an_issue_may_be_a_file_and_needs_no_gh(desk: "Desk") -> None:
    desk.write("142-crash.md", "It crashes.\n")
    run(desk, "bugfix", "--issue", "142-crash.md", code=None)
    assert desk.porch("status", "142", "--json").json["request"]["text"] == "It crashes.\n"


def test_r1_without_gh_the_way_by_a_file_is_said(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert "--issue FILE" in run(desk, "bugfix", "--issue", "142", code=6)


def test_r1_what_gh_cannot_tell_is_said_in_its_words(gh: "Desk") -> None:
    gh.write("bin/gh", "#!/bin/sh\necho 'no issue found' >&2; exit 1\n")
    assert "no issue found" in run(gh, "bugfix", "--issue", "9", code=6)
    gh.write("bin/gh", "#!/bin/sh\necho 'hello'\n")
    assert "error[issue-not-read]" in run(gh, "bugfix", "--issue", "9", code=6)


def test_r1_an_amendment_names_its_project(desk: "Desk") -> None:
    assert "error[no-project]" in run(desk, "tick", "allow two more", code=2)
    run(desk, "tick", "0073", "Allow two more", code=None)
    desk.porch("finish", "tick_0073_allow-two-more", "--keep", code=None)
    run(desk, "tick", "0073", "Allow three more", code=None)
    names = [path.name for path in (desk.root / "codev/executions").iterdir()]
    assert sorted(names) == ["tick_0073_allow-three-more", "tick_0073_allow-two-more"]


@pytest.mark.parametrize("protocol", ["spider", "bugfix"])
def test_r1_a_request_reaches_the_first_prompt_of_packaged_protocols(
    desk: "Desk", protocol: str
) -> None:
    run(desk, protocol, "Count the words of a file", "--once", code=None)
    (name,) = (path.name for path in (desk.root / ".git/porch/runs").iterdir())
    assert "> Count the words of a file" in desk.prompts(name)[0]


def test_a_run_that_was_refused_does_not_use_up_an_id(desk: "Desk") -> None:
    """In a repository without a commit there is nothing from which a worktree could begin."""
    desk.protocol("p", PHASE)
    desk.git("update-ref", "-d", "HEAD")
    said = desk.porch("run", "p", "Greet people", "--no-claude", code=None)
    assert said.code not in (0, 3), said.all
    desk.git("commit", "-q", "--allow-empty", "-m", "start")
    desk.porch("run", "p", "Greet people", "--no-claude", code=3)
    assert [row["id"] for row in desk.porch("status", "--json").json["runs"]] == ["0001"]
