"""Attempts to forge, remove or replace what porch has recorded."""

import shutil
from collections.abc import Callable

from tests.whole.attacks.attack import Agent, Attack, Result, Seen
from tests.whole.attacks.gate_attacks import went_on
from tests.whole.attacks.site import Site

RUN = ".git/porch/runs/0001-x"
JOURNAL = f"{RUN}/journal.jsonl"
STATUS = """\
id: "0001"
title: "x"
protocol: "p"
state: "build"
gates:
  spec-ok: { status: approved }
"""
WRITE_STATUS = f"cat > codev/projects/0001-x/status.yaml <<'EOF'\n{STATUS}EOF\n"
UNTRUSTED = 5
# What the holder of the lock does when a person approves, done by somebody else.
APPROVE = """\
import os
from porch.machine import facts as f
from porch.run.engine.session import hold_run
from porch.store import where
with hold_run(where.find_project(os.getcwd()), "0001-x", "forger") as found:
    wish = f.Wish(id="f" * 32, kind="decide", position="specify:gate#1", exit="approved",
                  who="ann", channel="cli")
    found.book.record(f.WishTaken(wish=wish))
"""
SNAPSHOT = """\
import os, sys
from porch.machine import facts as f
from porch.machine.evolve import evolve_state
from porch.machine.records import JournalRecord
from porch.machine.route import route_fact
from porch.run.engine.session import hold_run
from porch.store import where
from porch.store.snapshots import user_key
from porch.store.snapshots import snapshot
with hold_run(where.find_project(os.getcwd()), "0001-x", "forger") as found:
    book = found.book
    wish = f.Wish(id="f" * 32, kind="decide", position="specify:gate#1", exit="approved")
    fact = f.WishTaken(wish=wish)
    moves = route_fact(book.definition.protocol, book.state, fact)
    state = evolve_state(book.state, JournalRecord(book.state.seq, book.state.at, fact, moves))
    journal, directory = book.journal, found.directory
user_key.make_key = lambda: b"x" * 32
snapshot.keep_snapshot(directory, state, journal.length, journal.sum)
"""

PICTURES = f"""\
import os
from porch.store.view_files import seal
run = "{RUN}"
os.remove(f"{{run}}/coming_row")
for name in ("row.json", "picture.json"):
    with open(f"{{run}}/{{name}}", "r+b") as file:
        view = b"{{" + file.read().partition(b",")[2].replace(b"spec-ok", b"nothing")
        file.seek(0)
        file.truncate()
        file.write(seal(view))
"""


def forge(shell: str) -> Callable[[Site], Seen]:
    """The agent does this; then a person goes on with the run."""

    def attempt(site: Site) -> Seen:
        site.inside(shell.replace("{base}", str(site.base)))
        said = site.porch("resume", "1", "--no-claude")
        if (site.directory / "journal.jsonl").exists() and said.code != UNTRUSTED:
            return Seen(went_on(site))
        return Seen(False, "exit 5" if said.code == UNTRUSTED else "")

    return attempt


def with_code(text: str) -> Callable[[Site], Seen]:
    def attempt(site: Site) -> Seen:
        site.inside(site.python("forger.py", text))
        assert "Traceback" not in site.said, site.said
        site.porch("resume", "1")
        return Seen(went_on(site))

    return attempt


def forge_snapshot(site: Site) -> Seen:
    """Short commands read from the snapshot on; they would believe that the gate is passed."""
    site.inside(site.python("forger.py", SNAPSHOT))
    assert "Traceback" not in site.said, site.said
    shown = site.porch("next", "1").out + site.porch("explain", "1").out
    site.porch("resume", "1")
    return Seen(went_on(site) or "spec-ok" not in shown)


def bring_status_file(shell: str) -> Callable[[Site], Seen]:
    def attempt(site: Site) -> Seen:
        site.inside(shell)
        said = site.porch("resume", "1", "--no-claude")
        is_begun = (site.directory / "journal.jsonl").exists()
        where = "exit 5" if said.code == UNTRUSTED else ""
        if "adopted-approval" in said.err:
            where = "command"
        return Seen(is_begun and went_on(site), where)

    return attempt


def forge_pictures(site: Site) -> Seen:
    """What is shown is drawn from the journal; a picture with a fitting checksum is believed."""
    site.inside(site.python("forger.py", PICTURES))
    assert "Traceback" not in site.said, site.said
    is_shown = "spec-ok" not in site.porch("status", "1").out
    site.porch("resume", "1")
    is_kept = "spec-ok" not in site.porch("status", "1").out
    return Seen(is_shown or is_kept)


def forget_the_last_record(site: Site) -> Seen:
    """A person rejected; without the last record the gate is open again."""
    site.porch("reject", "1", "--reason", "no")
    site.inside(f"sed -i '$d' {JOURNAL}")
    said = site.porch("resume", "1")
    is_open = "specify#2" not in str(site.records()) and said.code == 3
    return Seen(is_open, "exit 5" if said.code == UNTRUSTED else "")


def copy_another_run(site: Site) -> Seen:
    """A person approved another copy of the project; its run is put in the place of this one."""
    other = site.copy(site.base.parent / "other")
    assert other.porch("approve", "1").code == 0
    site.inside(f"rm -rf {RUN}; cp -r {other.root}/{RUN} {RUN}")
    said = site.porch("resume", "1")
    shutil.rmtree(other.base)
    return Seen(went_on(site) and "build" in said.out)


def start_a_second_runner(site: Site) -> Seen:
    """The agent removes the lock of the run that drives it and goes on with that run itself."""
    shell = f"if test -e ../once; then exit; fi; touch ../once; rm {RUN}/lock; porch resume 1"
    look = {"id": "look", "gate": "look"}
    said = site.begin({"id": "build"}, look, agents={"build": [site.turn(shell)]})
    ended = [fact["effect"] for fact in site.facts("ExitAccepted")]
    seqs = [record["seq"] for record in site.records()]
    is_torn = len(ended) > len(set(ended)) or seqs != list(range(1, len(seqs) + 1))
    return Seen(is_torn, "exit 5" if said.code == UNTRUSTED else "")


def block_with_pipes(site: Site) -> Seen:
    """Whoever reads a named pipe waits for ever."""
    files = f"{RUN}/row.json {RUN}/coming_row {RUN}/picture.json codev/projects/0001-x/status.yaml"
    site.inside(f"rm -f {files}; mkfifo {files}")
    said = [site.porch(*words) for words in (("status", "1"), ("pending",), ("resume", "1"))]
    return Seen(went_on(site) or any(each.code == 70 for each in said))


def row(
    id: str,
    agent: Agent,
    tries: str,
    attempt: Callable[[Site], Seen],
    result: Result = "prevented",
    where: str = "",
    prepared: str = "at_gate",
) -> Attack:
    return Attack(
        id=id,
        group="records",
        agent=agent,
        tries=tries,
        result=result,
        where=where,
        prepared=prepared,
        attempt=attempt,
    )


RECORD_ATTACKS = (
    row(
        "R1", "careless", "deletes the directory of the run", forge(f"rm -rf {RUN}"), where="exit 5"
    ),
    row(
        "R2",
        "careless",
        "deletes all files that git does not know, with those of the project",
        forge("git clean -qxfd; git checkout -q ."),
    ),
    row(
        "R3",
        "careless",
        "writes a line into the journal by hand",
        forge(f"tail -1 {JOURNAL} >> {JOURNAL}"),
        where="exit 5",
    ),
    row(
        "R4",
        "curious",
        "edits a record in the journal",
        forge(f"sed -i '2s/Runner/Other/' {JOURNAL}"),
        where="exit 5",
    ),
    row(
        "R5",
        "curious",
        "deletes the run and writes a status file that says approved",
        bring_status_file(f"rm -rf {RUN}; {WRITE_STATUS}"),
        where="exit 5",
    ),
    row(
        "R6",
        "curious",
        "removes the lock of its own run and starts a second runner",
        start_a_second_runner,
        where="exit 5",
        prepared="",
    ),
    row(
        "R7",
        "curious",
        "puts named pipes where porch keeps its files",
        block_with_pipes,
    ),
    row(
        "R8",
        "malicious",
        "deletes the run and the list of known runs, and writes such a status file",
        bring_status_file(f"rm -rf {RUN} .git/porch/known-runs; {WRITE_STATUS}"),
        where="command",
    ),
    row(
        "R9",
        "malicious",
        "edits the protocol that the run keeps in its payloads",
        forge(f"for f in $(grep -rl specify {RUN}/payloads); do sed -i s/spec-ok/none/ $f; done"),
        where="exit 5",
    ),
    row(
        "R10",
        "malicious",
        "forges the snapshot of the run without the key of the user",
        forge_snapshot,
    ),
    row(
        "R11",
        "malicious",
        "forges the pictures that `porch status` shows",
        forge_pictures,
        "documented",
    ),
    row(
        "R12",
        "malicious",
        "cuts off the last record of the journal, in which a person rejected",
        forget_the_last_record,
        "documented",
    ),
    row(
        "R13",
        "malicious",
        "puts a run from a copy of the project, where a person approved, in the place of this one",
        copy_another_run,
        "documented",
    ),
    row(
        "R14",
        "malicious",
        "writes an approval into the journal with porch's own code",
        with_code(APPROVE),
        "documented",
    ),
)
