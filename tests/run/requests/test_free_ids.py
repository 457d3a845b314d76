"""Ids that are drawn: the next free number, and never one number twice."""

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from porch.errors import UsageError
from porch.run.requests.free_ids import draw_free_id, given_back_if_unused, next_free_number
from porch.store import where as places


@pytest.mark.parametrize(
    "names, number",
    [
        ([], 1),
        (["0001-a", "0007-b"], 8),
        (["tick_0073_x", "bugfix_142"], 143),
        (["0009-a", "20240131-dated", "bugfix_12345"], 10),
        (["9999-a", "10000-b"], 10001),
        (["spider-untitled", "v3_x", "4th-of-july"], 1),
    ],
)
def test_r1_the_next_number_is_above_all_that_have_four_digits(
    names: list[str], number: int
) -> None:
    assert next_free_number(names) == number


def test_r1_an_id_is_free_of_runs_projects_executions_and_specs(tmp_path: Path) -> None:
    for name in ("projects/0002-a", "executions/tick_0004_b", "specs"):
        (tmp_path / "codev" / name).mkdir(parents=True)
    (tmp_path / "codev/specs/0011-c.md").write_text("# C\n")
    where = places.find_project(str(tmp_path))
    assert draw_free_id(where) == "0012"
    assert draw_free_id(where) == "0013"


def test_r1_twenty_who_draw_at_once_get_twenty_ids(tmp_path: Path) -> None:
    where = places.find_project(str(tmp_path))
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(lambda _: draw_free_id(where), range(20)))
    assert sorted(drawn) == [f"{number:04}" for number in range(1, 21)]


def test_a_kept_number_that_nobody_can_read_is_not_missed(tmp_path: Path) -> None:
    where = places.find_project(str(tmp_path))
    draw_free_id(where)
    Path(where.state_dir, "last-id").write_text("many")
    assert draw_free_id(where) == "0001"


def refuse_run(where: places.ProjectPaths, drawn: str, meanwhile: Callable[[], object]) -> None:
    with contextlib.suppress(UsageError), given_back_if_unused(where, drawn):
        meanwhile()
        raise UsageError("there is no commit yet")


def test_an_id_of_a_refused_run_is_drawn_again(tmp_path: Path) -> None:
    where = places.find_project(str(tmp_path))
    drawn = draw_free_id(where)
    refuse_run(where, drawn, lambda: None)
    assert draw_free_id(where) == drawn == "0001"


def test_an_id_is_not_given_back_once_a_run_has_it_or_somebody_drew_after_it(
    tmp_path: Path,
) -> None:
    where = places.find_project(str(tmp_path))
    refuse_run(where, draw_free_id(where), lambda: draw_free_id(where))
    assert draw_free_id(where) == "0003"
    refuse_run(where, "0003", lambda: Path(where.run_dir("0003-x")).mkdir(parents=True))
    assert draw_free_id(where) == "0004"
