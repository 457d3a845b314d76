"""A plan in few words, and looks at what its files and its journal say."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from porch.adapters import chain
from porch.adapters.where import Where
from porch.dialects import front_matter
from porch.errors import PorchError
from porch.machine.prompts import as_fields
from porch.model.prompt_ids import PromptId, parse
from porch.operations.plans import opening, place, prompting, shelf, working
from porch.operations.plans.prompting import Written


def git(at: Path | str, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=at, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@contextmanager
def refused(code: str) -> Iterator[pytest.ExceptionInfo[PorchError]]:
    """The block is refused with this code, and with a way out."""
    with pytest.raises(PorchError) as caught:
        yield caught
    assert caught.value.findings[0].code == code, caught.value
    assert caught.value.findings[0].fix


def write(where: Where, id_: str, *needs: int, **given: Any) -> dict[str, Any]:
    return prompting.write_prompt(where, parse([id_]), Written(depends_on=needs, **given))


def start(where: Where, id_: str, **given: Any) -> dict[str, Any]:
    return working.start_prompt(where, parse([id_]), "backend", **given)


def record(where: Where, id_: str, iteration: int = 1, reason: str = "") -> dict[str, Any]:
    text = f"Turn {iteration} of {id_}."
    return working.record_implementation(where, parse([id_]), text, iteration, reason)


def mark(where: Where, id_: str, **news: Any) -> None:
    """What a gate or a review would have made of a prompt."""
    with opening.held(where) as desk:
        desk.move("test", {parse([id_]): news})


def file(where: Where, id_: str) -> Path:
    return Path(place.current(where).prompts_dir, f"{id_}.md")


def fields(where: Where, id_: str) -> dict[str, Any]:
    """What the file itself says."""
    path = file(where, id_)
    return dict(front_matter.read(path.read_text(), str(path)).fields)


def journal(where: Where) -> Path:
    return Path(where.run_dir(place.current(where).run), "journal.jsonl")


def facts(where: Where, action: str = "") -> list[dict[str, Any]]:
    """The moves of the plan in its journal, all or those of one command."""
    raws = chain.read(journal(where).read_bytes())[0].records
    moved = [raw["fact"] for raw in raws if raw["fact"]["is"] == "PlanMoved"]
    return [fact for fact in moved if action in ("", fact["action"])]


def disagreements(where: Where) -> list[str]:
    """Fields of files that do not show what the journal holds."""
    found = shelf.opened(where)
    wrong = []
    for id_, prompt in found.prompts.items():
        told = fields(where, str(id_))
        wanted = {**as_fields(prompt), "number": id_.number, "variant": id_.variant or None}
        wrong += [
            f"{id_}.{name}: {told.get(name)!r} is not {value!r}"
            for name, value in wanted.items()
            if name not in told or told[name] != value
        ]
    return wrong


def tree(directory: Path | str) -> dict[str, bytes]:
    """Every file below a directory, by name."""
    home = Path(directory)
    return {str(each.relative_to(home)): each.read_bytes() for each in files(home)}


def files(home: Path) -> list[Path]:
    found = [Path(at, name) for at, _, names in os.walk(home) for name in names]
    return sorted(each for each in found if each.is_file())


class Branch:
    """A worktree in which a prompt is carried out."""

    def __init__(self, where: Where, id_: str, feature: str = "feat/x"):
        number, _, letter = id_.partition("_")
        self.name = f"{feature}--implementation-{number}{letter and f'-{letter}'}"
        self.path = Path(where.base).parent / f"work-{id_}"
        git(where.base, "worktree", "add", "-q", "-b", self.name, str(self.path), feature)

    def commit(self, name: str, text: str = "done\n", message: str = "work") -> str:
        (self.path / name).write_text(text)
        git(self.path, "add", "-A")
        git(self.path, "commit", "-qm", message)
        return git(self.path, "rev-parse", "HEAD")


def carried_out(where: Where, id_: str, name: str = "", text: str = "done\n") -> Branch:
    """Written, started, committed and recorded; only the way home is left."""
    write(where, id_)
    branch = Branch(where, id_)
    branch.commit(name or f"{id_}.txt", text)
    start(where, id_)
    record(where, id_)
    return branch


def ids(*names: str) -> list[PromptId]:
    return [parse([name]) for name in names]
