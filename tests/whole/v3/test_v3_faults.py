"""A prompt of a child that cannot be rendered: a person mends it, and no planner is paid again."""

import shutil
from pathlib import Path

import pytest

import porch
from tests.whole.v3.conftest import ADD, MUL, Home, family, family_spec

FAULTY = '{% if spec.id == "add" %}{{ spec.description.words }}{% endif %}\n'


@pytest.fixture
def template(home: Home) -> Path:
    """The project has a v3 of its own, whose implementer's prompt has a mistake for one child."""
    place = home.root / "codev" / "protocols"
    shutil.copytree(Path(porch.__file__).parent / "protocols" / "v3", place)
    template = place / "templates" / "impl.md.j2"
    template.write_text(FAULTY + template.read_text())
    home.save("a protocol of our own")
    return template


def test_a_fault_in_two_children_is_answered_for_each_of_them(home: Home, template: Path) -> None:
    everybody = FAULTY.replace(' == "add"', ' in ["add", "mul"]')
    template.write_text(template.read_text().replace(FAULTY, everybody))
    home.save("everybody's mistake")
    home.run(family_spec(ADD, MUL), family(ADD, MUL), code=3)
    told = home.porch("pending").out
    for name in ("add", "mul"):
        assert f"porch answer calc '{name}/impl:fault#1' retry" in told
    refused = home.porch("retry", "calc", code=2).err
    assert "2 decisions can be answered with 'retry'" in refused
    assert "NAME is add/impl:fault#1 or mul/impl:fault#1" in refused
    home.porch("answer", "calc", "mul/impl:fault#1", "retry")
    home.porch("retry", "calc")
    assert home.porch("pending").out.count("impl:fault") == 0


def test_t4_a_child_waits_until_its_template_is_mended_and_goes_on(
    home: Home, template: Path
) -> None:
    home.run(family_spec(ADD, MUL), family(ADD, MUL), "--into", "main", code=3)
    told = home.porch("pending").out
    assert "impl:fault" in told
    assert "impl.md.j2:1:" in told
    assert home.outcomes() == {"mul": "complete"}
    assert home.entered().count("scaffold") == 1

    template.write_text(template.read_text().removeprefix(FAULTY))
    home.save("mended")
    home.porch("upgrade", "calc")
    home.porch("answer", "calc", "impl:fault", "retry")
    home.porch("resume", "calc", "--plain")
    assert home.outcomes() == {"mul": "complete", "add": "complete", "": "complete"}
    assert home.entered().count("scaffold") == 1
    assert home.entered("add").count("impl") == 2
    assert home.exits("add").count("impl.TestsPassed") == 1
    assert home.log("main")[0] == "feat(calc): implement"
