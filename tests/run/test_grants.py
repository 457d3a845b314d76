"""The file of grants: what is kept, and when nothing in it counts."""

import os
import threading
from pathlib import Path

import pytest

from porch.run.grants import (
    GrantWatch,
    add_grant,
    count_in_this_command,
    mark_new_grants,
    read_grants,
    revoke_grant,
)

ONE, TWO, THREE = "1" * 32, "2" * 32, "3" * 32


@pytest.fixture(autouse=True)
def state_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def grant(place: Path, *digests: str) -> None:
    for digest in digests:
        add_grant(str(place), digest, "a\tfile\n", "ann")


def test_what_is_granted_counts_until_it_is_revoked(tmp_path: Path) -> None:
    own = tmp_path / "new" / "porch"
    grant(own, ONE, TWO)
    grants = read_grants(str(own))
    assert grants.digests == {ONE, TWO}
    assert (grants.by_digest[ONE].by, grants.by_digest[ONE].file) == ("ann", "a file")
    assert grants.by_digest[ONE].at
    assert revoke_grant(str(own), ONE)
    assert not revoke_grant(str(own), ONE)
    assert read_grants(str(own)).digests == {TWO}
    assert (own / "trust").stat().st_mode & 0o777 == 0o600


def test_without_a_file_or_a_directory_nothing_is_trusted(tmp_path: Path) -> None:
    assert read_grants(str(tmp_path)).digests == set()
    assert read_grants(os.devnull).digests == set()
    assert read_grants(os.path.join(os.devnull, "porch")).trouble == ""


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\n",
        f"{ONE}\tnow\tann\tfile\t".encode(),
        f"{ONE}\tnow\tann\tfile\n".encode(),
        f"{ONE}0\tnow\tann\tfile\t\n".encode(),
        b"\xff\n",
        b"\n",
    ],
)
def test_of_a_damaged_file_nothing_counts_and_the_reason_is_known(
    tmp_path: Path, data: bytes
) -> None:
    grant(tmp_path, TWO)
    with (tmp_path / "trust").open("ab") as file:
        file.write(data)
    grants = read_grants(str(tmp_path))
    assert grants.digests == set()
    assert "nothing in it counts" in grants.explain(TWO)
    grant(tmp_path, THREE)
    assert read_grants(str(tmp_path)).digests == {THREE}


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_does_not_count(tmp_path: Path, mode: int) -> None:
    grant(tmp_path, ONE)
    (tmp_path / "trust").chmod(mode)
    assert read_grants(str(tmp_path)).digests == set()
    assert "others can write" in read_grants(str(tmp_path)).trouble


@pytest.mark.parametrize("kind", ["link", "directory", "pipe"])
def test_something_else_than_a_file_does_not_count(tmp_path: Path, kind: str) -> None:
    grant(tmp_path / "other", ONE)
    path = tmp_path / "trust"
    match kind:
        case "link":
            path.symlink_to(tmp_path / "other/trust")
        case "directory":
            path.mkdir()
        case _:
            os.mkfifo(path)
    grants = read_grants(str(tmp_path))
    assert (grants.digests, bool(grants.trouble)) == (frozenset(), True)


def test_what_appears_during_a_turn_counts_once_a_person_repeats_it(tmp_path: Path) -> None:
    grant(tmp_path, ONE)
    before = read_grants(str(tmp_path)).digests
    grant(tmp_path, TWO)
    assert mark_new_grants(str(tmp_path), before, "0001-x") == [TWO]
    grants = read_grants(str(tmp_path))
    assert grants.digests == {ONE}
    assert "an agent or a check of 0001-x ran" in grants.explain(TWO)
    assert mark_new_grants(str(tmp_path), before, "0002-y") == []
    grant(tmp_path, TWO)
    assert read_grants(str(tmp_path)).digests == {ONE, TWO}


def test_a_mark_that_an_agent_removes_in_a_later_turn_comes_back(tmp_path: Path) -> None:
    grant(tmp_path, TWO)
    mark_new_grants(str(tmp_path), (), "0001-x")
    before = read_grants(str(tmp_path)).digests
    path = tmp_path / "trust"
    path.write_text(path.read_text().replace("0001-x", ""))
    assert read_grants(str(tmp_path)).digests == {TWO}
    mark_new_grants(str(tmp_path), before, "0001-x")
    assert read_grants(str(tmp_path)).digests == set()


def test_what_is_granted_while_an_agent_works_counts_for_nobody(tmp_path: Path) -> None:
    grant(tmp_path, ONE)
    watch = GrantWatch(str(tmp_path), "0001-x")
    grant(tmp_path, TWO)
    grants = read_grants(str(tmp_path))
    assert grants.digests == {ONE}
    assert "an agent or a check of 0001-x works" in grants.explain(TWO)
    assert watch.close() == [TWO]
    grants = read_grants(str(tmp_path))
    assert grants.digests == {ONE}
    assert not grants.watched
    assert "an agent or a check of 0001-x ran" in grants.explain(TWO)
    grant(tmp_path, TWO)
    assert read_grants(str(tmp_path)).digests == {ONE, TWO}


def test_a_yes_at_the_terminal_of_a_command_counts_for_that_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("porch.run.grants._ANSWERED", set[str]())
    watch = GrantWatch(str(tmp_path), "0001-x")
    grant(tmp_path, ONE, TWO)
    count_in_this_command([ONE])
    assert read_grants(str(tmp_path)).digests == {ONE}
    assert sorted(watch.close()) == [ONE, TWO]


def test_who_begins_while_another_agent_works_does_not_take_its_grant_for_old(
    tmp_path: Path,
) -> None:
    first = GrantWatch(str(tmp_path), "0001-x")
    grant(tmp_path, ONE)
    second = GrantWatch(str(tmp_path), "0002-y")
    assert (second.before, first.close(), second.close()) == ((), [ONE], [])
    assert read_grants(str(tmp_path)).digests == set()


@pytest.mark.parametrize("has_granted", [True, False])
def test_the_watch_of_a_driver_that_was_killed_is_ended_by_the_next_reader(
    tmp_path: Path, *, has_granted: bool
) -> None:
    grant(tmp_path, ONE)
    child = os.fork()
    if not child:
        GrantWatch(str(tmp_path), "0001-x")
        os._exit(0)
    os.waitpid(child, 0)
    if has_granted:
        grant(tmp_path, TWO)
    (left,) = (tmp_path / "state/porch/trust-watches").iterdir()
    assert read_grants(str(tmp_path)).digests == {ONE}
    assert not left.exists()
    grant(tmp_path, TWO)
    assert read_grants(str(tmp_path)).digests == {ONE, TWO}


@pytest.mark.parametrize("kind", ["file", "link", "no home"])
def test_without_a_place_for_watches_new_grants_are_marked_all_the_same(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "state").mkdir()
    match kind:
        case "file":
            (tmp_path / "state/porch").write_text("")
        case "link":
            (tmp_path / "state/porch").symlink_to("nowhere")
        case _:
            monkeypatch.setenv("XDG_STATE_HOME", "relative")
            monkeypatch.delenv("HOME")
    watch = GrantWatch(str(tmp_path), "0001-x")
    grant(tmp_path, ONE)
    assert watch.close() == [ONE]
    assert read_grants(str(tmp_path)).digests == set()


def test_a_watch_for_other_settings_is_left_alone(tmp_path: Path) -> None:
    watch = GrantWatch(str(tmp_path / "other"), "0001-x")
    (tmp_path / "state/porch/trust-watches/odd").write_text("")
    grant(tmp_path, ONE)
    assert read_grants(str(tmp_path)).digests == {ONE}
    assert watch.close() == []


def test_two_who_grant_at_once_lose_nothing(tmp_path: Path) -> None:
    digests = [f"{number:032x}" for number in range(24)]
    halves = (digests[:12], digests[12:])
    threads = [threading.Thread(target=grant, args=(tmp_path, *half)) for half in halves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_grants(str(tmp_path)).digests == set(digests)
