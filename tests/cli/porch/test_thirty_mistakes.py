"""Thirty mistakes of a first hour: each answer says what happened and what to type next.

What to type is taken out of the answer's own words and typed, and that works.
"""

import ctypes
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from porch.cli import dispatch
from tests import commands

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

NOTE = {
    "id": "write",
    "signals": {"DONE": "complete"},
    "gate": {"name": "note_approval", "next": None},
}
TWO = (
    {"id": "specify", "gate": {"name": "specify_approval", "next": "plan"}},
    {"id": "plan", "gate": {"name": "plan_approval", "next": None}},
)
WORKTREE = "worktrees/note_0001_greet-people"
SPECIAL = 'Say "hi" to O\'Brien \N{PARTY POPPER} `ls` $HOME; true'
RUN = 'porch run note "Greet people" --no-claude'
FINISH = "porch finish 0001 --merge"
_BACKTICKED = r"`([^`]+)`"
_SUGGESTED = r"did you mean '([^']+)'"
_UNSHARED, _USER_TOO = 0x00020000, 0x10020000
_BIND, _READ_ONLY_AGAIN = 0x1000, 0x1021


class Answer(NamedTuple):
    """What a command said, on one line, and how it ended."""

    code: int
    text: str


class Beginner:
    """Somebody in a project, who types what answers say."""

    def __init__(self, desk: "Desk", patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
        self.desk = desk
        self.patch = patch
        self.environ: Mapping[str, str] = {}
        self._capsys = capsys
        # A command sets the signals of its process right, and this one is not its own.
        patch.setattr(dispatch, "_reset_signals", lambda: None)
        patch.setattr("gc.set_threshold", lambda *_: None)
        patch.setattr("gc.freeze", lambda: None)
        # `af` starts its drivers as new processes, and not as forks of this one.
        patch.setattr("porch.cli.own_process.offer_program", lambda *_: None)

    @property
    def root(self) -> Path:
        return self.desk.root

    def type(self, command: str) -> Answer:
        """As a shell would take it; commands of porch are called in this process."""
        first, *words = shlex.split(command)
        if first not in ("porch", "af", "codev"):
            done = subprocess.run(["sh", "-c", command], check=False, capture_output=True)
            assert done.returncode == 0, done.stderr
            return Answer(0, done.stdout.decode())
        self._capsys.readouterr()
        self.patch.setattr(sys, "argv", [first, *words])
        code = dispatch.start_program(first)
        out, err = self._capsys.readouterr()
        return Answer(code, " ".join((out + err).split()))

    def must(self, command: str) -> None:
        answer = self.type(command)
        assert answer.code in (0, 3), answer.text

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text()
        assert old in text
        (self.root / name).write_text(text.replace(old, new))

    def interrupt(self, number: int) -> Answer:
        """A run that waits for a decision, and then gets this signal."""
        process = self.desk.start(*shlex.split(RUN)[1:], "--wait")
        self.desk.wait_for(lambda: "note_approval" in self.desk.porch("pending", code=None).out)
        process.send_signal(number)
        told, _ = process.communicate(timeout=90)
        return Answer(process.returncode, " ".join(told.split()))


class Mistake(NamedTuple):
    """One row: how it comes about, what is typed, and what the answer must say.

    `follow` finds in the answer what to type. With `instead` that replaces a word of what was
    typed; `again` types the first command once more after it. `placeholders` are filled in.
    """

    name: str
    set_up: Callable[[Beginner], object]
    typed: str | Callable[[Beginner], Answer]
    code: int
    says: tuple[str, ...]
    follow: str | Callable[[Beginner, str], object]
    follow_code: int = 0
    instead: str = ""
    again: str = ""
    again_code: int = 0
    placeholders: tuple[tuple[str, str], ...] = ()
    reached: str = ""


def _begin(person: Beginner) -> None:
    person.must(RUN)


def _begin_two(person: Beginner) -> None:
    person.desk.protocol("note", *TWO)
    person.desk.git("add", "-A")
    person.desk.git("commit", "-qm", "two gates")
    person.must(RUN)


def _approve_first(person: Beginner) -> None:
    _begin_two(person)
    person.must("porch approve 0001")


def _complete(person: Beginner) -> None:
    _begin(person)
    person.must("porch approve 0001")


def _leave_git(person: Beginner) -> None:
    empty = person.root.parent / "empty"
    empty.mkdir()
    person.patch.chdir(empty)


def _leave_commits(person: Beginner) -> None:
    _leave_git(person)
    person.type("git init -q")


def _spoil_checkout(person: Beginner) -> None:
    _begin(person)
    (person.root / WORKTREE / "new.txt").write_text("new\n")
    person.must("porch approve 0001")
    (person.root / "codev" / "config.toml").write_text('[commands]\ntest = "true"\n# mine\n')


def _take_agent_away(person: Beginner) -> None:
    (person.root.parent / "names" / "claude").unlink()


def _take_login_away(person: Beginner) -> None:
    person.patch.delenv("ANTHROPIC_API_KEY")


def _log_in(person: Beginner, said: str) -> None:
    found = re.search(r"set ([A-Z_]+)", said)
    assert found, said
    person.patch.setenv(found[1], "a-key")


def _spoil_protocol(person: Beginner) -> None:
    person.edit("codev/protocols/note/protocol.json", '"complete"', '"complte"')
    person.type("git commit -qam mistake")


def _mend_protocol(person: Beginner, said: str) -> None:
    found = re.search(_SUGGESTED, said)
    place = re.search(r"--> (\S+?):\d", said)
    assert found, said
    assert place, said
    person.edit(os.path.relpath(place[1], person.root), "complte", found[1])
    person.type("git commit -qam mended")


def _write_plan(person: Beginner) -> None:
    (person.root / "plan.md").write_text("# Plan\n\n## Approach\nWe do it.\n")


def _write_heading(person: Beginner, said: str) -> None:
    found = re.search(r"write headings like '([^']+)'", said)
    assert found, said
    with (person.root / "plan.md").open("a") as file:
        file.write(f"\n{found[1]}\nDo it.\n")


def _drive_elsewhere(person: Beginner) -> None:
    person.desk.start(*shlex.split(RUN)[1:], "--wait")
    person.desk.wait_for(lambda: "note_approval" in person.desk.porch("pending", code=None).out)


def _delete_worktree(person: Beginner) -> None:
    _begin_two(person)
    person.type(f"rm -r {WORKTREE}")


def _move_project(person: Beginner) -> None:
    _begin(person)
    moved = person.root.parent / "moved"
    person.root.rename(moved)
    person.desk.root = moved
    person.patch.chdir(moved)
    person.must("porch approve 0001")


def _rename_branch(person: Beginner) -> None:
    _begin(person)
    (person.root / WORKTREE / "new.txt").write_text("new\n")
    person.type("git branch -m note_0001_greet-people mine")
    person.must("porch approve 0001")


def _mistype_setting(person: Beginner) -> None:
    person.edit("codev/config.toml", "[commands]", "[comands]")
    person.desk.commit_settings()


def _mend_setting(person: Beginner, said: str) -> None:
    found = re.search(_SUGGESTED, said)
    assert found, said
    person.edit("codev/config.toml", "comands", found[1])
    person.desk.commit_settings()


def _give_wrong_type(person: Beginner) -> None:
    person.edit("codev/config.toml", 'test = "true"', "test = true")
    person.desk.commit_settings()


def _write_right_type(person: Beginner, said: str) -> None:
    found = re.search(_BACKTICKED, said)
    assert found, said
    person.edit("codev/config.toml", "test = true", found[1])
    person.desk.commit_settings()


def _leave_home(person: Beginner) -> None:
    """Without a home there is no name for git either; nobody's own settings are read."""
    person.patch.setenv("XDG_CONFIG_HOME", str(person.root.parent / "config"))
    person.patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    person.patch.delenv("HOME")


def _run_on_read_only_disk(person: Beginner) -> Answer:
    """In a namespace of its own, in which the project is mounted once more, read-only."""

    def porch() -> int:
        root = os.fsencode(person.root)
        libc = ctypes.CDLL(None, use_errno=True)
        is_apart = not libc.unshare(_UNSHARED) or not libc.unshare(_USER_TOO)
        is_bound = is_apart and not libc.mount(root, root, None, _BIND, None)
        if not is_bound or libc.mount(None, root, None, _BIND | _READ_ONLY_AGAIN, None):
            return 99
        os.chdir(root)
        return dispatch.porch()

    words = shlex.split(RUN)[1:]
    with commands.Forked(
        porch,
        words,
        cwd=person.root,
        env={**os.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        told, _ = process.communicate(timeout=90)
    if process.returncode == 99:
        pytest.skip("nobody here may mount anything, not even in a namespace of its own")
    return Answer(process.returncode, " ".join(told.split()))


def _write_request_file(person: Beginner, said: str) -> None:
    found = re.search(r'put it into a file such as (\S+), commit it, and ask "([^"]+)"', said)
    assert found, said
    (person.root / found[1]).write_text("Greet people. " * 6000)
    person.type(f"git add {found[1]} && git commit -qm request")
    person.must(f'porch run note "{found[2]}" --no-claude')


def _stand_in_worktree(person: Beginner) -> None:
    _begin(person)
    person.patch.chdir(person.root / WORKTREE)


def _nothing(_: Beginner, __: str = "") -> None:
    """The project is as it should be."""


MISTAKES = (
    Mistake(
        "a wrong id",
        _begin,
        "porch status 0011",
        2,
        ("there is no run '0011'", "known runs: 0001-greet-people"),
        _SUGGESTED,
        instead="0011",
    ),
    Mistake(
        "a command with a typo",
        _begin,
        "porch aprove 0001 note_approval",
        2,
        ("invalid choice: 'aprove'",),
        _BACKTICKED,
        reached="complete",
    ),
    Mistake(
        "a gate with a typo",
        _begin,
        "porch approve 0001 note_aproval",
        2,
        ("note_aproval is not waiting for an answer", "did you mean 'note_approval'?"),
        _BACKTICKED,
        reached="complete",
    ),
    Mistake(
        "not a git repository",
        _leave_git,
        'porch run "Greet people" --no-claude',
        2,
        ("this is not one",),
        _BACKTICKED,
        again='porch run "Greet people" --no-claude',
        again_code=3,
    ),
    Mistake(
        "no commit yet",
        _leave_commits,
        'porch run "Greet people" --no-claude',
        2,
        ("this repository has none",),
        _BACKTICKED,
        again='porch run "Greet people" --no-claude',
        again_code=3,
    ),
    Mistake(
        "a dirty tree",
        _spoil_checkout,
        FINISH,
        1,
        ("has changes that are not committed: codev/config.toml",),
        _BACKTICKED,
        again=FINISH,
        reached="finished merged into main",
    ),
    Mistake(
        "no agent",
        _take_agent_away,
        'porch run note "Greet people"',
        6,
        ("the agent 'claude' is not installed",),
        r"or try the protocol with (--no-claude)",
        instead='"Greet people"',
        placeholders=(("--no-claude", '"Greet people" --no-claude'),),
        follow_code=3,
    ),
    Mistake(
        "an agent without a login",
        _take_login_away,
        'porch run note "Greet people"',
        6,
        ("the agent 'claude' is not logged in",),
        _log_in,
        again='porch run note "Greet people"',
        again_code=3,
    ),
    Mistake(
        "a wrong protocol",
        _nothing,
        'porch run ntoe "Greet people" --no-claude',
        2,
        ("there is no protocol 'ntoe'",),
        _SUGGESTED,
        instead="ntoe",
        follow_code=3,
    ),
    Mistake(
        "a protocol with an error",
        _spoil_protocol,
        RUN,
        2,
        ("leads to 'complte', which is not a state of this protocol",),
        _mend_protocol,
        again=RUN,
        again_code=3,
    ),
    Mistake(
        "a plan without phases",
        _write_plan,
        "porch plan phases plan.md",
        0,
        ("no phases found in this plan; the whole plan is one phase",),
        _write_heading,
        again="porch plan phases plan.md",
    ),
    Mistake(
        "two who run the same at once",
        _drive_elsewhere,
        "porch resume 0001",
        4,
        ("run 0001-greet-people is already running (porch run, pid",),
        r"stop it first: `([^`]+)`",
        again="porch resume 0001",
        again_code=3,
    ),
    Mistake(
        "Ctrl-C",
        _nothing,
        lambda person: person.interrupt(signal.SIGINT),
        130,
        ("interrupted; nothing is lost",),
        _BACKTICKED,
        follow_code=3,
    ),
    Mistake(
        "a closed terminal",
        lambda person: person.interrupt(signal.SIGHUP),
        "porch status 0001",
        0,
        ("waits for you: note_approval", "not running since"),
        r"Start it again: (porch resume \d+)",
        follow_code=3,
    ),
    Mistake(
        "approving too early",
        _begin_two,
        "porch approve 0001 plan_approval",
        2,
        ("plan_approval is not waiting for an answer: it comes later", "specify_approval"),
        _BACKTICKED,
        again="porch resume 0001",
        again_code=3,
    ),
    Mistake(
        "approving where nothing waits",
        _approve_first,
        "porch approve 0001 plan_approval",
        2,
        ("plan_approval is not waiting for an answer: it comes later", "not running since"),
        r"Start it again: (porch resume \d+)",
        follow_code=3,
        again="porch approve 0001 plan_approval",
        reached="complete",
    ),
    Mistake(
        "approving twice",
        _complete,
        "porch approve 0001 note_approval",
        0,
        ("0001-greet-people is already complete; nothing was changed",),
        r"to merge or keep its work: (porch finish \d+)",
    ),
    Mistake(
        "sending back without a reason",
        _begin,
        "porch reject 0001 note_approval",
        2,
        ("required: --reason",),
        r"`(porch reject [^`]+ --reason [^`]+)`",
        placeholders=(('"..."', '"shorter"'),),
        again="porch resume 0001",
        again_code=3,
    ),
    Mistake(
        "sending back with an empty reason",
        _begin,
        'porch reject 0001 note_approval --reason ""',
        1,
        ("'rejected' needs a reason", "it is still waiting"),
        r"`(porch reject [^`]+ --reason [^`]+)`",
        placeholders=(('"..."', '"shorter"'),),
        again="porch resume 0001",
        again_code=3,
    ),
    Mistake(
        "finishing too early",
        _begin,
        FINISH,
        1,
        ("0001-greet-people has not ended", "waiting now: note_approval"),
        _BACKTICKED,
        again=FINISH,
        reached="finished merged into main",
    ),
    Mistake(
        "finishing while it still runs",
        _drive_elsewhere,
        FINISH,
        1,
        ("0001-greet-people has not ended", "waiting now: note_approval"),
        _BACKTICKED,
        reached="complete",
    ),
    Mistake(
        "a deleted worktree",
        _delete_worktree,
        "porch approve 0001",
        2,
        ("the directory of 0001-greet-people is gone",),
        r"make it again: (porch resume \d+)",
        follow_code=3,
        again="porch approve 0001",
    ),
    Mistake(
        "a moved project",
        _move_project,
        FINISH,
        1,
        ("is not the top directory of a worktree",),
        _BACKTICKED,
        again=FINISH,
        reached="finished merged into main",
    ),
    Mistake(
        "a renamed branch",
        _rename_branch,
        FINISH,
        1,
        ("is on mine; porch expects branch 'note_0001_greet-people' there",),
        _BACKTICKED,
        again=FINISH,
        reached="finished merged into main",
    ),
    Mistake(
        "help",
        _begin,
        "porch help",
        0,
        ("usage: porch [-h]",),
        r"(status) show the status",
        placeholders=(("status", "porch status"),),
    ),
    Mistake(
        "an unknown setting",
        _mistype_setting,
        RUN,
        2,
        ("'comands' is not a known key of the settings",),
        _mend_setting,
        again=RUN,
        again_code=3,
    ),
    Mistake(
        "a wrong type in the settings",
        _give_wrong_type,
        RUN,
        2,
        ("'test' must be a text, not empty, not True",),
        _write_right_type,
        again=RUN,
        again_code=3,
    ),
    Mistake(
        "no HOME",
        _leave_home,
        RUN,
        3,
        ("git does not know your name here, so porch commits as porch <porch@localhost>",),
        r"to change that: (git config user.name .* MAIL)",
        placeholders=(("NAME", "Ann"), ("MAIL", "ann@example.org")),
        again="porch approve 0001",
        reached="complete",
    ),
    Mistake(
        "a read-only disk",
        _nothing,
        _run_on_read_only_disk,
        6,
        ("the file system is read-only", "fix: mount it writable"),
        _nothing,
        again=RUN,
        again_code=3,
    ),
    Mistake(
        "a very long request",
        _nothing,
        f'porch run note "{"Greet people. " * 6000}" --no-claude',
        2,
        ("the request is longer than 64 KiB",),
        _write_request_file,
        again="porch pending 0001",
    ),
    Mistake(
        "quotes and emoji",
        _nothing,
        f"porch run note {shlex.quote(SPECIAL)} --no-claude",
        3,
        ("waiting for your decision: note_approval",),
        r"see: (porch pending)",
        reached=SPECIAL,
    ),
    Mistake(
        "an id with a slash",
        _nothing,
        'porch run note feature/42 "Greet people" --no-claude',
        2,
        ("'feature/42' is neither an id nor a file: an id has no slash",),
        r"give it with (--request '[^']+')",
        follow_code=3,
        instead='feature/42 "Greet people"',
    ),
    Mistake(
        "kicked off inside a worktree",
        _stand_in_worktree,
        'af kickoff "More" --protocol note --no-claude',
        0,
        ("This directory is the worktree of 0001-greet-people. The new run starts from",),
        r"see: (af status \S+);",
        again="af stop 0002",
    ),
    Mistake(
        "started inside a worktree",
        _stand_in_worktree,
        'porch run note "More" --no-claude',
        3,
        ("This directory is the worktree of 0001-greet-people. The new run starts from",),
        r"(porch status 0002)",
    ),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name.replace(" ", "-"))
def test_a_first_mistake_is_answered_with_what_to_type_and_typing_it_works(
    mistake: Mistake,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    is_agent = mistake.name in ("no agent", "an agent without a login")
    desk: Desk = request.getfixturevalue("real" if is_agent else "desk")
    desk.protocol("note", NOTE)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    person = Beginner(desk, monkeypatch, capsys)
    mistake.set_up(person)
    typed = mistake.typed
    answer = person.type(typed) if isinstance(typed, str) else typed(person)
    assert answer.code == mistake.code, answer.text
    for words in mistake.says:
        assert words in answer.text
    if isinstance(mistake.follow, str):
        found = re.search(mistake.follow, answer.text)
        assert found, answer.text
        command = found[1]
        for old, new in mistake.placeholders:
            command = command.replace(old, new)
        if mistake.instead:
            assert isinstance(typed, str)
            command = typed.replace(mistake.instead, command)
        followed = person.type(command)
        assert followed.code == mistake.follow_code, f"{command}\n{followed.text}"
    else:
        mistake.follow(person, answer.text)
    if mistake.again:
        again = person.type(mistake.again)
        assert again.code == mistake.again_code, again.text
    if mistake.reached:
        assert mistake.reached in " ".join(desk.porch("status", "1").out.split())
