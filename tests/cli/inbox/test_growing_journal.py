"""A journal that grows by 10,000 records while the inbox is open delays no key."""

import asyncio
import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from bench import story
from porch.cli.inbox.start import make_app
from porch.fleet.fleet_rows import name_projects
from porch.store import where as places
from tests.cli.inbox.conftest import Person

BEGUN, ADDED, AT_ONCE = 100, 10_000, 100
# A key is answered in hundredths of a second; other processes keep the machine busy.
LONGEST_S = 2.0


def test_ten_thousand_new_records_delay_no_key(tmp_path: Path, home: Path) -> None:
    root = story.repository(tmp_path / "grown", BEGUN + ADDED, lambda _: True)
    directory = root / ".git" / "porch" / "runs" / story.RUN
    journal = directory / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    # Nobody draws pictures of them, so whoever looks has to read the records themselves.
    for name in ("row.json", "picture.json", "snapshot.json"):
        (directory / name).unlink()
    journal.write_bytes(b"".join(lines[:BEGUN]))

    def grow() -> None:
        with journal.open("ab") as file:
            for at in range(BEGUN, len(lines), AT_ONCE):
                file.write(b"".join(lines[at : at + AT_ONCE]))
                file.flush()
                time.sleep(0.01)

    async def scene() -> None:
        where = places.find_project(str(root))
        app = make_app("porch", name_projects(where, os.environ), lambda: datetime.now(UTC))
        async with app.run_test(size=(80, 24)) as pilot:
            person = Person(app, pilot)
            await person.until("0073  A parser for dates")
            growing = threading.Thread(target=grow)
            growing.start()
            longest = 0.0
            while growing.is_alive():
                began = time.monotonic()
                await person.press("j")
                longest = max(longest, time.monotonic() - began)
            growing.join()
            assert longest < LONGEST_S
            await person.press("enter")
            await person.until("What you can do")
            await person.press("l")
            await person.until(f"{len(lines)}  ")

    asyncio.run(scene())
