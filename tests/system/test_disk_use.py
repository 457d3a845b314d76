"""What a directory takes: counted without links, and given up in time."""

from pathlib import Path

from porch.system.disk_use import measure_disk


def test_files_at_any_depth_count_and_what_a_link_leads_to_does_not(tmp_path: Path) -> None:
    here = tmp_path / "here"
    (here / "deep").mkdir(parents=True)
    (here / "deep" / "file").write_bytes(b"x" * 100_000)
    (tmp_path / "large").write_bytes(b"x" * 5_000_000)
    (here / "link").symlink_to(tmp_path / "large")
    (here / "circle").symlink_to(here)
    found = measure_disk(str(here))
    assert found.is_whole
    assert 100_000 <= found.size < 1_000_000


def test_of_very_many_files_only_a_part_is_counted_and_that_is_said(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / str(number)).write_text("x" * 100)
    assert not measure_disk(str(tmp_path), most=10).is_whole
    assert measure_disk(str(tmp_path), most=20).is_whole


def test_a_directory_that_is_not_there_takes_nothing(tmp_path: Path) -> None:
    assert measure_disk(str(tmp_path / "none")).size == 0
