"""The feedback file under fire: nothing but a whole answer is one, and no byte of it is lost."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porch.errors import FailedError
from porch.machine.plan.prompt_ids import parse_prompt_id
from porch.plan.files import plan_location
from porch.plan.gates import form_answers
from porch.plan.gates.form_answers import pose_question
from porch.plan.prompts import plan_document, prompt_edits
from porch.plan.session import plan_session
from porch.store import inbox
from porch.store.where import ProjectPaths
from tests.plan.gatehouse import (
    answered,
    archived,
    ask,
    block,
    done,
    file,
    finish,
    log,
    ready,
    say,
    typed,
    with_passed_test,
)
from tests.plan.yards import facts, journal, record, refused, write

OURS = re.compile(
    rb"\A(\xef\xbb\xbf)?## ---- envoy could not .*?\n## ---- end of .*?----\r?\n", re.DOTALL
)
LARGE = b"x" * (300 * 1024)
WRONG = {
    "no YAML": b"test_passed: [\nI typed this\ndone: true\n",
    "prose": b"it works: mostly: I think\ndone: true\n",
    "tabs": b"thoughts:\n\tmine\ndone: true\n",
    "anchors": b"thoughts: &mine text\nuser_required_changes: *mine\ndone: true\n",
    "a tag": b"thoughts: !!python/object:os.system ls\ndone: true\n",
    "a list for a text": b"thoughts:\n  - mine\ndone: true\n",
    "a map for a text": b"thoughts: {mine: 1}\ndone: true\n",
    "a text for a flag": b"test_passed: perhaps\ndone: true\n",
    "an unknown key": b"test_pased: false  # mine\ndone: true\n",
    "a key twice": b"thoughts: one\nthoughts: two\ndone: true\n",
    "done twice": b"done: false\nthoughts: mine\ndone: true\n",
    "a list": b"- mine\n- done: true\n\ndone: true\n",
    "two documents": b"thoughts: mine\n---\ndone: true\n",
    "a comment that cuts": b"thoughts: issue #4 # is mine\ndone: true\n",
    "large": b"thoughts: " + LARGE + b"\ndone: true\n",
    "no UTF-8": b"thoughts: caf\xe9\ndone: true\n",
    "zero bytes": b"thoughts: a\x00b\ndone: true\n",
    "two lines that end apart": b"thoughts: [\r\nmine\r\ndone: true\r\n",
    "no end of line": b"tests: mine\ndone: true",
    "a mark of its own": b"\xef\xbb\xbftests: mine\ndone: true\n",
    "a failed test without a word": b"test_passed: false\nthoughts: mine\ndone: true\n",
    "too much to deliver": b"thoughts: " + b"y" * (70 * 1024) + b"\ndone: true\n",
}


def as_typed(data: bytes) -> bytes:
    """Without what envoy said on top."""
    return OURS.sub(rb"\1", data)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_answer_is_explained_in_the_file_and_nothing_typed_is_lost(
    where: ProjectPaths, name: str
) -> None:
    ready(where, "testing")
    ask(where, "testing")
    path = file(where, "testing")
    path.write_bytes(WRONG[name])
    ask(where, "testing")
    told = path.read_bytes()
    assert told.startswith((b"## ---- envoy could not use this", b"\xef\xbb\xbf## ---- envoy"))
    assert as_typed(told) == re.sub(
        rb"^done: true", b"done: false", WRONG[name], flags=re.MULTILINE
    )
    for _ in range(2):
        ask(where, "testing")
        assert path.read_bytes() == told
    record(where, "1", 1)
    assert ask(where, "testing")["decision"] == "testing:1#2"
    assert path.read_bytes() == told
    assert log(where) == ""
    assert archived(where) == {}


def test_an_answer_that_was_mended_is_taken(where: ProjectPaths) -> None:
    ready(where, "testing")
    ask(where, "testing")
    finish(where, "testing", test_passed="perhaps", thoughts="Hm: # &x\n  two")
    ask(where, "testing")
    path = file(where, "testing")
    assert "'test_passed' must be true or false" in path.read_text()
    path.write_text(done(path.read_text().replace("perhaps", "true")))
    assert answered(where, "testing")["thoughts"] == "Hm: # &x\n  two"
    assert b"could not use this yet" in b"".join(archived(where).values())


@pytest.mark.parametrize("word", ["true", "yes", "on", "1", "y", "Yes", "TRUE", '"true"', "'on'"])
def test_people_say_in_many_words_that_they_are_done(where: ProjectPaths, word: str) -> None:
    ready(where, "testing")
    ask(where, "testing")
    path = file(where, "testing")
    path.write_text(
        with_passed_test(path.read_text()).replace("done: false", f"done: {word}   # at last")
    )
    assert answered(where, "testing")["passed"] is True


@pytest.mark.parametrize("word", ["false", "no", "", "~", "null", "0"])
def test_everything_else_is_silence_and_silence_is_no_consent(
    where: ProjectPaths, word: str
) -> None:
    ready(where, "testing")
    ask(where, "testing")
    path = file(where, "testing")
    path.write_text(path.read_text().replace("done: false", f"done: {word}"))
    before = path.read_bytes()
    ask(where, "testing")
    assert path.read_bytes() == before


@pytest.mark.parametrize("word", ["ture", "x", "maybe", "[true]", "2"])
def test_k5_a_typo_of_done_is_explained_in_the_file_and_to_who_waits(
    where: ProjectPaths, word: str
) -> None:
    ready(where, "testing")
    assert ask(where, "testing")["problems"] == []
    path = file(where, "testing")
    mine = path.read_text().replace("done: false", f"done: {word}")
    path.write_text(mine)
    for _ in range(2):
        data = ask(where, "testing")
        (told,) = data["problems"]
        assert "'done'" in told
        assert "write 'done: true'" in told
        assert told in data["message"]
        assert path.read_text().endswith(mine)
        assert told.partition(";")[0] in path.read_text()
    path.write_text(path.read_text().replace(f"done: {word}", "test_passed: true\ndone: true", 1))
    path.write_text(path.read_text().replace("\ntest_passed:\n", "\n", 1))
    assert answered(where, "testing")["passed"] is True


@pytest.mark.parametrize("text", [b"", b"\n", b"\xef\xbb\xbf \n"])
def test_k5_an_emptied_file_is_the_form_again_and_says_why(
    where: ProjectPaths, text: bytes
) -> None:
    ready(where, "testing")
    ask(where, "testing")
    path = file(where, "testing")
    form = path.read_bytes()
    path.write_bytes(text)
    assert "the file is empty" in ask(where, "testing")["problems"][0]
    told = path.read_bytes()
    assert as_typed(told) == form
    assert b"## the file is empty" in told
    assert ask(where, "testing")["problems"]
    finish(where, "testing", thoughts="here")
    assert answered(where, "testing")["thoughts"] == "here"


@pytest.mark.parametrize(
    "text", [b"# done: true\n", b"thoughts: |-\n  done: true\n", b"x: {done: true}\n"]
)
def test_a_file_without_an_answer_leaves_the_question_open(
    where: ProjectPaths, text: bytes
) -> None:
    ready(where, "testing")
    ask(where, "testing")
    file(where, "testing").write_bytes(text)
    assert "there is no 'done'" in ask(where, "testing")["message"]
    assert as_typed(file(where, "testing").read_bytes()) == text


def test_k4_a_form_that_nobody_filled_in_consents_to_nothing(where: ProjectPaths) -> None:
    ready(where, "testing")
    ask(where, "testing")
    path = file(where, "testing")
    assert "\ntest_passed:\n" in path.read_text()
    path.write_text(path.read_text().replace("done: false", "done: true"))
    assert "'test_passed' has no answer" in ask(where, "testing")["problems"][0]


def test_k4_passed_with_required_changes_is_explained_and_asked_again(where: ProjectPaths) -> None:
    ready(where, "testing")
    ask(where, "testing")
    finish(where, "testing", test_passed="true", user_required_changes="crashes on start")
    (told,) = ask(where, "testing")["problems"]
    assert "test_passed says true, but user_required_changes asks for changes" in told
    assert told.partition(";")[0] in " ".join(file(where, "testing").read_text().split())
    with pytest.raises(FailedError, match="user_required_changes asks for changes"):
        say(where, "testing:1", "{test_passed: true, user_required_changes: crashes on start}")
    with refused("wrong-value"):
        say(where, "testing:1", "thoughts: fine so far")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_file_that_is_no_utf8_is_told_of_and_left_alone(
    where: ProjectPaths, encoding: str
) -> None:
    ready(where, "testing")
    assert ask(where, "testing")["notes"] == []
    path = file(where, "testing")
    mine = done(with_passed_test(path.read_text())).encode(encoding)
    path.write_bytes(mine)
    (note,) = ask(where, "testing")["notes"]
    assert "1_testing.yaml is not UTF-8" in note
    assert "save it as UTF-8" in note
    assert path.read_bytes() == mine
    path.write_text(mine.decode(encoding))
    assert answered(where, "testing")["notes"] == []


def test_a_file_that_was_removed_comes_back(where: ProjectPaths) -> None:
    ready(where, "logging")
    ask(where, "logging")
    names = ("1_logging.yaml", "1_logging_logs.md")
    before = [file(where, name).read_bytes() for name in names]
    for name in names:
        file(where, name).unlink()
    ask(where, "logging")
    assert [file(where, name).read_bytes() for name in names] == before


def test_the_whole_directory_may_be_removed(where: ProjectPaths) -> None:
    ready(where, "testing")
    ask(where, "testing")
    for name in ("1_testing.yaml", "1_testing_logs.md"):
        file(where, name).unlink()
    file(where, "testing").parent.rmdir()
    ask(where, "testing")
    finish(where, "testing", thoughts="here again")
    assert answered(where, "testing")["thoughts"] == "here again"


@pytest.mark.parametrize("kind", ["link", "dangling", "directory", "pipe", "monster"])
def test_what_is_no_file_is_refused_and_left_alone(
    where: ProjectPaths, tmp_path: Path, kind: str
) -> None:
    ready(where, "testing")
    ask(where, "testing")
    path, other = file(where, "testing"), tmp_path / "other.yaml"
    other.write_text(done(path.read_text()))
    path.unlink()
    match kind:
        case "link":
            path.symlink_to(other)
        case "dangling":
            path.symlink_to(tmp_path / "nowhere")
        case "directory":
            (path / "mine").mkdir(parents=True)
        case "pipe":
            os.mkfifo(path)
        case _:
            path.write_bytes(b"done: true\n" + b"#" * (4 << 20))
    before = other.read_bytes()
    with refused("too-large" if kind == "monster" else "not-a-file"):
        block(where, "testing")
    assert other.read_bytes() == before
    assert log(where) == ""
    say(where, "testing:1", "", "approved")
    assert answered(where, "testing")["channel"] == "cli"
    # A directory cannot be moved over the name that was kept for it; it stays, and is told of.
    assert os.path.lexists(path) is (kind == "directory")
    assert not (tmp_path / "nowhere").exists()
    assert other.read_bytes() == before


def test_what_is_no_file_does_not_keep_the_question_from_being_asked(where: ProjectPaths) -> None:
    ready(where, "testing")
    file(where, "testing").mkdir()
    with refused("not-a-file"):
        block(where, "testing")
    assert say(where, "testing:1", "", "approved").position == "testing:1#1"
    assert file(where, "testing").is_dir()


def test_a_file_that_nobody_asked_for_is_not_read(where: ProjectPaths) -> None:
    ready(where, "testing")
    file(where, "testing").write_text("done: true\n")
    with plan_session.hold_plan(where) as desk:
        assert not form_answers.take_form(desk, "testing", "1")
    assert file(where, "testing").read_text() == "done: true\n"


@pytest.mark.parametrize("answer", ["file", "command"])
def test_what_is_half_typed_is_never_written_over(where: ProjectPaths, answer: str) -> None:
    ready(where, "testing")
    ask(where, "testing")
    path = file(where, "testing")
    half = with_passed_test(typed(path.read_text(), thoughts="I am not sure yet\nwhether"))
    path.write_text(half)
    ask(where, "testing")
    assert block(where, "testing", wait_s=0.3).is_pending
    record(where, "1", 2, "Review: smaller")
    ask(where, "testing")
    assert path.read_text() == half
    if answer == "command":
        say(where, "testing:1", "", "approved")
        assert answered(where, "testing")["thoughts"] == ""
    else:
        path.write_text(done(half))
        assert answered(where, "testing")["thoughts"] == "I am not sure yet\nwhether"
    wanted = half if answer == "command" else done(half)
    assert wanted.encode() in archived(where).values()


def test_a_file_that_was_finished_before_it_was_asked_for_answers_nothing(
    where: ProjectPaths,
) -> None:
    """It was about work that is not there any more."""
    ready(where, "testing")
    ask(where, "testing")
    mine = finish(where, "testing", thoughts="the old one is fine")
    record(where, "1", 2, "Review: smaller")
    told = ask(where, "testing")
    assert told["decision"] == "testing:1#2"
    assert any("asked again" in note for note in told["notes"])
    assert mine in archived(where).values()
    assert "the old one" not in file(where, "testing").read_text()
    assert log(where) == ""
    finish(where, "testing", thoughts="the new one is fine")
    assert answered(where, "testing")["thoughts"] == "the new one is fine"


def test_a_file_that_an_editor_saves_after_the_answer_answers_nothing(where: ProjectPaths) -> None:
    ready(where, "testing")
    ask(where, "testing")
    late = done(file(where, "testing").read_text())
    say(where, "testing:1", "no", "rejected")
    assert answered(where, "testing")["passed"] is False
    file(where, "testing").write_text(late)
    assert answered(where, "testing")["passed"] is False
    record(where, "1", 2, "Testing: no")
    ask(where, "testing")
    assert late.encode() in archived(where).values()


def test_questions_of_a_reviewer_come_back_too(where: ProjectPaths) -> None:
    write(where, "1")
    with plan_session.hold_plan(where) as desk:
        pose_question(desk, "clarifying", "1", {"reason": "Why?", "questions": ["Why?"]})
    path = file(where, "1_review_questions.yaml")
    before = path.read_text()
    assert "Why?" in before
    path.unlink()
    with plan_session.hold_plan(where) as desk:
        assert not form_answers.take_form(desk, "clarifying", "1")
    assert path.read_text() == before


# Logs


def test_logs_that_are_too_large_are_not_taken_and_not_touched(
    where: ProjectPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAX_LOGS_TOKENS", "100")
    ready(where, "logging")
    ask(where, "logging")
    logs = file(where, "1_logging_logs.md")
    logs.write_text("x" * 401)
    finish(where, "logging", thoughts="all of it")
    ask(where, "logging")
    text = file(where, "logging").read_text()
    assert "more than about 100 tokens" in text
    assert "MAX_LOGS_TOKENS" in text
    assert "all of it" in text
    assert logs.read_text() == "x" * 401
    logs.write_text("x" * 400)
    file(where, "logging").write_text(done(text))
    assert answered(where, "logging")["logs"] == "x" * 400


@pytest.mark.parametrize("word", ["", "0", "-1", "many"])
def test_a_limit_that_is_no_number_counts_as_not_set(
    where: ProjectPaths, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setenv("MAX_LOGS_TOKENS", word)
    ready(where, "logging")
    ask(where, "logging")
    file(where, "1_logging_logs.md").write_text("y" * 39_999)
    finish(where, "logging")
    assert len(answered(where, "logging")["logs"]) == 39_999


@pytest.mark.parametrize("size", [63 * 1024, 65 * 1024, 1 << 20])
def test_logs_are_as_long_as_they_may_be_and_come_back_whole(
    where: ProjectPaths, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setenv("MAX_LOGS_TOKENS", "300000")
    ready(where, "testing")
    ask(where, "testing")
    logs = "\n".join(f"{n} caf\u00e9" for n in range(size))[:size].strip()
    file(where, "1_testing_logs.md").write_text(logs)
    finish(where, "testing", thoughts="a long one")
    assert answered(where, "testing")["logs"] == logs
    assert answered(where, "testing")["logs"] == logs
    # Whatever waits for this plan reads its journal each time.
    assert journal(where).stat().st_size < 32 * 1024


def test_long_logs_make_no_room_for_long_thoughts(
    where: ProjectPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAX_LOGS_TOKENS", "300000")
    ready(where, "testing")
    ask(where, "testing")
    file(where, "1_testing_logs.md").write_text("x" * 70_000)
    finish(where, "testing", thoughts="y" * 70_000)
    ask(where, "testing")
    assert "the text is too long" in file(where, "testing").read_text()


@pytest.mark.parametrize("logs", [{}, {"$sha256": "../journal"}, {"$sha256": 1, "size": 1}])
def test_logs_that_are_kept_nowhere_break_nothing(
    where: ProjectPaths, logs: dict[str, object]
) -> None:
    """Whoever can write wishes can write anything."""
    ready(where, "logging")
    position = ask(where, "logging")["decision"]
    form = {"thoughts": "", "logs": logs}
    wish = {"kind": "decide", "position": position, "exit": "answered", "who": "x"}
    data = {"name": "logging:1", "form": form}
    inbox.leave_wish(
        str(journal(where).parent / "inbox"), {**wish, "channel": "file", "data": data}
    )
    assert answered(where, "logging")["logs"] == str(logs)


def test_logs_of_any_bytes_are_shown_as_text_and_kept_as_they_are(where: ProjectPaths) -> None:
    ready(where, "logging")
    ask(where, "logging")
    logs = file(where, "1_logging_logs.md")
    logs.write_bytes(logs.read_bytes() + b"\x1b[31mcaf\xe9\x1b[0m\r\n")
    before = logs.read_bytes()
    finish(where, "logging")
    assert answered(where, "logging")["logs"] == "\x1b[31mcaf\ufffd\x1b[0m"
    assert before in archived(where).values()


@pytest.mark.parametrize("kind", ["link", "monster"])
def test_logs_that_are_no_file_are_explained_where_the_person_looks(
    where: ProjectPaths, tmp_path: Path, kind: str
) -> None:
    ready(where, "logging")
    ask(where, "logging")
    logs = file(where, "1_logging_logs.md")
    logs.unlink()
    if kind == "link":
        (tmp_path / "secret").write_text("secret")
        logs.symlink_to(tmp_path / "secret")
    else:
        logs.write_bytes(b"z" * (5 << 20))
    finish(where, "logging")
    ask(where, "logging")
    assert "1_logging_logs.md" in file(where, "logging").read_text()
    assert "secret" not in journal(where).read_text()
    logs.unlink()
    finish(where, "logging")
    assert answered(where, "logging")["logs"] == ""


# What is around it


def test_the_log_of_user_input_cannot_be_told_that_it_knows_an_answer(where: ProjectPaths) -> None:
    ready(where, "testing")
    plan_document.append_user_input(where, "**T** <!-- testing:1#1 -->\n\n[Testing Gate 1]\nno")
    ask(where, "testing")
    finish(where, "testing", thoughts="mine")
    answered(where, "testing")
    assert log(where).count("mine") == 1
    assert archived(where)


def test_an_input_log_that_cannot_be_written_is_said_and_written_later(
    where: ProjectPaths, tmp_path: Path
) -> None:
    ready(where, "testing")
    path = Path(plan_location.find_current_plan(where).file("user_input.md"))
    path.symlink_to(tmp_path / "elsewhere")
    ask(where, "testing")
    finish(where, "testing", thoughts="mine")
    assert any("user_input.md" in note for note in answered(where, "testing")["notes"])
    assert not (tmp_path / "elsewhere").exists()
    path.unlink()
    assert answered(where, "testing")["notes"] == []
    assert log(where).count("mine") == 1


def test_findings_that_cannot_be_read_keep_nobody_from_other_commands(where: ProjectPaths) -> None:
    ready(where, "findings")
    ask(where, "findings")
    say(where, "findings", "well", "approved")
    broken = Path(plan_location.find_current_plan(where).findings_dir, "web.yaml")
    whole = broken.read_text()
    broken.write_text("notes: [\n")
    assert any("web.yaml" in note for note in write(where, "1").notes)
    assert log(where) == ""
    broken.write_text(whole)
    plan_document.init_plan(where)
    assert log(where).count("well") == 1


def test_an_answer_is_kept_once_however_often_the_log_is_removed(where: ProjectPaths) -> None:
    ready(where, "testing")
    ask(where, "testing")
    finish(where, "testing", thoughts="mine")
    answered(where, "testing")
    Path(plan_location.find_current_plan(where).file("user_input.md")).unlink()
    answered(where, "testing")
    assert log(where) == ""
    assert len(facts(where, "keep-answer")) == 1


LINES = st.sampled_from(
    [
        b"test_passed: true",
        b"test_passed: off",
        b"user_required_changes: |-\n  it\xc3\xa9 #1: breaks",
        b"thoughts: |-\n    deep\n  shallow",
        b"thoughts: 'open",
        b"done: true",
        b"done: true  # really",
        b"done: no",
        b"'done': yes",
        b"\ttab",
        b"caf\xe9",
        b"---",
        b"## ---- envoy could not use this yet; `done` is false again ----",
        b"a: &a [*a]",
        b"\x00",
        b"# done: true",
    ]
)
TEXTS = st.lists(LINES, max_size=6).map(b"\n".join)


@given(data=TEXTS, end=st.sampled_from([b"", b"\n", b"\r\n"]))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_typed_is_still_there_afterwards(
    where: ProjectPaths, data: bytes, end: bytes
) -> None:
    whole = data + end
    if not plan_location.find_current_plan(where).exists:
        ready(where, "testing")
    prompt_edits.write_prompt(where, parse_prompt_id(["1"]), prompt_edits.PromptWords(), force=True)
    file(where, "testing").unlink(missing_ok=True)
    record(where, "1", 1)
    ask(where, "testing")
    path = file(where, "testing")
    path.write_bytes(whole)
    if block(where, "testing").is_pending:
        now = path.read_bytes()
        is_empty = not whole.strip()
        assert is_empty or mended(whole) in (mended(now), mended(as_typed(now)))
    else:
        assert whole in archived(where).values()


def mended(data: bytes) -> bytes:
    """With every word that could say done said the same way."""
    return re.sub(rb"^('?done'?): (true|yes|false|no)", rb"\1: .", data, flags=re.MULTILINE)
