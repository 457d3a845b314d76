"""How the inbox looks, at four sizes, as text: look at the files when you change it.

To write them again: PORCH_SNAPSHOTS=write pytest tests/cli/inbox/test_inbox_snapshots.py
"""

import asyncio
import os
from pathlib import Path
from typing import Any

from porch.cli.inbox.app import InboxApp
from porch.cli.inbox.inbox_rows import Inbox, InboxRow, RowPlace
from porch.cli.inbox.opened_row import OpenedRow
from tests.cli.conftest import Desk
from tests.cli.inbox.conftest import GATED, Person, Sit, read_screen
from tests.repositories import ACCOUNT

SNAPSHOTS = Path(__file__).parent / "snapshots"
SIZES = ((60, 20), (80, 24), (120, 40), (200, 50))
SPEC = """# Prices with tax

Show *both* prices, **net** and gross, in [the basket](http://example.org).

| price | tax |
|-------|-----|
| 10.00 | 1.90 |

```python
def gross(price: Decimal) -> Decimal: ...
```
"""


def row(kind: Any, id_: str, title: str, what: str, **more: str) -> InboxRow:
    place = RowPlace("shop", id_, kind)
    return InboxRow(kind=kind, place=place, id=id_, title=title, what=what, **more)


ROWS = Inbox(
    (
        row(
            "decision",
            "0012",
            "Prices with tax",
            "Approve: spec.md is ready",
            who="spec_approval",
            time="2 h 13 min",
        ),
        row(
            "decision",
            "0014",
            "Search that finds words in other forms",
            "Answer: Which of the two dictionaries may be used in the shop?",
            time="41 min",
        ),
        row(
            "decision",
            "0009",
            "Invoices as PDF",
            "Failed: unit failed 4 times",
            time="12 min",
        ),
        row("alone", "0008", "Log of orders", "Not running: resume it", cost="3 turns", time="2 d"),
        row(
            "paused",
            "0007",
            "価格を税込みで表示する",
            "Paused: resume it",
            cost="0.80 USD",
            time="3 days",
        ),
        row("trouble", "", "", "codev/config.toml:3: the value of max_usd is not a number"),
        row(
            "working",
            "0015",
            "Vouchers",
            "Implement, 2 of 4",
            who="claude",
            cost="1.72 USD",
            time="4 min",
        ),
        row("queued", "0016", "Faster start", "waits for its turn: 2 runs are at work"),
        row(
            "ready",
            "0011",
            "A page for help",
            "Merge it, or keep it",
            cost="0.42 USD",
            time="1 day",
        ),
    )
)


def open_nothing(_: InboxRow) -> OpenedRow:
    return OpenedRow(title="", sentence="")


def compare(name: str, width: int, height: int, seen: str) -> None:
    lines = seen.split("\n")
    assert len(lines) == height
    assert max(map(len, lines)) <= width
    path = SNAPSHOTS / f"{name}-{width}x{height}.txt"
    if os.environ.get("PORCH_SNAPSHOTS") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{seen}\n", encoding="utf-8")
    assert f"{seen}\n" == path.read_text(encoding="utf-8"), path


def test_the_list_at_four_sizes() -> None:
    app = InboxApp("porch  shop", "Start something", lambda: ROWS, open_nothing)

    async def look() -> None:
        async with app.run_test(size=SIZES[0]) as pilot:
            person = Person(app, pilot)
            await person.until("Ready to merge")
            for width, height in SIZES:
                await person.resize(width, height)
                await person.settle()
                compare("list", width, height, read_screen(app))

    asyncio.run(look())


def test_an_open_decision_at_four_sizes(desk: Desk, sit: Sit) -> None:
    spec = "codev/projects/0001-x/spec.md"
    desk.begin_in_worktree(
        *GATED, agents={"one": [{"write": {spec: SPEC}}]}, top={"description": "d"}, code=3
    )

    async def look() -> None:
        async with sit(*SIZES[0]) as person:
            await person.until("spec.md is ready")
            await person.press("enter")
            await person.until("Files to read")
            for width, height in SIZES:
                await person.resize(width, height)
                await person.until("Files to read")
                await person.settle()
                compare("decision", width, height, hide(person.screen))
            await person.resize(80, 24)
            await person.press("d")
            await person.until("def gross")
            await person.settle()
            compare("document", 80, 24, hide(person.screen))
            await person.press("s")
            await person.until("What must change")
            await person.type("The rate is missing")
            await person.settle()
            compare("send-back", 80, 24, hide(person.screen))

    asyncio.run(look())


def test_finishing_at_four_sizes(desk: Desk, sit: Sit) -> None:
    desk.begin_in_worktree({"id": "one"}, agents={"one": [{"write": {"new.txt": "n\n"}}]}, code=0)

    async def look() -> None:
        async with sit(*SIZES[0]) as person:
            await person.until("Ready to merge")
            await person.press("enter")
            await person.until("What you can do")
            for width, height in SIZES:
                await person.resize(width, height)
                await person.until("Keep: leaves")
                await person.settle()
                compare("finish", width, height, hide(person.screen))
            await person.resize(60, 20)
            await person.press("m")
            await person.until("Merge 0001 now?")
            await person.settle()
            compare("merge", 60, 20, hide(person.screen))

    asyncio.run(look())


def hide(seen: str) -> str:
    """Whoever runs the tests has another name."""
    return seen.replace(ACCOUNT, "ann")
