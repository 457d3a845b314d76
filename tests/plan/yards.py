"""A plan in few words, and looks at what its files and its journal say."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from porch.errors import PorchError
from porch.machine.plan.prompt_ids import PromptId, parse_prompt_id
from porch.machine.plan.prompt_lifecycle import as_fields
from porch.plan.claims import prompt_claims
from porch.plan.files import front_matter, plan_location, plan_snapshot
from porch.plan.prompts import prompt_edits, prompt_work
from porch.plan.prompts.prompt_edits import PromptWords
from porch.plan.session import plan_session
from porch.store import chain
from porch.store.where import ProjectPaths


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
    assert "--force" not in str(caught.value), "K6: agents follow what they are told"


def write(where: ProjectPaths, id_: str, *needs: int, **given: Any) -> prompt_edits.PromptWritten:
    return prompt_edits.write_prompt(
        where, parse_prompt_id([id_]), PromptWords(depends_on=needs, **given)
    )


def start(where: ProjectPaths, id_: str, **given: Any) -> prompt_claims.PromptStarted:
    return prompt_claims.start_prompt(where, parse_prompt_id([id_]), "backend", **given)


def record(
    where: ProjectPaths, id_: str, iteration: int = 1, reason: str = ""
) -> prompt_work.ImplementationRecorded:
    text = f"Turn {iteration} of {id_}."
    return prompt_work.record_implementation(
        where, parse_prompt_id([id_]), text, iteration, reason=reason
    )


def mark(where: ProjectPaths, id_: str, **news: Any) -> None:
    """What a gate or a review would have made of a prompt."""
    with plan_session.hold_plan(where) as desk:
        desk.move("test", {parse_prompt_id([id_]): news})


def file(where: ProjectPaths, id_: str) -> Path:
    return Path(plan_location.find_current_plan(where).prompts_dir, f"{id_}.md")


def fields(where: ProjectPaths, id_: str) -> dict[str, Any]:
    """What the file itself says."""
    path = file(where, id_)
    return dict(front_matter.read_page(path.read_text(), str(path)).fields)


def journal(where: ProjectPaths) -> Path:
    return Path(where.run_dir(plan_location.find_current_plan(where).run), "journal.jsonl")


def facts(where: ProjectPaths, action: str = "") -> list[dict[str, Any]]:
    """The moves of the plan in its journal, all or those of one command."""
    raws = chain.parse_records(journal(where).read_bytes())[0].records
    moved = [raw["fact"] for raw in raws if raw["fact"]["is"] == "PlanMoved"]
    return [fact for fact in moved if action in ("", fact["action"])]


def disagreements(where: ProjectPaths) -> list[str]:
    """Fields of files that do not show what the journal holds."""
    found = plan_snapshot.read_current_plan(where)
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

    def __init__(self, where: ProjectPaths, id_: str, feature: str = "feat/x"):
        number, _, letter = id_.partition("_")
        self.name = f"{feature}--implementation-{number}{letter and f'-{letter}'}"
        self.path = Path(where.base).parent / f"work-{id_}"
        git(where.base, "worktree", "add", "-q", "-b", self.name, str(self.path), feature)

    def commit(self, name: str, text: str = "done\n", message: str = "work") -> str:
        (self.path / name).write_text(text)
        git(self.path, "add", "-A")
        git(self.path, "commit", "-qm", message)
        return git(self.path, "rev-parse", "HEAD")


def carried_out(where: ProjectPaths, id_: str, name: str = "", text: str = "done\n") -> Branch:
    """PromptWords, started, committed and recorded; only the way home is left."""
    write(where, id_)
    branch = Branch(where, id_)
    branch.commit(name or f"{id_}.txt", text)
    start(where, id_)
    record(where, id_)
    return branch


def ids(*names: str) -> list[PromptId]:
    return [parse_prompt_id([name]) for name in names]
