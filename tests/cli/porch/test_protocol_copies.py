"""`porch protocols copy` brings a packaged protocol into the project, and overwrites nothing."""

import json

from tests.cli.conftest import Desk

SPIDER = "codev/protocols/spider"


def test_a_copy_is_complete_and_is_what_runs_use(desk: Desk) -> None:
    said = desk.porch("protocols", "copy", "spider").out
    assert f"new  {SPIDER}/protocol.json\n" in said
    listed = desk.porch("protocols", "list", "--json").json["protocols"]
    (row,) = [each for each in listed if each["name"] == "spider"]
    assert row["source"] == "project"
    assert desk.porch("protocols", "lint", "spider").out == "no problems found\n"
    assert desk.porch("protocols", "copy", "spider").out == "everything is there already\n"


def test_a_run_needs_no_copy_and_a_copy_needs_no_script_of_its_own(desk: Desk) -> None:
    for number in ("1", "2"):
        said = desk.porch("run", "spider", number, "--title", "kettle", "--no-claude", code=3).out
        assert "waiting for your decision: specify_approval" in said
        assert (desk.root / SPIDER).exists() is (number == "2")
        desk.porch("protocols", "copy", "spider")
    assert not (desk.root / SPIDER / "script.yaml").exists()


def test_files_that_somebody_changed_are_named_and_nothing_is_written(desk: Desk) -> None:
    desk.write(f"{SPIDER}/prompts/plan.md", "Our own words.\n")
    said = desk.porch("protocols", "copy", "spider", code=2).err
    assert f"other content in {SPIDER}/prompts/plan.md" in said
    assert [path.name for path in (desk.root / SPIDER).iterdir()] == ["prompts"]


def test_a_protocol_of_steps_comes_with_the_one_that_it_extends(desk: Desk) -> None:
    files = desk.porch("protocols", "copy", "debugging", "--json").json["files"]
    names = ("debugging", "implementation")
    assert [each["path"] for each in files] == [f".claude/protocols/{n}.yaml" for n in names]


def test_a_name_that_no_packaged_protocol_has_is_refused_with_those_there_are(desk: Desk) -> None:
    desk.protocol("mine", {"id": "one"})
    for name in ("mine", "spidr", "../spider", "_reviews"):
        said = desk.porch("protocols", "copy", name, "--json", code=2).out
        assert "spider" in json.loads(said)["error"]["findings"][0]["fix"]
