"""`envoy knowledge` as an agent calls it: the documents as they are now, whatever has happened."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.cli.dispatch import run_words as run_command
from porch.cli.envoy import fast
from porch.knowledge import document_files, embedding, index
from tests import commands

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

Told = dict[str, Any]
Envoy = Callable[..., Told]
ENVOY = (sys.executable, "-c", "from porch.cli.dispatch import envoy; exit(envoy())")
AUTH = """\
---
title: Signing in
description: How people prove who they are
relevant_files: [src/auth.py]
tags: [login]
---
# Authentication

Passwords are hashed.

## Tokens

A token expires after one hour and is renewed quietly.
"""
DEPLOY = "# Deploying\n\nContainers go to production on Fridays.\n"
RESULT_KEYS = [
    "path",
    "score",
    "matched_words",
    "similarity",
    "title",
    "description",
    "heading",
    "line",
    "excerpt",
    "token_count",
    "relevant_files",
    "tags",
    "section_text",
    "full_text",
]


@pytest.fixture
def docs(desk: "Desk", monkeypatch: pytest.MonkeyPatch) -> "Desk":
    # The same answers on a machine that has the extra; that one has tests of its own.
    monkeypatch.setattr(embedding, "PACKAGE_NAME", "not-installed")
    desk.write("docs/auth.md", AUTH)
    desk.write("docs/ops/deploy.md", DEPLOY)
    return desk


@pytest.fixture
def envoy(capsys: pytest.CaptureFixture[str]) -> Envoy:
    def type_(*words: str, code: int = 0) -> Told:
        capsys.readouterr()
        answered = fast.answer_from_cache(["knowledge", *words])
        argv = ["knowledge", *words]
        left = run_command("envoy", argv) if answered is None else answered
        told = json.loads(capsys.readouterr().out)
        assert left == code, told
        assert told["status"] == ("error" if code else "success")
        found: Told = told["error"] if code else told["data"]
        return found

    return type_


def paths(told: Told) -> list[str]:
    return [result["path"] for result in told["results"]]


def place(desk: "Desk") -> Path:
    return desk.root / ".git" / "porch" / "knowledge.sqlite3"


def test_a_phrase_finds_the_document_and_the_section(docs: "Desk", envoy: Envoy) -> None:
    told = envoy("search", "docs", "when does a token expire?")
    (found,) = told["results"]
    assert list(found) == RESULT_KEYS
    assert found | {"score": 0} == {
        "path": "docs/auth.md",
        "score": 0,
        "matched_words": ["token", "expire"],
        "similarity": None,
        "title": "Signing in",
        "description": "How people prove who they are",
        "heading": "Authentication > Tokens",
        "line": 11,
        "excerpt": "A token expires after one hour and is renewed quietly.",
        "token_count": (len(AUTH) + 3) // 4,
        "relevant_files": ["src/auth.py"],
        "tags": ["login"],
        "section_text": None,
        "full_text": AUTH,
    }
    assert found["score"] == 1.0
    assert told["method"] == "full-text"
    assert told["token_count_method"].startswith("estimate")
    assert told["notes"] == []


@pytest.mark.req("E-058")
def test_searches_may_follow_each_other_with_and_without_the_name(
    docs: "Desk", envoy: Envoy
) -> None:
    assert paths(envoy("search", "docs", "containers")) == ["docs/ops/deploy.md"]
    assert paths(envoy("search", "hashing of passwords")) == ["docs/auth.md"]
    assert paths(envoy("search", "docs")) == []


def test_all_declared_keys_are_there_when_nothing_is_found(docs: "Desk", envoy: Envoy) -> None:
    told = envoy("search", "zeppelin")
    assert told == {
        "query": ["zeppelin"],
        "method": "full-text",
        "metadata_only": False,
        "results": [],
        "result_count": 0,
        "token_budget": 5000,
        "tokens_inlined": 0,
        "token_count_method": told["token_count_method"],
        "notes": [],
    }


def test_a_project_without_documents_has_no_results(desk: "Desk", envoy: Envoy) -> None:
    assert envoy("search", "anything")["results"] == []
    assert envoy("reindex")["stats"]["files_indexed"] == 0


def test_title_beats_heading_beats_description_beats_body(docs: "Desk", envoy: Envoy) -> None:
    filler = "Some other words stand here so that all are of about the same length.\n"
    docs.write("docs/4.md", f"# One\n\nkettle. {filler}")
    docs.write("docs/3.md", f"---\ndescription: the kettle\n---\n# Two\n\n{filler}")
    docs.write("docs/2.md", f"# Three\n\n## The kettle\n\n{filler}")
    docs.write("docs/1.md", f"---\ntitle: the kettle\n---\n# Four\n\n{filler}")
    assert paths(envoy("search", "kettle")) == [f"docs/{n}.md" for n in (1, 2, 3, 4)]


def test_several_phrasings_are_fused_by_rank(docs: "Desk", envoy: Envoy) -> None:
    docs.write("docs/both.md", "# Both\n\nA zebra and a walrus.\n")
    docs.write("docs/zebra.md", "# Zebra\n\nzebra zebra zebra\n")
    docs.write("docs/walrus.md", "# Walrus\n\nwalrus walrus walrus\n")
    told = envoy("search", "docs", "zebra", "walrus")
    assert told["query"] == ["zebra", "walrus"]
    assert paths(told)[0] == "docs/both.md"
    assert sorted(paths(told)) == ["docs/both.md", "docs/walrus.md", "docs/zebra.md"]
    assert all(0 < result["score"] <= 1 for result in told["results"])


@pytest.mark.parametrize(
    "phrase",
    [
        'token "quote',
        "token AND",
        "NEAR(token)",
        "token*",
        "title:token",
        "^token",
        "token -hour",
        "(token",
        "{title} : token",
        "token'; drop table words; --",
        "token \x00",
    ],
)
def test_the_language_of_the_index_is_never_spoken(docs: "Desk", envoy: Envoy, phrase: str) -> None:
    assert "docs/auth.md" in paths(envoy("search", phrase))


@pytest.mark.parametrize("phrase", ["", "   ", '"*:'])
def test_a_phrase_without_a_word_is_refused(docs: "Desk", envoy: Envoy, phrase: str) -> None:
    told = envoy("search", "docs", phrase, code=2)
    assert told["type"] == "empty_phrase"
    assert told["suggestion"]


@pytest.mark.parametrize("words", [["--limit", "0"], ["--limit", "101"], ["--budget=-1"]])
def test_a_number_out_of_range_is_refused(docs: "Desk", envoy: Envoy, words: list[str]) -> None:
    assert envoy("search", "token", *words, code=2)["type"] == "usage"


def test_no_more_than_the_limit_is_shown(docs: "Desk", envoy: Envoy) -> None:
    for number in range(12):
        docs.write(f"docs/many/{number}.md", "# Kettle\n\nkettle\n")
    assert envoy("search", "kettle")["result_count"] == 10
    assert envoy("search", "kettle", "--limit", "3")["result_count"] == 3
    assert envoy("search", "kettle", "--limit=12")["result_count"] == 12


def test_whole_texts_stay_within_the_budget(docs: "Desk", envoy: Envoy) -> None:
    docs.write("docs/a.md", "# Kettle kettle\n\n" + "kettle " * 400)
    docs.write("docs/b.md", "# Other\n\n" + "a word of a kettle, " + "and many others " * 8)
    told = envoy("search", "kettle", "--budget", "100")
    first, second = told["results"]
    assert (first["path"], first["full_text"]) == ("docs/a.md", None)
    assert second["full_text"].startswith("# Other")
    assert told["tokens_inlined"] == second["token_count"] <= 100
    assert all(r["full_text"] is None for r in envoy("search", "kettle", "--budget=0")["results"])


def test_n7_the_section_that_matches_comes_where_its_document_is_too_long(
    docs: "Desk", envoy: Envoy
) -> None:
    long = "## Filler\n\n" + "many other words " * 400
    for number in range(4):
        docs.write(f"docs/long{number}.md", f"# L{number}\n\n{long}\n## Tea\n\nA kettle boils.\n")
    told = envoy("search", "kettle", "--budget", "100")
    assert [hit["section_text"] for hit in told["results"]] == ["A kettle boils."] * 4
    assert all(hit["full_text"] is None for hit in told["results"])
    assert all(hit["heading"].endswith("Tea") for hit in told["results"])
    assert told["tokens_inlined"] == 4 * 4
    few = envoy("search", "kettle", "--budget", "10")
    assert sum(hit["section_text"] is not None for hit in few["results"]) == 2
    assert few["tokens_inlined"] <= 10
    # Where there is room for one whole document, it takes the place of its section.
    whole = envoy("search", "kettle", "--budget", "2000")["results"]
    assert [hit["full_text"] is not None for hit in whole] == [True, False, False, False]
    assert [hit["section_text"] is None for hit in whole] == [True, False, False, False]


def test_n7_the_words_that_matched_are_told_and_the_score_says_how_much_that_is(
    docs: "Desk", envoy: Envoy
) -> None:
    for number in range(8):
        docs.write(f"docs/{number}.md", f"# The page {number}\n\nIt is the one of the many.\n")
    docs.write("docs/k.md", "# Kettles\n\nThe kettles whistle.\n")
    docs.write("docs/t.md", "# Pot\n\nThe teapot.\n")
    both, one = envoy("search", "kettle teapot whistling")["results"]
    assert (both["path"], both["matched_words"]) == ("docs/k.md", ["kettle", "whistling"])
    assert (one["path"], one["matched_words"]) == ("docs/t.md", ["teapot"])
    assert both["score"] == pytest.approx(2 / 3, abs=0.001)
    assert one["score"] == pytest.approx(1 / 3, abs=0.001)
    common = envoy("search", "the")["results"]
    assert common
    assert all(hit["score"] < 0.35 for hit in common)
    assert envoy("search", "kettle")["results"][0]["score"] == 1.0


@pytest.mark.parametrize(
    "phrase, name, matched",
    [
        ("缓存多久过期", "zh", ["缓存", "过期"]),
        ("キャッシュの期限", "ja", ["キャ", "ャッ", "ッシ", "シュ", "ュの", "期限"]),
        ("税", "zh", ["税"]),
        ("Redis缓存", "zh", ["redis", "缓存"]),
        ("세션", "ko", ["세션"]),
        ("แคช", "th", ["แค", "คช"]),
    ],
)
def test_e12_words_are_found_in_text_without_spaces(
    docs: "Desk", envoy: Envoy, phrase: str, name: str, matched: list[str]
) -> None:
    """E12"""
    docs.write("docs/zh.md", "# 性能\n\n页面放在Redis缓存里。过期时间是十分钟。不含税。\n")
    docs.write("docs/ja.md", "# 性能\n\nキャッシュの有効期限は十分です。\n")
    docs.write("docs/ko.md", "# 성능\n\n세션이 만료되면 다시 로그인합니다.\n")
    docs.write("docs/th.md", "# ผล\n\nหน้าเว็บเก็บในแคชสิบนาที\n")
    hit = envoy("search", phrase)["results"][0]
    assert (hit["path"], hit["matched_words"]) == (f"docs/{name}.md", matched)
    text = (docs.root / hit["path"]).read_text()
    assert hit["excerpt"]
    assert hit["excerpt"] in text
    assert envoy("search", phrase, "--budget", "8000")["results"][0]["full_text"] == text
    assert envoy("search", phrase, "--metadata-only")["results"][0]["score"] == hit["score"] > 0


def test_e12_the_section_of_a_text_without_spaces_is_shown_as_it_is(
    docs: "Desk", envoy: Envoy
) -> None:
    """E12"""
    docs.write("docs/zh.md", "# 一\n\n" + "别的内容。" * 200 + "\n\n## 二\n\n缓存十分钟后过期。\n")
    hit = envoy("search", "缓存", "--budget", "40")["results"][0]
    assert (hit["heading"], hit["section_text"]) == ("一 > 二", "缓存十分钟后过期。")
    assert hit["excerpt"] == "缓存十分钟后过期。"


def test_metadata_only_shows_no_text(docs: "Desk", envoy: Envoy) -> None:
    told = envoy("search", "token", "--metadata-only")
    (found,) = told["results"]
    assert list(found) == RESULT_KEYS
    assert (found["excerpt"], found["full_text"], told["tokens_inlined"]) == (None, None, 0)
    assert told["metadata_only"] is True


def test_the_long_way_round_gives_the_same_answer(docs: "Desk", envoy: Envoy) -> None:
    assert envoy("search", "token", "--limit=5") == envoy("search", "token", "--limit", "5")


def test_a_changed_a_new_and_a_removed_document_are_noticed(docs: "Desk", envoy: Envoy) -> None:
    assert paths(envoy("search", "kettle")) == []
    docs.write("docs/auth.md", "# Kettle\n")
    assert paths(envoy("search", "kettle")) == ["docs/auth.md"]
    assert paths(envoy("search", "token")) == []
    docs.write("docs/new.md", "# Another kettle\n")
    assert sorted(paths(envoy("search", "kettle"))) == ["docs/auth.md", "docs/new.md"]
    (docs.root / "docs/auth.md").unlink()
    assert paths(envoy("search", "kettle")) == ["docs/new.md"]


def test_a_change_of_the_same_length_at_the_same_instant_is_noticed(
    docs: "Desk", envoy: Envoy
) -> None:
    path = docs.write("docs/x.md", "# aaaa\n")
    envoy("search", "aaaa")
    known = path.stat()
    path.write_text("# bbbb\n")
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert paths(envoy("search", "bbbb")) == ["docs/x.md"]


def test_only_the_changed_document_is_read_and_git_is_not_asked(
    docs: "Desk", envoy: Envoy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_files, "_TOO_FRESH_NS", 0)
    envoy("search", "token")
    read: list[str] = []
    original = document_files.read_document_bytes

    def content(workspace: str, path: str, most: int) -> tuple[bytes, str]:
        read.append(path)
        return original(workspace, path, most)

    monkeypatch.setattr(document_files, "read_document_bytes", content)
    monkeypatch.setenv("PATH", "")
    envoy("search", "token", "--metadata-only")
    assert read == []
    docs.write("docs/auth.md", "# Changed\n")
    envoy("search", "changed", "--metadata-only")
    assert read == ["docs/auth.md"]


def test_what_git_ignores_is_no_document(docs: "Desk", envoy: Envoy) -> None:
    docs.write("docs/private/kettle.md", "# Kettle\n")
    docs.write("docs/draft.md", "# Kettle\n")
    assert len(paths(envoy("search", "kettle"))) == 2
    docs.write(".gitignore", "docs/private/\n")
    assert paths(envoy("search", "kettle")) == ["docs/draft.md"]
    docs.write("docs/private/more.md", "# Kettle\n")
    docs.write("docs/.gitignore", "draft.md\n")
    assert paths(envoy("search", "kettle")) == []
    docs.git("add", "-f", "docs/draft.md")
    assert paths(envoy("search", "kettle")) == ["docs/draft.md"]
    docs.write(".gitignore", "")
    assert len(paths(envoy("search", "kettle"))) == 3


def test_a_new_document_among_ignored_ones_is_noticed(docs: "Desk", envoy: Envoy) -> None:
    docs.write(".gitignore", "draft-*\n")
    docs.write("docs/deep/draft-1.md", "# Kettle\n")
    assert paths(envoy("search", "kettle")) == []
    docs.write("docs/deep/final.md", "# Kettle\n")
    assert paths(envoy("search", "kettle")) == ["docs/deep/final.md"]


def test_links_other_files_and_what_is_no_text_are_left_out(docs: "Desk", envoy: Envoy) -> None:
    (docs.root / "docs/link.md").symlink_to("auth.md")
    (docs.root / "docs/loop").symlink_to(".")
    docs.write("docs/token.py", "token")
    (docs.root / "docs/binary.md").write_bytes(b"token\0")
    docs.write("docs/large.md", "token " * 400_000)
    docs.write("docs/odd.md", "---\n[\n---\n# Odd token\n")
    (docs.root / "docs/latin.txt").write_bytes(b"caf\xe9 token")
    assert sorted(paths(envoy("search", "token", "--metadata-only"))) == [
        "docs/auth.md",
        "docs/latin.txt",
        "docs/odd.md",
    ]
    reasons = {row["path"]: row["reason"] for row in envoy("status")["left_out"]}
    assert "not text" in reasons["docs/binary.md"]
    assert "larger than" in reasons["docs/large.md"]
    assert "not YAML" in reasons["docs/odd.md"]


def test_worktrees_share_one_index_and_keep_their_own_versions(
    docs: "Desk", envoy: Envoy, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs.git("add", "-A")
    docs.git("commit", "-qm", "docs")
    docs.git("worktree", "add", "-q", "../other", "-b", "other")
    envoy("search", "token")
    monkeypatch.chdir(docs.root.parent / "other")
    (docs.root.parent / "other" / "docs" / "auth.md").write_text("# Walrus\n")
    assert paths(envoy("search", "walrus")) == ["docs/auth.md"]
    assert paths(envoy("search", "token")) == []
    assert envoy("status")["path"] == str(place(docs))
    monkeypatch.chdir(docs.root)
    assert paths(envoy("search", "walrus")) == []
    assert paths(envoy("search", "token")) == ["docs/auth.md"]
    assert paths(envoy("search", "containers")) == ["docs/ops/deploy.md"]
    # What only a removed worktree had goes with it.
    docs.git("worktree", "remove", "--force", "../other")
    docs.write("docs/more.md", "# More\n")
    envoy("search", "more")
    with sqlite3.connect(place(docs)) as database:
        titles = {title for (title,) in database.execute("select title from documents")}
    database.close()
    assert titles == {"Signing in", "Deploying", "More"}


def test_the_index_is_for_this_user_only(docs: "Desk", envoy: Envoy) -> None:
    envoy("search", "token")
    assert place(docs).parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("how", ["text", "cut", "words", "older", "foreign"])
def test_a_damaged_index_is_made_again(docs: "Desk", envoy: Envoy, how: str) -> None:
    envoy("search", "token")
    path = place(docs)
    if how == "text":
        path.write_text("this is no database, whatever its name says " * 100)
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:6000])
    else:
        wound = {
            "words": "delete from words_data",
            "older": "pragma user_version = 99",
            "foreign": "drop table seen",
        }[how]
        database = sqlite3.connect(path)
        database.execute(wound)
        database.commit()
        database.close()
    told = envoy("search", "token")
    assert paths(told) == ["docs/auth.md"]
    (note,) = told["notes"]
    assert note.startswith("the index has been rebuilt: ")
    assert envoy("search", "token")["notes"] == []


def test_a_place_that_cannot_be_written_is_said_and_costs_no_answer(
    docs: "Desk", envoy: Envoy
) -> None:
    (docs.root / ".git/porch").write_text("a file where the directory should be")
    told = envoy("search", "token")
    assert paths(told) == ["docs/auth.md"]
    assert "in memory" in told["notes"][0]


def test_a_directory_in_its_place_is_said_and_stays(docs: "Desk", envoy: Envoy) -> None:
    place(docs).mkdir(parents=True)
    told = envoy("search", "token")
    assert paths(told) == ["docs/auth.md"]
    assert "in memory" in told["notes"][0]
    assert place(docs).is_dir()


def test_a_full_disk_is_said_and_costs_no_answer(docs: "Desk") -> None:
    script = (
        "import resource, sys\nfrom porch.store import where\n"
        "from porch.knowledge import search as knowledge\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "told = knowledge.search_documents(where.find_project('.'), ['token'])\n"
        "sys.exit(0 if told['results'] and 'in memory' in told['notes'][0] else str(told))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=docs.root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_writer_elsewhere_does_not_stop_a_search(
    docs: "Desk", envoy: Envoy, monkeypatch: pytest.MonkeyPatch
) -> None:
    envoy("search", "token")
    monkeypatch.setattr(index, "WAIT_S", 0.1)
    other = sqlite3.connect(place(docs), isolation_level=None)
    other.execute("begin immediate")
    docs.write("docs/new.md", "# Kettle\n")
    told = envoy("search", "token")
    assert paths(told) == ["docs/auth.md"]
    assert "another process is writing" in told["notes"][0]
    other.execute("rollback")
    other.close()
    assert paths(envoy("search", "kettle")) == ["docs/new.md"]


def test_an_index_that_another_process_is_making_is_waited_for_and_then_named(
    docs: "Desk", envoy: Envoy, monkeypatch: pytest.MonkeyPatch
) -> None:
    envoy("search", "token")
    monkeypatch.setattr(index, "WAIT_S", 0.1)
    other = sqlite3.connect(place(docs), isolation_level=None)
    other.execute("begin immediate")
    told = envoy("reindex", code=4)
    assert told["type"] == "index_busy"
    other.close()
    assert envoy("reindex")["stats"]["files_indexed"] == 2


def test_many_searches_at_once_agree(docs: "Desk") -> None:
    started = [
        commands.start("envoy", ("knowledge", "search", "docs", "token"), docs.root, os.environ)
        for _ in range(4)
    ]
    told = [json.loads(process.communicate(timeout=60)[0]) for process in started]
    assert [each["status"] for each in told] == ["success"] * 4
    assert {tuple(paths(each["data"])) for each in told} == {("docs/auth.md",)}


def test_reindex_begins_anew_and_counts(docs: "Desk", envoy: Envoy) -> None:
    told = envoy("reindex")
    assert told["stats"]["files_indexed"] == 2
    assert told["stats"]["total_tokens"] == (len(AUTH) + 3) // 4 + (len(DEPLOY) + 3) // 4
    assert envoy("reindex-all") == told


def test_status_says_whether_the_index_is_behind_and_changes_nothing(
    docs: "Desk", envoy: Envoy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_files, "_TOO_FRESH_NS", 0)
    told = envoy("status")
    assert (told["index_exists"], told["needs_reindex"]) == (False, True)
    assert not place(docs).exists()
    envoy("search", "token")
    told = envoy("status")
    assert (told["index_exists"], told["needs_reindex"], told["documents"]) == (True, False, 2)
    docs.write("docs/new.md", "# Kettle\n")
    (docs.root / "docs/auth.md").unlink()
    for _ in range(2):
        told = envoy("status")
        assert (told["needs_reindex"], told["changed"]) == (True, ["docs/auth.md", "docs/new.md"])
    place(docs).write_text("no database " * 1000)
    assert "will be rebuilt" in envoy("status")["notes"][0]


def test_named_files_are_indexed_alone(docs: "Desk", envoy: Envoy) -> None:
    envoy("search", "token")
    docs.write("docs/auth.md", "# Walrus\n")
    docs.write("docs/new.md", "# Zebra\n")
    (docs.root / "docs/ops/deploy.md").unlink()
    docs.write(".gitignore", "docs/ignored.md\n")
    docs.write("docs/ignored.md", "# Ignored\n")
    docs.write("docs/x.py", "x = 1\n")
    names = ["auth.md", "new.md", "ops/deploy.md", "ignored.md", "x.py", "never.md", "../../x.md"]
    changes = [{"path": f"docs/{name}", "modified": True} for name in names]
    told = envoy("reindex-from-changes", "--files", json.dumps(changes))
    actions = [(row["path"].removeprefix("docs/"), row["action"]) for row in told["files"]]
    assert actions == [
        ("auth.md", "indexed"),
        ("new.md", "indexed"),
        ("ops/deploy.md", "removed"),
        ("ignored.md", "not a document"),
        ("x.py", "not a document"),
        ("never.md", "not a document"),
        ("../../x.md", "not a document"),
    ]
    again = envoy("reindex-from-changes", "--files", '["docs/auth.md"]')
    assert again["files"] == [{"path": "docs/auth.md", "action": "unchanged"}]
    assert paths(envoy("search", "walrus", "zebra")) == ["docs/auth.md", "docs/new.md"]
    assert paths(envoy("search", "containers")) == []


def test_named_files_may_be_the_first_thing_that_is_indexed(docs: "Desk", envoy: Envoy) -> None:
    told = envoy("reindex-from-changes", "--files", '["docs/auth.md"]')
    assert told["file_count"] == 1
    assert paths(envoy("search", "token")) == ["docs/auth.md"]


@pytest.mark.parametrize("text", ["", "{", "{}", "[3]", '[{"file": "a"}]', '[""]', '["a\\u0000"]'])
def test_a_list_of_changes_that_is_none_is_refused(docs: "Desk", envoy: Envoy, text: str) -> None:
    assert envoy("reindex-from-changes", "--files", text, code=2)["type"] == "bad_files"


def test_outside_of_a_repository_every_document_counts(
    docs: "Desk", envoy: Envoy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain/docs").mkdir(parents=True)
    (tmp_path / "plain/docs/a.md").write_text("# Kettle\n")
    monkeypatch.chdir(tmp_path / "plain")
    assert paths(envoy("search", "kettle")) == ["docs/a.md"]
    assert (tmp_path / "plain/codev/.porch/knowledge.sqlite3").exists()


def test_a_search_of_what_is_indexed_loads_next_to_nothing(docs: "Desk") -> None:
    script = (
        "import sys\nfrom porch.cli.dispatch import envoy\ncode = envoy()\n"
        "sys.stderr.write('\\n'.join(sys.modules))\nsys.exit(code)"
    )
    words = [sys.executable, "-I", "-c", script, "knowledge", "search", "docs", "token"]
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("COVERAGE", "PYTHON"))}

    def call() -> set[str]:
        done = subprocess.run(
            words, cwd=docs.root, env=environ, capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout)["data"]["result_count"] == 1
        return set(done.stderr.splitlines())

    while "hashlib" in call():
        pass  # a document that has just changed is looked at once more
    heavy = {"argparse", "dataclasses", "json", "re", "subprocess", "typing", "yaml", "numpy"}
    loaded = call()
    assert "porch.knowledge.search" in loaded
    assert not loaded & {*heavy, "hashlib", "tomllib", "porch.errors", "porch.model"}


def test_settings_that_are_wrong_are_said_before_anything_is_searched(
    docs: "Desk", envoy: Envoy
) -> None:
    docs.write("codev/config.toml", "[agent\n")
    told = envoy("search", "token", code=2)
    assert told["type"] == "toml_syntax"
