"""Waves of a plan: in which order they come, and what is refused."""

import pytest

from porch.dialects.plan_xml.walk import list_stages
from tests.plans import phase, plan, read, task

MODE = "<execution_mode>wave</execution_mode></metadata>"


def wave_plan(*waves: tuple[str, str], tasks: dict[str, str], needs: str = "") -> str:
    inside = "".join(f'<wave id="{id_}" depends_on="{after}"/>' for id_, after in waves)
    listed = [
        task(id_, needs=needs if id_ == "T1.2" else "").replace("<task ", f'<task wave="{wave}" ')
        for id_, wave in tasks.items()
    ]
    text = plan(phase("P1", f"<waves>{inside}</waves>", *listed))
    return text.replace("</metadata>", MODE)


def test_waves_come_after_what_they_depend_on_else_as_in_the_file() -> None:
    text = wave_plan(
        ("A", "C"),
        ("B", ""),
        ("C", "B"),
        tasks={"T1.1": "A", "T1.2": "B", "T1.3": "C", "T1.4": "B"},
    )
    stages = list_stages(read(text).plan)
    assert [(each.name, each.beside) for each in stages] == [
        ("T1.2", "P1:wave1"),
        ("T1.4", "P1:wave1"),
        ("T1.3", ""),
        ("T1.1", ""),
    ]
    assert read(text).findings == ()


def test_a_wave_that_needs_two_others_waits_for_both() -> None:
    text = wave_plan(
        ("C", "A,B"), ("A", ""), ("B", ""), tasks={"T1.1": "C", "T1.2": "A", "T1.3": "B"}
    )
    assert [each.name for each in list_stages(read(text).plan)] == ["T1.2", "T1.3", "T1.1"]


def test_waves_count_only_where_the_plan_asks_for_them() -> None:
    text = wave_plan(("A", ""), tasks={"T1.1": "A", "T1.2": "A"}).replace(">wave<", ">sequential<")
    assert [each.beside for each in list_stages(read(text).plan)] == ["", ""]


WRONG = [
    (wave_plan(("A", "X"), tasks={"T1.1": "A"}), "which is no wave of its phase"),
    (wave_plan(("A", "B"), ("B", "A"), tasks={"T1.1": "A"}), "wait for each other"),
    (wave_plan(("A", ""), ("A", ""), tasks={"T1.1": "A"}), "no id of its own"),
    (wave_plan(("", ""), tasks={"T1.1": ""}), "no id of its own"),
    (wave_plan(("A", ""), tasks={"T1.1": "B"}), "names 'B', which is no wave"),
    (wave_plan(("A", ""), tasks={"T1.1": ""}), "names '', which is no wave"),
    (
        wave_plan(("A", ""), tasks={"T1.1": "A", "T1.2": "A"}, needs="T1.1"),
        "T1.2 depends on T1.1, which is not in an earlier wave",
    ),
]


@pytest.mark.parametrize("text, told", WRONG)
def test_what_is_wrong_with_waves_is_said(text: str, told: str) -> None:
    found = [each for each in read(text).findings if each.severity == "error"]
    assert {each.code for each in found} == {"plan-wave"}
    assert told in found[-1].message


def test_a_task_may_need_one_of_an_earlier_wave() -> None:
    text = wave_plan(("A", ""), ("B", "A"), tasks={"T1.1": "A", "T1.2": "B"}, needs="T1.1")
    assert read(text).findings == ()


def test_a_wave_without_tasks_is_passed_over() -> None:
    text = wave_plan(("A", ""), ("B", "A"), ("C", "B"), tasks={"T1.1": "A", "T1.2": "C"})
    assert [each.name for each in list_stages(read(text).plan)] == ["T1.1", "T1.2"]
    assert read(text).findings == ()
