"""Writes the table of attempts into `docs/what-holds.md`, from the list that the tests try."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.whole.attacks.attack import Attack  # noqa: E402 - a script has no package around it
from tests.whole.attacks.table import ATTACKS  # noqa: E402

PAGE = ROOT / "docs" / "what-holds.md"
BEGIN = "<!-- The tables below are written by tools/attack_page.py --write. -->"
END = "<!-- The tables above are written by tools/attack_page.py --write. -->"
AGENTS = ("careless", "curious", "malicious")
RESULTS = ("prevented", "detected", "documented")
TITLES = {
    "gate": "Gates",
    "plan": "Plans",
    "envoy": "Plans of envoy",
    "words": "Signals and reviewers",
    "evidence": "Changes behind a check",
    "measurement": "What decides a measurement",
    "own tests": "Tests that the agent wrote",
    "environment": "Environment",
    "outside": "Outside the worktree",
    "trust": "Settings that start programs",
    "survival": "Processes that stay",
    "records": "Records",
}
PLACES = {
    "": "",
    "command": "the command is refused",
    "gate": "`porch pending`, at the gate",
    "log": "`porch log`",
    "report": "what `porch run` and `porch resume` print, and `porch log`",
    "exit 5": "the next command: exit 5",
}


def render_page(page: str, attacks: Sequence[Attack]) -> str:
    """The page as it should be: the text by hand around the marks, the tables between them."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    tables = "\n".join([_render_counts(attacks), *_render_groups(attacks)])
    return f"{before}{BEGIN}\n\n{tables}\n{END}{after}"


def _render_counts(attacks: Sequence[Attack]) -> str:
    counted: Counter[tuple[str, str]] = Counter((each.agent, each.result) for each in attacks)
    rows = [
        f"| {agent} | {' | '.join(str(counted[agent, result]) for result in RESULTS)} |\n"
        for agent in AGENTS
    ]
    return f"| agent | {' | '.join(RESULTS)} |\n|---|---|---|---|\n{''.join(rows)}"


def _render_groups(attacks: Sequence[Attack]) -> Iterator[str]:
    for group, title in TITLES.items():
        rows = "".join(_render_row(each) for each in attacks if each.group == group)
        head = "| | agent | what it tries | result | where it is said |\n|---|---|---|---|---|\n"
        yield f"### {title}\n\n{head}{rows}"


def _render_row(each: Attack) -> str:
    told = (each.id, each.agent, each.tries, each.result, PLACES[each.where])
    return f"| {' | '.join(told)} |\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the tables into the page")
    arguments = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    wanted = render_page(page, ATTACKS)
    if arguments.write:
        PAGE.write_text(wanted, encoding="utf-8")
    elif page != wanted:
        print(f"{PAGE.relative_to(ROOT)} is out of date. Run: python tools/attack_page.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
